"""Scripted stand-in for the Anthropic Messages API, on loopback only.

README.md tells the format of the script.
"""

import hashlib
import json
import threading
import time
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

COMPACTION = "CRITICAL: Respond with TEXT ONLY"


def text_of(content):
    """All the text of a message's content, tool results included."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    out = []
    for block in content:
        if block.get("type") == "text":
            out.append(block.get("text", ""))
        elif block.get("type") == "tool_result":
            out.append(text_of(block.get("content")))
    return "\n".join(out)


def added(messages):
    """The messages after the last one of the assistant."""
    for index in range(len(messages), 0, -1):
        if messages[index - 1]["role"] == "assistant":
            return messages[index:]
    return messages


class Script:
    """Picks the reply to a request from the script and the conversation so far."""

    def __init__(self, spec):
        self.spec = spec
        self.lock = threading.Lock()
        self.conversations = {}  # name -> (digest of the last request, index of its turn)

    def reply(self, body):
        """The conversation's name, the turn's index and the turn."""
        messages = body.get("messages", [])
        last = "\n".join(text_of(each["content"]) for each in added(messages))
        with self.lock:
            if not body.get("tools"):  # titles, summaries, classifiers
                return "aux", 0, {"text": "Scripted aux reply."}
            if COMPACTION in last:
                return "compact", 0, {"text": "<summary>Scripted summary.</summary>"}
            return self._next_turn(messages)

    def _next_turn(self, messages):
        name, turns = self._conversation(messages)
        digest = hashlib.sha256(json.dumps(messages).encode()).hexdigest()
        seen, index = self.conversations.get(name, (None, -1))
        if digest != seen:  # the same messages again are a retry: same reply
            index += 1
        self.conversations[name] = (digest, index)
        return name, index, turns[index] if index < len(turns) else {"text": "Script over."}

    def _conversation(self, messages):
        first = next((text_of(each["content"]) for each in messages if each["role"] == "user"), "")
        for key, turns in self.spec.get("agents", {}).items():
            if key in first:
                return f"agent:{key}", turns
        return "main", self.spec.get("turns", [])


def blocks_of(turn, seed):
    """The content blocks of a turn; the seed makes the ids of its tool calls unique."""
    blocks = []
    if "text" in turn:
        blocks.append({"type": "text", "text": turn["text"]})
    calls = list(turn.get("tools", []))
    if "tool" in turn:
        calls.append({"tool": turn["tool"], "input": turn.get("input", {})})
    for number, call in enumerate(calls):
        digest = hashlib.sha256(f"{seed}/{number}".encode()).hexdigest()[:20]
        block = {"type": "tool_use", "id": f"toolu_01{digest}", "name": call["tool"]}
        blocks.append({**block, "input": call.get("input", {})})
    return blocks or [{"type": "text", "text": ""}]


def block_events(index, block):
    """The stream events that carry one content block."""
    if block["type"] == "text":
        start = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        start = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield "content_block_start", {"index": index, "content_block": start}
    yield "content_block_delta", {"index": index, "delta": delta}
    yield "content_block_stop", {"index": index}


class RequestLog:
    """Appends every request as one JSON line."""

    def __init__(self, path):
        self.path = Path(path)
        self.lock = threading.Lock()

    def append(self, entry):
        with self.lock, self.path.open("a") as file:
            file.write(json.dumps({"t": time.time(), **entry}) + "\n")


class Handler(BaseHTTPRequestHandler):
    """Answers the client's requests from a script."""

    protocol_version = "HTTP/1.1"

    def __init__(self, script, log, *arguments):
        self.script = script
        self.log = log
        super().__init__(*arguments)

    def log_message(self, *arguments):
        """Nothing goes to stderr; the requests are in the log."""

    def do_HEAD(self):
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def do_GET(self):
        self.log.append({"method": "GET", "path": self.path})
        if self.path.startswith("/v1/models"):
            self.send_json(200, {"data": [], "has_more": False, "first_id": None, "last_id": None})
        else:
            self.send_error_json(404, "not_found_error", self.path)

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        entry = {"method": "POST", "path": self.path, "body": body}
        path = self.path.split("?")[0]
        if path == "/v1/messages":
            name, index, turn = self.script.reply(body)
            self.log.append({**entry, "conversation": name, "turn": index, "reply": turn})
            self.answer(body, turn, seed=f"{name}/{index}/{time.time()}")
        elif path == "/v1/messages/count_tokens":
            self.log.append(entry)
            self.send_json(200, {"input_tokens": max(1, len(raw) // 4)})
        else:
            self.log.append(entry)
            self.send_error_json(404, "not_found_error", path)

    def answer(self, body, turn, seed):
        if "error" in turn:
            error = turn["error"]
            self.send_error_json(error["status"], error["type"], error["message"])
            return
        blocks = blocks_of(turn, seed)
        ends_with_call = blocks[-1]["type"] == "tool_use"
        stop = "tool_use" if ends_with_call else "end_turn"
        message = {
            "id": f"msg_{hashlib.sha256(seed.encode()).hexdigest()[:20]}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "fake"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {
                "input_tokens": 100,
                "output_tokens": 10,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                **turn.get("usage", {}),
            },
        }
        if body.get("stream"):
            self.stream(message, blocks, stop)
        else:
            self.send_json(200, {**message, "content": blocks, "stop_reason": stop})

    def stream(self, message, blocks, stop):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        self.send_event("message_start", {"message": message})
        for index, block in enumerate(blocks):
            for name, data in block_events(index, block):
                self.send_event(name, data)
        delta = {"stop_reason": stop, "stop_sequence": None}
        self.send_event("message_delta", {"delta": delta, "usage": message["usage"]})
        self.send_event("message_stop", {})

    def send_event(self, name, data):
        text = json.dumps({**data, "type": name})
        self.wfile.write(f"event: {name}\ndata: {text}\n\n".encode())
        self.wfile.flush()

    def send_json(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def send_error_json(self, status, kind, message):
        self.send_json(status, {"type": "error", "error": {"type": kind, "message": message}})


def serve(spec, log_path):
    """Starts the server in a thread and returns it; its port is ``server_address[1]``."""
    handler = partial(Handler, Script(spec), RequestLog(log_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
