"""What a command found or did, and how that is printed."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import rich_click as click
from attrs import frozen

if TYPE_CHECKING:
    from rich.console import Console

    from grove_core.services.requests import Outcome

_PIPED_WIDTH: Final = 200


def _print_nothing(console: "Console") -> None:
    del console


@frozen(kw_only=True)
class Result:
    """A JSON document, the same for people, and the ids that ``--quiet`` prints."""

    document: Mapping[str, Any] | None
    human: "Callable[[Console], None]" = _print_nothing
    ids: Sequence[str] = ()
    exit_code: int = 0
    warnings: Sequence[str] = ()
    names_problems: bool = False

    @classmethod
    def printed(cls, wrong: Sequence[str]) -> "Result":
        """Return the result of a command that has printed its answers itself, as it went."""
        return cls(document=None, warnings=wrong, exit_code=1 if wrong else 0)

    @classmethod
    def failed(cls, message: str) -> "Result":
        """Return the result of a command that could not do its work."""
        return cls(document={"error": message}, exit_code=1, warnings=[message])

    @classmethod
    def of(cls, outcome: "Outcome") -> "Result":
        """Return what became of an agent's request."""

        def human(console: "Console") -> None:
            for line in outcome.lines:
                console.print(line)

        return cls(
            document=outcome.document,
            human=human,
            ids=outcome.ids,
            exit_code=0 if outcome.succeeded else 1,
            warnings=outcome.warnings,
        )


def print_result(result: Result, *, as_json: bool, quiet: bool) -> None:
    """Print warnings on stderr, and the result in the form that was asked for."""
    for warning in result.warnings:
        click.echo(f"grove: {warning}", err=True)
    if result.document is None:
        pass
    elif as_json:
        from grove_core.storage.codec import to_jsonable

        text = json.dumps(to_jsonable(result.document), ensure_ascii=True, indent=2)
        sys.stdout.write(f"{text}\n")
    elif quiet:
        sys.stdout.write("".join(f"{line}\n" for line in result.ids))
    else:
        result.human(plain_console())
    sys.stdout.flush()


def plain_console() -> "Console":
    """Open a console that prints text as it is."""
    from rich.console import Console

    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(highlight=False, markup=False, emoji=False, width=width, soft_wrap=True)
