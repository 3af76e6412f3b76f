"""``grove init``."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import rich_click as click
from attrs import evolve

from grove_core.cli.app import grove_command, is_interactive
from grove_core.cli.result import Result
from grove_core.errors import GroveError, StorageError
from grove_core.install.plan import (
    FileChange,
    context_of,
    find_program,
    plan_for,
    plan_removal,
    recorded_program,
    registrations_of,
    running_hooks,
)
from grove_core.model.memory import StorageLayout
from grove_core.plugins.discovery import HOST_GROUP
from grove_core.plugins.hosts import DEFAULT_HOST, HostContext, HostSpec
from grove_core.project import Project
from grove_core.services.packages import (
    cache_around,
    describe_blocked,
    how_to_install,
    install_command_for,
)
from grove_core.services.result import Line
from grove_core.storage.paths import place_in

_PLACES: Final = {
    "own": "by hooks in {}, which is yours alone",
    "team": "by hooks in {}, which you commit for everybody who has grove",
    "none": "not by these: you load grove's plugin, or say grove init --hooks later",
}
_LINE_STYLES: Final = {"+": "green", "-": "red", "@": "cyan"}


@click.command("init")
@click.option(
    "--hooks",
    "hosts",
    is_flag=False,
    flag_value=DEFAULT_HOST,
    multiple=True,
    metavar="CLIENT,…",
    help=f"Add grove's hooks to a client's settings; {DEFAULT_HOST} unless one is named.",
)
@click.option("--server", is_flag=True, help="Have the session's server answer the hooks.")
@click.option("--shared", is_flag=True, help="In the settings that are committed, not in yours.")
@click.option("--allow-grove", is_flag=True, help="Let the agent run grove without asking, too.")
@click.option("--statusline", is_flag=True, help="Show grove in the client's status line, too.")
@click.option("--rules", is_flag=True, help="Write the gate's protocol as a rule of the project.")
@click.option("--uninstall", is_flag=True, help="Take back what init added; learnings stay.")
@click.option("--dry-run", is_flag=True, help="Show what would be done, and do nothing.")
@click.option(
    "--diff",
    is_flag=True,
    help="Show the files' changes line by line, as --dry-run does, and make them.",
)
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@grove_command
def command(  # noqa: PLR0913 - one for each option
    project: Project,
    *,
    hosts: tuple[str, ...],
    server: bool,
    shared: bool,
    allow_grove: bool,
    statusline: bool,
    rules: bool,
    uninstall: bool,
    dry_run: bool,
    diff: bool,
    yes: bool,
) -> Result:
    """Set up grove in this project.

    Creates the directory .grove at the project's root with a commented configuration. Files that
    exist are never touched, so running it again is safe; only the line that .grove/.gitattributes
    lacks is added. Commit .grove.

    On a terminal it shows what it would do and asks: how the client is to run grove, and whether
    to go on. --yes answers for you, and without a terminal nothing is asked.

    With --hooks the client runs grove in this project without grove's plugin. The settings are
    merged, their backup is kept, and --uninstall puts back what was there. With --server the
    client also starts grove's server with each session, by .mcp.json, and asks you about it.
    """
    with_hooks = {"--server": server, "--allow-grove": allow_grove, "--statusline": statusline}
    alone = [name for name, given in with_hooks.items() if given and not hosts]
    if uninstall and (rules or alone):
        names = "--hooks, --shared, --dry-run, --diff and --yes"
        raise click.UsageError(f"--uninstall goes with {names} only")
    if alone:
        raise click.UsageError(f"{alone[0]} goes with --hooks")
    if shared and not (hosts or uninstall):
        raise click.UsageError("--shared goes with --hooks or --uninstall")
    asks = not (yes or dry_run) and is_interactive()
    home = project.paths.home
    if project.root == home.parent and project.files.grove_directory == home:
        raise StorageError(f"{home} is grove's own directory; run init inside a project")
    diff = diff or dry_run
    hosts = tuple(dict.fromkeys(one for name in hosts for one in name.split(",")))
    known = [one.name for one in project.plugins.hosts()]
    if hosts and not known:
        blocked = describe_blocked(project, HOST_GROUP)
        raise GroveError(f"no client: {blocked or install_command_for(HOST_GROUP)}")
    if unknown := [name for name in hosts if name not in known]:
        raise click.UsageError(f"there is no client {unknown[0]}, but {', '.join(known)}")
    if uninstall:
        return _uninstall(project, hosts, shared=shared, dry_run=dry_run, diff=diff, asks=asks)
    wanted = context_of(
        project,
        find_program() or "",
        shared=shared,
        server=server,
        allow=allow_grove,
        rules=rules,
        status_line=statusline,
    )
    return _install(project, hosts, wanted, dry_run=dry_run, diff=diff, asks=asks)


def _install(
    project: Project,
    hosts: Sequence[str],
    wanted: HostContext,
    *,
    dry_run: bool,
    diff: bool,
    asks: bool,
) -> Result:
    previous, program = recorded_program(project), wanted.program or None
    cache = cache_around(Path(sys.prefix))
    if cache is not None:
        program = None  # what is written down must be there tomorrow
    if hosts and program is None:
        raise StorageError(f"there is no program grove for hooks to run. {how_to_install()}")
    # All that may be refused or declined comes first: then nothing is left behind.
    usual = project.plugins.host(DEFAULT_HOST)
    is_given = hosts or wanted.rules
    if asks and program and usual and not (is_given or running_hooks(project, usual.value)):
        place = _ask_for_place(wanted, usual.value)
        hosts = () if place == "none" else (DEFAULT_HOST,)
        wanted = evolve(wanted, shared=place == "team")
    plan = plan_for(project, hosts, wanted)
    if asks and (plan.own or plan.changes):
        _confirm("Set grove up like this?", [*plan.own, *plan.changes], project.root)
    if cache is not None:
        cleared = f"this grove runs from the cache {cache}, which is cleared"
        plan.notes.append(f"{cleared}. {how_to_install()}")
    if not dry_run:
        plan.make(program)
    created, extended = (
        [one.path for one in plan.own if one.action == action] for action in ("create", "change")
    )
    document: dict[str, Any] = {
        "root": project.root,
        "created": created,
        "extended": extended,
        "kept": plan.kept,
        "program": program,
        "previous_program": previous,
        "changes": _documents(plan.changes, project.root),
        "notes": plan.notes,
        "dry_run": dry_run,
    }

    lines: list[Line] = [f"project {project.root}"]
    lines += _lines_on(plan.own, project.root, dry_run=dry_run, diff=False)
    lines += _lines_on(plan.changes, project.root, dry_run=dry_run, diff=diff)
    if DEFAULT_HOST in (hosts or (DEFAULT_HOST,)):
        was = f" (was {previous})" if {program, previous} - {None, program} else ""
        lines.append(f"hooks run {program or previous or 'the grove that PATH holds'}{was}")
    one = "one file holds all" if project.layout is StorageLayout.SINGLE else "each has a file"
    lines.append(f"learnings: {one} (storage.layout)")
    lines += [f"note: {note}" for note in dict.fromkeys(plan.notes)]
    lines += ["", f"Next: commit .grove, and {_next_step(project, hosts)}."]
    return Result(
        document=document,
        lines=lines,
        ids=[str(path) for path in (*created, *(one.path for one in plan.changes))],
    )


def _next_step(project: Project, hosts: Sequence[str]) -> str:
    if hosts:
        return "start a session of the client here; grove status then shows it"
    if any(registrations_of(project, one.value) for one in project.plugins.hosts()):
        return "go on: hooks of the client run grove here already"
    return "connect your agent: grove init --hooks, or load grove's plugin"


def _uninstall(
    project: Project,
    hosts: Sequence[str],
    *,
    shared: bool,
    dry_run: bool,
    diff: bool,
    asks: bool,
) -> Result:
    removal = plan_removal(project, hosts, shared=shared)
    if asks and removal.changes:
        _confirm("Take this back?", removal.changes, project.root)
    if not dry_run:
        removal.take_back()
    changes = removal.changes
    kept = [project.files.grove_directory] if project.files.initialised else []
    document: dict[str, Any] = {
        "root": project.root,
        "changes": _documents(changes, project.root),
        "kept": kept,
        "notes": removal.notes,
        "dry_run": dry_run,
    }

    lines = _lines_on(changes, project.root, dry_run=dry_run, diff=diff)
    lines += [f"note: {note}" for note in dict.fromkeys(removal.notes)]
    if not changes:
        lines.append("There is nothing to take back in the client's settings and rules.")
    if kept:
        lines.append("kept .grove: the learnings are yours; rm -r .grove removes them")
    return Result(document=document, lines=lines, ids=[str(one.path) for one in changes])


def _ask_for_place(wanted: HostContext, host: HostSpec) -> str:
    click.echo(f"This sets grove up in {wanted.root}. {host.title} can run grove here:", err=True)
    for (name, meaning), shared in zip(_PLACES.items(), (False, True, False), strict=True):
        where = place_in(wanted.root, host.setup(evolve(wanted, shared=shared)).files[0].path)
        click.echo(f"  {name:<6} {meaning.format(where)}", err=True)
    with _declining():
        place: str = click.prompt(
            f"Hooks for {host.title}", type=click.Choice([*_PLACES]), default="own", err=True
        )
    return place


def _confirm(question: str, changes: Sequence[FileChange], root: Path) -> None:
    for change in changes:
        click.echo(f"  {change.action} {change.name(root)}", err=True)
    with _declining():
        click.confirm(question, default=True, abort=True, err=True)


@contextmanager
def _declining() -> Iterator[None]:
    """Take Ctrl-C, or an end of input, at a question as a no."""
    try:
        yield
    except click.Abort:
        raise GroveError("nothing was changed") from None


def _documents(changes: Sequence[FileChange], root: Path) -> list[dict[str, Any]]:
    return [{"path": one.path, "action": one.action, "diff": one.diff(root)} for one in changes]


def _lines_on(
    changes: Sequence[FileChange], root: Path, *, dry_run: bool, diff: bool
) -> list[Line]:
    lines: list[Line] = []
    for change in changes if diff else ():
        texts = change.diff(root).splitlines()
        lines += [(text, _LINE_STYLES.get(text[:1], "")) for text in texts]
    for change in changes:
        word = f"would be {change.action}d:" if dry_run else f"{change.action}d"
        lines.append(f"{word} {change.name(root)}")
    return lines
