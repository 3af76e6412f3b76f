"""How much of a server is put up with: time, bytes, depth, numbers."""

from typing import Final

from attrs import frozen

_MEBIBYTE: Final = 1024 * 1024


@frozen(kw_only=True)
class Limits:
    """Bounds of one connection; times are in seconds."""

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
