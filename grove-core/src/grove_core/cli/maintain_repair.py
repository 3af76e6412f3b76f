"""``grove maintain repair``."""

from typing import TYPE_CHECKING

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.result import Result
from grove_core.flow.repairing import find_repairs, make_repairs

if TYPE_CHECKING:
    from rich.console import Console


@click.command("repair")
@click.option("--dry-run", is_flag=True, help="Say what would be mended, and mend nothing.")
@grove_command
def command(invocation: Invocation, *, dry_run: bool) -> Result:
    """Mend what merges have done to learnings and event logs.

    Conflict markers are replaced by both sides' entries; of entries that stand there twice and say
    the same, one stays. What both branches have changed is named: keep one of the two. The files as
    they were are kept in grove's own directory. Exit code 1 when something is left to do by hand.
    """
    workspace = invocation.workspace
    repairs, faults = find_repairs(workspace)
    backup = None if dry_run else make_repairs(workspace, repairs)
    is_left = any(one.left for one in repairs)

    def human(console: "Console") -> None:
        for one in repairs:
            name = one.path.relative_to(workspace.root)
            moves = dry_run and one.after != one.before
            for line in one.mended:
                console.print(f"{'would mend' if dry_run else 'mended'} {name} {line}")
            for line in one.left:
                # The lines have moved, so in a dry run these are numbers of what would be written.
                where = "in the mended file " if moves else ""
                console.print(f"left to mend by hand: {where}{name} {line}", style="yellow")
        if backup is not None:
            console.print(f"the files as they were: {backup}")
        if not repairs and not faults:
            console.print("There is nothing to mend.")

    return Result(
        document={
            "dry_run": dry_run,
            "files": [
                {"path": one.path, "mended": one.mended, "left": one.left} for one in repairs
            ],
            "backup": backup,
            "error": "; ".join(faults) or None,
        },
        human=human,
        ids=[str(one.path) for one in repairs],
        exit_code=1 if faults or is_left else 0,
        warnings=faults,
    )
