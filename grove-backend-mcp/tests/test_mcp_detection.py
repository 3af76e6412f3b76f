"""What makes the backend available in a project; nothing is started for that."""

import json
import sys

import pytest
from attrs import evolve

from grove_backend_mcp.plugin import grove_memory_backends
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext

(SPEC,) = grove_memory_backends()
KNOWN = {"command": sys.executable, "args": ["-m", "x", "@modelcontextprotocol/server-memory"]}
UNKNOWN = {"command": sys.executable, "args": ["own_notes.py"]}


@pytest.fixture
def context(tmp_path):
    for name in ("home", "project", "grove"):
        (tmp_path / name).mkdir()
    return BackendContext(
        root=tmp_path / "project",
        home=tmp_path / "grove",
        environment={"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"},
        settings=McpSettings(),
    )


def register(context, **servers):
    path = context.root.parent / "home" / ".claude.json"
    path.write_text(json.dumps({"mcpServers": servers}))


def test_a_server_of_the_users_that_is_known_is_used_and_another_one_named(context):
    register(context, memory=KNOWN)
    found = SPEC.detect(context)
    assert (found.usable, found.marker) == (True, "~/.claude.json: memory")
    register(context, notes=UNKNOWN)
    found = SPEC.detect(context)
    assert not found.usable
    assert "`grove backends mcp probe notes`" in found.note


def test_what_was_written_is_read_where_no_server_is_left(context):
    record = context.root / ".grove" / "mcp.jsonl"
    record.parent.mkdir()
    record.write_text("")
    found = SPEC.detect(context)
    assert found.usable
    assert found.marker == str(record)
    assert "waits for a server" in found.note


def test_learnings_wait_for_a_configured_server_that_cannot_be_reached_just_now(context):
    reached = evolve(context, settings=McpSettings(command="memory-${WHICH}"))
    found = SPEC.detect(reached)
    assert found.usable
    assert "the variable WHICH is not set" in found.note
    register(context, memory={**KNOWN, "command": "${WHICH}"})
    named = evolve(context, settings=McpSettings(server="memory"))
    assert SPEC.detect(named).usable
    assert not SPEC.detect(context).usable
