"""The memory backend itself."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from grove_backend_totalrecall.health import describe, why_unusable, write_fault
from grove_backend_totalrecall.installation import find_installation
from grove_backend_totalrecall.paths import Paths
from grove_backend_totalrecall.plugin import TotalRecallSettings, Via
from grove_backend_totalrecall.record import Record
from grove_backend_totalrecall.store import Store
from grove_backend_totalrecall.writer import Writer
from grove_core import (
    BackendContext,
    BackendError,
    Capability,
    Filters,
    Health,
    Hit,
    Learning,
    LearningNotFoundError,
    LearningStatus,
    Query,
    Receipt,
    ReceiptStatus,
    StorageError,
    UnsupportedError,
    check_storable,
    rule_hits,
)

NAME: Final = "total-recall"
_CAPABILITIES: Final = frozenset(
    {
        Capability.GET,
        Capability.ITERATE,
        Capability.SET_STATUS,
        Capability.EPHEMERAL,
        Capability.FILES,
        Capability.NOTES,
    }
)


def local_now() -> datetime:
    """Tell the time by the local clock, as Total Recall does."""
    return datetime.now(UTC).astimezone()


class TotalRecallBackend:
    """Learnings in the daily logs of Total Recall, beside what it and its users write there."""

    name = NAME

    def __init__(
        self, context: BackendContext, *, clock: Callable[[], datetime] = local_now
    ) -> None:
        installation = find_installation(context)
        if installation is None:
            raise BackendError(f"{context.root}: Total Recall is not used there")
        if not installation.is_initialised:
            fault = why_unusable(installation)
            raise BackendError(f"{fault.detail}; {fault.fix}")
        settings = context.settings or TotalRecallSettings()
        paths = Paths(installation.root, working_memory=settings.working_memory)
        self._installation = installation
        self._clock = clock
        self._store = Store(paths, Record(context.root))
        self._writer = Writer(
            installation,
            self._store,
            context.environment,
            by_claude=settings.via is Via.CLAUDE and not context.in_hook,
        )
        self.capabilities = _CAPABILITIES | ({Capability.SLOW} if self._writer.by_claude else set())

    def write(self, learning: Learning) -> Receipt:
        """Add a learning to today's log, unless its id is in one already."""
        check_storable(learning)
        logged = self._writer.log(learning, self._clock())
        return Receipt(
            learning_id=learning.id,
            status=ReceiptStatus.STORED if logged.is_new else ReceiptStatus.DUPLICATE,
            backend=NAME,
            location=f"{logged.stored.path}:{logged.stored.line}",
            note=logged.note,
        )

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        """Find learnings and what others have noted, by the rules: tags, files, ticket, words."""
        contents = self._store.contents()
        stored = [*contents.learnings(), *contents.notes.values()]
        whole = [one.learning for one in stored if one.complete]
        notes = [one.learning for one in stored if not one.complete]
        return rule_hits(query, whole, filters, notes=notes)

    def ping(self) -> Health:
        """Look whether the logs can be read and written."""
        paths, root = self._store.paths, self._installation.root
        location = str(paths.memory)
        log = paths.log_of(self._clock().date())
        if fault := write_fault(log, root):
            detail = f"{describe(self._installation)}: {fault.detail}"
            return Health(ok=False, detail=detail, location=location, fix=fault.fix)
        try:
            contents = self._store.contents()
        except StorageError as error:
            return Health(ok=False, detail=str(error), location=location)
        counts = f"learnings: {len(contents.learnings())}, notes of others: {len(contents.notes)}"
        detail = f"{describe(self._installation)}; {counts}, daily logs: {contents.logs}"
        return Health(ok=True, detail=detail, location=location)

    def get(self, learning_id: str) -> Learning | None:
        """Fetch a learning of any status, or a note of others that a search has found."""
        contents = self._store.contents()
        found = contents.learning(learning_id) or contents.notes.get(learning_id)
        return found.learning if found else None

    def iterate(self) -> Sequence[Learning]:
        """Go through grove's learnings of any status, oldest first."""
        learnings = (one.learning for one in self._store.contents().learnings())
        return sorted(learnings, key=lambda learning: learning.timestamp)

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        """Archive, restore or supersede a learning; no line that is there is changed."""
        contents = self._store.contents()
        stored = contents.learning(learning_id)
        if stored is None and learning_id in contents.notes:
            raise UnsupportedError(
                f"{learning_id} is a note of Total Recall's own: use /recall-forget there"
            )
        if stored is None:
            raise LearningNotFoundError(
                f"there is no learning {learning_id} in {self._store.paths.memory}"
            )
        if stored.learning.status is not status:
            self._writer.mark(stored.learning, status, note, self._clock())
            stored = self._store.contents().learning(learning_id)
        if stored is None or stored.learning.status is not status:
            raise BackendError(
                f"{learning_id} is marked in Total Recall's registers or metadata, which grove does"
                f" not change: look for it in {self._store.paths.memory}"
            )
        return stored.learning

    def files(self) -> Sequence[Path]:
        """Name the folders of the logs and registers, and grove's own record."""
        return [*self._store.paths.folders(), self._store.record.lines.path]
