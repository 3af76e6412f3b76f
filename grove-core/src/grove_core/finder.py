"""Finding learnings in all backends of a project: by the index where a backend can list its own."""

import os
import time
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from attrs import evolve

from grove_core.errors import StorageError
from grove_core.memory.backends import FoundLearning, OpenBackend
from grove_core.memory.library import LIST_SECONDS, READ_SECONDS, MemoryLibrary
from grove_core.model.learning import LearningStats, LearningStatus
from grove_core.model.memory import Capability, Filters, Hit, Query
from grove_core.plugins.descriptors import Area
from grove_core.retrieval import RetrievalEngine
from grove_core.retrieval.index import LearningIndex
from grove_core.retrieval.ranking import FLOOR, RULES_FLOOR, Found, Ranked, Relevance, rank
from grove_core.retrieval.terms import Entry, entry_of, learning_of, terms_of, text_of
from grove_core.retrieval.update import SOURCES
from grove_core.storage import files
from grove_core.storage.cache import IN_MEMORY, Cache
from grove_core.storage.files import fingerprint_of
from grove_core.text import storable

LOCK_NAME: Final = "index.lock"
"""Held by the process that indexes what hooks have no time for."""
_ACTIVE_ONLY: Final = frozenset({LearningStatus.ACTIVE})
_OF_ANY_STATUS: Final = Filters(statuses=frozenset(LearningStatus))
_ACTIVE: Final = LearningStatus.ACTIVE.value
_MORE: Final = frozenset({Capability.NOTES, Capability.SYNCHRONISE})
_NO_RELEVANCE: Final = Relevance(0.0, {})
_NOTES: Final = "notes"
_ATTEMPTS: Final = 3


class Finder:
    """The learnings of one project, to be found by what they say."""

    def __init__(
        self,
        library: MemoryLibrary,
        cache: Cache,
        now: datetime,
        usage: Callable[[Iterable[str]], Mapping[str, LearningStats]],
        *,
        recency_days: float,
        engine: RetrievalEngine = RetrievalEngine.DEFAULT,
        until: Callable[[], float | None] = lambda: None,
    ) -> None:
        """Open nothing yet."""
        self._library = library
        self._cache = cache
        self._now = now
        self._usage = usage
        self._recency_days = recency_days
        self._by_rules = engine is RetrievalEngine.RULES
        self._until = until
        self._complete = False
        self.hidden: Container[str] = ()
        self.index = LearningIndex(cache, fill=lambda _: self.refresh())

    @property
    def complete(self) -> bool:
        """Whether everything is indexed; a hook may have run out of time."""
        len(self.index)
        return self._complete

    @property
    def floor(self) -> float:
        """The relevance below which nothing is worth showing."""
        return RULES_FLOOR if self._by_rules else FLOOR

    def refresh(self) -> None:
        """Bring the index up to date, as far as the time allows."""
        until = self._until()
        lock = Path(self._cache.path).with_name(LOCK_NAME)
        # What a process in the background is reading, a hook need not read as well.
        if until is not None and self._cache.path != IN_MEMORY and is_locked(lock):
            self._complete = False
        else:
            self._complete = refresh(self.index, self._library, until)

    def search(
        self,
        query: Query,
        filters: Filters,
        *,
        seconds: float = READ_SECONDS,
        notes: bool = False,
        floor: float = 0.0,
    ) -> list[Ranked]:
        """Find what fits, and rank it; below a floor by its relevance alone."""
        if query.is_empty:
            return self.newest(filters)
        if self._by_rules:
            found = self._scored(query, filters)
        else:
            found = self.index.find(
                terms_of(query),
                all_statuses=filters.statuses != _ACTIVE_ONLY,
                admits=self._admission(filters),
            )
        found += self._asked(query, filters, seconds, {one.entry.id for one in found}, notes=notes)
        return self._ranked(found, floor)

    def get(self, learning_id: str) -> Entry | None:
        """Fetch a learning of any status from whichever backend has it."""
        entry = self.index.get(learning_id)
        if entry is None and (one := self._library.get(learning_id)) is not None:
            entry = _found_of(one).entry
        return entry

    def newest(self, filters: Filters, *, personal: bool = True) -> list[Ranked]:
        """Return the newest learnings, whatever they are about."""
        admits = self._admission(filters)
        entries = [one for one in self.index.newest(personal=personal) if admits(one)]
        return self._ranked([Found(one, text_of(one), _NO_RELEVANCE) for one in entries])

    def _scored(self, query: Query, filters: Filters) -> list[Found]:
        from grove_core.retrieval.rules import rule_hits

        admits = self._admission(filters)
        entries = {one.id: one for one in self.index.entries() if admits(one)}
        hits = rule_hits(query, map(learning_of, entries.values()), _OF_ANY_STATUS)
        return [
            Found(entry, text_of(entry), Relevance(hit.relevance, {}, hit.reasons))
            for hit in hits
            for entry in (entries[hit.learning.id],)
        ]

    def _asked(
        self, query: Query, filters: Filters, seconds: float, known: Container[str], *, notes: bool
    ) -> list[Found]:
        """Ask backends that cannot list what they have, and those that know more than they list."""

        def is_asked(opened: OpenBackend) -> bool:
            can = opened.backend.capabilities
            return Capability.ITERATE not in can or (notes and not _MORE.isdisjoint(can))

        listed = {one.name for one in self._library.able(Capability.ITERATE)}
        servers = {one.name for one in self._library.able(Capability.SYNCHRONISE)}
        hits = self._library.search(query, filters, seconds=seconds, asked=is_asked)
        new = [one for one in hits if one.hit.learning.id not in known]
        found = [_found_of(one) for one in new if one.backend not in listed]
        more = [one for one in new if not one.hit.complete or one.backend in servers]
        return [*found, *_scored_by_words(query, [one for one in more if one.backend in listed])]

    def _admission(self, filters: Filters) -> Callable[[Entry], bool]:
        """Return what a search may find; what is hidden counts as archived."""
        hidden = self.hidden
        if filters == Filters(limit=filters.limit):
            return lambda entry: entry.status == _ACTIVE and entry.id not in hidden

        def admits(entry: Entry) -> bool:
            learning = learning_of(entry)
            if entry.id in hidden and entry.status == _ACTIVE:
                learning = evolve(learning, status=LearningStatus.ARCHIVED)
            return filters.admit(learning)

        return admits

    def _ranked(self, found: Sequence[Found], floor: float = 0.0) -> list[Ranked]:
        fit = [one for one in found if one.relevance.value >= floor]
        usage = self._usage([one.entry.id for one in fit]) if fit else {}
        ranked = rank(fit, usage, self._now, self._recency_days)
        rest = (Ranked.unweighed(one) for one in found if one.relevance.value < floor)
        return [*ranked, *sorted(rest, key=lambda one: -one.score.total)]


def refresh(index: LearningIndex, library: MemoryLibrary, until: float | None) -> bool:
    """Put into an index what the backends have gained, changed and lost."""
    sources = library.sources()
    looks = "" if sources is None else fingerprint_of(sources)
    if index.is_fresh(SOURCES, looks):
        return True
    backends = library.able(Capability.ITERATE)
    complete = True
    for opened in backends:
        complete = _read(index, library, opened, until) and complete
    # What a backend has that has failed is not gone.
    silent = library.silent()
    names = [_source_of(one.area, one.backend.name) for one in backends]
    names += [_source_of(area, name) for area, name in silent]
    complete = index.forget_others(names, until) and complete and not silent
    if complete and looks:
        index.set_fingerprint(SOURCES, looks)
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
        learnings, mark, whole = list(changes.learnings), changes.mark, changes.whole
        del changes  # of many, what is in the index's form by now need not be kept in both
        entries = (
            entry_of(learnings.pop(), backend=storable(opened.backend.name), personal=personal)
            for _ in range(len(learnings))
        )
        if index.put(source, entries, mark, whole=whole, since=since, until=until):
            return True
    return False


def _source_of(area: Area, backend: str) -> str:
    return f"{area.value} {storable(backend)}"


def is_locked(path: Path) -> bool:
    """Return whether another process holds a file's lock."""
    if not path.is_file():
        return False
    try:
        with files.locked(path, timeout=0):
            return False
    except StorageError:
        return os.access(path, os.W_OK)


def found_learning(ranked: Ranked) -> FoundLearning:
    """Return a learning that was found as the library gives its own."""
    entry = ranked.entry
    hit = Hit(
        learning=learning_of(entry),
        relevance=ranked.score.relevance,
        complete=entry.complete,
        reasons=tuple(ranked.score.reasons),
    )
    area = Area.PERSONAL if entry.personal else Area.PROJECT
    return FoundLearning(hit=hit, backend=entry.backend, area=area)


def _found_of(one: FoundLearning) -> Found:
    hit = one.hit
    personal = one.area is Area.PERSONAL
    entry = entry_of(hit.learning, backend=one.backend, personal=personal, complete=hit.complete)
    return Found(entry, text_of(entry), Relevance(hit.relevance, {}, hit.reasons))


def _scored_by_words(query: Query, hits: Sequence[FoundLearning]) -> list[Found]:
    """Score what backends have found as learnings are scored: backends each have a scale."""
    if not hits:
        return []
    given = {one.hit.learning.id: _found_of(one) for one in hits}
    index = LearningIndex(Cache())
    index.put(_NOTES, [one.entry for one in given.values()], "", whole=True)
    scored = index.find(terms_of(query), all_statuses=True)
    by_words = {one.entry.id for one in scored}
    return [*scored, *(one for id_, one in given.items() if id_ not in by_words)]
