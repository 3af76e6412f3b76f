"""Store a learning in its backend, in a fallback backend, or in the outbox."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from attrs import evolve

from grove_core.errors import StorageError
from grove_core.memory.backends import OpenBackend, queued_receipt
from grove_core.memory.library import MemoryLibrary, Missing
from grove_core.memory.outbox import Outbox, OutboxEntry
from grove_core.model.learning import Learning, Scope
from grove_core.model.memory import Capability, Receipt, ReceiptStatus
from grove_core.model.value import Value, frozen


@frozen(kw_only=True, eq=False, repr=False)
class Shelves(Value):
    """Where learnings of a project can be kept."""

    library: MemoryLibrary
    outbox: Outbox
    root: Path
    home: str | None = None
    team_copies: bool = True


@frozen(kw_only=True, eq=False, repr=False)
class Kept(Value):
    """What became of a learning."""

    receipt: Receipt
    notes: tuple[str, ...] = ()


def keep(shelves: Shelves, target: OpenBackend, learning: Learning, now: datetime) -> Kept:
    """Write a learning, or keep it elsewhere until it can be written."""
    library = shelves.library
    lenders = library.lenders(target, learning.scope)
    home = library.awaited(shelves.home, learning.scope)
    if home is not None:
        why = f"{home} is not available here: it is kept in {{}} until then"
        return _lend(shelves, home, (target, *lenders), learning, now, why)
    receipt = library.write(target, learning)
    if receipt is None:
        name = target.backend.name
        why = f"{name} could not take it: it is kept in {{}} until that can"
        return _lend(shelves, name, lenders, learning, now, why)
    notes = _copied_for_team(shelves, target, learning, receipt)
    return Kept(receipt=receipt, notes=(receipt.note, *notes) if receipt.note else notes)


def _lend(
    shelves: Shelves,
    home: str,
    lenders: Sequence[OpenBackend],
    learning: Learning,
    now: datetime,
    why: str,
) -> Kept:
    """Keep what waits for its home in the first backend that takes it, so that it is found."""
    for lender in lenders:
        receipt, fault = _lend_to(shelves, lender, learning, now)
        if receipt is None:
            continue
        notes = [why.format(receipt.backend), *([receipt.note] if receipt.note else [])]
        if fault:
            notes.append(f"it will not move to {home} by itself: {fault}")
        return Kept(receipt=receipt, notes=tuple(notes))
    shelves.outbox.put(learning, shelves.root, now)
    return Kept(receipt=queued_receipt(learning, home))


def _lend_to(
    shelves: Shelves, lender: OpenBackend, learning: Learning, now: datetime
) -> tuple[Receipt | None, str]:
    """Write what waits to a backend; give its receipt, and why it could not be put to wait."""
    name, fault = lender.backend.name, ""
    try:
        # First of all it waits: should the process end here, it is not lost.
        shelves.outbox.put(learning, shelves.root, now, kept_in=name)
    except StorageError as error:
        fault = str(error)
    receipt = shelves.library.write(lender, learning)
    if receipt is not None and not fault:
        # Without this mark it is written once more, which does no harm.
        with suppress(StorageError):
            shelves.outbox.put(learning, shelves.root, now, kept_in=name, is_kept=True)
    return receipt, fault


def _copied_for_team(
    shelves: Shelves, target: OpenBackend, learning: Learning, receipt: Receipt
) -> tuple[str, ...]:
    """Bring a team learning to a backend that the team shares; say so, or that there is none."""
    if learning.scope is not Scope.TEAM or receipt.shared:
        return ()
    unseen = f"git ignores what {receipt.backend} writes here, so the team does not see it"
    if not shelves.team_copies:
        return (f"{unseen}; backends.team_copies keeps such learnings in a shared backend as well",)
    failed: list[str] = []
    for other in shelves.library.project_backends:
        if other is target:
            continue
        copy = shelves.library.write(other, learning)
        if copy is None:
            failed.append(other.backend.name)
        elif copy.shared:
            where = f" ({copy.location})" if copy.location else ""
            return (f"{unseen}: it is kept in {copy.backend} as well{where}",)
        elif copy.status is ReceiptStatus.STORED:
            shelves.library.withdraw(other.backend.name, learning)
    if failed:
        return (f"{unseen}, and {' and '.join(failed)} could not take a copy",)
    return (f"{unseen}, and no other backend here is shared",)


def deliver(shelves: Shelves, *, in_a_hurry: bool = False) -> Sequence[Receipt]:
    """Try to deliver what waits for a project; backends are idempotent, so once is enough."""
    receipts: list[Receipt] = []
    was_slow = False
    for entry in shelves.outbox.entries(shelves.root):
        target = shelves.library.target_for(entry.learning.scope)
        if target is None:
            continue
        is_slow = Capability.SLOW in target.backend.capabilities
        if is_slow and was_slow and in_a_hurry:
            continue
        was_slow = was_slow or is_slow
        receipt = _deliver(shelves, target, entry)
        if receipt is not None:
            receipts.append(receipt)
    return receipts


def _deliver(shelves: Shelves, target: OpenBackend, entry: OutboxEntry) -> Receipt | None:
    """Bring an entry as far as it gets now; give the receipt once it is where it belongs."""
    library, kept_in = shelves.library, entry.kept_in
    lent = library.get_from(kept_in, entry.learning.id) if kept_in else Missing.NOT_ASKED
    if lent is Missing.FAILED:
        return None
    if lent is Missing.ABSENT and entry.is_kept and entry.root == str(shelves.root):
        # It has been there for certain: a person has deleted it.
        entry.path.unlink(missing_ok=True)
        return None
    learning = lent if isinstance(lent, Learning) else entry.learning
    if library.awaited(shelves.home, learning.scope) is not None:
        if lent is Missing.ABSENT or not entry.is_kept:
            _lend_to(shelves, library.named(kept_in) or target, learning, entry.queued_at)
        return None
    receipt = library.write(target, learning)
    if receipt is None:
        return None
    notes = _copied_for_team(shelves, target, learning, receipt)
    if kept_in not in ("", target.backend.name) and lent is not Missing.ABSENT:
        left = _taken_back(shelves, kept_in, learning, receipt)
        if left is None:
            return None  # it is home, and in both until the next try
        notes += left
    entry.path.unlink(missing_ok=True)
    return evolve(receipt, note="; ".join(one for one in (receipt.note, *notes) if one))


def _taken_back(
    shelves: Shelves, kept_in: str, learning: Learning, receipt: Receipt
) -> tuple[str, ...] | None:
    """Take what has got home out of the backend that has kept it; ``None`` when that has failed."""
    if learning.scope is Scope.TEAM and not receipt.shared and shelves.team_copies:
        return ()
    if shelves.library.named(kept_in) is None:
        return (f"{kept_in}, which has kept it, is not available here and may have it as well",)
    taken = shelves.library.withdraw(kept_in, learning)
    if taken is None:
        return None
    return () if taken else (f"it stays in {kept_in} as well, since it was changed there",)
