"""A memory server is seen without starting it, and never pretended to work."""

import json

import pytest

from grove_backend_mcp.plugin import detect, grove_memory_backends
from grove_core import BackendContext, BackendError


@pytest.fixture
def context(tmp_path):
    return BackendContext(root=tmp_path, home=tmp_path / "home")


def test_a_server_that_looks_like_a_memory_is_found_and_said_to_be_unusable(context):
    servers = {"files": {"command": "x"}, "Team-Memory": {"command": "/bin/false"}}
    (context.root / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
    found = detect(context)
    assert found is not None
    assert "Team-Memory" in found.marker
    assert not found.usable
    assert "not available yet" in found.note


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"mcpServers": []}', '{"mcpServers": {"files": {}}}', "[" * 100_000],
)
def test_other_files_are_not_taken(context, text):
    (context.root / ".mcp.json").write_text(text)
    assert detect(context) is None


def test_no_file_is_not_taken(context):
    assert detect(context) is None


def test_opening_says_that_it_is_not_available(context):
    (spec,) = grove_memory_backends()
    with pytest.raises(BackendError, match="not available yet"):
        spec.open(context)
