"""What goes wrong with a server, sorted by what helps."""

from enum import Enum
from typing import Final

from grove_core import BackendError


class FaultKind(Enum):
    """Why a server could not be used; the values stand in ``grove doctor`` and in JSON."""

    NOT_STARTED = "could not be started"
    EXITED = "ended by itself"
    REFUSED = "refused the connection"
    TIMED_OUT = "did not answer in time"
    TOO_LARGE = "sent more than is read"
    MALFORMED = "sent what is no answer"
    UNSUPPORTED = "speaks another version of the protocol"
    TOOL_FAILED = "said that its tool failed"
    NOT_STORED = "does not give back what was stored"
    UNSUITABLE = "has no tools that fit"


ABOUT_ONE_LEARNING: Final = frozenset({FaultKind.TOOL_FAILED, FaultKind.NOT_STORED})
"""Faults that are no reason to leave a server alone: another learning may fare better."""


class ServerFaultError(BackendError):
    """A server could not be used."""

    def __init__(self, kind: FaultKind, detail: str, *, is_unclear: bool = False) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.is_unclear = is_unclear
