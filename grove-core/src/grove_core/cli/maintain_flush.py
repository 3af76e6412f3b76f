"""``grove maintain flush``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import rich_click as click
from attrs import frozen

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.options import dry_run_option
from grove_core.cli.progress import name_slow_backend
from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.errors import StorageError
from grove_core.model.memory import Receipt, Synchronised
from grove_core.services.storing import deliver_all
from grove_core.services.sync import synchronise, with_server
from grove_core.text import clean_line
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

_LONGEST_NOTE: Final = 500
_MOST_SHOWN: Final = 20


@frozen(kw_only=True)
class _Flushed:
    """What came of it."""

    delivered: Sequence[Receipt]
    synchronised: Sequence[tuple[str, Synchronised]]
    waiting: dict[str, str]
    unreadable: "Sequence[Path]"
    busy: str = ""

    @property
    def received(self) -> int:
        """How many learnings have come from servers."""
        return sum(done.received for _, done in self.synchronised)

    @property
    def faults(self) -> list[str]:
        """What is not as it should be, a line each."""
        faults = [f"{name}: {done.fault}" for name, done in self.synchronised if done.fault]
        if self.waiting:
            count = counted(len(self.waiting), "learning")
            waits = "waits" if len(self.waiting) == 1 else "wait"
            faults.append(
                f"{count} could not be delivered and {waits} on; `grove backends` says what is"
                " wrong"
            )
        elif self.unreadable:
            count = counted(len(self.unreadable), "file")
            faults.append(f"{count} of the outbox cannot be read")
        return [*faults, self.busy] if self.busy else faults


@click.command("flush")
@dry_run_option
@click.option("--in-background", is_flag=True, hidden=True, help="Nobody has asked for it now.")
@grove_command
def command(invocation: Invocation, *, dry_run: bool, in_background: bool) -> Result:
    """Deliver the learnings of this project, and your own, that wait for their backend.

    A backend with a server takes in as well what is new there, and brings there what is recorded
    and missing. Every reflection delivers, too. Exit code 1 when something still waits, when a
    server could not be asked, or when another process stores learnings of this project just now.
    """
    workspace = invocation.workspace
    if not dry_run and (workspace.outbox.entries(workspace.root) or with_server(workspace)):
        name_slow_backend(workspace.library)
    # A hook has begun what is done in the background: that leaves the work tree as it is.
    delivered, busy = ([], "") if dry_run or in_background else _delivered(workspace)
    synchronised = [] if dry_run else synchronise(workspace, asked=not in_background)
    at_servers = [receipt for _, done in synchronised for receipt in done.delivered]
    flushed = _Flushed(
        delivered=[*delivered, *at_servers],
        synchronised=synchronised,
        waiting=_waiting(workspace),
        unreadable=workspace.outbox.unreadable(),
        busy=busy,
    )
    faults = [] if dry_run else flushed.faults
    return Result(
        document={
            "dry_run": dry_run,
            "delivered": flushed.delivered,
            "waiting": [{"id": one, "summary": text} for one, text in flushed.waiting.items()],
            "received": flushed.received,
            "unreadable": flushed.unreadable,
            **({"error": "; ".join(faults)} if faults else {}),
        },
        human=lambda console: _human(flushed, workspace, console),
        ids=[one.learning_id for one in flushed.delivered],
        exit_code=1 if faults else 0,
        warnings=faults,
    )


def _delivered(workspace: Workspace) -> tuple[Sequence[Receipt], str]:
    """Deliver what waits in the outbox; say why not where another process is at it."""
    try:
        return deliver_all(workspace), ""
    except StorageError as error:
        return (), f"another process stores learnings of this project just now: {error}"


def _waiting(workspace: Workspace) -> dict[str, str]:
    """Return what waits in the outbox, and for servers."""
    outbox = workspace.outbox.entries(workspace.root)
    waiting = {one.learning.id: one.learning.summary for one in outbox}
    ids = (learning_id for one in with_server(workspace) for learning_id in one.waiting)
    return waiting | {one: _summary_of(one, workspace) for one in ids}


def _summary_of(learning_id: str, workspace: Workspace) -> str:
    entry = workspace.finder.get(learning_id)
    return "" if entry is None else str(entry.fields()["summary"])


def _human(flushed: _Flushed, workspace: Workspace, console: "Console") -> None:
    for receipt in flushed.delivered:
        summary = _summary_of(receipt.learning_id, workspace)
        console.print(f"{_state(receipt)}  {receipt.learning_id}  {summary}")
        if receipt.note:
            console.print(f"        {clean_line(receipt.note, _LONGEST_NOTE)}", style="yellow")
    for learning_id, summary in [*flushed.waiting.items()][:_MOST_SHOWN]:
        console.print(f"waits  {learning_id}  {summary}", style="yellow")
    if len(flushed.waiting) > _MOST_SHOWN:
        console.print(f"waits  {len(flushed.waiting) - _MOST_SHOWN} more", style="yellow")
    for path in flushed.unreadable:
        console.print(f"cannot be read, and stays  {path}", style="yellow")
    if flushed.received:
        came = counted(flushed.received, "learning")
        console.print(f"{came} came from the server, new or changed")
    if not (flushed.delivered or flushed.waiting or flushed.unreadable):
        console.print("Nothing waits.")


def _state(receipt: Receipt) -> str:
    return f"{receipt.status.value} in {receipt.backend}"
