"""Which queries are asked, when, and what may be found then."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from attrs import frozen

from grove_eval.collection import (
    UNKNOWN_TIME,
    CollectedLearning,
    CollectedQuery,
    Collection,
    PoolScope,
    Rules,
)

FEWEST_CANDIDATES: Final = 10


@frozen(kw_only=True)
class Step:
    """A query at its time, after the learnings that have come in since the query before."""

    query: CollectedQuery
    now: datetime
    admitted: Sequence[CollectedLearning]
    relevant: frozenset[str]


@frozen(kw_only=True)
class Schedule:
    """Everything that is asked, a sequence of steps for each pool of learnings."""

    pools: Sequence[Sequence[Step]]
    too_few_candidates: int

    @property
    def steps(self) -> int:
        """How many queries are asked."""
        return sum(map(len, self.pools))

    @property
    def answerable(self) -> int:
        """How many queries count: those with a relevant learning among the candidates."""
        return sum(bool(step.relevant) for steps in self.pools for step in steps)


def schedule_of(collection: Collection) -> Schedule:
    """Put the learnings and the queries of a collection into the order of time."""
    pooled = collection.rules.scope is PoolScope.POOLED
    queries: dict[str, list[CollectedQuery]] = {}
    for query in collection.queries:
        # A query of no project is asked of all of them.
        queries.setdefault("" if pooled else query.project, []).append(query)
    pools = [_steps(collection, project, asked) for project, asked in queries.items()]
    asked_now = sum(map(len, pools))
    return Schedule(pools=pools, too_few_candidates=len(collection.queries) - asked_now)


def _steps(collection: Collection, project: str, queries: Sequence[CollectedQuery]) -> list[Step]:
    newest = max(one.created for one in collection.learnings)
    waiting = sorted(
        (one for one in collection.learnings if not project or one.project == project),
        key=lambda one: one.created,
    )
    steps: list[Step] = []
    inside: set[str] = set()
    done = asked_with = 0
    for query in sorted(queries, key=lambda one: (one.asked == UNKNOWN_TIME, one.asked)):
        while done < len(waiting) and _may_be_found(waiting[done], query, collection.rules):
            inside.add(waiting[done].learning.id)
            done += 1
        if done < FEWEST_CANDIDATES:
            continue
        steps.append(
            Step(
                query=query,
                now=newest if query.asked == UNKNOWN_TIME else query.asked,
                admitted=waiting[asked_with:done],
                relevant=collection.judgments.relevant.get(query.id, frozenset()) & inside,
            )
        )
        asked_with = done
    return steps


def _may_be_found(learning: CollectedLearning, query: CollectedQuery, rules: Rules) -> bool:
    if UNKNOWN_TIME in (learning.created, query.asked):
        return True
    return learning.created < query.asked - rules.embargo
