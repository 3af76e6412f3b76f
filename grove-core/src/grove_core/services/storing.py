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
from grove_core.project import Project
from grove_core.reflection.pipeline import AcceptedCandidate, learning_from
from grove_core.storage import files

SESSION_BACKEND: Final = "session"
_LOCK_SECONDS: Final = 30.0
_SLOW_LOCK_SECONDS: Final = 300.0


@frozen(kw_only=True)
class StoredLearning:
    """A learning that a submission has stored."""

    learning: Learning
    receipt: Receipt
    notes: tuple[str, ...] = ()


def why_not_stored(project: Project, scope: Scope) -> str | None:
    """Say why a learning of some scope cannot be stored here."""
    shared = scope in (Scope.PROJECT, Scope.TEAM)
    if shared and not project.files.initialised and not _has_ticket_system(project):
        return (
            f"{project.root} does not use grove yet; run `grove init` there, or submit it with"
            ' scope "personal"'
        )
    if scope is Scope.EPHEMERAL or project.library.target_for(scope) is not None:
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


def _has_ticket_system(project: Project) -> bool:
    return any(system.enabled and not system.probe.per_session for system in project.tickets().all)


def store(
    project: Project,
    session_id: str,
    ticket_id: str | None,
    accepted: Sequence[AcceptedCandidate],
) -> tuple[StoredLearning, ...]:
    """Store candidates under new ids."""
    stored: list[StoredLearning] = []
    for one in accepted:
        learning = learning_from(
            one.candidate,
            learning_id=new_learning_id(project.now),
            session_id=session_id,
            ticket_id=ticket_id,
            now=project.now,
        )
        kept = store_learning(project, learning)
        stored.append(
            StoredLearning(learning=learning, receipt=kept.receipt, notes=(*one.notes, *kept.notes))
        )
    return tuple(stored)


def store_learning(project: Project, learning: Learning) -> Stored:
    """Store a learning where it belongs, or queue it; ephemeral ones may stay in the session."""
    target = project.library.target_for(learning.scope)
    if target is None:
        receipt = Receipt(
            learning_id=learning.id, status=ReceiptStatus.STORED, backend=SESSION_BACKEND
        )
        return Stored(receipt=receipt)
    stored = project.library.store(target, learning, project.now)
    if stored.receipt.status is ReceiptStatus.QUEUED:
        waits = f"waits in the outbox for the backend {stored.receipt.backend}"
        project.diagnostics.log("warning", f"{learning.id} {waits}")
    for note in stored.notes:
        project.diagnostics.log("warning", f"{learning.id}: {note}")
    return stored


@contextmanager
def alone(project: Project, *, waits: bool = True) -> Iterator[None]:
    """Keep other processes from storing and delivering learnings of a project meanwhile."""
    patience = _SLOW_LOCK_SECONDS if project.library.is_slow else _LOCK_SECONDS
    lock = project.project_cache / "reflect.lock"
    files.make_directory(lock.parent)
    with files.locked(lock, timeout=patience if waits else 0):
        yield


def deliver_all(project: Project) -> Sequence[Receipt]:
    """Deliver what waits for the project's backends, as long as no other process does."""
    return _deliver(project, in_a_hurry=False)


def deliver_outbox(project: Project) -> None:
    """Try to deliver what an earlier reflection had to leave; a failure is logged."""
    try:
        _deliver(project, in_a_hurry=True)
    except (GroveError, OSError) as error:
        project.diagnostics.log("warning", f"the outbox could not be delivered: {error}")


def _deliver(project: Project, *, in_a_hurry: bool) -> Sequence[Receipt]:
    if not project.outbox.entries(project.root):
        return ()
    with alone(project, waits=False):
        receipts = project.library.deliver(in_a_hurry=in_a_hurry)
    for receipt in receipts:
        note = f": {receipt.note}" if receipt.note else ""
        project.diagnostics.log(
            "warning" if note else "info",
            f"{receipt.learning_id} was delivered from the outbox to {receipt.backend}{note}",
        )
    return receipts
