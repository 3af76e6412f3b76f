"""``grove review``."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command, is_interactive
from grove_core.cli.learnings import print_line
from grove_core.cli.rating_input import read_input
from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.flow.reviewing import (
    RATINGS_FORMAT,
    Question,
    RatingOutcome,
    choose_questions,
    keep_ratings,
    read_ratings,
)
from grove_core.model.learning import Category
from grove_core.reflection.submission import Rating
from grove_core.services.requests import learning_document

if TYPE_CHECKING:
    from rich.console import Console

_LIMIT: Final = 10


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
    workspace = invocation.workspace
    sent = read_input(path)
    if sent.data.strip() or path is not None:
        read = read_ratings(sent.data)
        return _rated(keep_ratings(workspace, read.ratings), read.problems)
    wanted = frozenset(Category(one) for one in categories)
    questions, total = choose_questions(workspace, limit, wanted)
    if questions and is_interactive():
        from grove_core.cli.rating_by_key import ask

        ratings = ask(questions, _terminal())
        return _rated(keep_ratings(workspace, ratings), (), asked=True)
    return _sample(questions, total, sent.note)


def _terminal() -> "Console":
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def _rated(outcome: RatingOutcome, problems: Sequence[str], *, asked: bool = False) -> Result:
    unknown = [f"no learning has the id {one}" for one in outcome.unknown]
    document: dict[str, Any] = {
        "rated": [{"id": one.learning_id, "useful": one.useful} for one in outcome.counted],
        "unknown": outcome.unknown,
        "problems": problems,
    }
    failed = not outcome.counted and not asked
    if failed:
        document["error"] = f"no rating counts; send {RATINGS_FORMAT}"
    return Result(
        document=document,
        human=lambda console: None if failed else console.print(_summary(outcome.counted)),
        ids=[one.learning_id for one in outcome.counted],
        exit_code=1 if failed else 0,
        warnings=(*problems, *unknown, *([document["error"]] if failed else [])),
    )


def _summary(ratings: Sequence[Rating]) -> str:
    useful = sum(one.useful for one in ratings)
    if not ratings:
        return "Nothing was rated."
    return f"Kept {counted(len(ratings), 'rating')}: {useful} useful, {len(ratings) - useful} not."


def _sample(questions: Sequence[Question], total: int, note: str) -> Result:
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
        human=lambda console: _print_sample(questions, total, console),
        ids=[one.found.hit.learning.id for one in questions],
        warnings=[note] if note else (),
    )


def _print_sample(questions: Sequence[Question], total: int, console: "Console") -> None:
    for one in questions:
        print_line(console, one.found, one.stats)
    if not questions:
        console.print("There is no learning to rate.")
        return
    console.print(f"{len(questions)} of {total} to rate; on a terminal, one key each.", style="dim")
    console.print(f"Or send {RATINGS_FORMAT} on standard input.", style="dim")
