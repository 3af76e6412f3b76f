"""What grove counts in a project: the event logs and the learnings, by way of the cache."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from sqlite3 import DatabaseError
from typing import Final

from grove_core.derived_database import IN_MEMORY
from grove_core.errors import StorageError
from grove_core.event_log import event_files
from grove_core.memory.library import LIST_SECONDS, MemoryLibrary
from grove_core.model.learning import Learning
from grove_core.model.statistics import LearningRecord, LearningStats, Statistics
from grove_core.stats.decay import DecayRule
from grove_core.stats_cache.cache import PATIENCE_SECONDS, StatsCache
from grove_core.stats_cache.stamps import largest_size, stamp_of
from grove_core.storage import files
from grove_core.storage.paths import Paths, ProjectPaths, grove_home, project_key

FILE_NAME: Final = "stats.sqlite"


class Numbers:
    """The numbers of one project, at one moment."""

    def __init__(
        self,
        library: MemoryLibrary,
        project: ProjectPaths,
        environment: Mapping[str, str],
        now: datetime,
        rule: DecayRule,
        personal_rule: Callable[[], DecayRule],
        *,
        until: float | None = None,
    ) -> None:
        """Count nothing yet."""
        self._library = library
        self._project = project
        self._environment = environment
        self._paths = Paths(grove_home(environment))
        self._now = now
        self._rule = rule
        self._read_personal_rule = personal_rule
        self._until = until
        self._file = self._paths.cache / project_key(project.root) / FILE_NAME
        self._logs = [str(log) for log in (*event_files(project), self._paths.personal_events)]

    @cached_property
    def cache(self) -> StatsCache:
        """The cache, up to date as far as the time allows."""
        path = IN_MEMORY
        # Looking at numbers makes no home where there is none.
        if self._paths.home.is_dir():
            with suppress(StorageError):
                files.make_directory(self._file.parent)
                path = str(self._file)
        cache = StatsCache(path, self._logs, personal=str(self._paths.personal_events))
        cache.refresh(self._until)
        return cache

    def statistics(self, since: datetime | None = None) -> Statistics:
        """Count everything."""
        sources = self._library.sources()
        stamp = "" if sources is None else stamp_of(sources)
        size = largest_size(sources or ())
        if not self.cache.complete and self._until is None:
            self.cache.refresh(patience=PATIENCE_SECONDS)
        try:
            counted = self._count(stamp, size)
        except DatabaseError as error:
            self.cache.renew(error)
            counted = self._count(stamp, size)
        if since is None:
            return counted
        personal = str(self._paths.personal_events)
        cache = StatsCache(IN_MEMORY, self._logs, personal=personal, since=since)
        cache.refresh(self._until)
        cache.put_learnings(counted.records, "")
        # Whether a learning goes stale depends on all that ever happened to it.
        return self._counted(cache, size)._replace(
            going_stale=counted.going_stale, going_stale_count=counted.going_stale_count
        )

    def _count(self, stamp: str, size: int) -> Statistics:
        if not stamp or self.cache.stamp != stamp:
            records, complete = self._records()
            # What a backend could not list in time must not pass for gone.
            self.cache.put_learnings(records, stamp if complete else "")
        return self._counted(self.cache, size)

    def _counted(self, cache: StatsCache, size: int) -> Statistics:
        return cache.count(
            self._now, self._rule, personal_rule=self._personal_rule, learnings_bytes=size
        )

    @cached_property
    def _personal_rule(self) -> DecayRule:
        return self._read_personal_rule()

    def _records(self) -> tuple[Sequence[LearningRecord], bool]:
        """List all learnings, by id, and tell whether every backend could list its own."""
        found: dict[str, LearningRecord] = {}
        complete = not self._library.silent()
        for opened in self._library.listable():
            changes = self._library.changes(opened, "", seconds=LIST_SECONDS)
            complete = complete and changes is not None
            for learning in changes.learnings if changes is not None else ():
                found.setdefault(learning.id, _record_of(learning, opened.backend.name))
        return [found[learning_id] for learning_id in sorted(found)], complete


def _record_of(learning: Learning, backend: str) -> LearningRecord:
    return LearningRecord(
        learning_id=learning.id,
        summary=learning.summary,
        category=learning.category.value,
        scope=learning.scope.value,
        status=learning.status.value,
        confidence=learning.confidence.value,
        criteria=tuple(sorted(one.value for one in learning.criteria_met)),
        tags=learning.tags,
        created=learning.timestamp,
        session_id=learning.session_id,
        ticket_id=learning.ticket_id,
        backend=backend,
        stats=LearningStats(learning.id),
    )
