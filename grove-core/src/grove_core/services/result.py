"""What came of a request: the same for programs, for people, and for pipes."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from attrs import frozen

from grove_core.quotation import NOTE, Foreign, quote, quote_line

Part: TypeAlias = str | tuple[str, str] | Foreign
"""A text, alone or with its style; what others wrote is marked, and stands last in its line."""

Line: TypeAlias = Part | list[Part]


_LONGEST: Final = 1_000


def line(*parts: Part) -> list[Part]:
    """Make a line of parts."""
    return [*parts]


@frozen(kw_only=True)
class Result:
    """A JSON document, lines or a picture of it for people, and the ids that ``--quiet`` prints."""

    document: Mapping[str, Any] | None
    lines: Sequence[Line] = ()
    human: Callable[[Any], None] | None = None
    ids: Sequence[str] = ()
    exit_code: int = 0
    warnings: Sequence[str] = ()
    names_problems: bool = False

    @property
    def texts(self) -> list[str]:
        """The lines without a terminal: what others wrote is quoted, which is said."""
        lines = [one if isinstance(one, list) else [one] for one in self.lines]
        is_quoting = any(isinstance(part, Foreign) for one in lines for part in one)
        return [*([NOTE] if is_quoting else []), *map(_on_paper, lines)]

    @classmethod
    def printed(cls, wrong: Sequence[str]) -> "Result":
        """Return the result of a command that has printed its answers itself, as it went."""
        return cls(document=None, warnings=wrong, exit_code=1 if wrong else 0)

    @classmethod
    def failed(cls, message: str) -> "Result":
        """Return the result of a command that could not do its work."""
        return cls(document={"error": message}, exit_code=1, warnings=[message])


def _on_paper(parts: Sequence[Part]) -> str:
    said = " ".join(one.text for one in parts if isinstance(one, Foreign))
    own = "".join(
        one if isinstance(one, str) else one[0] for one in parts if not isinstance(one, Foreign)
    )
    if not said:
        return own
    return f"{own.rstrip()} {quote_line(said, _LONGEST)}" if own.strip() else quote(said)
