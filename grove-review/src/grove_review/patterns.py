"""Which tool calls need an approval: ``Bash:gh issue close*``, ``mcp__tissue__*``, ``Edit``."""

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase, translate
from typing import Final

from grove_core import GateCall

DECIDE: Final = ("grove", "reviewer", "decide")
"""The command that takes a reviewer's decision."""

_UNKNOWN: Final = "\N{REPLACEMENT CHARACTER}"
_SPACE: Final = "\0"
_OPTIONS: Final = r"(?: -[^ ]+(?: (?!-)[^ ]+)?)*"
_MOST_WORDS: Final = 500
"""Of a command; more would only make the search long."""
_PLAIN: Final = r"[A-Za-z0-9_-]+"
_SEEN_ANYWAY: Final = ("Bash", "TaskUpdate", "TodoWrite")
"""What grove's hooks are registered for whatever gates want; and ``mcp__*``."""


class Pattern:
    """A pattern: the tool's name, and what stands behind ``Bash:``."""

    def __init__(self, text: str) -> None:
        """Take it as it is written."""
        self.text = text

    @property
    def tool(self) -> str:
        """The pattern of the tool's name."""
        return self.text.partition(":")[0].strip()

    @property
    def command(self) -> str:
        """The pattern of a simple command; empty where any call of the tool counts."""
        return " ".join(self.text.partition(":")[2].split())

    @property
    def is_sound(self) -> bool:
        """Whether a call could match at all."""
        is_name = re.fullmatch(r"[\w*?-]+", self.tool) is not None
        return is_name and self.text.isprintable() and (bool(self.command) or ":" not in self.text)

    @property
    def literal(self) -> str:
        """The words without which no call matches; empty where none is sure."""
        plain: list[str] = []
        for word in (self.command or self.tool).split():
            if not re.fullmatch(_PLAIN, word):
                break
            plain.append(word)
        return " ".join(plain)

    def matches(self, call: GateCall) -> bool:
        """Return whether a call needs an approval."""
        if call.tool is None or not fnmatchcase(call.tool.name, self.tool):
            return False
        if not self.command:
            return True
        # Before each word of the pattern there may be options, each with or without a value.
        pattern = re.compile(translate(self.command).replace(r"\ ", f"{_OPTIONS} "))
        spelled = [_spelled(words) for words in call.commands]
        return any(
            pattern.match(line) or fnmatchcase(line.replace(_SPACE, " "), self.command)
            for line in spelled
        )


def _spelled(words: Sequence[str | None]) -> str:
    """Write a command in one line: the program without its folder, and no spaces within a word."""
    known = [
        _UNKNOWN if word is None else word.replace(" ", _SPACE) for word in words[:_MOST_WORDS]
    ]
    return " ".join([known[0].rpartition("/")[2], *known[1:]]) if known else ""


def tools_to_register(patterns: Iterable[Pattern]) -> tuple[str, ...]:
    """Name the tools that the client must call grove's hook for besides, as its matchers do."""
    names = dict.fromkeys(one.tool for one in patterns)
    return tuple(
        name.replace("*", ".*").replace("?", ".")
        for name in names
        if name not in _SEEN_ANYWAY and not name.startswith("mcp__")
    )
