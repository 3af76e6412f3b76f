"""Starts real servers on stores of their own, and sees that nothing of them is left."""

import subprocess
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path

from attrs import frozen
from embedding_endpoint import embedding_endpoint
from processes import end_left_over
from throwaway_server import free_port

from grove_backend_mcp.servers import Endpoint

LONGEST_START_SECONDS = 60


@frozen(kw_only=True)
class Running:
    """A server that can be used.

    Attributes:
        server: Which one.
        home: Its home, by which its processes are told.
        entry: How a client registers it, as in `.mcp.json`.
    """

    server: object
    home: Path
    entry: dict

    @property
    def endpoint(self):
        """How grove's own client reaches it."""
        name = self.server.name
        if self.server.over_http:
            return Endpoint(name=name, url=self.entry["url"])
        return Endpoint(
            name=name,
            words=(self.entry["command"], *self.entry["args"]),
            environment=self.entry["env"],
            cwd=str(self.home),
        )


def answers(url):
    """Whether something speaks HTTP there."""
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except urllib.error.HTTPError as error:
        # Asking without being a client of MCP is refused, which is an answer.
        error.close()
        return True
    except OSError:
        return False


@contextmanager
def process(words, environment, home, url):
    """A server over HTTP, from when it answers to its end."""
    with (home / "server.log").open("wb") as log:
        child = subprocess.Popen(
            words, cwd=home, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        until = time.monotonic() + LONGEST_START_SECONDS
        while not answers(url):
            said = (home / "server.log").read_text(errors="replace")[-2_000:]
            assert child.poll() is None, said
            assert time.monotonic() < until, said
            time.sleep(0.1)
        yield
    finally:
        child.terminate()
        try:
            child.wait(15)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


@contextmanager
def running(server, folder):
    """A server with an empty store in a folder; no process of it may be left in the end."""
    home, store = folder / "home", folder / "store"
    for path in (home, store):
        path.mkdir(parents=True)
    places = {"home": home, "store": store}
    with ExitStack() as stack:
        if server.over_http:
            places["port"] = free_port()
        if server.needs_model:
            server.provide_model(home)
        if server.needs_embeddings:
            places["embeddings"] = stack.enter_context(embedding_endpoint())
        words, environment = server.command(**places), server.environment(**places)
        if server.over_http:
            url = f"http://127.0.0.1:{places['port']}{server.path}"
            stack.enter_context(process(words, environment, home, url))
            entry = {"type": "http", "url": url}
        else:
            entry = {"command": words[0], "args": words[1:], "env": environment}
        try:
            yield Running(server=server, home=home, entry=entry)
        finally:
            stack.close()
            assert end_left_over(home) == []
