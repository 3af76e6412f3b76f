"""Taking in what the server has: what others wrote, what they put away, and what it has lost."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Final

from grove_backend_mcp.contents import Contents
from grove_backend_mcp.journal import Journal

if TYPE_CHECKING:
    from grove_backend_mcp.memory_server import Found, MemoryServer

_MOST_LOOKED_FOR: Final = 50


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
    found = {one.learning_id: one for one in listed if one.learning_id and one.project == project}
    received = _put_away(found, contents, journal, now)
    _look_for_lost(server, found, contents, journal, now)
    own = contents.record.contents().learnings
    others = [one.learning for one in found.values() if one.learning and one.learning.id not in own]
    return received + contents.seen.replace(others)


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
    found: Mapping[str, "Found"],
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
    for learning_id in filter(found.__contains__, unseen):
        journal.see(learning_id, now)
    missing = [one for one in unseen if one not in found]
    for learning_id in missing[:_MOST_LOOKED_FOR]:
        if server.holds(learning_id, journal.delivery(learning_id).handle) is None:
            journal.lose(learning_id, now)
