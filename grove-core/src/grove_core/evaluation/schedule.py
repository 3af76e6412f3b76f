"""Which queries are asked, when, and what may be found then: the rules of measurement."""

from collections.abc import Sequence

from attrs import frozen

from grove_core.evaluation.collection import (
    CollectedLearning,
    CollectedQuery,
    Collection,
    PoolScope,
)

FEWEST_CANDIDATES = 10


@frozen(kw_only=True)
class Step:
    """A query, at its time."""

    query: CollectedQuery
    now: int
    admitted: Sequence[CollectedLearning]
    candidates: int
    relevant: frozenset[str]


@frozen(kw_only=True)
class Schedule:
    """Everything that is asked."""

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
    pools = []
    left_out = 0
    for project, asked in queries.items():
        steps = _steps(collection, project, asked)
        pools.append(steps)
        left_out += len(asked) - len(steps)
    return Schedule(pools=pools, too_few_candidates=left_out)


def _steps(
    collection: Collection, project: str, queries: Sequence[CollectedQuery]
) -> Sequence[Step]:
    """Let a pool's learnings come in, and its queries be asked, one after the other."""
    newest = max(one.created for one in collection.learnings)
    waiting = sorted(
        (one for one in collection.learnings if not project or one.project == project),
        key=lambda one: one.created,
    )
    steps: list[Step] = []
    inside: set[str] = set()
    done = asked_with = 0
    for query in sorted(queries, key=lambda one: one.asked or float("inf")):
        while done < len(waiting) and _may_be_found(waiting[done], query, collection.rules.embargo):
            inside.add(waiting[done].learning.id)
            done += 1
        if done < FEWEST_CANDIDATES:
            continue
        steps.append(
            Step(
                query=query,
                now=query.asked or newest,
                admitted=waiting[asked_with:done],
                candidates=done,
                relevant=collection.judgments.relevant.get(query.id, frozenset()) & inside,
            )
        )
        asked_with = done
    return steps


def _may_be_found(learning: CollectedLearning, query: CollectedQuery, embargo: int) -> bool:
    if not learning.created or not query.asked:
        return True
    return learning.created < query.asked - embargo
