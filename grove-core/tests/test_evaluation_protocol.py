"""Who is asked what, and when: as-of, embargo, scope, the smallest pool, ties.

The engine of most tests finds everything that is in, or a given list; what is in is what counts.
"""

import random
from datetime import timedelta
from math import log2

import pytest
from attrs import evolve

from grove_core.config.schema import Config
from grove_core.evaluation.collection import (
    DAY,
    CollectedLearning,
    CollectedQuery,
    Collection,
    Judgments,
    PoolScope,
    Rules,
)
from grove_core.evaluation.engines import (
    RECENCY_DAYS,
    Answer,
    Engine,
    engines_for,
    names_of_engines,
)
from grove_core.evaluation.measures import Measures
from grove_core.evaluation.noise import cases, noise, projects_of, together
from grove_core.evaluation.protocol import Outcome, run
from grove_core.evaluation.schedule import schedule_of
from grove_core.evaluation.summary import injection_of, summarise
from grove_core.model.learning import Category, Learning
from grove_core.model.memory import Query
from grove_core.model.statistics import Share
from grove_core.plugins.engines import Engine as Judge
from grove_core.stats.log_lines import instant, microseconds

START = microseconds(instant(0) + timedelta(days=20_000))


def learning(name, day, *, project="shop", summary=None, known=True, **fields):
    created = START + round(day * DAY) if known else 0
    return CollectedLearning(
        learning=Learning(
            id=name,
            category=Category.PITFALL,
            summary=summary or f"What {name} says",
            detail=fields.pop("detail", ""),
            session_id="",
            timestamp=instant(created),
            **fields,
        ),
        category="pitfall",
        project=project,
        created=created,
    )


def query(name, day, *, project="shop", title="What it says", known=True, **fields):
    asked = START + round(day * DAY) if known else 0
    return CollectedQuery(
        id=name, query=Query(ticket_title=title, **fields), project=project, asked=asked
    )


def collection(learnings, queries, relevant=(), **rules):
    judged = {name: frozenset(found) for name, found in dict(relevant).items()}
    return Collection(
        name="tiny",
        learnings=learnings,
        queries=queries,
        judgments=Judgments(relevant=judged),
        rules=Rules(**rules),
    )


def ten(*, start=0, project="shop", prefix="old"):
    """As many as are needed for a query to be asked, a day apart."""
    return [learning(f"{prefix}{n}", start + n, project=project) for n in range(10)]


class Everything:
    """Finds what is in, in the order in which it came in, and keeps a record."""

    def __init__(self):
        self.seen = {}

    def engine(self):
        return Engine(name="everything", open=lambda: _Store(self.seen))


class _Store:
    def __init__(self, seen):
        self._seen = seen
        self._inside = []

    def admit(self, learnings):
        self._inside += [one.learning.id for one in learnings]

    def ask(self, query, now):
        self._seen[query.ticket_title] = (list(self._inside), now)
        return Answer(list(self._inside))

    def close(self):
        self._inside.clear()


def found_by(collection):
    """What may be found for each query, by its title, in the order of time."""
    everything = Everything()
    run(everything.engine(), schedule_of(collection), lambda: None)
    return {title: inside for title, (inside, _) in everything.seen.items()}


def names(learnings):
    return [one.learning.id for one in learnings]


# --- what may be found --------------------------------------------------------------------------


def test_only_what_was_written_before_is_found():
    learnings = [*ten(), learning("same", 20), learning("later", 21)]
    found = found_by(collection(learnings, [query("q", 20)]))
    assert found == {"What it says": names(ten())}


def test_an_embargo_keeps_out_what_is_young():
    learnings = [*ten(), learning("young", 18.5), learning("exactly", 18), learning("old", 17.9)]
    found = found_by(collection(learnings, [query("q", 20)], embargo=2 * DAY))
    assert found == {"What it says": [*names(ten()), "old"]}


def test_what_came_in_stays_and_more_comes_in():
    learnings = [*ten(), learning("a", 11), learning("b", 13)]
    queries = [
        query("q3", 14, title="third"),
        query("q1", 10, title="first"),
        query("q2", 12, title="second"),
    ]
    found = found_by(collection(learnings, queries))
    assert list(found) == ["first", "second", "third"]
    assert found["first"] == names(ten())
    assert found["second"] == [*names(ten()), "a"]
    assert found["third"] == [*names(ten()), "a", "b"]


def test_only_the_own_project_is_asked():
    learnings = [*ten(), *ten(project="blog", prefix="post")]
    queries = [query("q", 30, title="of shop"), query("p", 30, title="of blog", project="blog")]
    found = found_by(collection(learnings, queries))
    assert found == {"of shop": names(ten()), "of blog": names(ten(prefix="post"))}


def test_a_pool_is_of_all_projects():
    learnings = [*ten(), *ten(project="blog", prefix="post")]
    found = found_by(collection(learnings, [query("q", 30)], scope=PoolScope.POOLED))
    assert set(found["What it says"]) == set(names(learnings))


def test_a_query_of_no_project_is_asked_of_all():
    learnings = [*ten(), *ten(project="blog", prefix="post")]
    found = found_by(collection(learnings, [query("q", 30, project="")]))
    assert set(found["What it says"]) == set(names(learnings))


def test_what_has_no_time_is_always_there():
    learnings = [*ten(start=5), learning("timeless", 0, known=False)]
    queries = [query("q", 30), query("p", 0, title="timeless", known=False)]
    everything = Everything()
    run(everything.engine(), schedule_of(collection(learnings, queries)), lambda: None)
    assert set(everything.seen["What it says"][0]) == {*names(ten()), "timeless"}
    inside, now = everything.seen["timeless"]
    assert set(inside) == {*names(ten()), "timeless"}
    assert now == START + 14 * DAY, "the newest learning's time stands for one that is not known"


@pytest.mark.parametrize(("number", "asked"), [(9, 0), (10, 1)])
def test_with_fewer_than_ten_candidates_nothing_is_asked(number, asked):
    schedule = schedule_of(collection(ten()[:number], [query("q", 30)]))
    assert (schedule.steps, schedule.too_few_candidates) == (asked, 1 - asked)


def test_a_query_counts_when_something_relevant_may_be_found():
    learnings = [*ten(), learning("later", 40)]
    queries = [query("q", 30), query("p", 30), query("r", 30)]
    relevant = {"q": ["old3", "later"], "p": ["later"]}
    schedule = schedule_of(collection(learnings, queries, relevant))
    assert (schedule.steps, schedule.answerable) == (3, 1)
    outcomes = run(Everything().engine(), schedule, lambda: None)
    by_id = {one.query_id: one for one in outcomes}
    assert by_id["q"].relevant == {"old3"}
    assert by_id["q"].measures == pytest.approx((1, 1 / 5, 1 / 4, 1 / log2(5), 1))
    assert by_id["p"].measures is None
    assert by_id["r"].measures is None


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
        embargo, scope = dice.choice([0, DAY, 3 * DAY]), dice.choice(list(PoolScope))
        found = found_by(collection(learnings, queries, embargo=embargo, scope=scope))
        for one in queries:
            may = {
                other.learning.id
                for other in learnings
                if (not other.created or other.created + embargo < one.asked)
                and (scope is PoolScope.POOLED or one.project in ("", other.project))
            }
            assert set(found.get(one.id, ())) == (may if len(may) >= 10 else set()), (seed, one.id)


# --- the engines --------------------------------------------------------------------------------

SPECIAL = learning(
    "special",
    3.5,
    summary="OrderReport.rows() runs one query per order",
    detail="It takes 40 seconds unless items are prefetched.",
    context_files=("reports/orders.py",),
    tags=("orders",),
)
ABOUT_IT = query(
    "q", 30, title="OrderReport is slow: a query for each order", files=("reports/orders.py",)
)


def answers(name, learnings, *queries, judges=None):
    """What an engine finds of everything, as ids, by query."""
    (engine,) = engines_for([name], learnings, judges or {})
    store = engine.open()
    store.admit(learnings)
    found = [store.ask(one.query, one.asked) for one in queries]
    store.close()
    return found


def by_rules(value_of):
    def score(query, learnings):
        return [(value_of(one.id), ("because",)) for one in learnings]

    return {"acme": Judge(name="acme", floor=0.3, score=score)}


@pytest.mark.parametrize("name", ["default", "bm25", "bm25f", "fts5"])
def test_the_fitting_one_is_first(name):
    (answer,) = answers(name, [*ten(), SPECIAL], ABOUT_IT)
    assert answer.ids[0] == "special"


def test_the_newest_is_first_among_equals():
    learnings = [learning("first", 1), learning("last", 3), learning("middle", 2)]
    (recent,) = answers("recent", learnings, query("q", 9))
    assert recent.ids == ["last", "middle", "first"]
    (judged,) = answers("acme", learnings, query("q", 9), judges=by_rules(lambda _: 0.5))
    assert judged.ids == ["last", "middle", "first"]


def test_an_engine_of_a_plugin_is_ranked_by_its_relevance_and_zero_is_not_found():
    values = {"a": 0.2, "b": 0.9, "c": 0.0, "d": 0.5}
    learnings = [learning(name, day) for day, name in enumerate(values)]
    (answer,) = answers("acme", learnings, query("q", 400), judges=by_rules(values.get))
    assert answer.ids == ["b", "d", "a"]
    assert answer.floor == 0.3


def test_an_engine_that_fails_finds_nothing():
    judges = {"acme": Judge(name="acme", floor=0.3, score=lambda _, __: ())}
    (answer,) = answers("acme", ten(), query("q", 30), judges=judges)
    assert (list(answer.ids), list(answer.ranked)) == ([], [])


def test_what_is_not_in_yet_changes_nothing_for_the_default_engine():
    """Neither what is found nor how rare a word is may depend on what is written later."""
    later = [learning(f"later{n}", 50, summary=f"OrderReport again {n}") for n in range(20)]
    early = collection([*ten(), SPECIAL], [ABOUT_IT], {"q": ["special"]})
    whole = evolve(early, learnings=[*early.learnings, *later])

    def asked(one):
        (engine,) = engines_for(["default"], one.learnings, {})
        steps = schedule_of(one).pools[0]
        store = engine.open()
        store.admit(steps[0].admitted)
        ranked = store.ask(steps[0].query.query, steps[0].now).ranked
        store.close()
        return [(each.entry.id, each.score.total) for each in ranked]

    assert asked(early) == asked(whole)


def test_recency_is_that_of_projects_which_configure_nothing():
    assert Config().retrieval.recency_days_to_30_percent == RECENCY_DAYS


def test_names_of_engines():
    assert names_of_engines(["rules", "acme"]) == [
        *("default", "rules", "acme", "recent", "bm25", "bm25f", "fts5")
    ]


# --- what is injected ---------------------------------------------------------------------------


def outcomes_of(name, one, judges=None):
    (engine,) = engines_for([name], one.learnings, judges or {})
    return run(engine, schedule_of(one), lambda: None)


def test_what_is_chosen_is_not_below_the_floor_of_its_engine():
    learnings = [learning(f"l{n}", n, summary=f"{'abcdefghij'[n] * 5} alone") for n in range(10)]
    values = {f"l{n}": n / 10 for n in range(10)}
    one = collection(learnings, [query("q", 12)], {"q": ["l9", "l1"]})
    (outcome,) = outcomes_of("acme", one, by_rules(values.get))
    assert list(outcome.injected) == ["l9", "l8", "l7", "l6", "l5"]
    (outcome,) = outcomes_of("acme", one, by_rules(lambda name: values[name] / 2))
    assert list(outcome.injected) == ["l9", "l8", "l7", "l6"]
    (outcome,) = outcomes_of("acme", one, by_rules(lambda _: 0.29))
    assert list(outcome.injected) == []


def test_baselines_inject_nothing():
    (outcome,) = outcomes_of("bm25", collection(ten(), [query("q", 30)], {"q": ["old1"]}))
    assert outcome.injected is None


def outcome(injected, relevant, value=0.0):
    measures = Measures(value, value, value, value, value) if relevant else None
    return Outcome(
        query_id="",
        relevant=frozenset(relevant),
        measures=measures,
        injected=injected,
        seconds=value / 1000,
    )


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


# --- side by side -------------------------------------------------------------------------------


def test_engines_side_by_side():
    dice = random.Random(4)
    weak = [outcome(None, "a", dice.random() / 2) for _ in range(50)]
    strong = [
        evolve(one, measures=Measures(*(0.3 + value for value in one.measures))) for one in weak
    ]
    summary = summarise({"weak": weak, "strong": strong})
    (difference,) = summary.differences
    assert (difference.engine, difference.reference) == ("strong", "weak")
    for estimate in difference.measures.values():
        assert (estimate.value, estimate.low, estimate.high) == pytest.approx((0.3, 0.3, 0.3))
    recall = summary.engines[0].measures["recall@5"]
    assert recall.low < recall.value < recall.high
    assert summary == summarise({"weak": weak, "strong": strong})


@pytest.mark.parametrize(
    ("engines", "compared"),
    [
        (["a"], []),
        (["a", "b", "c"], ["b-a", "c-a"]),
        (["default", "rules"], ["default-rules"]),
        (["rules", "bm25f", "default"], ["bm25f-rules", "default-rules", "default-bm25f"]),
        (["default", "bm25f", "rules"], ["default-rules", "bm25f-rules", "default-bm25f"]),
        (["bm25f", "recent"], ["recent-bm25f"]),
    ],
)
def test_who_is_compared_with_whom(engines, compared):
    summary = summarise({name: [outcome(None, "a", 0.5)] for name in engines})
    assert [f"{one.engine}-{one.reference}" for one in summary.differences] == compared


# --- noise --------------------------------------------------------------------------------------


def test_noise_asks_other_projects_only_and_whenever_their_learnings_were_written():
    shop, blog = (
        [SPECIAL, learning("other", 1)],
        [learning("post", 90, project="blog", summary="Feeds")],
    )
    queries = [
        query("s", 1, title=ABOUT_IT.query.ticket_title, files=ABOUT_IT.query.files),
        query(
            "b", 1, project="blog", title=ABOUT_IT.query.ticket_title, files=ABOUT_IT.query.files
        ),
        query("b2", 1, project="blog", title="Feeds"),
    ]
    projects = projects_of([*shop, *blog])
    asked = []
    (engine,) = engines_for(["default"], [*shop, *blog], {})
    pairs = noise(engine, queries, projects, lambda: asked.append(1))
    assert [(one.queries_of, one.learnings_of, one.injected) for one in pairs] == [
        ("blog", "shop", Share(1, 2)),
        ("shop", "blog", Share(0, 1)),
    ]
    assert together(pairs) == Share(1, 3)
    assert len(asked) == cases(queries, projects) == 3


def test_projects_of_another_collection_are_named_after_it_and_none_of_them_is_the_own_one():
    projects = projects_of(
        [learning("a", 1, project="shop"), learning("b", 2, project="wiki")], "more"
    )
    assert [one.title for one in projects] == ["more/shop", "more/wiki"]
    projects += projects_of([learning("c", 1, project="")], "odd")
    (engine,) = engines_for(["default"], [], {})
    queries = [query("q", 5), query("r", 5, project="")]
    assert cases(queries, projects) == 6
    pairs = noise(engine, queries, projects, lambda: None)
    assert [(one.queries_of, one.learnings_of) for one in pairs] == [
        (name, title) for name in ("", "shop") for title in ("more/shop", "more/wiki", "odd")
    ]
