"""What came of a request: the same for programs, for people, and for pipes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from attrs import frozen

Part: TypeAlias = str | tuple[str, str]
"""A text, alone or with its style."""

Line: TypeAlias = Part | list[Part]


def _print_nothing(console: object) -> None:
    del console


@frozen(kw_only=True)
class Result:
    """A JSON document, lines or a picture of it for people, and the ids that ``--quiet`` prints."""

    document: Mapping[str, Any] | None
    lines: Sequence[Line] = ()
    human: Callable[[Any], None] = _print_nothing
    ids: Sequence[str] = ()
    exit_code: int = 0
    warnings: Sequence[str] = ()
    names_problems: bool = False

    @property
    def texts(self) -> list[str]:
        """The lines without their styles."""
        parts = (line if isinstance(line, list) else [line] for line in self.lines)
        return ["".join(one if isinstance(one, str) else one[0] for one in each) for each in parts]

    @classmethod
    def printed(cls, wrong: Sequence[str]) -> "Result":
        """Return the result of a command that has printed its answers itself, as it went."""
        return cls(document=None, warnings=wrong, exit_code=1 if wrong else 0)

    @classmethod
    def failed(cls, message: str) -> "Result":
        """Return the result of a command that could not do its work."""
        return cls(document={"error": message}, exit_code=1, warnings=[message])
