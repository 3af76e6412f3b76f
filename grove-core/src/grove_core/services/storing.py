"""Storing accepted candidates: routed by scope, delivered or kept for later."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from grove_core.errors import GroveError, StorageError
from grove_core.git import find_top, has_committed, is_linked
from grove_core.memory.outbox import Outbox, OutboxEntry
from grove_core.model.learning import Learning, Rejection, Scope
from grove_core.model.memory import Receipt, ReceiptStatus
from grove_core.project import Project
from grove_core.services.result import Line, Result
from grove_core.services.sync import synchronise, with_server
from grove_core.storage import files
from grove_core.text import clean_line, counted

_GROVE: Final = ".grove"
SESSION_BACKEND: Final = "session"
_LONGEST_NOTE: Final = 500
_LOCK_SECONDS: Final = 30.0
_SLOW_LOCK_SECONDS: Final = 300.0


def check_routing(project: Project, scope: Scope) -> Rejection | None:
    """Object to a learning of some scope that cannot be stored here."""
    shared = scope in (Scope.PROJECT, Scope.TEAM)
    if shared and not project.files.initialised:
        tickets = project.tickets().all
        if not any(one.enabled and not one.probe.per_session for one in tickets):
            reason = (
                f"{project.root} does not use grove yet; run `grove init` there, or submit it with"
                ' scope "personal"'
            )
            return Rejection(reason=reason, field="scope")
    if scope is Scope.EPHEMERAL or project.library.target_for(scope) is not None:
        return None
    kept = "the project's learnings" if shared else "personal learnings"
    reason = f"no installed backend keeps {kept}; `grove backends` says which there are"
    return Rejection(reason=reason, field="scope")


def store_learning(project: Project, learning: Learning) -> Receipt:
    """Store a learning where it belongs, or queue it; ephemeral ones may stay in the session."""
    target = project.library.target_for(learning.scope)
    if target is None:
        stays = ReceiptStatus.STORED
        return Receipt(learning_id=learning.id, status=stays, backend=SESSION_BACKEND)
    receipt = project.library.store(target, learning)
    if receipt.status is ReceiptStatus.QUEUED:
        waits = f"waits in the outbox for the backend {receipt.backend}"
        project.diagnostics.log("warning", f"{learning.id} {waits}")
    if receipt.note:
        project.diagnostics.log("warning", f"{learning.id}: {receipt.note}")
    _keep_copy(project, learning, receipt)
    project.note_origin([learning])
    return receipt


def _keep_copy(project: Project, learning: Learning, receipt: Receipt) -> None:
    """Keep a copy of what is in a linked work tree: it may be removed before this is committed."""
    top = find_top(project.root)
    here = receipt.location is not None and Path(receipt.location).is_relative_to(project.root)
    if here and top is not None and is_linked(top):
        Outbox(project.paths.copies).put(learning, project.root)


def left_behind(project: Project) -> Sequence[OutboxEntry]:
    """List what removed work trees of this repository had not committed; other copies go."""
    found: list[OutboxEntry] = []
    for one in Outbox(project.paths.copies).entries(project.root):
        name = one.learning.id
        if one.root == str(project.root):
            continue
        if project.library.get(name) or has_committed(project.root, name, _GROVE):
            one.path.unlink(missing_ok=True)
        else:
            found.append(one)
    return found


@contextmanager
def alone(project: Project, *, waits: bool = True) -> Iterator[None]:
    """Keep other processes from storing and delivering learnings of a project meanwhile."""
    patience = _SLOW_LOCK_SECONDS if project.library.is_slow else _LOCK_SECONDS
    lock = project.project_cache / "reflect.lock"
    files.make_directory(lock.parent)
    with files.locked(lock, timeout=patience if waits else 0) as descriptor:
        os.utime(descriptor)  # those who wait see that others come to their turn
        yield


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


def _bring_back(project: Project) -> Sequence[Receipt]:
    receipts = []
    for one in left_behind(project):
        with alone(project, waits=False):
            receipts.append(store_learning(project, one.learning))
        one.path.unlink(missing_ok=True)
    return receipts


# --- flush ----------------------------------------------------------------------------------------


def flush(project: Project, *, dry_run: bool, in_background: bool) -> Result:
    """Deliver what waits for a backend, and bring backends and their servers into line."""
    receipts: list[Receipt] = []
    faults: list[str] = []
    received = 0
    if not dry_run:
        # A hook has begun what is done in the background: that leaves the work tree as it is.
        if not in_background:
            try:
                receipts += _deliver(project, in_a_hurry=False)
                receipts += _bring_back(project)
            except StorageError as error:
                busy = "another process stores learnings of this project just now"
                faults.append(f"{busy}: {error}")
        for name, done in synchronise(project, asked=not in_background):
            receipts += done.delivered
            received += done.received
            faults += [f"{name}: {done.fault}"] if done.fault else []
    outbox, unreadable = project.outbox.entries(project.root), project.outbox.unreadable()
    behind = left_behind(project) if dry_run else ()
    waiting = {one.learning.id: one.learning.summary for one in (*outbox, *behind)}
    for server in with_server(project):
        waiting |= {one: _summary_of(one, project) for one in server.waiting}
    if waiting and not dry_run:
        many = counted(len(waiting), "learning")
        faults.append(f"{many} could not be delivered; `grove backends` says what is wrong")
    elif unreadable and not dry_run:
        faults.append(f"{counted(len(unreadable), 'file')} of the outbox cannot be read")
    lines: list[Line] = []
    for one in receipts:
        summary, note = _summary_of(one.learning_id, project), clean_line(one.note, _LONGEST_NOTE)
        lines.append(f"{one.status.value} in {one.backend}  {one.learning_id}  {summary}")
        lines += [(f"        {note}", "yellow")] if note else []
    came = f"{counted(received, 'learning')} came from the server, new or changed"
    return Result(
        document={
            "dry_run": dry_run,
            "delivered": receipts,
            "waiting": [{"id": one, "summary": text} for one, text in waiting.items()],
            "received": received,
            "unreadable": unreadable,
            **({"error": "; ".join(faults)} if faults else {}),
        },
        lines=[
            *lines,
            *((f"waits  {one}  {text}", "yellow") for one, text in waiting.items()),
            *((f"cannot be read, and stays  {path}", "yellow") for path in unreadable),
            *([came] if received else []),
            *([] if receipts or waiting or unreadable else ["Nothing waits."]),
        ],
        ids=[one.learning_id for one in receipts],
        exit_code=1 if faults else 0,
        warnings=faults,
    )


def _summary_of(learning_id: str, project: Project) -> str:
    entry = project.finder.get(learning_id)
    return "" if entry is None else str(entry.fields()["summary"])
