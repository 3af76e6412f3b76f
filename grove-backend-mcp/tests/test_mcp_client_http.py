"""The client against servers that misbehave over HTTP; they run in threads of the test."""

import json
import shutil
import ssl
import subprocess
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_backend_mcp.client import Limits, Reporter, connect
from grove_backend_mcp.servers import Endpoint, FaultKind, ServerFaultError

TOKEN = "token-of-the-user"
INFO = {"name": "web", "version": "1"}
TOOL = {"name": "memory_search", "inputSchema": {"type": "object"}}
QUICK = Limits(connect_seconds=20.0, call_seconds=0.7, closing_seconds=0.3)


class Server(ThreadingHTTPServer):
    """Answers as one function says, and keeps what it was asked."""

    daemon_threads = True
    request_queue_size = 50

    def __init__(self, answer):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answer = answer
        self.seen = []
        self.over = threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/mcp"

    def handle_error(self, request, client_address):
        pass

    def methods(self):
        return [
            message.get("method", "answer") for _verb, _headers, message in self.seen if message
        ]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.message = json.loads(body)
        self.server.seen.append(("POST", self.headers, self.message))
        with suppress(OSError):
            if not self.server.answer(self, self.message):
                self.usual()

    def do_DELETE(self):
        self.server.seen.append(("DELETE", self.headers, None))
        with suppress(OSError):
            self.reply(200, b"")

    def log_message(self, *_words):
        pass

    def reply(self, status, body, kind="application/json", **headers):
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": str(len(body)), **headers}
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def result(self, value, **headers):
        document = {"jsonrpc": "2.0", "id": self.message["id"], "result": value}
        self.reply(200, json.dumps(document).encode(), **headers)

    def error(self, status, code, text, data=None):
        error = {"code": code, "message": text, "data": data}
        document = {"jsonrpc": "2.0", "id": self.message.get("id"), "error": error}
        self.reply(status, json.dumps(document).encode())

    def texts(self, *found):
        self.result({"content": [{"type": "text", "text": one} for one in found]})

    def begin_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.end_headers()

    def event(self, line_end="\n", **message):
        text = json.dumps({"jsonrpc": "2.0", **message})
        self.wfile.write(
            f"event: message{line_end}id: 7{line_end}data: {text}{line_end * 2}".encode()
        )

    def usual(self, **headers):
        method = self.message.get("method")
        if "id" not in self.message or method is None:
            self.reply(202, b"")
        elif method == "initialize":
            answer = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": INFO}
            self.result(answer, **headers)
        elif method == "tools/list":
            self.result({"tools": [TOOL]})
        else:
            self.texts("ok")


@pytest.fixture
def serve():
    """Start servers; they end with the test."""
    started = []

    def start(answer=lambda handler, message: False):
        server = Server(answer)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        started.append(server)
        return server

    yield start
    for server in started:
        server.over.set()
        server.shutdown()
        server.server_close()


def endpoint_of(url, **more):
    headers = {"Authorization": f"Bearer {TOKEN}"}
    settings = {"name": "team", "url": url, "headers": headers}
    return Endpoint(**{**settings, "secrets": (TOKEN,), **more})


def texts_of(server, limits=None):
    with connect(endpoint_of(server.url), limits) as connection:
        return connection.call("memory_search", {"query": "x"}).texts


def outcome_of(server, limits):
    """The texts of a call, or the kind of its fault with whether it leaves open what was done."""
    try:
        return texts_of(server, limits)
    except ServerFaultError as fault:
        return fault.kind, fault.is_unclear


def fault_of(url, limits=None, **more):
    with (
        pytest.raises(ServerFaultError) as caught,
        connect(endpoint_of(url, **more), limits) as one,
    ):
        one.call("memory_search", {})
    assert TOKEN not in caught.value.detail
    assert caught.value.detail.startswith("team: ")
    return caught.value


def on(wanted, act):
    """An answer that is special for one method."""

    def answer(handler, message):
        if message.get("method") != wanted:
            return False
        act(handler)
        return True

    return answer


def on_call(act):
    return on("tools/call", act)


def test_a_server_is_spoken_to_with_its_headers(serve):
    server = serve()
    with connect(endpoint_of(server.url)) as connection:
        assert (connection.server_name, connection.protocol_version) == ("web", "2025-11-25")
        assert [tool.name for tool in connection.tools()] == ["memory_search"]
        assert connection.call("memory_search", {}).texts == ("ok",)
    assert server.methods() == [
        "initialize",
        "notifications/initialized",
        "tools/list",
        "tools/call",
    ]
    for _verb, headers, _message in server.seen:
        assert headers["Authorization"] == f"Bearer {TOKEN}"
        assert headers["Accept"] == "application/json, text/event-stream"
    assert "MCP-Protocol-Version" not in server.seen[0][1]
    assert server.seen[-1][1]["MCP-Protocol-Version"] == "2025-11-25"


def losing(status, text, times, method="tools/call"):
    """Give sessions, and lose the first ones when they are used."""
    lost = []

    def answer(handler, message):
        if message.get("method") == "initialize":
            handler.usual(Mcp_Session_Id=f"s-{len(lost)}")
            return True
        if message.get("method") == method and len(lost) < times:
            lost.append(handler.headers["Mcp-Session-Id"])
            error = {"code": -32600, "message": text}
            document = {"jsonrpc": "2.0", "id": "server-error", "error": error}
            handler.reply(status, json.dumps(document).encode())
            return True
        return False

    return answer


LOST = "Bad Request: Missing session ID"


@pytest.mark.parametrize(("status", "text"), [(404, "Session not found"), (400, LOST)])
def test_a_lost_session_is_begun_anew_once(serve, status, text):
    server = serve(losing(status, text, 1, "tools/list"))
    with connect(endpoint_of(server.url)) as connection:
        assert [tool.name for tool in connection.tools()] == ["memory_search"]
    assert server.methods().count("initialize") == 2
    assert server.seen[-1][1]["Mcp-Session-Id"] == "s-1"

    server = serve(losing(status, text, 9, "tools/list"))
    with (
        pytest.raises(ServerFaultError, match="wants a session"),
        connect(endpoint_of(server.url)) as connection,
    ):
        connection.tools()
    assert server.methods().count("tools/list") == 2


def test_a_call_is_made_again_only_where_the_protocol_says_that_it_was_not_seen(serve):
    assert texts_of(serve(losing(404, "gone", 1))) == ("ok",)

    server = serve(losing(400, LOST, 1))
    with connect(endpoint_of(server.url)) as connection:
        with pytest.raises(ServerFaultError, match="lost its session") as caught:
            connection.call("memory_search", {})
        assert (caught.value.kind, caught.value.is_unclear) == (FaultKind.REFUSED, True)
        assert server.methods().count("tools/call") == 1
        assert connection.call("memory_search", {}).texts == ("ok",)


def redirecting(status, location):
    def answer(handler, _message):
        if handler.path.endswith("/"):
            return False
        handler.reply(status, b"", Location=location)
        return True

    return answer


def test_redirections_are_followed_on_the_same_server_only_and_not_without_end(serve):
    other = serve()
    for status in (302, 307, 308):
        assert fault_of(serve(redirecting(status, other.url)).url).kind is FaultKind.REFUSED
    assert other.seen == []
    assert texts_of(serve(redirecting(307, "/mcp/"))) == ("ok",)
    server = serve(redirecting(307, "/mcp"))
    assert fault_of(server.url).detail == "team: redirects without end"
    assert len(server.seen) == 4


def test_a_stream_may_tell_other_things_first(serve):
    def act(handler):
        handler.begin_stream()
        handler.wfile.write(
            b"\xef\xbb\xbf: welcome\r\n\r\nevent: other\r\ndata: no message\r\n\r\n"
        )
        handler.event(method="notifications/message", params={"data": "busy"})
        handler.event("\r\n", method="ping", id="p")
        handler.wfile.write(b"data: not JSON\n\n")
        document = {"jsonrpc": "2.0", "id": handler.message["id"]}
        document["result"] = {"content": [{"type": "text", "text": "at last"}]}
        for line in json.dumps(document, indent=1).splitlines():
            handler.wfile.write(f"data: {line}\r\n".encode())
        handler.wfile.write(b"\r\n")
        # The stream goes on; who waits for its end is late.
        handler.server.over.wait(30)

    server = serve(on_call(act))
    with connect(endpoint_of(server.url)) as connection:
        assert connection.call("memory_search", {}).texts == ("at last",)
    pong = next(
        message for _verb, _headers, message in server.seen if message and "result" in message
    )
    assert (pong["id"], pong["result"]) == ("p", {})


def endless_events(handler):
    handler.begin_stream()
    while not handler.server.over.wait(0.02):
        handler.event(method="notifications/message", params={"data": "busy"})


def fast_events(handler):
    handler.begin_stream()
    while not handler.server.over.is_set():
        handler.event(method="notifications/message", params={"data": "x" * 100_000})


def drip_body(handler):
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.end_headers()
    while not handler.server.over.wait(0.02):
        handler.wfile.write(b" ")


def drip_headers(handler):
    handler.wfile.write(b"HTTP/1.0 200 OK\r\nX-Slow: ")
    while not handler.server.over.wait(0.02):
        handler.wfile.write(b"x")


def broken_event(handler):
    handler.begin_stream()
    handler.wfile.write(b'data: {"jsonrpc":"2.0","id":%d,"result":{]}\n\n' % handler.message["id"])


def hang_up(handler):
    handler.close_connection = True


IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
RESOURCE = {"type": "resource", "resource": {"uri": "x:", "text": "t"}}
ASKS_BACK = {"resultType": "input_required", "requestState": "abc", "inputRequests": {}}
LATIN_1 = b'{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"caf\xe9"}]}}'
OUTCOMES = [
    (endless_events, QUICK, (FaultKind.TIMED_OUT, True)),
    (drip_body, QUICK, (FaultKind.TIMED_OUT, True)),
    (fast_events, None, (FaultKind.TOO_LARGE, True)),
    (lambda one: one.texts("A" * 10_000_000), None, (FaultKind.TOO_LARGE, True)),
    (broken_event, None, (FaultKind.MALFORMED, True)),
    (hang_up, None, (FaultKind.EXITED, True)),
    (lambda one: one.wfile.write(b"no HTTP at all\r\n"), None, (FaultKind.MALFORMED, True)),
    (lambda one: one.reply(200, b"not JSON"), None, (FaultKind.MALFORMED, True)),
    (lambda one: one.reply(200, b"[" * 100_000), None, (FaultKind.MALFORMED, True)),
    (lambda one: one.reply(200, b"{}", "text/html"), None, (FaultKind.MALFORMED, True)),
    (lambda one: one.reply(503, b"busy"), None, (FaultKind.REFUSED, True)),
    (lambda one: one.reply(403, b""), None, (FaultKind.REFUSED, False)),
    (lambda one: one.error(400, -32602, "no such tool"), None, (FaultKind.TOOL_FAILED, False)),
    (lambda one: one.error(200, -32603, "broke"), None, (FaultKind.TOOL_FAILED, False)),
    (lambda one: one.result(None), None, (FaultKind.MALFORMED, True)),
    (lambda one: one.result(ASKS_BACK), None, (FaultKind.TOOL_FAILED, False)),
    (lambda one: one.result({"content": [IMAGE, RESOURCE, {"type": "new"}]}), None, ("t",)),
    (lambda one: one.result({"content": [], "isError": True}), None, ()),
    (lambda one: one.result({"content": [], "structuredContent": [float("nan")]}), None, ()),
    (lambda one: one.reply(200, LATIN_1), None, ("caf\ufffd",)),
]


@pytest.mark.parametrize(("act", "limits", "expected"), OUTCOMES)
def test_every_answer_to_a_call_has_its_outcome(serve, act, limits, expected):
    server = serve(on_call(act))
    assert outcome_of(server, limits) == expected
    if FaultKind.TIMED_OUT in expected:
        cancelled = server.seen[-1][2] or server.seen[-2][2]
        assert cancelled["method"] == "notifications/cancelled"
        assert cancelled["params"]["requestId"] == 2


def test_everything_is_over_when_it_has_to_be(serve):
    began = time.monotonic()
    endpoint = endpoint_of(serve(on("initialize", drip_headers)).url)
    with (
        pytest.raises(ServerFaultError, match="did not answer in time"),
        connect(endpoint, until=began + 0.5),
    ):
        pass
    # Not a measure of speed: the usual limit is 20 seconds.
    assert time.monotonic() - began < 10


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (401, "HTTP 401"),
        (403, "HTTP 403"),
        (404, "path"),
        (507, "team: answered with HTTP 507: no room for ***"),
    ],
)
def test_a_refusal_says_what_helps_and_quotes_no_secret(serve, status, said):
    body = f"no \x1b[1mroom\x1b[0m\nfor {TOKEN}".encode()
    server = serve(lambda handler, _message: handler.reply(status, body) or True)
    fault = fault_of(server.url)
    assert fault.kind is FaultKind.REFUSED
    assert said in fault.detail
    assert ("no room" in fault.detail) == (status == 507)


def older(handler, message):
    """Speaks one older version, and says so."""
    if message.get("method") != "initialize":
        return False
    asked = message["params"]["protocolVersion"]
    if asked == "2024-11-05":
        handler.result({"protocolVersion": asked, "capabilities": {}, "serverInfo": {"name": 7}})
    else:
        handler.error(200, -32022, "no", {"supported": ["2024-11-05"]})
    return True


def test_an_older_version_is_spoken(serve):
    with connect(endpoint_of(serve(older).url)) as connection:
        assert (connection.server_name, connection.protocol_version) == ("", "2024-11-05")
        assert connection.call("memory_search", {}).texts == ("ok",)


def modern(handler, message):
    method = message.get("method")
    if method == "initialize":
        handler.error(400, -32022, "unsupported", {"supported": ["2026-07-28"]})
    elif method == "server/discover":
        meta = {"io.modelcontextprotocol/serverInfo": {"name": "new", "version": "9"}}
        handler.result({"supportedVersions": ["2026-07-28"], "_meta": meta})
    elif method == "tools/list":
        handler.error(404, -32601, "Method not found")
    else:
        return False
    return True


def test_a_modern_server_is_asked_without_a_handshake(serve):
    server = serve(modern)
    with connect(endpoint_of(server.url)) as connection:
        assert (connection.server_name, connection.protocol_version) == ("new", "2026-07-28")
        assert connection.call("memory_search", {}).texts == ("ok",)
        with pytest.raises(ServerFaultError) as caught:
            connection.tools()
    assert caught.value.kind is FaultKind.UNSUITABLE
    assert server.methods() == ["initialize", "server/discover", "tools/call", "tools/list"]
    _verb, headers, message = server.seen[2]
    assert headers["MCP-Protocol-Version"] == "2026-07-28"
    assert headers["Mcp-Method"] == "tools/call"
    assert headers["Mcp-Name"] == "memory_search"
    # It is told the version with each request.
    meta = message["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {}


@pytest.fixture
def certificate(tmp_path):
    """A certificate of this machine that only those trust who are told to, with its key."""
    program = shutil.which("openssl")
    if program is None:
        pytest.skip("needs the program openssl")
    path = tmp_path / "whole.pem"
    words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", path, "-out", "-"]
    done = subprocess.run([program, *words.split(), *names], check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + done.stdout)
    return path


def test_tls_is_spoken_where_the_certificate_is_good(serve, certificate, monkeypatch):
    server = serve(on_call(drip_body))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    # Each thread shakes hands for itself, when it reads.
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    url = server.url.replace("http", "https")
    fault = fault_of(url)
    assert fault.kind is FaultKind.REFUSED
    assert "cannot be connected to: self" in fault.detail
    assert server.seen == []

    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    with connect(endpoint_of(url), QUICK) as connection:
        assert [tool.name for tool in connection.tools()] == ["memory_search"]
        with pytest.raises(ServerFaultError, match="did not answer in time"):
            connection.call("memory_search", {})


HIDDEN = "hunter22"


@given(st.text())
def test_a_line_is_short_visible_and_whole(text):
    line = Reporter("", (HIDDEN,)).line(text)
    assert line == "" or line.isprintable()
    assert len(line) <= 300
    assert Reporter("", (HIDDEN,)).line(line) == line


@pytest.mark.parametrize("dump", [{}, {"ensure_ascii": False}])
def test_a_secret_is_masked_as_json_writes_it_too(dump):
    secret = 'pä"ss\\w/ord'
    text = json.dumps({"key": secret}, **dump)
    assert Reporter("", (secret,)).line(text) == '{"key": "***"}'
    assert Reporter("", (secret,)).line(text.replace("/", "\\/")) == '{"key": "***"}'
