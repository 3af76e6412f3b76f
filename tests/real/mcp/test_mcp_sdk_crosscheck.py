"""grove's own client agrees with servers made with the official SDK, of both of its versions."""

import os
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from processes import end_left_over
from real_servers import installed

from grove_backend_mcp.client import Limits, connect
from grove_backend_mcp.client.messages import AnsweredWithErrorError
from grove_backend_mcp.client.session import Connection
from grove_backend_mcp.servers import Endpoint, FaultKind, ServerFaultError

SERVER = Path(__file__).parent / "servers" / "sdk_server.py"
WAYS = ("stdio", "http", "http stateless json")
# Version 1 of the SDK knows one era of the protocol, version 2 speaks both.
ERAS = {"sdk": ("handshake", "modern"), "sdk1": ("handshake",)}
TEXT = (
    'quotes " and \\, </content>, decomposed e\u0301, \u202eturned\u202c, \U0001f333\r\n\tand more '
)


@pytest.fixture(params=[(name, era) for name, eras in ERAS.items() for era in eras], ids="-".join)
def spoken(request):
    """A version of the SDK, and an era of the protocol that it speaks."""
    return request.param


@pytest.fixture
def endpoint(request, spoken, tmp_path):
    """A new server for each test; no process of it may be left."""
    way, *words = request.param.split()
    python = installed(spoken[0]) / "bin" / "python"
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    if way == "stdio":
        words = (str(python), str(SERVER), "stdio")
        yield Endpoint(name="notes", words=words, environment=environment, cwd="/")
    else:
        with served(python, words, environment, tmp_path / "address") as url:
            yield Endpoint(name="notes", url=url)
    assert end_left_over(tmp_path) == []


@contextmanager
def served(python, words, environment, address):
    command = [python, SERVER, "http", address, *words]
    with (address.parent / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        until = time.monotonic() + 60
        while not address.exists():
            assert process.poll() is None, (address.parent / "log").read_text()
            assert time.monotonic() < until
            time.sleep(0.1)
        yield address.read_text()
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def era(spoken, monkeypatch):
    """The era; the older one is offered first, so the newer one is spoken where that is refused."""
    if spoken[1] == "modern":

        def refuse(*_words):
            error = {"code": -32022, "message": "", "data": {"supported": ["2026-07-28"]}}
            raise AnsweredWithErrorError(error, is_ours=True)

        # No server that refuses the handshake can be made with the SDK.
        monkeypatch.setattr(Connection, "_initialize", refuse)
    return spoken[1]


@pytest.mark.parametrize("endpoint", WAYS, indirect=True)
def test_the_client_agrees_with_the_sdk(endpoint, era):
    version = {"handshake": "2025-11-25", "modern": "2026-07-28"}[era]
    with connect(endpoint, Limits(call_seconds=3)) as connection:
        assert (connection.server_name, connection.protocol_version) == ("sdk-notes", version)
        tools = {tool.name: tool for tool in connection.tools()}
        assert tools["store_note"].required == {"text"}

        stored = connection.call("store_note", {"text": TEXT, "tags": ["a"]})
        assert (stored.texts, stored.is_error) == (("stored 0",), False)
        found = connection.call("find_notes", {"query": "turned"})
        assert (found.texts, found.structured) == ((TEXT,), {"result": [TEXT]})
        missed = connection.call("find_notes", {"query": "nowhere"})
        assert (missed.texts, missed.structured) == ((), {"result": []})

        failed = connection.call("fail", {})
        assert failed.is_error
        assert "Error executing tool fail" in failed.texts[0]
        assert failed_somehow(connection, "no_such_tool")
        assert failed_somehow(connection, "store_note")
        assert connection.call("store_note", {"text": "still there"}).texts == ("stored 1",)
        # It reports progress for ever.
        with pytest.raises(ServerFaultError) as caught:
            connection.call("slow", {})
        assert (caught.value.kind, caught.value.is_unclear) == (FaultKind.TIMED_OUT, True)


def failed_somehow(connection, tool):
    """The SDK's versions differ in whether it is a result or an error of JSON-RPC."""
    try:
        return connection.call(tool, {}).is_error
    except ServerFaultError as fault:
        return fault.kind is FaultKind.TOOL_FAILED and not fault.is_unclear
