"""Finding learnings in all backends of a project: by the index where a backend can list its own."""

import os
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from attrs import evolve

from grove_core.derived_database import BUSY_SECONDS, IN_MEMORY
from grove_core.errors import StorageError
from grove_core.indexing import refresh
from grove_core.learning_index.index import PATIENCE_SECONDS, LearningIndex
from grove_core.memory.backends import FoundLearning, OpenBackend
from grove_core.memory.library import READ_SECONDS, MemoryLibrary
from grove_core.model.learning import LearningStatus
from grove_core.model.memory import Capability, Filters, Hit, Query
from grove_core.model.statistics import LearningStats
from grove_core.plugins.descriptors import Area
from grove_core.retrieval.entries import entry_of, learning_of
from grove_core.retrieval.entry import Entry, Found, text_of
from grove_core.retrieval.query_terms import QueryTerms, query_terms
from grove_core.retrieval.ranking import Ranked, rank
from grove_core.retrieval.relevance import FLOOR, Relevance
from grove_core.retrieval.rules import Engine
from grove_core.retrieval.strategy import DEFAULT_ENGINE
from grove_core.storage import files

FILE_NAME: Final = "index.sqlite"
LOCK_NAME: Final = "index.lock"
"""Held by the process that indexes what hooks have no time for."""
_ACTIVE_ONLY: Final = frozenset({LearningStatus.ACTIVE})
_ACTIVE: Final = LearningStatus.ACTIVE.value
_NO_RELEVANCE: Final = Relevance(0.0, {})
_NOTES: Final = "notes"


class Finder:
    """The learnings of one project, to be found by what they say."""

    def __init__(
        self,
        library: MemoryLibrary,
        cache: Path,
        now: datetime,
        usage: Callable[[Iterable[str]], Mapping[str, LearningStats]],
        *,
        recency_days: float,
        engine: Engine | None = None,
        until: Callable[[], float | None] = lambda: None,
    ) -> None:
        """Open nothing yet."""
        self._library = library
        self._cache = cache
        self._now = now
        self._usage = usage
        self._recency_days = recency_days
        self._engine = engine
        self._until = until
        self.hidden: Container[str] = ()
        self._index: LearningIndex | None = None
        self.complete = False

    @property
    def floor(self) -> float:
        """The relevance below which nothing is worth showing."""
        return FLOOR if self._engine is None else self._engine.floor

    @property
    def judged_by(self) -> str:
        """The engine that scores."""
        return DEFAULT_ENGINE if self._engine is None else self._engine.name

    @property
    def index(self) -> LearningIndex:
        """The index, up to date as far as the time allows."""
        if self._index is None:
            patience = BUSY_SECONDS if self._until() is not None else PATIENCE_SECONDS
            self._index = LearningIndex(self._path(), patience=patience, fill=self._fill)
            self._fill(self._index)
        return self._index

    def refresh(self) -> bool:
        """Bring the index up to date once more, after something was written."""
        self._fill(self.index)
        return self.complete

    def search(
        self,
        query: Query,
        filters: Filters,
        *,
        seconds: float = READ_SECONDS,
        notes: bool = False,
    ) -> list[Ranked]:
        """Find what fits, and rank it."""
        if query.is_empty:
            return self.newest(filters)
        found = self._judged(query, filters) if self._engine else self._indexed(query, filters)
        known = {one.entry.id for one in found}
        hits = self._library.search(query, filters, seconds=seconds, asked=_cannot_list)
        found += [_found_of(one) for one in hits if one.hit.learning.id not in known]
        if notes:
            known = {one.entry.id for one in found}
            asked = self._library.search(query, filters, seconds=seconds, asked=_knows_more)
            servers = self._library.names_with(Capability.SYNCHRONISE)
            asked = [one for one in asked if not one.hit.complete or one.backend in servers]
            found += self._judged_anew(
                query, [one for one in asked if one.hit.learning.id not in known]
            )
        return self._ranked(found)

    def _judged_anew(self, query: Query, hits: Sequence[FoundLearning]) -> list[Found]:
        """Judge what backends have found as learnings are judged: backends each have a scale."""
        given = {one.hit.learning.id: _found_of(one) for one in hits}
        index = LearningIndex(IN_MEMORY)
        index.put(_NOTES, [one.entry for one in given.values()], "", whole=True)
        judged = index.find(terms_of(query), all_statuses=True)
        index.close()
        by_words = {one.entry.id for one in judged}
        return [*judged, *(one for id_, one in given.items() if id_ not in by_words)]

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

    def _fill(self, index: LearningIndex) -> None:
        until = self._until()
        # What a process in the background is reading, a hook need not read as well.
        if until is not None and is_locked(self._cache / LOCK_NAME):
            self.complete = False
        else:
            self.complete = refresh(index, self._library, until)

    def _indexed(self, query: Query, filters: Filters) -> list[Found]:
        return self.index.find(
            terms_of(query),
            all_statuses=filters.statuses != _ACTIVE_ONLY,
            admits=self._admission(filters),
        )

    def _judged(self, query: Query, filters: Filters) -> list[Found]:
        assert self._engine is not None, "asked only where there is one"
        admits = self._admission(filters)
        entries = [one for one in self.index.entries() if admits(one)]
        answers = self._engine.score(query, [learning_of(one) for one in entries])
        return [
            Found(entry, text_of(entry), Relevance(value, {}, reasons))
            for entry, (value, reasons) in zip(entries, answers, strict=True)
            if value > 0
        ]

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

    def _ranked(self, found: Sequence[Found]) -> list[Ranked]:
        usage = self._usage([one.entry.id for one in found]) if found else {}
        return rank(found, usage, self._now, self._recency_days)

    def _path(self) -> str:
        # Looking for learnings makes no home where there is none.
        if not self._cache.parent.parent.is_dir():
            return IN_MEMORY
        try:
            files.make_directory(self._cache)
        except StorageError:
            return IN_MEMORY
        return os.fspath(self._cache / FILE_NAME)


def _cannot_list(opened: OpenBackend) -> bool:
    return Capability.ITERATE not in opened.backend.capabilities


def _knows_more(opened: OpenBackend) -> bool:
    further = {Capability.NOTES, Capability.SYNCHRONISE}
    return not further.isdisjoint(opened.backend.capabilities)


def is_locked(path: Path) -> bool:
    """Return whether another process holds a file's lock."""
    if not path.is_file():
        return False
    try:
        with files.locked(path, timeout=0):
            return False
    except StorageError:
        return os.access(path, os.W_OK)


def terms_of(query: Query) -> QueryTerms:
    """Make a query into terms."""
    return query_terms(
        text=query.text,
        ticket_id=query.ticket_id,
        ticket_title=query.ticket_title,
        ticket_description=query.ticket_description,
        tags=query.tags,
        files=query.files,
        error_signature=query.error_signature,
    )


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
