"""How much of a server is put up with: time, bytes, depth, numbers."""

from typing import Final

from attrs import frozen

_MEBIBYTE: Final = 1024 * 1024


@frozen(kw_only=True)
class Limits:
    """Bounds of one connection; times are in seconds.

    Attributes:
        connect_seconds: Most time for the whole handshake, the start of a program included.
        call_seconds: Most time for a call, and for the whole list of tools.
        whole_seconds: Most time for a connection that is given no end of its own.
        closing_seconds: Given to a program to end when its input is closed; and to a server over
            HTTP to take note that its session is over.
        ending_seconds: Given to it after SIGTERM, before SIGKILL.
        message_bytes: Most bytes of one message.
        answer_bytes: Most bytes that are read while one answer is waited for, and most that wait
            to be read.
        depth: Most levels of lists and objects within each other.
        texts: Most texts of one result.
        pages: Most pages of the list of tools.
        noise_lines: Most lines that are no messages, before one answer.
    """

    connect_seconds: float = 20.0
    call_seconds: float = 30.0
    whole_seconds: float = 300.0
    closing_seconds: float = 0.5
    ending_seconds: float = 1.0
    message_bytes: int = 4 * _MEBIBYTE
    answer_bytes: int = 8 * _MEBIBYTE
    depth: int = 100
    texts: int = 1000
    pages: int = 20
    noise_lines: int = 1000
