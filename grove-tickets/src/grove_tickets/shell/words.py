"""What is known of a word of a shell command."""

import re
from typing import Final

from grove_tickets.arguments import UNKNOWN

_UNKNOWNS: Final = re.compile(f"{UNKNOWN}+")
_ESCAPE: Final = re.compile(r"\\([nt\\'\"])")
_ODD_ESCAPE: Final = re.compile(r"\\(?:\\\\)*+[^nt\\'\"]")
_LETTERS: Final = {"n": "\n", "t": "\t"}


def mark_patterns(text: str) -> str:
    """Mark what the shell would compare with the names of files."""
    marked = text.replace("*", UNKNOWN).replace("?", UNKNOWN)
    end = max(marked.rfind("]"), 0)
    return marked[:end].replace("[", UNKNOWN) + marked[end:]


def unescaped(text: str) -> str:
    """Decode the backslashes of ``$'…'``, ``printf`` and ``echo -e`` that agents use."""
    if _ODD_ESCAPE.search(text):
        return UNKNOWN
    return _ESCAPE.sub(lambda match: _LETTERS.get(match[1], match[1]), text)


class Fields:
    """The words that a word of the text becomes, while it is expanded."""

    def __init__(self, *, splits: bool = True) -> None:
        self.splits = splits
        self._finished: list[str] = []
        self._current: list[str] | None = None

    def add(self, text: str) -> None:
        """Add text that is not split; even an empty one makes a word."""
        if self._current is None:
            self._current = []
        self._current.append(text)

    def split(self, text: str) -> None:
        """Add text that is split at blanks and may be a pattern of file names."""
        for piece in re.split(r"([ \t\n]+)", text):
            if piece.strip(" \t\n"):
                self.add(mark_patterns(piece))
            elif piece:
                self.end()

    def end(self) -> None:
        """End the word that is being made, if there is one."""
        if self._current is not None:
            self._finished.append(_UNKNOWNS.sub(UNKNOWN, "".join(self._current)))
            self._current = None

    def take(self) -> list[str]:
        """Return the finished words."""
        self.end()
        return self._finished
