"""``grove maintain flush``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import rich_click as click

from grove_core.cli.curation_report import dry_run_option
from grove_core.cli.invocation import Invocation, Result, counted, grove_command
from grove_core.cli.slow_backend import name_slow_backend
from grove_core.flow.storing import deliver_all
from grove_core.flow.synchronising import synchronise, with_server
from grove_core.memory.outbox import OutboxEntry
from grove_core.model.memory import Receipt, Synchronised
from grove_core.plugins.descriptors import Freshness
from grove_core.text import clean_line
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST_NOTE: Final = 500


@click.command("flush")
@dry_run_option
@click.option("--in-background", is_flag=True, hidden=True, help="Nobody has asked for it now.")
@grove_command
def command(invocation: Invocation, *, dry_run: bool, in_background: bool) -> Result:
    """Deliver the learnings of this project, and your own, that wait for their backend.

    A backend with a server takes in as well what is new there. Every reflection delivers, too. Exit
    code 1 when something still waits, when a server could not be asked, or when another process
    stores learnings of this project just now.
    """
    workspace = invocation.workspace
    outbox, root = workspace.outbox, workspace.root
    summaries = {one.learning.id: one.learning.summary for one in outbox.entries(root)}
    servers = with_server(workspace)
    if (summaries or servers) and not dry_run:
        name_slow_backend(workspace.library)
    delivered = [] if dry_run else list(deliver_all(workspace))
    synchronised = [] if dry_run else synchronise(workspace, asked=not in_background)
    delivered += [receipt for _, done in synchronised for receipt in done.delivered]
    waiting = outbox.entries(root)
    unreadable = outbox.unreadable()
    faults = _faults(waiting, len(unreadable), synchronised) if not dry_run else []
    at_servers = _waiting(with_server(workspace), workspace)

    def human(console: "Console") -> None:
        for receipt in delivered:
            summary = summaries.get(receipt.learning_id, "")
            console.print(f"{_state(receipt)}  {receipt.learning_id}  {summary}")
            if receipt.note:
                console.print(f"        {clean_line(receipt.note, _LONGEST_NOTE)}", style="yellow")
        for one in waiting:
            console.print(f"waits  {one.learning.id}  {one.learning.summary}", style="yellow")
        for learning_id, summary in at_servers.items():
            console.print(f"waits  {learning_id}  {summary}", style="yellow")
        received = sum(done.received for _, done in synchronised)
        if received:
            console.print(f"{counted(received, 'learning')} came from the server, new or changed")
        for path in unreadable:
            console.print(f"cannot be read, and stays  {path}", style="yellow")
        if not delivered and not waiting and not unreadable and not at_servers:
            console.print("Nothing waits.")

    return Result(
        document={
            "dry_run": dry_run,
            "delivered": delivered,
            "waiting": [
                *({"id": one.learning.id, "summary": one.learning.summary} for one in waiting),
                *({"id": one, "summary": text} for one, text in at_servers.items()),
            ],
            "received": sum(done.received for _, done in synchronised),
            "unreadable": unreadable,
            **({"error": "; ".join(faults)} if faults else {}),
        },
        human=human,
        ids=[one.learning_id for one in delivered],
        exit_code=1 if faults else 0,
        warnings=faults,
    )


def _waiting(servers: Sequence[Freshness], workspace: Workspace) -> dict[str, str]:
    """Give what waits for servers, each with its summary; it is found here meanwhile."""
    ids = [learning_id for one in servers for learning_id in one.waiting]
    found = ((one, workspace.finder.get(one)) for one in ids)
    return {one: entry.fields()["summary"] if entry else "" for one, entry in found}


def _state(receipt: Receipt) -> str:
    return f"{receipt.status.value} in {receipt.backend}"


def _faults(
    waiting: Sequence[OutboxEntry],
    unreadable: int,
    synchronised: Sequence[tuple[str, Synchronised]],
) -> list[str]:
    faults = [f"{name}: {done.fault}" for name, done in synchronised if done.fault]
    still = len(waiting) + sum(len(done.waiting) for _, done in synchronised)
    if still:
        waits = f"{counted(still, 'learning')} could not be delivered and waits on"
        return [*faults, f"{waits}; `grove backends` says what is wrong"]
    if unreadable:
        faults.append(f"{counted(unreadable, 'file')} of the outbox cannot be read")
    return faults
