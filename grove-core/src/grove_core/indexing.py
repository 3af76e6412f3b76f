"""Keeping the index of learnings up to date with the backends that can list theirs."""

import time
from typing import Final

from grove_core.learning_index.index import LearningIndex
from grove_core.memory.backends import OpenBackend
from grove_core.memory.library import LIST_SECONDS, MemoryLibrary
from grove_core.plugins.descriptors import Area
from grove_core.retrieval.entries import entry_of
from grove_core.stats.batch import storable
from grove_core.stats_cache.stamps import stamp_of

_ATTEMPTS: Final = 3


def refresh(index: LearningIndex, library: MemoryLibrary, until: float | None) -> bool:
    """Put into an index what the backends have gained, changed and lost."""
    sources = library.sources()
    stamp = "" if sources is None else stamp_of(sources)
    if stamp and index.stamp == stamp:
        return True
    backends = library.listable()
    complete = True
    for opened in backends:
        complete = _read(index, library, opened, until) and complete
    # What a backend has that has failed is not gone.
    silent = library.silent()
    names = [_source_of(one.area, one.backend.name) for one in backends]
    names += [_source_of(area, name) for area, name in silent]
    complete = index.forget_others(names, until) and complete and not silent
    if complete and stamp:
        index.set_stamp(stamp)
    return complete


def _read(
    index: LearningIndex, library: MemoryLibrary, opened: OpenBackend, until: float | None
) -> bool:
    """Put in what a backend has, once more where another process was faster or a file broken."""
    source = _source_of(opened.area, opened.backend.name)
    for _ in range(_ATTEMPTS):
        seconds = LIST_SECONDS if until is None else until - time.thread_time()
        if seconds <= 0:
            return False  # that is grove's own haste, and no fault of the backend
        since = index.progress(source)
        changes = library.changes(opened, since.mark, seconds=seconds)
        if changes is None:
            return False
        personal = opened.area is Area.PERSONAL
        entries = (
            entry_of(learning, backend=storable(opened.backend.name), personal=personal)
            for learning in changes.learnings
        )
        if index.put(source, entries, changes.mark, whole=changes.whole, since=since, until=until):
            return True
    return False


def _source_of(area: Area, backend: str) -> str:
    return f"{area.value} {storable(backend)}"
