"""Who is asked what, and when: as-of, embargo, scope, the smallest pool; and what comes of it."""

import random
from datetime import timedelta

import pytest
from attrs import evolve

from grove_core import Query, Share
from grove_core.testing.samples import example_learning
from grove_eval.collection import (
    UNKNOWN_TIME,
    CollectedLearning,
    CollectedQuery,
    Collection,
    Judgments,
    PoolScope,
    Rules,
)
from grove_eval.engines import Answer, engine_for
from grove_eval.runs import Outcome, injection_of, noise, projects_of, run, summarise
from grove_eval.schedule import schedule_of

DAY = timedelta(days=1)
START = UNKNOWN_TIME + 20_000 * DAY


def learning(name, day, *, project="shop", summary=None, known=True):
    return CollectedLearning(
        learning=example_learning(
            id=name,
            summary=summary or f"What {name} says",
            detail="",
            timestamp=START + day * DAY if known else UNKNOWN_TIME,
        ),
        category="pitfall",
        project=project,
    )


def query(name, day, *, project="shop", title="What it says"):
    asked = Query(ticket_title=title)
    return CollectedQuery(id=name, query=asked, project=project, asked=START + day * DAY)


def collection(learnings, queries, relevant=(), **rules):
    return Collection(
        name="tiny",
        learnings=learnings,
        queries=queries,
        judgments=Judgments(relevant=dict(relevant)),
        rules=Rules(**rules),
    )


class Everything:
    """Finds what is in, and keeps a record of what was in for the title of each query."""

    def __init__(self, seen):
        self.seen = seen
        self.inside = set()

    def admit(self, learnings):
        self.inside |= {one.learning.id for one in learnings}

    def ask(self, query, now):
        self.seen[query.ticket_title] = set(self.inside)
        return Answer(sorted(self.inside))


def test_a_naive_second_opinion():
    """The candidates of random collections, worked out query by query."""
    for seed in range(20):
        dice = random.Random(seed)
        learnings = [
            learning(
                f"l{n}", dice.randint(0, 20), project=dice.choice("ab"), known=dice.random() < 0.9
            )
            for n in range(60)
        ]
        queries = [
            query(f"q{n}", dice.randint(5, 25), project=dice.choice(["a", "b", ""]), title=f"q{n}")
            for n in range(12)
        ]
        embargo, scope = dice.choice([0 * DAY, DAY, 3 * DAY]), dice.choice(list(PoolScope))
        asked = collection(learnings, queries, embargo=embargo, scope=scope)
        seen = {}
        run(lambda: Everything(seen), schedule_of(asked), lambda: None)  # noqa: B023
        for one in queries:
            may = {
                other.learning.id
                for other in learnings
                if (other.created == UNKNOWN_TIME or other.created + embargo < one.asked)
                and (scope is PoolScope.POOLED or one.project in ("", other.project))
            }
            assert seen.get(one.id, set()) == (may if len(may) >= 10 else set()), (
                seed,
                one.id,
            )


def test_what_is_not_in_yet_changes_nothing_for_the_default_engine():
    """Neither what is found nor how rare a word is may depend on what is written later."""
    later = [learning(f"later{n}", 50, summary=f"OrderReport again {n}") for n in range(20)]
    special = learning("special", 3.5, summary="OrderReport.rows() runs one query per order")
    others = [learning(f"old{n}", n) for n in range(10)]
    about_it = query("q", 30, title="OrderReport is slow: a query for each order")
    early = collection([*others, special], [about_it], {"q": {"special"}})
    whole = evolve(early, learnings=[*early.learnings, *later])

    def asked(one):
        steps = schedule_of(one).pools[0]
        store = engine_for("default", one.learnings)()
        store.admit(steps[0].admitted)
        ranked = store.ask(steps[0].query.query, steps[0].now).ranked
        return [(each.entry.id, each.score.total) for each in ranked]

    assert asked(early) == asked(whole)


def outcome(injected, relevant, value=0.0):
    measures = [value] * 5 if relevant else None
    return Outcome(relevant=frozenset(relevant), measures=measures, injected=injected, seconds=1)


def test_sums_of_what_is_injected():
    found = injection_of(
        [
            outcome(["a", "b"], "ac"),
            outcome([], "a"),
            outcome(["a"], "a"),
            outcome([], ""),
            outcome(["x"], ""),
            outcome(["x", "y"], ""),
        ]
    )
    assert found.answered == Share(2, 3)
    assert found.relevant == Share(2, 3)
    assert found.recall == pytest.approx((1 / 2 + 0 + 1) / 3)
    assert found.silent == Share(1, 3)
    assert injection_of([outcome(None, "a")]) is None


def test_engines_side_by_side():
    dice = random.Random(4)
    weak = [outcome(None, "a", dice.random() / 2) for _ in range(50)]
    strong = [evolve(one, measures=[0.3 + value for value in one.measures]) for one in weak]
    summary = summarise({"weak": weak, "strong": strong})
    (difference,) = summary.differences.values()
    assert list(summary.differences) == [("strong", "weak")]
    for estimate in difference.values():
        assert (estimate.value, estimate.low, estimate.high) == pytest.approx((0.3, 0.3, 0.3))


def test_noise_is_asked_of_other_projects_only():
    """A query is never asked of its own project; one of another collection is another project."""
    learnings = [learning(f"{name}{n}", n, project=name) for name in "ab" for n in range(2)]
    queries = [query("q1", 9, project="a"), query("q2", 9, project="c")]
    engine = engine_for("rules", learnings)
    calls = []
    projects = {**projects_of(learnings), **projects_of(learnings[:1], "more")}
    found = noise(engine, queries, projects, lambda: calls.append(1))
    assert found == {
        ("a", "b"): Share(1, 1),
        ("a", "more/a"): Share(1, 1),
        ("c", "a"): Share(1, 1),
        ("c", "b"): Share(1, 1),
        ("c", "more/a"): Share(1, 1),
    }
    assert len(calls) == 5
