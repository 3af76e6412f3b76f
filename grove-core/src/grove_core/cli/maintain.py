"""``grove maintain``: archive, restore, supersede, decay, and the care of files and indexes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.curation import overview_result
from grove_core.cli.options import dry_run_option
from grove_core.cli.progress import name_slow_backend
from grove_core.cli.result import Result
from grove_core.cli.suggestions import active_ids, archived_ids, standing_ids
from grove_core.config.load import load_config
from grove_core.errors import StorageError
from grove_core.identifiers import is_session_id
from grove_core.model.memory import Receipt, StorageLayout
from grove_core.project import Project
from grove_core.services import migrate
from grove_core.services.curate import Curated, Curator, Outcome, overview
from grove_core.services.reflect import refuse_secrets
from grove_core.services.storing import deliver_all
from grove_core.services.sync import index_now, synchronise, with_server
from grove_core.text import clean_line, counted

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST_NOTE: Final = 500
_MOST_SHOWN: Final = 20


@click.group("maintain", invoke_without_command=True)
@grove_command
def command(invocation: Invocation) -> Result:
    """Look after the learnings: archive, restore, supersede, and what else keeps them useful.

    Alone it does what `grove maintain list` does. Nothing is archived without being named, but by
    `--stale` and by decay.
    """
    return overview_result(overview(invocation.project), explain=False)


@command.command("list", short_help="Show what curation would look at (the default).")
@click.option(
    "--explain", is_flag=True, help="Say of every learning how it stands to decay, and why."
)
@grove_command
def list_(invocation: Invocation, *, explain: bool) -> Result:
    """Show what curation would look at: what goes stale, what went and why, what never helped."""
    return overview_result(overview(invocation.project), explain=explain)


@command.command("archive")
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=active_ids)
@click.option(
    "--stale", is_flag=True, help="What `grove list --stale` names: due now or within seven days."
)
@click.option("--reason", metavar="TEXT", default="", help="Why, in a few words.")
@dry_run_option
@grove_command
def archive(
    invocation: Invocation, *, ids: tuple[str, ...], stale: bool, reason: str, dry_run: bool
) -> Result:
    """Take learnings out of sight: they are shown to no agent until they are restored.

    They stay in their files, and `grove search --status archived` finds them.
    """
    if not ids and not stale:
        raise click.UsageError("say what to archive: ids of learnings, or --stale")
    if ids and stale:
        raise click.UsageError("name ids of learnings or --stale, not both")
    project = invocation.project
    refuse_secrets(project, reason, "--reason")
    curator = Curator(project, dry_run=dry_run)
    curated = curator.archive_stale(reason) if stale else curator.archive(ids, reason)
    nothing = "No learning is due now or within seven days."
    return _curation_result(curated, "archived", dry_run=dry_run, nothing=nothing)


@command.command("restore")
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=archived_ids)
@click.option("--reason", metavar="TEXT", default="", help="Why, in a few words.")
@dry_run_option
@grove_command
def restore(invocation: Invocation, *, ids: tuple[str, ...], reason: str, dry_run: bool) -> Result:
    """Take learnings back from the archive.

    Their time starts again: decay leaves them alone as if they had just been used. A superseded
    learning cannot be restored.
    """
    refuse_secrets(invocation.project, reason, "--reason")
    curated = Curator(invocation.project, dry_run=dry_run).restore(ids, reason)
    return _curation_result(curated, "restored", dry_run=dry_run)


@command.command("supersede")
@click.argument("old", metavar="OLD", shell_complete=standing_ids)
@click.option(
    "--by",
    "new",
    metavar="NEW",
    required=True,
    shell_complete=active_ids,
    help="The learning that takes its place.",
)
@dry_run_option
@grove_command
def supersede(invocation: Invocation, *, old: str, new: str, dry_run: bool) -> Result:
    """Put one learning in another one's place, for good.

    Sessions that start within seven days after the old one was shown are told of it.
    """
    from grove_core.hosts.claude_code import SESSION_ID_VARIABLE
    from grove_core.services.overview import OWN_VARIABLE

    given = invocation.project.environment
    session_id = given.get(SESSION_ID_VARIABLE) or given.get(OWN_VARIABLE) or ""
    session_id = session_id if is_session_id(session_id) else ""
    curator = Curator(invocation.project, dry_run=dry_run)
    curated = curator.supersede(old, new, session_id)
    return _curation_result([curated], "superseded", dry_run=dry_run)


@command.command("decay")
@dry_run_option
@grove_command
def decay(invocation: Invocation, *, dry_run: bool) -> Result:
    """Archive what was not shown or used for a long time.

    The start of a session hides the same once a day, on this machine only; `grove reflect` archives
    some of it with a stored learning. A learning is due `decay.passive_duration_days`
    days after it was last written, shown, used or restored; `grove maintain list --explain` says
    how each one stands.
    """
    curated = Curator(invocation.project, dry_run=dry_run).decay()
    return _curation_result(curated, "archived", dry_run=dry_run, nothing="No learning is due.")


@command.command("flush")
@dry_run_option
@click.option("--in-background", is_flag=True, hidden=True, help="No person waits for it.")
@grove_command
def flush(invocation: Invocation, *, dry_run: bool, in_background: bool) -> Result:
    """Deliver the learnings of this project, and your own, that wait for their backend.

    A backend with a server takes in as well what is new there, and brings there what is recorded
    and missing. Every reflection delivers, too. Exit code 1 when something still waits, when a
    server could not be asked, or when another process stores learnings of this project just now.
    """
    project = invocation.project
    if not dry_run and (project.outbox.entries(project.root) or with_server(project)):
        name_slow_backend(project.library)
    # A hook has begun what is done in the background: that leaves the work tree as it is.
    delivered, busy = ([], []) if dry_run or in_background else _deliver(project)
    synchronised = [] if dry_run else synchronise(project, asked=not in_background)
    delivered += [receipt for _, done in synchronised for receipt in done.delivered]
    received = sum(done.received for _, done in synchronised)
    failed = [f"{name}: {done.fault}" for name, done in synchronised if done.fault]
    waiting, unreadable = _waiting(project), project.outbox.unreadable()
    left = [] if dry_run else _faults_of_outbox(len(waiting), len(unreadable))
    faults = [*failed, *left, *busy]

    def human(console: "Console") -> None:
        for receipt in delivered:
            _print_receipt(receipt, project, console)
        for learning_id, summary in [*waiting.items()][:_MOST_SHOWN]:
            console.print(f"waits  {learning_id}  {summary}", style="yellow")
        if len(waiting) > _MOST_SHOWN:
            console.print(f"waits  {len(waiting) - _MOST_SHOWN} more", style="yellow")
        for path in unreadable:
            console.print(f"cannot be read, and stays  {path}", style="yellow")
        if received:
            came = counted(received, "learning")
            console.print(f"{came} came from the server, new or changed")
        if not (delivered or waiting or unreadable):
            console.print("Nothing waits.")

    return Result(
        document={
            "dry_run": dry_run,
            "delivered": delivered,
            "waiting": [{"id": one, "summary": text} for one, text in waiting.items()],
            "received": received,
            "unreadable": unreadable,
            **({"error": "; ".join(faults)} if faults else {}),
        },
        human=human,
        ids=[one.learning_id for one in delivered],
        exit_code=1 if faults else 0,
        warnings=faults,
    )


def _deliver(project: Project) -> tuple[list[Receipt], list[str]]:
    try:
        return [*deliver_all(project)], []
    except StorageError as error:
        return [], [f"another process stores learnings of this project just now: {error}"]


def _faults_of_outbox(waiting: int, unreadable: int) -> list[str]:
    if waiting:
        stay = f"{counted(waiting, 'learning')} could not be delivered and"
        wait = "waits" if waiting == 1 else "wait"
        return [f"{stay} {wait} on; `grove backends` says what is wrong"]
    return [f"{counted(unreadable, 'file')} of the outbox cannot be read"] if unreadable else []


def _waiting(project: Project) -> dict[str, str]:
    """Return the summaries of what waits in the outbox, and for servers, by id."""
    outbox = project.outbox.entries(project.root)
    waiting = {one.learning.id: one.learning.summary for one in outbox}
    ids = (learning_id for one in with_server(project) for learning_id in one.waiting)
    return waiting | {one: _summary_of(one, project) for one in ids}


def _summary_of(learning_id: str, project: Project) -> str:
    entry = project.finder.get(learning_id)
    return "" if entry is None else str(entry.fields()["summary"])


def _print_receipt(receipt: Receipt, project: Project, console: "Console") -> None:
    state = f"{receipt.status.value} in {receipt.backend}"
    summary = _summary_of(receipt.learning_id, project)
    console.print(f"{state}  {receipt.learning_id}  {summary}")
    if receipt.note:
        console.print(f"        {clean_line(receipt.note, _LONGEST_NOTE)}", style="yellow")


@command.command("index")
@click.option("--rebuild", is_flag=True, help="Forget what is known, and read everything again.")
@grove_command
def index(invocation: Invocation, *, rebuild: bool) -> Result:
    """Bring the index of the learnings up to date.

    Hooks and commands do that by themselves. Hooks leave a very large change to this command, which
    then runs in the background. Exit code 1 when not all learnings could be read.
    """
    indexed = index_now(invocation.project, rebuild=rebuild)
    if indexed is None:
        return Result(
            document={"learnings": None, "complete": False, "elsewhere": True},
            human=lambda console: console.print("Another process is at it."),
        )

    def human(console: "Console") -> None:
        state = "up to date" if indexed.complete else "incomplete"
        state = f"rebuilt and {state}" if rebuild else state
        console.print(f"{counted(indexed.learnings, 'learning')}, {state}: {indexed.path}")

    incomplete = "not all learnings could be read; `grove backends` says what is wrong"
    return Result(
        document={
            "learnings": indexed.learnings,
            "complete": indexed.complete,
            "elsewhere": False,
            "path": indexed.path,
        },
        human=human,
        exit_code=0 if indexed.complete else 1,
        warnings=[] if indexed.complete else [incomplete],
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
def migrate_(invocation: Invocation, *, layout: str, dry_run: bool) -> Result:
    """Move learnings to another layout, and set `storage.layout` for what comes.

    Nothing is lost, whenever it is interrupted: run it again to finish. Prose between the entries
    of learnings.md stays there. Commit the result at once, with everybody's branches merged: git
    cannot follow what another branch still writes to the old place, though grove reads both.
    """
    project = invocation.project
    done = migrate.migrate(project, StorageLayout(layout), dry_run=dry_run)
    warnings = [*done.faults]
    in_force = load_config(project.paths.home, project.root, project.environment).config
    if not dry_run and in_force.storage.layout.value not in ("auto", layout):
        warnings.append(
            f"storage.layout is still {in_force.storage.layout.value} here: something stronger than"
            " the project's configuration sets it; grove config get storage.layout tells what"
        )

    def human(console: "Console") -> None:
        if done.setting_changed:
            console.print(f'storage.layout = "{layout}" {"would be" if dry_run else "is"} set')
        for one in done.learnings:
            console.print(one)
        verb = "would be" if dry_run else "are"
        console.print(f"{counted(len(done.learnings), 'learning')} {verb} moved")

    return Result(
        document={
            "layout": layout,
            "dry_run": dry_run,
            "setting_changed": done.setting_changed,
            "learnings": done.learnings,
            "events": [],  # of an older grove: logs were moved as well
            "error": "; ".join(done.faults) or None,
        },
        human=human,
        ids=[one.partition(":")[0] for one in done.learnings],
        exit_code=1 if done.faults else 0,
        warnings=warnings,
    )


@command.command("repair")
@dry_run_option
@grove_command
def repair(invocation: Invocation, *, dry_run: bool) -> Result:
    """Repair what merges have done to learnings and event logs.

    Conflict markers are replaced by both sides' entries; of entries that stand there twice and say
    the same, one stays. What both branches have changed is named: keep one of the two. The files as
    they were are kept in grove's own directory. Exit code 1 when something is left to do by hand.
    """
    project = invocation.project
    repairs, faults = migrate.find_repairs(project)
    backup = None if dry_run else migrate.make_repairs(project, repairs)
    is_left = any(one.left for one in repairs)

    def human(console: "Console") -> None:
        for one in repairs:
            name = one.path.relative_to(project.root)
            for line in one.repaired:
                console.print(f"{'would repair' if dry_run else 'repaired'} {name} {line}")
            # The lines have moved, so in a dry run these are numbers of what would be written.
            where = "in the repaired file " if dry_run and one.after != one.before else ""
            for line in one.left:
                console.print(f"left to repair by hand: {where}{name} {line}", style="yellow")
        if backup is not None:
            console.print(f"the files as they were: {backup}")
        if not repairs and not faults:
            console.print("There is nothing to repair.")

    return Result(
        document={
            "dry_run": dry_run,
            "files": [
                {"path": one.path, "repaired": one.repaired, "left": one.left} for one in repairs
            ],
            "backup": backup,
            "error": "; ".join(faults) or None,
        },
        human=human,
        ids=[str(one.path) for one in repairs],
        exit_code=1 if faults or is_left else 0,
        warnings=faults,
    )


def _curation_result(
    curated: Sequence[Curated], verb: str, *, dry_run: bool, nothing: str = ""
) -> Result:
    by_outcome = {each: [one for one in curated if one.outcome is each] for each in Outcome}
    changed = by_outcome[Outcome.CHANGED]
    refused = [one.detail for one in by_outcome[Outcome.REFUSED]]
    done = f"would be {verb}" if dry_run else verb

    def human(console: "Console") -> None:
        for one in changed:
            console.print(f"{done}  {one.learning_id}  {one.summary}\n    {one.detail}")
        for one in by_outcome[Outcome.UNCHANGED]:
            console.print(one.detail, style="dim")
        if not curated:
            console.print(nothing)

    return Result(
        document={
            "dry_run": dry_run,
            **{
                outcome.value: [
                    {"id": one.learning_id, "summary": one.summary, "detail": one.detail}
                    for one in ones
                ]
                for outcome, ones in by_outcome.items()
            },
            **({"error": "; ".join(refused)} if refused else {}),
        },
        human=human,
        ids=[one.learning_id for one in changed],
        exit_code=1 if refused else 0,
        warnings=refused,
    )
