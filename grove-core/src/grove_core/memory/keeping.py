"""Keeping a learning whatever happens: in its backend, in another one until that can, or waiting.

A learning that its own backend cannot take waits in the outbox. Where another backend of the
project can give back what it was lent, it is kept there meanwhile, so that it is found; once it has
got home it is taken out there again.
"""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from attrs import frozen

from grove_core.memory.backends import OpenBackend, queued_receipt
from grove_core.memory.library import MemoryLibrary
from grove_core.memory.outbox import Outbox, OutboxEntry
from grove_core.model.learning import Learning, Scope
from grove_core.model.memory import Receipt, ReceiptStatus
from grove_core.model.value import Value


@frozen(kw_only=True, eq=False, repr=False)
class Shelves(Value):
    """Where learnings of a project can be kept.

    Attributes:
        library: The backends.
        outbox: What waits for them.
        root: The project's root.
        home: The backend that is configured for the project's learnings, if one is.
        team_copies: Whether what a team learning's own backend does not share goes to one that does
            as well.
    """

    library: MemoryLibrary
    outbox: Outbox
    root: Path
    home: str | None = None
    team_copies: bool = True


@frozen(kw_only=True, eq=False, repr=False)
class Kept(Value):
    """What became of a learning.

    Attributes:
        receipt: Where it is now.
        notes: What a person should know besides, a sentence each.
    """

    receipt: Receipt
    notes: tuple[str, ...] = ()


def keep(shelves: Shelves, target: OpenBackend, learning: Learning, now: datetime) -> Kept:
    """Write a learning, or keep it elsewhere until it can be written.

    Args:
        shelves: Where it can be kept.
        target: The backend it belongs to.
        learning: The learning.
        now: The time, UTC.

    Returns:
        What became of it.

    Raises:
        StorageError: It could be kept nowhere.
    """
    library = shelves.library
    home = library.awaited(shelves.home, learning.scope)
    if home is not None:
        shelves.outbox.put(learning, shelves.root, now, kept_in=target.backend.name)
    receipt = library.write(target, learning)
    if receipt is None:
        return _keep_elsewhere(shelves, target, learning, now)
    if home is not None:
        note = f"{home} is not available here: it is kept in {receipt.backend} until then"
        return Kept(receipt=receipt, notes=(note,))
    notes = _copied_for_team(shelves, target, learning, receipt)
    return Kept(receipt=receipt, notes=(receipt.note, *notes) if receipt.note else notes)


def _keep_elsewhere(
    shelves: Shelves, target: OpenBackend, learning: Learning, now: datetime
) -> Kept:
    name = target.backend.name
    for other in shelves.library.lenders(target, learning.scope):
        # First of all it waits: should the process end here, it is not lost.
        shelves.outbox.put(learning, shelves.root, now, kept_in=other.backend.name)
        receipt = shelves.library.write(other, learning)
        if receipt is not None:
            note = f"{name} could not take it: it is kept in {receipt.backend} until that can"
            return Kept(receipt=receipt, notes=(note,))
    shelves.outbox.put(learning, shelves.root, now)
    return Kept(receipt=queued_receipt(learning, name))


def _copied_for_team(
    shelves: Shelves, target: OpenBackend, learning: Learning, receipt: Receipt
) -> tuple[str, ...]:
    """Bring a team learning to a backend that the team shares; say so, or that there is none."""
    if learning.scope is not Scope.TEAM or receipt.shared:
        return ()
    unseen = f"git ignores what {receipt.backend} writes here, so the team does not see it"
    if not shelves.team_copies:
        return (f"{unseen}; backends.team_copies keeps such learnings in a shared backend as well",)
    for other in shelves.library.project_backends:
        if other is target:
            continue
        copy = shelves.library.write(other, learning)
        if copy is not None and copy.shared:
            where = f" ({copy.location})" if copy.location else ""
            return (f"{unseen}: it is kept in {copy.backend} as well{where}",)
        if copy is not None and copy.status is ReceiptStatus.STORED:
            shelves.library.withdraw(other.backend.name, learning)
    return (f"{unseen}, and no other backend here is shared",)


def deliver(shelves: Shelves) -> Sequence[Receipt]:
    """Try to deliver what waits for a project; backends are idempotent, so once is enough.

    Args:
        shelves: Where it waits, and where it belongs.

    Returns:
        The receipts of what could be delivered; the rest waits on.
    """
    receipts = [_deliver(shelves, entry) for entry in shelves.outbox.entries(shelves.root)]
    return [one for one in receipts if one is not None]


def _deliver(shelves: Shelves, entry: OutboxEntry) -> Receipt | None:
    library, kept_in = shelves.library, entry.kept_in
    target = library.target_for(entry.learning.scope)
    if target is None or target.backend.name == kept_in:
        return None
    lent = library.get_from(kept_in, entry.learning.id) if kept_in else None
    learning = entry.learning if lent is None else lent
    receipt = library.write(target, learning)
    if receipt is None:
        return None
    if lent is not None and not (learning.scope is Scope.TEAM and not receipt.shared):
        if library.withdraw(kept_in, lent) is None:
            return None  # it is home, and in both until the next try
    elif lent is None:
        _copied_for_team(shelves, target, learning, receipt)
    entry.path.unlink(missing_ok=True)
    return receipt
