"""Stands between a client and a server, and breaks connections in the middle of what is said."""

import socket
import threading
from contextlib import closing, contextmanager, suppress

PIECE = 1 << 14


class Proxy:
    """Forwards connections; each of the first ones ends after so many bytes of one direction.

    Attributes:
        limits: For each connection in turn: (bytes from the client, bytes from the server) that are
            let through, ``None`` for all. Further connections are left alone.
        opened: How many connections there have been.
        stalled: While set nothing is forwarded, and nothing is ended either.
    """

    def __init__(self, port):
        self.limits, self.opened, self.cut = [], 0, 0
        self.stalled = threading.Event()
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                limits = (
                    self.limits[self.opened] if self.opened < len(self.limits) else (None, None)
                )
                self.opened += 1
                try:
                    server = socket.create_connection(("127.0.0.1", self._server))
                except OSError:
                    client.close()
                    continue
                self._open |= {client, server}
                for one, other, limit in ((client, server, limits[0]), (server, client, limits[1])):
                    words = (one, other, limit)
                    threading.Thread(target=self._forward, args=words, daemon=True).start()

    def _forward(self, one, other, left):
        with suppress(OSError):
            while piece := one.recv(PIECE):
                if self.stalled.is_set():
                    continue
                if left is not None and len(piece) >= left:
                    other.sendall(piece[:left])
                    self.cut += 1
                    break
                other.sendall(piece)
                left = None if left is None else left - len(piece)
        for each in (one, other):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self):
        for one in (self._listener, *self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@contextmanager
def proxy_before(port):
    """A proxy before the server at a port."""
    with closing(Proxy(port)) as proxy:
        yield proxy


@contextmanager
def silent_server():
    """The port of a server that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]
