"""``grove maintain index``."""

from typing import TYPE_CHECKING

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.services.sync import index_now

if TYPE_CHECKING:
    from rich.console import Console

_INCOMPLETE = "not all learnings could be read; `grove backends` says what is wrong"


@click.command("index")
@click.option("--rebuild", is_flag=True, help="Forget what is known, and read everything again.")
@grove_command
def command(invocation: Invocation, *, rebuild: bool) -> Result:
    """Bring the index of the learnings up to date.

    Hooks and commands do that by themselves. Hooks leave a very large change to this command, which
    then runs in the background. Exit code 1 when not all learnings could be read.
    """
    indexed = index_now(invocation.workspace, rebuild=rebuild)
    if indexed is None:
        document = {"learnings": None, "complete": False, "elsewhere": True}
        return Result(
            document=document,
            human=lambda console: console.print("Another process is at it."),
            ids=[],
        )

    def human(console: "Console") -> None:
        state = "up to date" if indexed.complete else "incomplete"
        state = f"made anew and {state}" if rebuild else state
        console.print(f"{counted(indexed.learnings, 'learning')}, {state}: {indexed.path}")

    return Result(
        document={
            "learnings": indexed.learnings,
            "complete": indexed.complete,
            "elsewhere": False,
            "path": indexed.path,
        },
        human=human,
        ids=[],
        exit_code=0 if indexed.complete else 1,
        warnings=[] if indexed.complete else [_INCOMPLETE],
    )
