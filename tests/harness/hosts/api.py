"""A model on loopback that plays a script, over the wire that the client speaks.

A script is a list of turns, one for each request of the conversation. A turn is a text, a `Shell`, a
`Call`, a `Failure`, a tuple of the first three, or a function that makes one of a `Request`.
"""

import hashlib
import json
import threading
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from uuid import uuid4

from attrs import frozen

# What clients ask a model beside the conversation: titles, routes, who speaks next.
ASIDE = json.dumps({"complexity_reasoning": "none", "complexity_score": 1, "next_speaker": "user"})
OVER = "Script over."
LABELS = {
    "type", "role", "id", "call_id", "tool_call_id", "tool_use_id", "status", "phase", "name",
    "cache_control", "encrypted_content", "thoughtSignature", "metadata",
}  # fmt: skip
OWN_TYPES = {"reasoning", "function_call", "custom_tool_call"}


@frozen
class Shell:
    """A command that the model has its shell tool run."""

    command: str


@frozen
class Call:
    """A call of any tool, by the client's own name; a plain text is the input of a custom tool."""

    tool: str
    input: dict | str


@frozen
class Failure:
    """An answer of the API that is none."""

    status: int = 500
    message: str = "scripted failure"


@frozen(slots=False)
class Request:
    """What the model was sent in one request.

    Attributes:
        path: The address.
        body: The document.
        turn: The number of the turn that answered it; None for what is asked beside the conversation.
    """

    path: str
    body: dict
    turn: int | None

    @cached_property
    def messages(self):
        """Role and text of each message; the instructions come first."""
        instructions = [self.body.get("instructions"), self.body.get("systemInstruction")]
        items = [{"role": "system", "text": each} for each in instructions if each]
        return tuple((role_of(item), text_of(item)) for item in items + conversation(self.body))

    @property
    def read(self):
        """All that the model read."""
        return "\n".join(text for _, text in self.messages)

    @property
    def new(self):
        """What came after the model's own last message."""
        own = [number for number, (role, _) in enumerate(self.messages) if role == "assistant"]
        return "\n".join(text for _, text in self.messages[own[-1] + 1 if own else 0 :])


def conversation(body):
    """The items of a conversation on any of the wires."""
    items = body.get("input") or body.get("messages") or body.get("contents") or []
    return items if isinstance(items, list) else [{"role": "user", "text": items}]


def role_of(item):
    """Who speaks in an item: `assistant` on each wire, or the wire's own word."""
    own = item.get("role") in {"assistant", "model"} or item.get("type") in OWN_TYPES
    return "assistant" if own else item.get("role") or "tool"


def text_of(value):
    """All the text of a document, but for labels."""
    if isinstance(value, dict):
        value = [each for key, each in value.items() if key not in LABELS]
    if isinstance(value, list):
        return "\n".join(text for text in map(text_of, value) if text)
    return value if isinstance(value, str) else ""


class Model(ThreadingHTTPServer):
    """Serves a script on loopback, and keeps what it was asked.

    Args:
        script: The turns.
        shell: What the client's shell tool is called with for a command.
        most: How many requests are answered; `overrun` is set by the next one.
    """

    daemon_threads = True

    def __init__(self, script, shell, most):
        super().__init__(("127.0.0.1", 0), Handler)
        self.script, self.shell, self.most = script, shell, most
        self.requests, self.known = [], {}
        self.overrun, self.lock = threading.Event(), threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def close(self):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, address):
        """A client that is killed in the middle of a request is no fault."""

    def answer(self, path, body):
        """A `Failure`, or the text and the calls of the turn; the same request again gets the same one."""
        with self.lock:
            if len(self.requests) >= self.most:
                self.overrun.set()
                return Failure(429, "more requests than the test allows")
            if not body.get("tools"):
                self.requests.append(Request(path, body, None))
                return ASIDE, []
            digest = hashlib.sha256(json.dumps(conversation(body)).encode()).digest()
            turn = self.known.setdefault(digest, len(self.known))
            request = Request(path, body, turn)
            self.requests.append(request)
            return self.spoken(self.script[turn] if turn < len(self.script) else OVER, request)

    def spoken(self, turn, request):
        turn = turn(request) if callable(turn) else turn
        if isinstance(turn, Failure):
            return turn
        parts = turn if isinstance(turn, tuple) else (turn,)
        calls = [self.shell(part.command) if isinstance(part, Shell) else part for part in parts]
        text = "\n".join(part for part in parts if isinstance(part, str))
        return text, [call for call in calls if isinstance(call, Call)]


def new_id():
    return f"call_{uuid4().hex[:20]}"


def responses_events(text, calls):
    """The events of OpenAI's responses."""
    items = []
    if text:
        content = [{"type": "output_text", "text": text}]
        items.append({"type": "message", "role": "assistant", "content": content})
    for call in calls:
        item = {"call_id": new_id(), "name": call.tool}
        if isinstance(call.input, str):
            items.append({"type": "custom_tool_call", **item, "input": call.input})
        else:
            arguments = json.dumps(call.input)
            items.append({"type": "function_call", **item, "arguments": arguments})
    yield {"type": "response.created", "response": {"id": "resp_1"}}
    for number, item in enumerate(items):
        yield {"type": "response.output_item.done", "output_index": number, "item": item}
    yield {"type": "response.completed", "response": {"id": "resp_1"}}


def chat_chunks(text, calls):
    """The chunks of OpenAI's chat completions."""
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": "fake"}
    deltas = [{"role": "assistant", "content": text}]
    for number, call in enumerate(calls):
        function = {"name": call.tool, "arguments": json.dumps(call.input)}
        one = {"index": number, "id": new_id(), "type": "function", "function": function}
        deltas.append({"tool_calls": [one]})
    for delta in deltas:
        yield {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    finish = "tool_calls" if calls else "stop"
    yield {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}


def gemini_chunks(text, calls):
    """The only chunk of Gemini's streamGenerateContent."""
    parts = [{"text": text}] if text or not calls else []
    for call in calls:
        function = {"id": new_id(), "name": call.tool, "args": call.input}
        parts.append({"functionCall": function})
    content = {"role": "model", "parts": parts}
    yield {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}


def anthropic_events(text, calls):
    """The events of Anthropic's messages, where the text ends before a call begins."""
    blocks = [({"type": "text", "text": ""}, {"type": "text_delta", "text": text})] if text else []
    for call in calls:
        use = {"type": "tool_use", "id": new_id(), "name": call.tool, "input": {}}
        whole = {"type": "input_json_delta", "partial_json": json.dumps(call.input)}
        blocks.append((use, whole))
    usage = {"input_tokens": 100, "output_tokens": 10}
    message = {"id": f"msg_{uuid4().hex}", "type": "message", "role": "assistant", "model": "fake"}
    yield {"type": "message_start", "message": {**message, "content": [], "usage": usage}}
    for index, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = {"stop_reason": "tool_use" if calls else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": reason, "usage": usage}
    yield {"type": "message_stop"}


# The end of an address, and what streams an answer there.
WIRES = {
    "/responses": responses_events,
    "/chat/completions": chat_chunks,
    "/messages": anthropic_events,
    ":streamGenerateContent": gemini_chunks,
    ":generateContent": gemini_chunks,
}


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send(404, {"error": {"message": f"there is no {self.path}"}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        path = self.path.split("?")[0]
        wire = next((WIRES[end] for end in WIRES if path.endswith(end)), None)
        if wire is None:
            self.do_GET()
            return
        answer = self.server.answer(path, body)
        if isinstance(answer, Failure):
            fields = {"message": answer.message, "code": answer.status, "type": "server_error"}
            self.send(answer.status, {"error": {**fields, "status": "INTERNAL"}})
        elif path.endswith(":generateContent"):
            self.send(200, next(wire(*answer)))
        else:
            self.stream(wire(*answer))

    def stream(self, events):
        lines = []
        for event in events:
            kind = f"event: {event['type']}\n" if "type" in event else ""
            lines.append(f"{kind}data: {json.dumps(event)}\n\n")
        done = "data: [DONE]\n\n" if self.path.endswith("/chat/completions") else ""
        self.send_bytes(200, "text/event-stream", ("".join(lines) + done).encode())

    def send(self, status, document):
        self.send_bytes(status, "application/json", json.dumps(document).encode())

    def send_bytes(self, status, kind, data):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
