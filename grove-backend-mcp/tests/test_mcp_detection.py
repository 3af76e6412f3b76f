"""What makes the backend available in a project; nothing is started for that."""

import json
import subprocess
import sys

import pytest
from attrs import evolve

from grove_backend_mcp.finding.choosing import trust_requests
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


def test_without_a_server_there_is_nothing(context):
    assert SPEC.detect(context) is None
    register(context)
    assert SPEC.detect(context) is None


def test_a_server_of_the_users_that_is_known_is_used(context):
    register(context, memory=KNOWN)
    found = SPEC.detect(context)
    assert found.usable
    assert found.marker == "~/.claude.json: memory"


def test_a_server_that_is_not_known_is_named_with_what_helps(context):
    register(context, notes=UNKNOWN)
    found = SPEC.detect(context)
    assert not found.usable
    assert "`grove backends mcp probe notes`" in found.note


def test_a_server_of_the_project_needs_trust(context):
    (context.root / ".mcp.json").write_text(json.dumps({"mcpServers": {"memory": KNOWN}}))
    found = SPEC.detect(context)
    assert not found.usable
    assert "`grove trust`" in found.note
    agreed = frozenset(one.digest for one in SPEC.trust(context))
    assert agreed
    assert SPEC.detect(evolve(context, trusted=agreed)).usable
    changed = {**KNOWN, "args": [*KNOWN["args"], "--more"]}
    (context.root / ".mcp.json").write_text(json.dumps({"mcpServers": {"memory": changed}}))
    assert not SPEC.detect(evolve(context, trusted=agreed)).usable


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


def test_a_section_that_cannot_be_used_has_no_other_server_used_instead(context):
    register(context, memory=KNOWN)
    found = SPEC.detect(evolve(context, settings=None))
    assert not found.usable
    assert "`grove config validate`" in found.note


def test_nothing_is_asked_for_where_nothing_is_written_down(context):
    assert list(SPEC.trust(context)) == list(trust_requests(context)) == []


def test_looking_loads_next_to_nothing_where_there_is_nothing(context):
    """Every start of a session looks."""
    program = (
        "import sys; from pathlib import Path; from grove_core import BackendContext;"
        "from grove_backend_mcp.plugin import grove_memory_backends, McpSettings;"
        "(spec,) = grove_memory_backends();"
        "spec.detect(BackendContext(root=Path(sys.argv[1]), home=Path(sys.argv[1]),"
        " environment={'HOME': sys.argv[1]}, settings=McpSettings()));"
        "print(*sorted(one for one in sys.modules if one.startswith('grove_backend_mcp')))"
    )
    command = [sys.executable, "-c", program, str(context.root)]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert loaded == [
        "grove_backend_mcp",
        "grove_backend_mcp.glance",
        "grove_backend_mcp.plugin",
        "grove_backend_mcp.secrecy",
        "grove_backend_mcp.settings",
    ]
