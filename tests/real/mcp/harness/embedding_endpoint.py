"""A loopback endpoint for embeddings, of the form that memory servers ask hosted ones in.

A text's vector counts its words, each at a place and with a sign that its hash says: texts with words
in common are near each other, which is all that these tests need of it.
"""

import hashlib
import json
import math
import re
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

DIMENSIONS = 384


def vector(text):
    """The vector of a text, of length one."""
    counts = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.lower()) or [""]:
        digest = hashlib.sha256(word.encode()).digest()
        counts[int.from_bytes(digest[:4]) % DIMENSIONS] += 1.0 if digest[4] % 2 else -1.0
    length = math.sqrt(sum(count * count for count in counts))
    return [count / length for count in counts] if length else [1.0, *counts[1:]]


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = asked["input"] if isinstance(asked["input"], list) else [asked["input"]]
        rows = [{"index": at, "embedding": vector(text)} for at, text in enumerate(texts)]
        body = json.dumps({"object": "list", "data": rows}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass


@contextmanager
def embedding_endpoint():
    """The address of a running endpoint."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1/embeddings"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
