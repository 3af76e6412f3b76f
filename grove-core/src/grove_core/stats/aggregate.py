"""One pass over the event log: from events to numbers. No I/O, no clock."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from datetime import datetime

from attrs import evolve

from grove_core.model.events import (
    Corrected,
    Dismissed,
    GateCycle,
    Rated,
    Referenced,
    Reflection,
    Rejected,
    Skip,
    StatsEvent,
    Surfaced,
)
from grove_core.model.learning import Stage
from grove_core.model.statistics import AggregateStats, LearningStats, ReflectionStats, SkipStats


def aggregate(events: Iterable[StatsEvent]) -> AggregateStats:
    """Fold events into numbers; their order does not matter.

    A learning is surfaced, referenced and dismissed at most once a session, and a reference
    cancels a dismissal in the same session.

    Args:
        events: The events of one or several logs.

    Returns:
        The numbers.
    """
    fold = _Fold()
    for event in events:
        fold.add(event)
    return fold.result()


class _Fold:
    """The counters of one pass."""

    def __init__(self) -> None:
        self.events = 0
        self.learnings: dict[str, LearningStats] = {}
        self.sessions: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
        self.completed = 0
        self.candidates = 0
        self.accepted = 0
        self.stages: Counter[str] = Counter()
        self.backends: Counter[str] = Counter()
        self.deciders: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()

    def add(self, event: StatsEvent) -> None:
        self.events += 1
        match event:
            case Surfaced() | Referenced() | Dismissed():
                self._add_use(event)
            case Corrected(learning_id=learning_id):
                stats = self._stats(learning_id)
                self.learnings[learning_id] = evolve(stats, corrected=stats.corrected + 1)
            case Rated():
                self._add_rating(event)
            case Reflection():
                self.completed += 1 if event.accepted else 0
                self.candidates += event.candidates
                self.accepted += event.accepted
                self.backends[event.backend] += 1
            case Rejected():
                self.stages[event.stage or Stage.SCHEMA.value] += 1
            case Skip():
                self.deciders[event.decider] += 1
            case GateCycle():
                self.outcomes[event.outcome] += 1
            case _:
                pass

    def _stats(self, learning_id: str) -> LearningStats:
        return self.learnings.get(learning_id) or LearningStats(learning_id=learning_id)

    def _add_use(self, event: Surfaced | Referenced | Dismissed) -> None:
        self.sessions[event.learning_id, event.event].add(event.session_id)
        stats = self._stats(event.learning_id)
        match event:
            case Surfaced():
                stats = evolve(stats, last_surfaced=_later(stats.last_surfaced, event.ts))
            case Referenced():
                tickets = {event.ticket_id} if event.ticket_id else set()
                stats = evolve(
                    stats,
                    last_referenced=_later(stats.last_referenced, event.ts),
                    referencing_tickets=stats.referencing_tickets | tickets,
                )
            case Dismissed():
                pass
        self.learnings[event.learning_id] = stats

    def _add_rating(self, event: Rated) -> None:
        stats = self._stats(event.learning_id)
        self.learnings[event.learning_id] = (
            evolve(stats, useful_ratings=stats.useful_ratings + 1)
            if event.useful
            else evolve(stats, useless_ratings=stats.useless_ratings + 1)
        )

    def result(self) -> AggregateStats:
        return AggregateStats(
            learnings={name: self._with_counts(one) for name, one in self.learnings.items()},
            reflections=ReflectionStats(
                completed=self.completed,
                candidates=self.candidates,
                accepted=self.accepted,
                rejected_by_stage=dict(self.stages),
                by_backend=dict(self.backends),
            ),
            skips=SkipStats(by_decider=dict(self.deciders)),
            cycles_by_outcome=dict(self.outcomes),
            events=self.events,
        )

    def _with_counts(self, stats: LearningStats) -> LearningStats:
        name = stats.learning_id
        referenced = self.sessions[name, Referenced.event]
        return evolve(
            stats,
            surfaced=len(self.sessions[name, Surfaced.event]),
            referenced=len(referenced),
            dismissed=len(self.sessions[name, Dismissed.event] - referenced),
        )


def _later(one: datetime | None, other: datetime) -> datetime:
    return other if one is None else max(one, other)
