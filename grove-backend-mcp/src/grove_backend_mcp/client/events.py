"""Server-sent events: what a stream of them says."""

import re
from typing import Final

_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class EventReader:
    """Finds the messages in a stream of server-sent events that comes in pieces."""

    def __init__(self) -> None:
        """Begin a stream."""
        self._rest = bytearray()
        self._data: list[bytes] = []
        self._kind = b""
        self._is_first = True

    @property
    def pending(self) -> int:
        """How many bytes wait for the end of their event."""
        return len(self._rest) + sum(map(len, self._data))

    def feed(self, chunk: bytes) -> list[bytes]:
        """Take a piece of the stream."""
        ends_later = b"\n" not in chunk and b"\r" not in chunk and not self._rest.endswith(b"\r")
        self._rest += chunk
        if ends_later:
            return []
        lines = _LINE_END.split(bytes(self._rest))
        self._rest = bytearray(lines.pop())
        # A line may end with two bytes, of which the second is still on its way.
        if chunk.endswith(b"\r") and lines:
            self._rest = bytearray(lines.pop() + b"\r")
        return [data for line in lines if (data := self._take(line)) is not None]

    def finish(self) -> list[bytes]:
        """End the stream; an event whose empty line is missing counts."""
        found = [*self.feed(b"\n"), *self.feed(b"\n\n")]
        return [data for data in found if data]

    def _take(self, line: bytes) -> bytes | None:
        """Take a line; an empty one ends an event, whose data is given."""
        if self._is_first:
            self._is_first = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        if not line:
            data, kind = b"\n".join(self._data), self._kind
            self._data, self._kind = [], b""
            return data if data and kind in {b"", b"message"} else None
        name, _colon, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
        elif name == b"event":
            self._kind = value
        return None
