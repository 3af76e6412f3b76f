"""Taking in what the server has: what others wrote, what they put away, and what it has lost."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from random import sample
from typing import TYPE_CHECKING, Final

from grove_backend_mcp.contents import Contents
from grove_backend_mcp.journal import Journal
from grove_core import Learning

if TYPE_CHECKING:
    from grove_backend_mcp.memory_server import Found, MemoryServer

_MOST_LOOKED_FOR: Final = 50
_MOST_NEW: Final = 200


def take_in(
    server: "MemoryServer", contents: Contents, journal: Journal, project: str, now: datetime
) -> int:
    """Take in what the server lists.

    Args:
        server: The server.
        contents: What is known here.
        journal: What has been delivered.
        project: The name under which the project's learnings lie on the server.
        now: The time, UTC.

    Returns:
        How many learnings have come that are new here, or have another status than before.

    Raises:
        ServerFaultError: The server has failed.
        BackendError: A file cannot be read.
        StorageError: A file cannot be written.
    """
    listed = server.listing()
    if listed is None:
        return 0
    own = contents.record.contents().learnings
    whole = _made_whole(server, listed, contents)
    found = {one.learning_id: one for one in whole if one.learning_id and one.project == project}
    received = _put_away(found, contents, journal, now)
    ids = {one.learning_id for one in listed if one.learning_id}
    _look_for_lost(server, ids, contents, journal, now)
    others = [one.learning for one in found.values() if one.learning and one.learning.id not in own]
    return received + contents.seen.replace([*_still_there(server, ids, contents), *others])


def _made_whole(
    server: "MemoryServer", listed: Sequence["Found"], contents: Contents
) -> Sequence["Found"]:
    """Fetch what a server lists without all that belongs to it: what is new here first.

    Of what is known some are fetched each time, others the next time: only so another status shows.
    """
    cut = [one for one in listed if one.learning_id and one.learning is None]
    new = [one for one in cut if one.learning_id and contents.get(one.learning_id) is None]
    ids = {one.learning_id for one in new}
    known = [one for one in cut if one.learning_id not in ids]
    some = sample(known, min(len(known), _MOST_LOOKED_FOR))
    fetched = server.fetched([*new[:_MOST_NEW], *some], _MOST_NEW + _MOST_LOOKED_FOR)
    by_id = {one.learning_id: one for one in fetched}
    return [by_id.get(one.learning_id, one) if one.learning_id else one for one in listed]


def _still_there(
    server: "MemoryServer", ids: Collection[str], contents: Contents
) -> Sequence[Learning]:
    """Give what others have written and is not listed now: a list may be one page of several."""
    missing = [one for one in contents.seen.learnings().values() if one.id not in ids]
    looked_for = missing[:_MOST_LOOKED_FOR]
    gone = {one.id for one in looked_for if server.holds(one.id, one.id, one.summary) is None}
    return [
        one
        for one in contents.seen.learnings().values()
        if one.id not in gone and one.id not in contents.record.contents().learnings
    ]


def _put_away(
    found: Mapping[str, "Found"], contents: Contents, journal: Journal, now: datetime
) -> int:
    """Take over statuses that somebody else has given learnings of ours on the server.

    What was last brought there tells who has changed it: where ours is still the same, they have.
    """
    changed = 0
    recorded = contents.record.contents()
    for learning_id in recorded.learnings.keys() & found.keys():
        theirs, ours = found[learning_id].learning, recorded.get(learning_id)
        before = journal.delivery(learning_id)
        if theirs is None or ours is None or theirs.status is before.status:
            continue
        if before.status is ours.status:
            contents.record.add_status(learning_id, theirs.status, now, "as on the server")
            journal.deliver(learning_id, now, before.handle, theirs.status)
            changed += 1
    return changed


def _look_for_lost(
    server: "MemoryServer",
    ids: Collection[str],
    contents: Contents,
    journal: Journal,
    now: datetime,
) -> None:
    """Find what the server has not kept: two processes that write at once may lose each other's.

    What was there once at a later look and is not any more, somebody has removed: it stays removed.
    """
    own = contents.record.contents().learnings
    unseen = [
        one
        for one in journal.wanted()
        if one in own and (known := journal.delivery(one)).status is not None and not known.seen
    ]
    for learning_id in filter(ids.__contains__, unseen):
        journal.see(learning_id, now)
    missing = [one for one in unseen if one not in ids]
    for learning_id in missing[:_MOST_LOOKED_FOR]:
        handle, summary = journal.delivery(learning_id).handle, own[learning_id].summary
        if server.holds(learning_id, handle, summary) is None:
            journal.lose(learning_id, now)
