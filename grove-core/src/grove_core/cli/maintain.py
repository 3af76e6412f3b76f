"""``grove maintain`` and ``review``: the care of learnings, and of their files and indexes."""

import rich_click as click

from grove_core.cli.app import grove_command, is_interactive
from grove_core.cli.groups import LazyGroup
from grove_core.cli.options import choice_option, dry_run_option, limit_option
from grove_core.cli.result import Result, plain_console
from grove_core.model.learning import Category
from grove_core.model.memory import StorageLayout
from grove_core.project import Project
from grove_core.services import migrate, storing
from grove_core.services.curate import Curator, curation_overview, explain_decay
from grove_core.services.feedback import Question, choose_questions, rate
from grove_core.services.learnings import learning_document, learning_lines
from grove_core.services.reflect import refuse_secrets
from grove_core.services.result import Line
from grove_core.services.sync import index_now
from grove_core.text import counted

_ANSWERS = {"y": True, "n": False}


@click.group("maintain", cls=LazyGroup, invoke_without_command=True)
@grove_command
def command(project: Project) -> Result:
    """Look after the learnings: archive, restore, supersede, and what else keeps them useful.

    Alone it does what `grove maintain list` does. Nothing is archived without being named, but by
    `--stale` and by decay.
    """
    return curation_overview(project)


@command.command("list", short_help="Show what curation would look at (the default).")
@click.option(
    "--explain", is_flag=True, help="Say instead of every active learning how it stands to decay."
)
@grove_command
def list_(project: Project, *, explain: bool) -> Result:
    """Show what curation would look at: what goes stale, what went and why, what never helped."""
    return (explain_decay if explain else curation_overview)(project)


@command.command("archive")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option(
    "--stale", is_flag=True, help="What `grove list --stale` names: due now or within seven days."
)
@click.option("--reason", metavar="TEXT", default="", help="Why, in a few words.")
@dry_run_option
@grove_command
def archive(
    project: Project, *, ids: tuple[str, ...], stale: bool, reason: str, dry_run: bool
) -> Result:
    """Take learnings out of sight: they are shown to no agent until they are restored.

    They stay in their files, and `grove search --status archived` finds them.
    """
    if not ids and not stale:
        raise click.UsageError("say what to archive: ids of learnings, or --stale")
    if ids and stale:
        raise click.UsageError("name ids of learnings or --stale, not both")
    refuse_secrets(project, reason, "--reason")
    curator = Curator(project, dry_run=dry_run)
    return curator.archive_stale(reason) if stale else curator.archive(ids, reason)


@command.command("restore")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--reason", metavar="TEXT", default="", help="Why, in a few words.")
@dry_run_option
@grove_command
def restore(project: Project, *, ids: tuple[str, ...], reason: str, dry_run: bool) -> Result:
    """Take learnings back from the archive.

    Their time starts again: decay leaves them alone as if they had just been used. A superseded
    learning cannot be restored.
    """
    refuse_secrets(project, reason, "--reason")
    return Curator(project, dry_run=dry_run).restore(ids, reason)


@command.command("supersede")
@click.argument("old", metavar="OLD")
@click.option(
    "--by",
    "new",
    metavar="NEW",
    required=True,
    help="The learning that takes its place.",
)
@dry_run_option
@grove_command
def supersede(project: Project, *, old: str, new: str, dry_run: bool) -> Result:
    """Put one learning in another one's place, for good.

    Sessions that start within seven days after the old one was shown are told of it.
    """
    return Curator(project, dry_run=dry_run).supersede(old, new)


@command.command("decay")
@dry_run_option
@grove_command
def decay(project: Project, *, dry_run: bool) -> Result:
    """Archive what was not shown or used for a long time.

    The start of a session hides the same once a day, on this machine only; `grove reflect` archives
    some of it with a stored learning. A learning is due `decay.passive_duration_days`
    days after it was last written, shown, used or restored; `grove maintain list --explain` says
    how each one stands.
    """
    return Curator(project, dry_run=dry_run).decay()


@command.command("flush")
@dry_run_option
@click.option("--in-background", is_flag=True, hidden=True, help="No person waits for it.")
@grove_command
def flush(project: Project, *, dry_run: bool, in_background: bool) -> Result:
    """Deliver the learnings of this project, and your own, that wait for their backend.

    What was accepted in a linked work tree, and not committed before that was removed, comes here.
    A backend with a server takes in as well what is new there, and brings there what is recorded
    and missing. Every reflection delivers, too. Exit code 1 when something still waits, when a
    server could not be asked, or when another process stores learnings of this project just now.
    """
    return storing.flush(project, dry_run=dry_run, in_background=in_background)


@command.command("index")
@click.option("--rebuild", is_flag=True, help="Forget what is known, and read everything again.")
@grove_command
def index(project: Project, *, rebuild: bool) -> Result:
    """Bring the index of the learnings up to date.

    Hooks and commands do that by themselves. Hooks leave a very large change to this command, which
    then runs in the background. Exit code 1 when not all learnings could be read.
    """
    if not index_now(project, rebuild=rebuild):
        document: dict[str, object] = {"learnings": None, "complete": False, "elsewhere": True}
        return Result(document=document, lines=["Another process is at it."])
    complete, count, path = project.finder.complete, len(project.finder.index), project.cache.path
    state = "up to date" if complete else "incomplete"
    state = f"rebuilt and {state}" if rebuild else state
    incomplete = "not all learnings could be read; `grove backends` says what is wrong"
    return Result(
        document={"learnings": count, "complete": complete, "elsewhere": False, "path": path},
        lines=[f"{counted(count, 'learning')}, {state}: {path}"],
        exit_code=0 if complete else 1,
        warnings=[] if complete else [incomplete],
    )


@command.command("migrate")
@click.option(
    "--layout",
    required=True,
    type=click.Choice([one.value for one in StorageLayout]),
    help="One file for all learnings, or files that branches never share.",
)
@dry_run_option
@grove_command
def migrate_(project: Project, *, layout: str, dry_run: bool) -> Result:
    """Move learnings to another layout, and set `storage.layout` for what comes.

    Nothing is lost, whenever it is interrupted: run it again to finish. Prose between the entries
    of learnings.md stays there. Commit the result at once, with everybody's branches merged: git
    cannot follow what another branch still writes to the old place, though grove reads both.
    """
    return migrate.migrate(project, StorageLayout(layout), dry_run=dry_run)


@command.command("repair")
@dry_run_option
@grove_command
def repair(project: Project, *, dry_run: bool) -> Result:
    """Repair what merges have done to learnings.

    Conflict markers are replaced by both sides' entries; of entries that stand there twice and say
    the same, one stays. What both branches have changed is named: keep one of the two. The files as
    they were are kept in grove's own directory. Exit code 1 when something is left to do by hand.
    """
    return migrate.repair(project, dry_run=dry_run)


@click.command("review")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--useful/--not-useful", default=None, help="What the named learnings were.")
@limit_option("Ask about at most this many.", 10)
@choice_option(
    "--category", "categories", [one.value for one in Category], "Only this kind", multiple=True
)
@grove_command
def review_command(
    project: Project,
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
