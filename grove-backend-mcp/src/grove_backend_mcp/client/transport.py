"""What carries messages to a server and back."""

from collections.abc import Generator, Mapping
from typing import Any, Protocol


class SessionLostError(Exception):
    """The server does not know its session any longer.

    Attributes:
        is_certain: Whether what was sent has not been looked at, as the protocol has it; otherwise
            only the server's words say so.
    """

    def __init__(self, *, is_certain: bool) -> None:
        """Say how that is known.

        Args:
            is_certain: Whether the protocol says it.
        """
        super().__init__()
        self.is_certain = is_certain


class Transport(Protocol):
    """A way to one server. Deadlines are values of ``time.monotonic()``."""

    def exchange(
        self, message: Mapping[str, Any], deadline: float
    ) -> Generator[dict[str, Any], None, None]:
        """Send a request and give what comes in afterwards, its answer among it.

        Args:
            message: The request.
            deadline: When to give up.

        Yields:
            Messages of any kind; it ends when no more can come.

        Raises:
            ServerFaultError: Nothing more can come; unclear when the request was sent.
            SessionLostError: The handshake must be made anew.
        """
        ...

    def send(self, message: Mapping[str, Any], deadline: float) -> None:
        """Send a message that is not answered.

        Args:
            message: A notification, or the answer to a request of the server.
            deadline: When to give up.

        Raises:
            ServerFaultError: It could not be sent.
        """
        ...

    def agree(self, version: str, *, is_modern: bool) -> None:
        """Take the version of the protocol that is spoken from now on.

        Args:
            version: The version, short visible ASCII.
            is_modern: Whether each request is to stand alone.
        """
        ...

    def forget(self) -> None:
        """Forget the session and the version: the handshake is made anew."""
        ...
