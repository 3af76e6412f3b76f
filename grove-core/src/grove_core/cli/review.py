"""``grove review``."""

import rich_click as click

from grove_core.cli.app import Invocation, grove_command, is_interactive
from grove_core.cli.options import choice_option, limit_option
from grove_core.cli.result import Result, plain_console
from grove_core.model.learning import Category
from grove_core.project import Project
from grove_core.services.feedback import Question, choose_questions, rate
from grove_core.services.learnings import learning_document, learning_lines
from grove_core.services.result import Line
from grove_core.text import counted

_ANSWERS = {"y": True, "n": False}


@click.command("review")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--useful/--not-useful", default=None, help="What the named learnings were.")
@limit_option("Ask about at most this many.", 10)
@choice_option(
    "--category", "categories", [one.value for one in Category], "Only this kind", multiple=True
)
@grove_command
def command(
    invocation: Invocation,
    *,
    ids: tuple[str, ...],
    useful: bool | None,
    limit: int,
    categories: tuple[str, ...],
) -> Result:
    """Rate learnings useful or not; ratings count when learnings are chosen for a session.

    Named ones are rated at once. Without ids a terminal is asked about those that were rated least
    and shown most; elsewhere they are printed.
    """
    if bool(ids) is (useful is None):
        raise click.UsageError("a rating takes ids of learnings, and --useful or --not-useful")
    project = invocation.project
    if ids:
        return rate(project, [(one, bool(useful)) for one in ids])
    questions, total = choose_questions(project, limit, frozenset(map(Category, categories)))
    if questions and is_interactive():
        return rate(project, _ask(questions))
    return _sample(project, questions, total)


def _sample(project: Project, questions: list[Question], total: int) -> Result:
    lines: list[Line] = []
    for found, stats in questions:
        lines += learning_lines(project, found, stats)
    lines.append((f"{len(questions)} of {counted(total, 'learning')} to rate.", "dim"))
    return Result(
        document={
            "count": len(questions),
            "total": total,
            "learnings": [
                {
                    **learning_document(found, stats),
                    "ratings": {
                        "useful": stats.useful_ratings,
                        "not_useful": stats.useless_ratings,
                    },
                }
                for found, stats in questions
            ],
        },
        lines=lines,
        ids=[found.hit.learning.id for found, _ in questions],
    )


def _ask(questions: list[Question]) -> list[tuple[str, bool]]:
    """Ask about learnings on the terminal; what was answered before an interruption counts."""
    console = plain_console()
    given: list[tuple[str, bool]] = []
    choice = click.Choice(["y", "n", "s", "q"])
    for number, (found, stats) in enumerate(questions, 1):
        learning, rated = found.hit.learning, stats.rated_useful
        console.print(f"\n{number}/{len(questions)}  {learning.summary}", style="bold")
        console.print(learning.detail)
        used = f"shown in {counted(stats.surfaced, 'session')}, used in {stats.referenced}"
        useful = f"useful to {rated.count} of {counted(rated.total, 'rating')}"
        said = f"{learning.id}  {used}; {useful if rated.total else 'never rated'}"
        console.print(said, style="dim")
        try:
            answer = click.prompt("Useful? yes, no, skip, quit", type=choice, default="s")
        except click.Abort:
            break
        if answer == "q":
            break
        if answer in _ANSWERS:
            given.append((learning.id, _ANSWERS[answer]))
    return given
