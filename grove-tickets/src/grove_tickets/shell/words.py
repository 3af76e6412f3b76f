"""What is known of a word of a shell command."""

import re
from typing import Final

UNKNOWN: Final = "\ufffc"
_UNKNOWNS: Final = re.compile(f"{UNKNOWN}+")


def is_known(word: str) -> bool:
    """Return whether the text alone says what a word is."""
    return UNKNOWN not in word


def merged(text: str) -> str:
    """Let one sign stand for unknown text that follows unknown text."""
    return _UNKNOWNS.sub(UNKNOWN, text) if UNKNOWN * 2 in text else text


def mark_patterns(text: str) -> str:
    """Mark what the shell would compare with the names of files."""
    marked = text.replace("*", UNKNOWN).replace("?", UNKNOWN)
    end = max(marked.rfind("]"), 0)
    return marked[:end].replace("[", UNKNOWN) + marked[end:]


class Fields:
    """The words that a word of the text becomes, while it is expanded."""

    def __init__(self) -> None:
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
            self._finished.append(merged("".join(self._current)))
            self._current = None

    def take(self) -> list[str]:
        """Return the finished words."""
        self.end()
        return self._finished
