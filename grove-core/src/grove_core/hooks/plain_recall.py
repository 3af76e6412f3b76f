"""Choosing learnings for hooks' short ways: from the index and the statistics cache alone.

``flow.recall`` is the full way; a test holds the two together.
"""

import os
import time
from datetime import UTC, datetime

from grove_core.derived_database import BUSY_SECONDS, IN_MEMORY
from grove_core.flow.considering import keep_line
from grove_core.freshness import sentences
from grove_core.hooks import plain_session
from grove_core.injection import VIA_START, Injection, render
from grove_core.learning_index.index import LearningIndex
from grove_core.log_files import event_files
from grove_core.retrieval import relevance
from grove_core.retrieval.choosing import Choice, choose, choose_without_query, exact_matches
from grove_core.retrieval.considered import Circumstances, line_of
from grove_core.retrieval.entry import Found, text_of
from grove_core.retrieval.query_terms import query_terms
from grove_core.retrieval.ranking import rank
from grove_core.retrieval.relevance import Relevance
from grove_core.retrieval.strategy import RetrievalStrategy
from grove_core.stats_cache.cache import StatsCache
from grove_core.trace_bounds import LONGEST_DETAIL

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from collections.abc import Collection

    from grove_core.recall_note import RecallNote
    from grove_core.settled import Document

_COUNTING_SECONDS = 0.5


class PlainRecall:
    """Looking for what fits the work.

    Attributes:
        index: The index of the learnings.
        logs: The event logs that there are.
        injection: What is to be shown.
        now: The time, UTC.
    """

    def __init__(self, note: "RecallNote", *, via: str, seconds: int) -> None:
        """Look at nothing yet.

        Args:
            note: What is known of the project.
            via: How learnings are shown: start or prompt.
            seconds: The time, since 1970.
        """
        self.index = LearningIndex(note.index, patience=BUSY_SECONDS)
        self.logs = [*event_files(os.path.join(note.root, ".grove")), note.personal_log]
        self.injection = Injection("", ())
        self._note = note
        self._via = via
        self.now = datetime.fromtimestamp(seconds, UTC)
        self._cache: StatsCache | None = None
        self._choice = Choice((), ())
        self._terms = query_terms()
        self._limits = 0, 0

    @property
    def is_current(self) -> bool:
        """Whether the index holds the learnings as they are now."""
        return os.path.isfile(self._note.index) and self.index.stamp == self._note.sources_stamp

    @property
    def cache(self) -> StatsCache:
        """The statistics cache, which knows what the logs hold."""
        if self._cache is None:
            self._cache = StatsCache(self._note.cache, self.logs, personal=self._note.personal_log)
            self._cache.refresh(time.monotonic() + _COUNTING_SECONDS)
        return self._cache

    def run(
        self, query: "Document", *, limit: int, max_chars: int, known: "Collection[str]" = ()
    ) -> bool:
        """Search and choose.

        Args:
            query: The work at hand, by the names of ``query_terms``.
            limit: At most this many.
            max_chars: At most this many characters.
            known: Ids of what the session has been shown already.

        Returns:
            Whether the trace can name what is to be shown, and index and cache were whole.
        """
        self._terms, self._limits = query_terms(**query), (limit, max_chars)
        if any(query.values()):
            self._choice = self._fitting(query, limit, known)
        else:
            self._choice = self._newest(limit, known)
        entries = [one.entry for one in self._choice.chosen]
        self.injection = render(
            entries, self.now, max_chars, more=self._choice.beyond, ages=self._ages()
        )
        # A damaged index is made anew, and empty, by whoever finds it out.
        return is_plain(" ".join(self.injection.shown)) and self.is_current and self._has_counted

    def _ages(self) -> "list[str]":
        """Say how old what is known of servers is, where a session begins."""
        at_start = self._via == VIA_START
        return sentences(self._note.servers, self.now.timestamp()) if at_start else []

    @property
    def _has_counted(self) -> bool:
        """Whether all is counted that was asked for, in a file that was not busy."""
        cache = self._cache
        return cache is None or (cache.complete and cache.path != IN_MEMORY)

    def _fitting(self, query: "Document", limit: int, known: "Collection[str]") -> Choice:
        found = self.index.find(self._terms)
        if not found:
            return Choice((), ())
        usage = self.cache.usage([one.entry.id for one in found])
        ranked = rank(found, usage, self.now, self._note.recency_days)
        strategy = RetrievalStrategy(self._note.strategy)
        said = f"{query['text']} {query.get('ticket_title', '')}"
        exact = exact_matches(query.get("tags", ()), query["files"], said)
        floor = relevance.FLOOR
        return choose(ranked, strategy, limit, self.now, floor=floor, exact=exact, shown=known)

    def _newest(self, limit: int, known: "Collection[str]") -> Choice:
        """Choose where nothing is known about the work: of the project's own learnings."""
        if RetrievalStrategy(self._note.strategy) is RetrievalStrategy.CONSERVATIVE:
            return Choice((), ())  # nothing can be a match
        nothing = Relevance(0.0, {})
        found = [Found(one, text_of(one), nothing) for one in self.index.newest(personal=False)]
        usage = self.cache.usage([one.entry.id for one in found]) if found else {}
        ranked = rank(found, usage, self.now, self._note.recency_days)
        return choose_without_query(ranked, usage, limit, shown=known)

    def shown(self, now: str) -> "list[Document]":
        """Give what is shown as a session keeps it.

        Args:
            now: The time as text.

        Returns:
            The learnings, in order.
        """
        by_id = {one.entry.id: one for one in self._choice.chosen}
        return [
            {
                "learning_id": learning_id,
                "summary": by_id[learning_id].entry.fields()["summary"],
                "score": round(by_id[learning_id].score.total, 4),
                "injected_at": now,
                "via": self._via,
                "personal": by_id[learning_id].entry.personal,
                "outcome": "pending",
            }
            for learning_id in self.injection.shown
        ]

    def record(self, session: "Document", shown: "list[Document]", *, home: str, now: str) -> None:
        """Log what is shown, and keep what was considered.

        Args:
            session: The session.
            shown: What is shown, as the session keeps it.
            home: grove's own directory.
            now: The time as text.
        """
        plain_session.log_of_learnings(
            "surfaced",
            shown,
            lambda one: {"via": one["via"], "score": one["score"]},
            session=session,
            home=home,
            now=now,
        )
        self._keep(session["id"], home, now)

    def _keep(self, session_id: str, home: str, now: str) -> None:
        limit, max_chars = self._limits
        circumstances = Circumstances(
            at=now,
            via=self._via,
            strategy=self._note.strategy,
            limit=limit,
            floor=relevance.FLOOR,
            max_chars=max_chars,
            engine=self._note.engine,
            complete=True,
            failed=(),
        )
        try:
            line = line_of(circumstances, self._terms, self._choice, self.injection.shown)
            keep_line(os.path.join(home, "cache"), session_id, line)
        except Exception as error:  # noqa: BLE001 - whatever it is, what is shown is shown
            diagnostics = plain_session.diagnostics(home)
            diagnostics.crash(error, session_id, "keeping what was considered")


def is_plain(detail: str) -> bool:
    """Tell whether a trace keeps a text as it is.

    Args:
        detail: The text.

    Returns:
        Whether it is one line within the bound.
    """
    return len(detail) <= LONGEST_DETAIL and " ".join(detail.split()) == detail
