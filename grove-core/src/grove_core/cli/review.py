"""``grove review``."""

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command, is_interactive
from grove_core.cli.result import Result, plain_console
from grove_core.clock import format_instant
from grove_core.errors import GroveError
from grove_core.model.learning import Category
from grove_core.reflection.submission import SUBMISSION_BYTES_MAX, Rating
from grove_core.services.learnings import learning_document, learning_lines
from grove_core.services.ratings import (
    RATINGS_FORMAT,
    Question,
    RatingOutcome,
    choose_questions,
    keep_ratings,
    read_ratings,
)
from grove_core.services.result import Line
from grove_core.text import counted

if TYPE_CHECKING:
    from rich.console import Console

_LIMIT: Final = 10
_STDIN: Final = Path("-")
_PATIENCE: Final = 1.0
"""The seconds that a pipe has to say something, unless it was named with ``--file -``."""
_SILENT: Final = (
    f"nothing came on standard input within {_PATIENCE:.0f} second, so these are the learnings"
    " to rate; to send ratings that take longer: --file -"
)
_KEYS: Final = "y useful  n not useful  s skip  o open  b back  q quit"
_ANSWERS: Final = {"y": True, "n": False, "s": None}
_NAMES: Final = {"y": "useful", "n": "not useful", "s": "skipped", "b": "back"}
_QUIT: Final = ("q", "\x04")
_ESCAPE: Final = "\x1b"
_READ_SIZE: Final = 64


@click.command("review")
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=_LIMIT,
    show_default=True,
    help="Ask about at most this many.",
)
@click.option(
    "--category",
    "categories",
    multiple=True,
    type=click.Choice([one.value for one in Category], case_sensitive=False),
    help="Only this kind; may be given several times.",
)
@click.option(
    "--file",
    "path",
    type=click.Path(path_type=Path),
    help="Read ratings from a file ('-': stdin, however long it takes).",
)
@grove_command
def command(
    invocation: Invocation, *, limit: int, categories: tuple[str, ...], path: Path | None
) -> Result:
    """Rate learnings useful or not; ratings count when learnings are chosen for a session.

    On a terminal it asks about those whose rating would teach most, with one key each. Elsewhere it
    prints them. Agents rate with JSON on standard input:

    {"ratings": [{"id": "cl_…", "useful": true}]}

    Exit code 1 when ratings were sent and none counts.
    """
    project = invocation.project
    data, note = _read_input(path)
    if data.strip() or path is not None:
        ratings, problems = read_ratings(data)
        return _rated(keep_ratings(project, ratings), problems)
    wanted = frozenset(Category(one) for one in categories)
    questions, total = choose_questions(project, limit, wanted)
    if questions and is_interactive():
        return _rated(keep_ratings(project, _ask(questions)), (), asked=True)
    return _sample(questions, total, note)


def _read_input(path: Path | None) -> tuple[bytes, str]:
    """Read what was sent; a pipe that says nothing in time has nothing to say."""
    if path is not None and path != _STDIN:
        try:
            return path.read_bytes(), ""
        except OSError as error:
            raise GroveError(f"cannot read {path}: {error.strerror}") from error
    if path is None and (sys.stdin is None or sys.stdin.isatty()):
        return b"", ""
    if path is None and not select.select([sys.stdin.buffer], [], [], _PATIENCE)[0]:
        return b"", _SILENT
    return sys.stdin.buffer.read(SUBMISSION_BYTES_MAX + 1), ""


def _rated(outcome: RatingOutcome, problems: Sequence[str], *, asked: bool = False) -> Result:
    rated = outcome.counted
    useful = sum(one.useful for one in rated)
    unknown = [f"no learning has the id {one}" for one in outcome.unknown]
    document: dict[str, Any] = {
        "rated": [{"id": one.learning_id, "useful": one.useful} for one in rated],
        "unknown": outcome.unknown,
        "problems": problems,
    }
    failed = not rated and not asked
    if failed:
        document["error"] = f"no rating counts; send {RATINGS_FORMAT}"
    kept = f"Kept {counted(len(rated), 'rating')}: {useful} useful, {len(rated) - useful} not."
    return Result(
        document=document,
        lines=() if failed else [kept if rated else "Nothing was rated."],
        ids=[one.learning_id for one in rated],
        exit_code=1 if failed else 0,
        warnings=(*problems, *unknown, *([document["error"]] if failed else [])),
    )


def _sample(questions: Sequence[Question], total: int, note: str) -> Result:
    lines: list[Line] = []
    for one in questions:
        lines += learning_lines(one.found, one.stats)
    if questions:
        of_all = f"{len(questions)} of {total} to rate; on a terminal, one key each."
        lines += [(of_all, "dim"), (f"Or send {RATINGS_FORMAT} on standard input.", "dim")]
    else:
        lines.append("There is no learning to rate.")
    return Result(
        document={
            "count": len(questions),
            "total": total,
            "learnings": [
                {
                    **learning_document(one.found, one.stats),
                    "ratings": {
                        "useful": one.stats.useful_ratings,
                        "not_useful": one.stats.useless_ratings,
                    },
                }
                for one in questions
            ],
        },
        lines=lines,
        ids=[one.found.hit.learning.id for one in questions],
        warnings=[note] if note else (),
    )


def _ask(questions: Sequence[Question]) -> list[Rating]:
    """Ask about learnings on the terminal; what was answered before an interruption counts."""
    console = plain_console()
    answers: list[bool | None] = []
    with suppress(KeyboardInterrupt, OSError), _pressed_keys() as keys:
        _show(questions, answers, console)
        for key in keys:
            if key in _QUIT:
                break
            if key == "o":
                _show_details(questions[len(answers)], console)
                continue
            if key in _ANSWERS:
                answers.append(_ANSWERS[key])
            elif key == "b" and answers:
                answers.pop()
            else:
                continue
            console.print(f"→ {_NAMES[key]}", style="dim")
            if len(answers) == len(questions):
                break
            _show(questions, answers, console)
    return [
        Rating(learning_id=one.found.hit.learning.id, useful=useful)
        for one, useful in zip(questions, answers, strict=False)
        if useful is not None
    ]


@contextmanager
def _pressed_keys() -> Iterator[Iterator[str]]:
    """Hand over keys one by one, those as well that were pressed ahead: click drops them."""
    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSADRAIN)
        yield _keys_of(terminal)
    finally:
        with suppress(termios.error):  # the terminal may have gone
            termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _keys_of(terminal: int) -> Iterator[str]:
    while keys := os.read(terminal, _READ_SIZE).decode("utf-8", "replace"):
        # What arrows and the like send is no letter.
        if not keys.startswith(_ESCAPE):
            yield from keys.lower()


def _show(questions: Sequence[Question], answers: Sequence[object], console: "Console") -> None:
    """Show a learning in a few lines; the shortest terminal has 24 of them."""
    question = questions[len(answers)]
    learning, stats = question.found.hit.learning, question.stats
    rated = stats.rated_useful
    useful = f"useful to {rated.count} of {counted(rated.total, 'rating')}"
    used = f"shown in {counted(stats.surfaced, 'session')}, used in {stats.referenced}"
    console.print()
    console.print(f"{len(answers) + 1}/{len(questions)}  ", style="bold", end="")
    console.print(learning.category.value, style="cyan", end="")
    console.print(f"  {learning.id}", style="dim")
    console.print(learning.summary, style="bold")
    console.print(f"{used}; {useful if rated.total else 'never rated'}", style="dim")
    console.print(_KEYS)


def _show_details(question: Question, console: "Console") -> None:
    learning = question.found.hit.learning
    origin = f"ticket {learning.ticket_id}, " if learning.ticket_id else ""
    console.print()
    console.print(learning.detail)
    for name, value in (
        ("Files", ", ".join(learning.context_files)),
        ("Tags", ", ".join(learning.tags)),
        ("Written", f"{format_instant(learning.timestamp)}, {origin}{learning.confidence.value}"),
    ):
        if value:
            console.print(f"{name}: {value}", style="dim")
    console.print(_KEYS)
