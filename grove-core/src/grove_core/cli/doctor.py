"""``grove doctor``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.health.check import Check, Status

if TYPE_CHECKING:
    from rich.console import Console

    from grove_core.config import ConfigProblem

_STYLES: Final = {Status.OK: "green", Status.WARNING: "yellow", Status.BROKEN: "red"}
_MARK_WIDTH: Final = 8


@click.command("doctor")
@grove_command
def command(invocation: Invocation) -> Result:
    """Check everything that can silently go wrong, and say how to mend it.

    Looks and changes nothing. What works comes first, then warnings, then what is broken. Exit code
    1 when something is broken; warnings alone leave it at 0. With --quiet only the names of broken
    checks are printed.
    """
    from grove_core.cli.settings import examine_settings
    from grove_core.health.examination import examine

    workspace = invocation.workspace

    def of_settings() -> tuple[Sequence["ConfigProblem"], Sequence[str]]:
        found = examine_settings(workspace)
        return found.mistakes, found.idle  # what waits for trust has a check of its own

    checks = examine(workspace, of_settings)
    broken = [check for check in checks if check.status is Status.BROKEN]
    return Result(
        document={"ok": not broken, "checks": checks},
        human=lambda console: _human(checks, console),
        ids=list(dict.fromkeys(check.name for check in broken)),
        exit_code=1 if broken else 0,
        names_problems=True,
    )


def _human(checks: Sequence[Check], console: "Console") -> None:
    for status in Status:
        for check in checks:
            if check.status is status:
                _line(check, console)
    console.print(_summary(checks))


def _line(check: Check, console: "Console") -> None:
    from rich.text import Text

    mark = Text(f"{check.status.value:<{_MARK_WIDTH}}", style=_STYLES[check.status])
    console.print(mark + Text(f"{check.name}: {check.detail}"))
    if check.mend:
        console.print(f"{'':<{_MARK_WIDTH}}  → {check.mend}")


def _summary(checks: Sequence[Check]) -> str:
    broken = sum(check.status is Status.BROKEN for check in checks)
    warnings = sum(check.status is Status.WARNING for check in checks)
    if not broken and not warnings:
        return f"\nAll is well: {counted(len(checks), 'check')}."
    state = f"{broken} broken" if broken else "Nothing is broken"
    return f"\n{state}, {counted(warnings, 'warning')}, {counted(len(checks), 'check')}."
