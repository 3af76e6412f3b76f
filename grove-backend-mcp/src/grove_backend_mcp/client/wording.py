"""Text of a server that people get to read: short, visible, and without secrets."""

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

LONGEST_LINE: Final = 300
MASK: Final = "***"
_MOST_WARNINGS: Final = 20
# Shorter values stand in too many words by chance, and guard nothing.
_SHORTEST_SECRET: Final = 4
_ESCAPE_SEQUENCE: Final = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)")
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Wording:
    """Cleans what a server says, knowing what must not be shown."""

    def __init__(self, secrets: Sequence[str]) -> None:
        """Take what is hidden."""
        wanted = {form for one in secrets if len(one) >= _SHORTEST_SECRET for form in _forms(one)}
        # The longest first: one may stand within another.
        words = [re.escape(one) for one in sorted(wanted, key=len, reverse=True)]
        self._secret = re.compile("|".join(words)) if words else None

    def mask(self, text: str) -> str:
        """Put asterisks in the place of secrets."""
        return text if self._secret is None else self._secret.sub(MASK, text)

    def line(self, text: str) -> str:
        """Make one short visible line without secrets."""
        # Masked before it is cut: half a secret is not known for one.
        plain = _ESCAPE_SEQUENCE.sub(" ", self.mask(text)[: LONGEST_LINE * 20])
        visible = "".join(map(_shown, plain))
        # What was hidden between the letters of a secret is gone now.
        whole = self.mask(" ".join(visible.split()))
        return whole if len(whole) <= LONGEST_LINE else whole[: LONGEST_LINE - 1].rstrip() + "…"


def plain_json(value: object, depth: int) -> object:
    """Make a JSON value safe to keep: no lone surrogates, no NaN."""
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, float):
        return value if abs(value) < float("inf") else None
    if not isinstance(value, list | dict):
        return value
    if depth == 0:
        raise RecursionError
    if isinstance(value, list):
        return [plain_json(one, depth - 1) for one in value]
    return {plain_json(key, 1): plain_json(one, depth - 1) for key, one in value.items()}


def _forms(secret: str) -> set[str]:
    """How a secret may stand in a text: as it is, and as JSON writes it."""
    escaped = {json.dumps(secret, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}
    return {secret, *escaped, *(one.replace("/", "\\/") for one in escaped)}


def _shown(character: str) -> str:
    """What stands for a character in a line: controls divide, formats vanish."""
    category = unicodedata.category(character)
    if category == "Cc" or category.startswith("Z"):
        return " "
    return "" if category.startswith("C") else character


class Oddities:
    """What was strange about a server, for ``grove doctor``: a few lines, each once."""

    def __init__(self, wording: Wording) -> None:
        """Begin with none."""
        self._wording = wording
        self._lines: dict[str, None] = {}

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines so far."""
        return tuple(self._lines)

    def note(self, text: str) -> None:
        """Keep one more line, while there is room."""
        if len(self._lines) < _MOST_WARNINGS:
            self._lines[self._wording.line(text)] = None
