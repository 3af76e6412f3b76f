"""``grove init``."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click
from attrs import evolve
from click import get_current_context

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.init_guide import QUESTION_OF_RULE, agree, guide
from grove_core.cli.init_plan import ADVICE, Wishes, plan_for
from grove_core.cli.init_report import WORDS_OF_DRIVER, print_report
from grove_core.cli.previews import (
    confirm,
    documents_of,
    is_answered,
    print_changes,
    unless_given_up,
)
from grove_core.cli.result import Result
from grove_core.cli.scaffolding import (
    Scaffold,
    find_program,
    record_program,
    recorded_program,
    scaffold,
)
from grove_core.errors import StorageError
from grove_core.flow.disconnecting import plan_removal
from grove_core.flow.install_plan import Plan
from grove_core.flow.installation import InstallationRecord
from grove_core.flow.merge_driver import (
    DriverAction,
    MergeDriver,
    action_for,
    driver_command,
    find_driver,
    register,
)
from grove_core.health.installation import INSTALL, cache_around
from grove_core.hosts.claude_code import NAME as CLAUDE_CODE
from grove_core.hosts.claude_hooks import ALLOW_RULE
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console


@click.command("init")
@click.option(
    "--hooks",
    "host",
    is_flag=False,
    flag_value=CLAUDE_CODE,
    type=click.Choice([CLAUDE_CODE]),
    help="Add grove's hooks to the client's settings of this project.",
)
@click.option("--shared", is_flag=True, help="In the settings that are committed, not in yours.")
@click.option("--allow-grove", is_flag=True, help=f"Add the permission rule {ALLOW_RULE}, too.")
@click.option("--rules", is_flag=True, help="Write the gate's protocol as a rule of the project.")
@click.option("--uninstall", is_flag=True, help="Take back what init added; learnings stay.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@grove_command
def command(  # noqa: PLR0913 - one for each option
    invocation: Invocation,
    *,
    host: str | None,
    shared: bool,
    allow_grove: bool,
    rules: bool,
    uninstall: bool,
    dry_run: bool,
    yes: bool,
) -> Result:
    """Set up grove in this project.

    Creates the directory .grove at the project's root with a commented configuration and a place
    for learnings. Files that exist are never touched, so running it again is safe; only lines that
    .grove/.gitattributes lacks are added. In a git clone it registers the merge driver that joins
    the learnings of two branches. Commit .grove.

    On a terminal it shows what it would do and asks: how the client is to run grove, and whether
    to go on. --yes answers for you, and without a terminal nothing is asked.

    With --hooks the client runs grove in this project without grove's plugin. The settings are
    merged, their backup is kept, and --uninstall puts back what was there.
    """
    if uninstall and (host or rules or allow_grove):
        raise click.UsageError("--uninstall goes with --shared, --dry-run and --yes only")
    if allow_grove and not host:
        raise click.UsageError("--allow-grove goes with --hooks")
    if shared and not (host or uninstall):
        raise click.UsageError("--shared goes with --hooks or --uninstall")
    options = get_current_context().params
    wishes = Wishes(
        hooks=host is not None,
        shared=shared,
        allow=allow_grove,
        rules=rules,
        dry_run=dry_run,
        asks=not (yes or dry_run) and is_answered(),
        guides=not (host or rules or options["as_json"] or options["quiet"]),
    )
    _refuse_home(invocation.workspace)
    return (_uninstall if uninstall else _install)(invocation.workspace, wishes)


def _refuse_home(workspace: Workspace) -> None:
    if workspace.root == workspace.paths.home.parent and workspace.project.grove_directory == (
        workspace.paths.home
    ):
        raise StorageError(
            f"{workspace.paths.home} is grove's own directory; run init inside a project"
        )


def _install(workspace: Workspace, wishes: Wishes) -> Result:
    record = InstallationRecord(workspace.paths, workspace.root)
    previous, program = recorded_program(workspace), find_program()
    cache = cache_around(Path(sys.prefix))
    if cache is not None:
        program = None  # what is written down must be there tomorrow
    # All that may be refused or declined comes first: then nothing is left behind.
    made = scaffold(workspace, dry_run=True)
    plan = plan_for(workspace, record, wishes, program)
    driver = find_driver(workspace.root)
    action = action_for(driver, driver_command(program)) if driver is not None else None
    if wishes.asks:
        with unless_given_up():
            if wishes.guides:
                words = WORDS_OF_DRIVER.get(action) if action else None
                wishes = guide(workspace, wishes, made, record, program, words)
            plan = _asked(plan, workspace, record, wishes, program)
    if cache is not None:
        plan.notes.append(f"this grove runs from the cache {cache}, which is cleared. {INSTALL}")
    if not wishes.dry_run:
        with _uninterrupted():
            made = _carry_out(plan, workspace, record, program, driver)
    document: dict[str, Any] = {
        "root": workspace.root,
        "created": made.created,
        "extended": made.extended,
        "kept": made.kept,
        "merge_driver": action,
        "program": program,
        "previous_program": previous,
        "changes": documents_of(plan.changes, workspace.root),
        "notes": plan.notes,
        "dry_run": wishes.dry_run,
    }
    return Result(
        document=document,
        human=lambda console: print_report(workspace, wishes, document, plan, console),
        ids=[str(path) for path in (*made.created, *(one.path for one in plan.changes))],
    )


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let no Ctrl-C leave half of it behind: it takes a moment only."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _carry_out(
    plan: Plan,
    workspace: Workspace,
    record: InstallationRecord,
    program: str | None,
    driver: MergeDriver | None,
) -> Scaffold:
    made = scaffold(workspace, dry_run=False)
    if program:
        record_program(workspace, program)
    plan.note_scaffold(made.created, program, attributes=made.attributes)
    action = action_for(driver, driver_command(program)) if driver is not None else None
    if driver is not None and action is DriverAction.REGISTERED:
        _register(plan, driver, driver_command(program))
    elif action is DriverAction.KEPT:
        plan.note_driver(driver_command(program))
    plan.make(record)
    return made


def _register(plan: Plan, driver: MergeDriver, command: str) -> None:
    """Register the merge driver; without it everything but merges works as well."""
    try:
        register(driver, command)
    except StorageError as error:
        plan.notes.append(f"git's merge driver is not registered: {error}")
    else:
        plan.note_driver(command)


def _asked(
    plan: Plan,
    workspace: Workspace,
    record: InstallationRecord,
    wishes: Wishes,
    program: str | None,
) -> Plan:
    """Ask for the changes; with hooks, offer the permission rule."""
    if wishes.guides:
        plan = plan_for(workspace, record, wishes, program)
        agree(plan)
    elif plan.changes:
        confirm(plan.changes, workspace.root)
    if ADVICE not in plan.notes:
        return plan
    if not wishes.guides and click.confirm(QUESTION_OF_RULE, default=False, err=True):
        return plan_for(workspace, record, evolve(wishes, allow=True), program)
    plan.notes.remove(ADVICE)
    return plan


def _uninstall(workspace: Workspace, wishes: Wishes) -> Result:
    record = InstallationRecord(workspace.paths, workspace.root)
    removal = plan_removal(workspace, record, shared=wishes.shared)
    if wishes.asks and removal.changes:
        with unless_given_up():
            confirm(removal.changes, workspace.root)
    if not wishes.dry_run:
        with _uninterrupted():
            removal.make(workspace, record)
    kept = [workspace.project.grove_directory] if workspace.project.initialised else []
    document: dict[str, Any] = {
        "root": workspace.root,
        "changes": documents_of(removal.everything, workspace.root),
        "kept": kept,
        "notes": removal.notes,
        "dry_run": wishes.dry_run,
    }
    if removal.faults:
        document["error"] = "; ".join(removal.faults)

    def human(console: "Console") -> None:
        shows = not wishes.asks
        print_changes(
            console, removal.everything, workspace.root, dry_run=wishes.dry_run, with_diffs=shows
        )
        for note in removal.notes:
            console.print(f"note: {note}")
        if removal.faults:
            console.print("Mend what is named, then run this again: the rest waits for that.")
        elif not removal.everything:
            console.print("There is nothing to take back in the client's settings and rules.")
        if kept:
            console.print("kept .grove: the learnings are yours; rm -r .grove removes them")

    return Result(
        document=document,
        human=human,
        ids=[str(one.path) for one in removal.everything],
        exit_code=1 if removal.faults else 0,
        warnings=removal.faults,
    )
