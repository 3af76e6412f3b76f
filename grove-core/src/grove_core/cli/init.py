"""``grove init``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import rich_click as click
from attrs import evolve, frozen

from grove_core.cli.invocation import Invocation, Result, grove_command
from grove_core.cli.previews import confirm, documents_of, is_answered, print_changes
from grove_core.cli.scaffolding import (
    find_program,
    record_program,
    recorded_program,
    scaffold,
)
from grove_core.errors import StorageError
from grove_core.flow.connecting import (
    denied_rules,
    denies_all,
    may_run_unasked,
    plan_hooks,
    plan_rules,
)
from grove_core.flow.disconnecting import plan_removal
from grove_core.flow.git_ignoring import advice_to_ignore
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
from grove_core.hosts.claude_code import NAME as CLAUDE_CODE
from grove_core.hosts.claude_hooks import ALLOW_RULE
from grove_core.hosts.claude_settings import registrations, settings_file
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

_FUTURE: Final = ("would be created:", "would be extended:", "would be kept:")
_PAST: Final = ("created", "extended", "kept   ")
_OF_DRIVER: Final = {
    DriverAction.REGISTERED: "learnings of branches are merged entry by entry: merge driver grove",
    DriverAction.FOREIGN: "git has another merge driver named grove, which stays",
}
_RESTART: Final = "start a new session of the client: it reads its settings when it starts"
_ADVICE: Final = (
    "the client will ask you before the agent may run grove; the permission rule"
    f" {ALLOW_RULE} ends that: grove init --hooks --allow-grove"
)


@frozen(kw_only=True)
class _Wishes:
    """What the command line asks for.

    Attributes:
        hooks: Hooks in the client's settings.
        shared: In the settings that are committed.
        allow: The permission rule, too.
        rules: The rule file.
        dry_run: Nothing but words.
        asks: Whether to ask before the client's files are changed.
    """

    hooks: bool
    shared: bool
    allow: bool
    rules: bool
    dry_run: bool
    asks: bool


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

    With --hooks the client runs grove in this project without grove's plugin. The settings are
    merged, their backup is kept, and --uninstall puts back what was there.
    """
    if uninstall and (host or rules or allow_grove):
        raise click.UsageError("--uninstall goes with --shared, --dry-run and --yes only")
    if allow_grove and not host:
        raise click.UsageError("--allow-grove goes with --hooks")
    if shared and not (host or uninstall):
        raise click.UsageError("--shared goes with --hooks or --uninstall")
    wishes = _Wishes(
        hooks=host is not None,
        shared=shared,
        allow=allow_grove,
        rules=rules,
        dry_run=dry_run,
        asks=not (yes or dry_run) and is_answered(),
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


def _install(workspace: Workspace, wishes: _Wishes) -> Result:
    record = InstallationRecord(workspace.paths, workspace.root)
    previous, program = recorded_program(workspace), find_program()
    # All that may be refused or declined comes first: then nothing is left behind.
    made = scaffold(workspace, dry_run=True)
    plan = _plan(workspace, record, wishes, program)
    driver = find_driver(workspace.root)
    action = action_for(driver, driver_command(program)) if driver is not None else None
    if wishes.asks:
        plan = _asked(plan, workspace, record, wishes, program)
    if not wishes.dry_run:
        made = scaffold(workspace, dry_run=False)
        if program:
            record_program(workspace, program)
        plan.note_scaffold(made.created, program, attributes=made.attributes)
        if driver is not None and action is DriverAction.REGISTERED:
            _register(plan, driver, driver_command(program))
        elif action is DriverAction.KEPT:
            plan.note_driver(driver_command(program))
        plan.make(record)
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
        human=lambda console: _human(workspace, wishes, document, plan, console),
        ids=[str(path) for path in (*made.created, *(one.path for one in plan.changes))],
    )


def _register(plan: Plan, driver: MergeDriver, command: str) -> None:
    """Register the merge driver; without it everything but merges works as well."""
    try:
        register(driver, command)
    except StorageError as error:
        plan.notes.append(f"git's merge driver is not registered: {error}")
    else:
        plan.note_driver(command)


def _plan(
    workspace: Workspace, record: InstallationRecord, wishes: _Wishes, program: str | None
) -> Plan:
    plan = Plan(root=workspace.root, installation=record.read())
    if wishes.hooks:
        if program is None:
            raise StorageError("cannot find the program grove that hooks would run; install it")
        denied = denied_rules(workspace)
        allow = wishes.allow and not denies_all(denied)
        plan_hooks(plan, workspace, program, shared=wishes.shared, allow=allow)
        plan.notes += _notes_on_hooks(plan, workspace, wishes, denied)
    if wishes.rules:
        plan_rules(plan, workspace)
    return plan


def _notes_on_hooks(
    plan: Plan, workspace: Workspace, wishes: _Wishes, denied: Sequence[str]
) -> list[str]:
    notes = []
    if plan.changes:
        notes.append(_RESTART)
    if denied:
        rules = ", ".join(denied)
        end = ", so none was added" if denies_all(denied) else ""
        notes.append(
            f"the client's settings deny {rules}: a deny rule wins over any permission{end}"
        )
    is_asked_for = wishes.allow or may_run_unasked(workspace) or denies_all(denied)
    if plan.changes and not is_asked_for:
        notes.append(_ADVICE)
    target = settings_file(workspace.root, shared=wishes.shared)
    is_written = plan.recorded(target) is not None and not wishes.shared
    if is_written and (advice := advice_to_ignore(workspace, target)):
        notes.append(advice)
    return notes


def _asked(
    plan: Plan,
    workspace: Workspace,
    record: InstallationRecord,
    wishes: _Wishes,
    program: str | None,
) -> Plan:
    """Ask for the changes; with hooks, offer the permission rule."""
    confirm(plan.changes, workspace.root)
    if _ADVICE not in plan.notes:
        return plan
    question = f"Let the agent run grove without asking you, by the permission rule {ALLOW_RULE}?"
    if not click.confirm(question, default=False, err=True):
        plan.notes.remove(_ADVICE)
        return plan
    return _plan(workspace, record, evolve(wishes, allow=True), program)


def _human(
    workspace: Workspace,
    wishes: _Wishes,
    document: dict[str, Any],
    plan: Plan,
    console: "Console",
) -> None:
    words = _FUTURE if wishes.dry_run else _PAST
    for word, key in zip(words, ("created", "extended", "kept"), strict=True):
        for path in document[key]:
            console.print(f"{word} {path.relative_to(workspace.root)}")
    print_changes(
        console, plan.changes, workspace.root, dry_run=wishes.dry_run, with_diffs=not wishes.asks
    )
    console.print(_line_on_program(workspace, wishes, document))
    if document["merge_driver"] in _OF_DRIVER:
        console.print(_OF_DRIVER[document["merge_driver"]])
    for note in plan.notes:
        console.print(f"note: {note}")
    if not wishes.hooks:
        console.print(
            "\nNext: commit .grove, and connect your agent: grove init --hooks, or load grove's"
            " plugin; the page “Connect Claude Code” of grove's documentation"
            " (docs/how-to/connect-claude-code.md) says how."
        )
    if not workspace.library.project_backends:
        console.print(
            "No memory backend is installed: pip install grove-backend-markdown", style="yellow"
        )


def _line_on_program(workspace: Workspace, wishes: _Wishes, document: dict[str, Any]) -> str:
    program, previous = document["program"], document["previous_program"]
    was = f" (was {previous})" if program and previous not in (None, program) else ""
    place = program or previous
    if wishes.hooks or registrations(workspace.root, workspace.environment):
        return f"hooks will run {place or 'the grove that PATH holds'}{was}"
    return f"a launcher will find grove {f'at {place}' if place else 'on PATH'}{was}"


def _uninstall(workspace: Workspace, wishes: _Wishes) -> Result:
    record = InstallationRecord(workspace.paths, workspace.root)
    removal = plan_removal(workspace, record, shared=wishes.shared)
    if wishes.asks:
        confirm(removal.changes, workspace.root)
    if not wishes.dry_run:
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
        if not removal.everything:
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
