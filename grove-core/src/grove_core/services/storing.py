"""Storing accepted candidates: routed by scope, delivered or kept for later."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from attrs import frozen

from grove_core.errors import GroveError
from grove_core.identifiers import new_learning_id
from grove_core.memory.library import Stored
from grove_core.model.learning import (
    Learning,
    Scope,
)
from grove_core.model.memory import Receipt, ReceiptStatus
from grove_core.reflection.pipeline import AcceptedCandidate, learning_from
from grove_core.storage import files
from grove_core.workspace import Workspace

SESSION_BACKEND: Final = "session"


@frozen(kw_only=True)
class StoredLearning:
    """A learning that a submission has stored."""

    learning: Learning
    receipt: Receipt
    notes: tuple[str, ...] = ()


def why_not_stored(workspace: Workspace, scope: Scope) -> str | None:
    """Say why a learning of some scope cannot be stored here."""
    shared = scope in (Scope.PROJECT, Scope.TEAM)
    if shared and not workspace.project.initialised and not _has_ticket_system(workspace):
        return (
            f"{workspace.root} does not use grove yet; run `grove init` there, or submit it with"
            ' scope "personal"'
        )
    if scope is Scope.EPHEMERAL or workspace.library.target_for(scope) is not None:
        return None
    from grove_core.plugins.discovery import BACKEND_GROUP
    from grove_core.services.packages import install_command_for

    install = install_command_for(BACKEND_GROUP)
    if shared:
        return (
            f"no memory backend is installed that works here; {install} (`grove backends` lists"
            " what there is)"
        )
    return (
        f"no installed backend keeps personal learnings; {install}, or submit it with another scope"
    )


def _has_ticket_system(workspace: Workspace) -> bool:
    return any(
        system.enabled and not system.probe.per_session for system in workspace.tickets().all
    )


def store(
    workspace: Workspace,
    session_id: str,
    ticket_id: str | None,
    accepted: Sequence[AcceptedCandidate],
) -> tuple[StoredLearning, ...]:
    """Store candidates under new ids."""
    stored: list[StoredLearning] = []
    for one in accepted:
        learning = learning_from(
            one.candidate,
            learning_id=new_learning_id(workspace.now),
            session_id=session_id,
            ticket_id=ticket_id,
            now=workspace.now,
        )
        kept = store_learning(workspace, learning)
        stored.append(
            StoredLearning(learning=learning, receipt=kept.receipt, notes=(*one.notes, *kept.notes))
        )
    return tuple(stored)


def store_learning(workspace: Workspace, learning: Learning) -> Stored:
    """Store a learning where it belongs, or queue it; ephemeral ones may stay in the session."""
    target = workspace.library.target_for(learning.scope)
    if target is None:
        receipt = Receipt(
            learning_id=learning.id, status=ReceiptStatus.STORED, backend=SESSION_BACKEND
        )
        return Stored(receipt=receipt)
    stored = workspace.library.store(target, learning, workspace.now)
    if stored.receipt.status is ReceiptStatus.QUEUED:
        waits = f"waits in the outbox for the backend {stored.receipt.backend}"
        workspace.diagnostics.log("warning", f"{learning.id} {waits}")
    for note in stored.notes:
        workspace.diagnostics.log("warning", f"{learning.id}: {note}")
    return stored


@contextmanager
def alone(workspace: Workspace, seconds: float) -> Iterator[None]:
    """Keep other processes from storing and delivering learnings of a project meanwhile."""
    lock = workspace.project_cache / "reflect.lock"
    files.make_directory(lock.parent)
    with files.locked(lock, timeout=seconds):
        yield


def deliver_all(workspace: Workspace) -> Sequence[Receipt]:
    """Deliver what waits for the project's backends, as long as no other process does."""
    return _deliver(workspace, in_a_hurry=False)


def deliver_outbox(workspace: Workspace) -> None:
    """Try to deliver what an earlier reflection had to leave; a failure is logged."""
    try:
        _deliver(workspace, in_a_hurry=True)
    except (GroveError, OSError) as error:
        workspace.diagnostics.log("warning", f"the outbox could not be delivered: {error}")


def _deliver(workspace: Workspace, *, in_a_hurry: bool) -> Sequence[Receipt]:
    if not workspace.outbox.entries(workspace.root):
        return ()
    with alone(workspace, 0):
        receipts = workspace.library.deliver(in_a_hurry=in_a_hurry)
    for receipt in receipts:
        note = f": {receipt.note}" if receipt.note else ""
        workspace.diagnostics.log(
            "warning" if note else "info",
            f"{receipt.learning_id} was delivered from the outbox to {receipt.backend}{note}",
        )
    return receipts
