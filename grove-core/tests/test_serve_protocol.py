"""The protocol of the session's server, line by line."""

import json

import pytest

from grove_core.serve.server import Refused, answer_message, read_message

TOOLS = [{"name": "skip"}]


def line(**fields):
    return json.dumps({"jsonrpc": "2.0", **fields}).encode()


def answered(data):
    """What the server answers to a line that calls no tool."""
    try:
        request = read_message(data)
        assert request is not None
        answer = answer_message(request, lambda: TOOLS)
    except Refused as refused:
        answer = refused.answer
    assert answer.endswith(b"\n")
    assert answer.count(b"\n") == 1
    message = json.loads(answer)
    assert message.pop("jsonrpc") == "2.0"
    return message


@pytest.mark.parametrize(
    ("wanted", "given"),
    [("2025-11-25", "2025-11-25"), ("2024-11-05", "2024-11-05"), ("1999-01-01", "2025-11-25")],
)
def test_a_handshake_gives_the_clients_version_or_the_newest(wanted, given):
    answer = answered(line(id=0, method="initialize", params={"protocolVersion": wanted}))
    assert answer["id"] == 0
    assert answer["result"]["protocolVersion"] == given
    assert answer["result"]["capabilities"] == {"tools": {}}
    assert answer["result"]["serverInfo"]["name"] == "grove"
    assert "resultType" not in answer["result"]


@pytest.mark.parametrize(
    ("data", "code", "request_id"),
    [
        (b"{", -32700, None),
        (b"\xff\xfe{}", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b"[]", -32600, None),
        (b'"text"', -32600, None),
        (line(id=3), -32600, 3),
        (line(id=3, method=5), -32600, 3),
        (line(id=[3], method="ping"), -32600, None),
        (line(id=4, method="resources/list"), -32601, 4),
        (line(id="x", method="x" * 100_000), -32601, "x"),
        (line(id=5, method="ping", params={"_meta": {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}}), -32022, 5),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_refused(data, code, request_id):
    answer = answered(data)
    assert answer["id"] == request_id
    assert answer["error"]["code"] == code
    assert len(answer["error"]["message"]) < 300
