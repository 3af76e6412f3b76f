"""Taking in what the server has: what others wrote, what they put away, and what it has lost."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from random import sample
from typing import TYPE_CHECKING, Final, TypeVar

from attrs import define

from grove_backend_mcp.sync.journal import Journal
from grove_backend_mcp.sync.record import Contents
from grove_core import Learning, LearningStatus

if TYPE_CHECKING:
    from grove_backend_mcp.protocol.memory_server import MemoryServer
    from grove_backend_mcp.protocol.results import Found

_T = TypeVar("_T")

_MOST_LOOKED_FOR: Final = 50
_MOST_NEW: Final = 200
# So much of the time is kept for what follows.
_RESERVE_SECONDS: Final = 5.0


@define(eq=False)
class Pull:
    """One look at what a server has, which keeps what has come when its time is up."""

    server: "MemoryServer"
    contents: Contents
    journal: Journal
    project: str
    can_update: bool
    until: float
    now: datetime

    def run(self, *, asked: bool) -> int:
        """Take in what the server lists."""
        listed = self.server.listing()
        ids = {one.learning_id for one in listed or () if one.learning_id}
        self._look_for_lost(ids, look_again=asked)
        if listed is None:
            return 0
        whole = self._made_whole(listed)
        found = {
            one.learning_id: one for one in whole if one.learning_id and one.project == self.project
        }
        received = self._put_away(found) if self.can_update and asked else 0
        others = (one.learning for one in found.values() if one.learning)
        new = [one for one in others if self._is_of_others(one.id)]
        return received + self.contents.seen.replace([*self._still_there(ids), *new])

    @property
    def _has_time(self) -> bool:
        return time.monotonic() < self.until - _RESERVE_SECONDS

    def _is_of_others(self, learning_id: str) -> bool:
        """Return whether others have written a learning: not so what was deleted here by hand."""
        is_recorded = learning_id in self.contents.record.contents().learnings
        return not is_recorded and self.journal.delivery(learning_id).status is None

    def _made_whole(self, listed: Sequence["Found"]) -> Sequence["Found"]:
        """Fetch what a server lists without all that belongs to it: what is new here first."""
        cut = [one for one in listed if one.learning_id and one.learning is None]
        new = [one for one in cut if self.contents.get(one.learning_id or "") is None]
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
        changed = 0
        recorded = self.contents.record.contents()
        for learning_id in recorded.learnings.keys() & found.keys():
            theirs, ours = found[learning_id].learning, recorded.get(learning_id)
            before = self.journal.delivery(learning_id)
            if theirs is None or ours is None or theirs.status is before.status:
                continue
            if before.status is ours.status is not LearningStatus.SUPERSEDED:
                self.journal.want(learning_id, self.now, status=theirs.status)
                self.contents.record.add_status(
                    learning_id, theirs.status, self.now, "as on the server"
                )
                self.journal.deliver(learning_id, self.now, before.handle, theirs.status)
                changed += 1
        return changed

    def _look_for_lost(self, ids: Collection[str], *, look_again: bool) -> None:
        """Find what the server has not kept: two processes that write at once may lose some."""
        own = self.contents.record.contents().learnings
        delivered = [one for one in own if self.journal.delivery(one).status is not None]
        unseen = [one for one in delivered if not self.journal.delivery(one).seen]
        for learning_id in filter(ids.__contains__, unseen):
            self.journal.see(learning_id, self.now)
        missing = [one for one in (delivered if look_again else unseen) if one not in ids]
        for learning_id in _some(missing):
            if not self._has_time:
                return
            handle = self.journal.delivery(learning_id).handle
            if self.server.holds(learning_id, handle, own[learning_id].summary) is None:
                self.journal.lose(learning_id, self.now)
            elif not self.journal.delivery(learning_id).seen:
                self.journal.see(learning_id, self.now)

    def _still_there(self, ids: Collection[str]) -> Sequence[Learning]:
        """Return what others have written and is not listed now: a list may be only one page."""
        known = self.contents.seen.learnings()
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
