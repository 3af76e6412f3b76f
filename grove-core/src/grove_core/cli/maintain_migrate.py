"""``grove maintain migrate``."""

from typing import TYPE_CHECKING

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.config import StorageLayout, load_config
from grove_core.flow.relayout import relayout

if TYPE_CHECKING:
    from rich.console import Console


@click.command("migrate")
@click.option(
    "--layout",
    required=True,
    type=click.Choice([one.value for one in StorageLayout]),
    help="One file for all learnings, or files that branches never share.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be moved, and move nothing.")
@grove_command
def command(invocation: Invocation, *, layout: str, dry_run: bool) -> Result:
    """Move learnings to another layout, and set `storage.layout` for what comes.

    Nothing is lost, whenever it is interrupted: run it again to finish. Prose between the entries
    of learnings.md stays there. Commit the result at once, with everybody's branches merged: git
    cannot follow what another branch still writes to the old place, though grove reads both.
    """
    workspace = invocation.workspace
    done = relayout(workspace, StorageLayout(layout), dry_run=dry_run)
    warnings = [*done.faults]
    in_force = load_config(workspace.paths.home, workspace.root, workspace.environment).config
    if not dry_run and in_force.storage.layout.value != layout:
        warnings.append(
            f"storage.layout is still {in_force.storage.layout.value} here: something stronger than"
            " the project's configuration sets it; grove config get storage.layout tells what"
        )

    def human(console: "Console") -> None:
        verb = "would be" if dry_run else "are"
        if done.setting_changed:
            console.print(f'storage.layout = "{layout}" {"would be" if dry_run else "is"} set')
        for one in done.learnings:
            console.print(one)
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
