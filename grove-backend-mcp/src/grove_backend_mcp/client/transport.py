"""What carries messages to a server and back."""

from collections.abc import Generator, Mapping
from typing import Any, Protocol


class SessionLostError(Exception):
    """The server does not know its session any longer."""

    def __init__(self, *, is_certain: bool) -> None:
        """Return how that is known."""
        super().__init__()
        self.is_certain = is_certain


class Transport(Protocol):
    """A way to one server. Deadlines are values of ``time.monotonic()``."""

    def exchange(
        self, message: Mapping[str, Any], deadline: float
    ) -> Generator[dict[str, Any], None, None]:
        """Send a request and give what comes in afterwards, its answer among it."""
        ...

    def send(self, message: Mapping[str, Any], deadline: float) -> None:
        """Send a message that is not answered."""
        ...

    def agree(self, version: str, *, is_modern: bool) -> None:
        """Take the version of the protocol that is spoken from now on."""
        ...

    def forget(self) -> None:
        """Forget the session and the version: the handshake is made anew."""
        ...
