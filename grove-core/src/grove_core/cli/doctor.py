"""``grove doctor``."""

from typing import Final

import rich_click as click

from grove_core.cli.app import grove_command
from grove_core.cli.result import Result
from grove_core.install.plan import find_host
from grove_core.model.check import Status
from grove_core.project import Project
from grove_core.services.result import Line
from grove_core.text import counted

_STYLES: Final = {Status.OK: "green", Status.WARNING: "yellow", Status.BROKEN: "red"}
_MARK_WIDTH: Final = 8


@click.command("doctor")
@click.option("-v", "--verbose", is_flag=True, help="Print what is well, too.")
@click.option(
    "--host",
    metavar="CLIENT",
    help="Look at one client alone, and say all of it.",
)
@grove_command
def command(project: Project, *, verbose: bool, host: str | None) -> Result:
    """Check everything that can silently go wrong, and say how to fix it.

    Looks and changes nothing. Only problems are printed, unless --verbose is given: warnings, then
    what is broken. Exit code 1 when something is broken; warnings alone leave it at 0. With --quiet
    only the names of broken checks are printed.
    """
    from grove_core.doctor import examine

    if host:
        find_host(project, host)
        verbose = True
    checks = examine(project, host or "")
    broken = [check for check in checks if check.status is Status.BROKEN]
    warnings = sum(check.status is Status.WARNING for check in checks)

    shown = [check for check in checks if verbose or not check.ok]
    lines: list[Line] = []
    for check in sorted(shown, key=lambda one: [*Status].index(one.status)):
        mark = (f"{check.status.value:<{_MARK_WIDTH}}", _STYLES[check.status])
        lines.append([mark, f"{check.name}: {check.detail}"])
        if check.fix:
            lines.append(f"{'':<{_MARK_WIDTH}}  → {check.fix}")
    number = counted(len(checks), "check")
    state = f"{len(broken)} broken" if broken else "Nothing is broken"
    is_well = not broken and not warnings
    lines += [""] if shown else []
    lines.append(
        f"All is well: {number}."
        if is_well
        else f"{state}, {counted(warnings, 'warning')}, {number}."
    )
    return Result(
        document={"ok": not broken, "checks": checks},
        lines=lines,
        ids=list(dict.fromkeys(check.name for check in broken)),
        exit_code=1 if broken else 0,
        names_problems=True,
    )
