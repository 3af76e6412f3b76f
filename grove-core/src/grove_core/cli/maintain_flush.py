"""``grove maintain flush``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import rich_click as click

from grove_core.cli.curation_report import dry_run_option
from grove_core.cli.invocation import Invocation, Result, counted, grove_command
from grove_core.cli.slow_backend import name_slow_backend
from grove_core.flow.storing import deliver_all
from grove_core.memory.outbox import OutboxEntry
from grove_core.model.memory import Receipt
from grove_core.text import clean_line

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST_NOTE: Final = 500


@click.command("flush")
@dry_run_option
@grove_command
def command(invocation: Invocation, *, dry_run: bool) -> Result:
    """Deliver the learnings of this project, and your own, that wait for their backend.

    Every reflection tries that as well. Exit code 1 when something still waits, or when another
    process stores learnings of this project just now.
    """
    workspace = invocation.workspace
    outbox, root = workspace.outbox, workspace.root
    summaries = {one.learning.id: one.learning.summary for one in outbox.entries(root)}
    if summaries and not dry_run:
        name_slow_backend(workspace.library)
    delivered = [] if dry_run else list(deliver_all(workspace))
    waiting = outbox.entries(root)
    unreadable = outbox.unreadable()
    fault = _fault(waiting, unreadable=len(unreadable)) if not dry_run else ""

    def human(console: "Console") -> None:
        for receipt in delivered:
            summary = summaries.get(receipt.learning_id, "")
            console.print(f"{_state(receipt)}  {receipt.learning_id}  {summary}")
            if receipt.note:
                console.print(f"        {clean_line(receipt.note, _LONGEST_NOTE)}", style="yellow")
        for one in waiting:
            console.print(f"waits  {one.learning.id}  {one.learning.summary}", style="yellow")
        for path in unreadable:
            console.print(f"cannot be read, and stays  {path}", style="yellow")
        if not delivered and not waiting and not unreadable:
            console.print("Nothing waits.")

    return Result(
        document={
            "dry_run": dry_run,
            "delivered": delivered,
            "waiting": [
                {"id": one.learning.id, "summary": one.learning.summary} for one in waiting
            ],
            "unreadable": unreadable,
            **({"error": fault} if fault else {}),
        },
        human=human,
        ids=[one.learning_id for one in delivered],
        exit_code=1 if fault else 0,
        warnings=[fault] if fault else [],
    )


def _state(receipt: Receipt) -> str:
    return f"{receipt.status.value} in {receipt.backend}"


def _fault(waiting: Sequence[OutboxEntry], *, unreadable: int) -> str:
    if waiting:
        still = counted(len(waiting), "learning")
        return f"{still} could not be delivered and waits on; `grove backends` says what is wrong"
    return f"{counted(unreadable, 'file')} of the outbox cannot be read" if unreadable else ""
