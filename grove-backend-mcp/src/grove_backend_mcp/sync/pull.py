"""Taking in what the server has: what others wrote, what they put away, and what it has lost."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from random import sample
from typing import TYPE_CHECKING, Final, TypeVar

from attrs import define

from grove_core import Learning, LearningStatus

if TYPE_CHECKING:
    from grove_backend_mcp.protocol.memory_server import MemoryServer
    from grove_backend_mcp.protocol.results import Found
    from grove_backend_mcp.sync.server import RemoteServer

_T = TypeVar("_T")

_MOST_LOOKED_FOR: Final = 50
_MOST_NEW: Final = 200
# So much of the time is kept for what follows.
_RESERVE_SECONDS: Final = 5.0


@define(eq=False)
class Pull:
    """One look at what a server has, which keeps what has come when its time is up."""

    ours: "RemoteServer"
    server: "MemoryServer"
    until: float

    def run(self, *, asked: bool) -> int:
        """Take in what the server lists."""
        contents, listed = self.ours.contents, self.server.listing()
        ids = {one.learning_id for one in listed or () if one.learning_id}
        self._look_for_lost(ids, look_again=asked)
        if listed is None:
            return 0
        project = self.ours.project
        whole = (one for one in self._made_whole(listed) if one.project == project)
        found = {one.learning_id: one for one in whole if one.learning_id}
        can_update = self.ours.connection.abilities.updates
        received = self._put_away(found) if can_update and asked else 0
        others = (one.learning for one in found.values() if one.learning)
        new = [one for one in others if self._is_of_others(one.id)]
        return received + contents.seen.hold([*self._still_there(ids), *new])

    @property
    def _has_time(self) -> bool:
        return time.monotonic() < self.until - _RESERVE_SECONDS

    def _is_of_others(self, learning_id: str) -> bool:
        """Return whether others have written a learning: not so what was deleted here by hand."""
        is_recorded = learning_id in self.ours.contents.record.state().learnings
        return not is_recorded and self.ours.journal.delivery(learning_id).status is None

    def _made_whole(self, listed: Sequence["Found"]) -> Sequence["Found"]:
        """Fetch what a server lists without all that belongs to it: what is new here first."""
        cut = [one for one in listed if one.learning_id and one.learning is None]
        new = [one for one in cut if self.ours.contents.get(one.learning_id or "") is None]
        ids = {one.learning_id for one in new}
        known = [one for one in cut if one.learning_id not in ids]
        by_id: dict[str | None, Found] = {}
        for one in (*new[:_MOST_NEW], *_some(known)):
            if not self._has_time:
                break
            by_id |= {each.learning_id: each for each in self.server.fetched([one], 1)}
        return [by_id.get(one.learning_id, one) if one.learning_id else one for one in listed]

    def _put_away(self, found: Mapping[str, "Found"]) -> int:
        """Take over statuses that somebody else has given learnings of ours on the server."""
        changed, now = 0, self.ours.clock()
        record, journal = self.ours.contents.record, self.ours.journal
        recorded = record.state()
        for learning_id in recorded.learnings.keys() & found.keys():
            theirs, ours = found[learning_id].learning, recorded.get(learning_id)
            before = journal.delivery(learning_id)
            if theirs is None or ours is None or theirs.status is before.status:
                continue
            if before.status is ours.status is not LearningStatus.SUPERSEDED:
                journal.want(learning_id, now, status=theirs.status)
                record.add_status(learning_id, theirs.status, now, "as on the server")
                journal.deliver(learning_id, now, before.handle, theirs.status)
                changed += 1
        return changed

    def _look_for_lost(self, ids: Collection[str], *, look_again: bool) -> None:
        """Find what the server has not kept: two processes that write at once may lose some."""
        own, journal = self.ours.contents.record.state().learnings, self.ours.journal
        now = self.ours.clock()
        delivered = [one for one in own if journal.delivery(one).status is not None]
        unseen = [one for one in delivered if not journal.delivery(one).seen]
        for learning_id in filter(ids.__contains__, unseen):
            journal.see(learning_id, now)
        missing = [one for one in (delivered if look_again else unseen) if one not in ids]
        for learning_id in _some(missing):
            if not self._has_time:
                return
            before = journal.delivery(learning_id)
            if self.server.holds(learning_id, before.handle, own[learning_id].summary) is None:
                journal.lose(learning_id, now)
            elif not before.seen:
                journal.see(learning_id, now)

    def _still_there(self, ids: Collection[str]) -> Sequence[Learning]:
        """Return what others have written and is not listed now: a list may be only one page."""
        known = self.ours.contents.seen.state()
        missing = [one for one in known.values() if one.id not in ids]
        gone: set[str] = set()
        for one in _some(missing):
            if not self._has_time:
                break
            if self.server.holds(one.id, one.id, one.summary) is None:
                gone.add(one.id)
        return [one for one in known.values() if one.id not in gone and self._is_of_others(one.id)]


def _some(all_of_them: Sequence[_T]) -> Iterable[_T]:
    """Choose a few, others each time."""
    return sample(all_of_them, min(len(all_of_them), _MOST_LOOKED_FOR))
