"""Evaluation: collections as they are read, measures, and runs of engines."""

import json
import random
from datetime import UTC, datetime, timedelta
from math import log, log2

import pytest
from attrs import evolve

from grove_core import Category, GroveError, Learning, Query, Share
from grove_core.testing.samples import example_learning
from grove_eval.baselines import BM25
from grove_eval.collection import (
    UNKNOWN_TIME,
    CollectedLearning,
    CollectedQuery,
    Collection,
    Judgments,
    PoolScope,
    Rules,
    read_collection,
    read_judgments,
    read_learnings,
    read_queries,
    read_rules,
)
from grove_eval.engines import Answer, engine_for
from grove_eval.measures import interval, measure
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
        run(lambda: Everything(seen), schedule_of(asked))  # noqa: B023
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
    projects = {**projects_of(learnings), **projects_of(learnings[:1], "more")}
    assert noise(engine, queries, projects) == {
        ("a", "b"): Share(1, 1),
        ("a", "more/a"): Share(1, 1),
        ("c", "a"): Share(1, 1),
        ("c", "b"): Share(1, 1),
        ("c", "more/a"): Share(1, 1),
    }


def gain(*places):
    return sum(1 / log2(place + 1) for place in places)


@pytest.mark.parametrize(
    ("ranking", "relevant", "expected"),
    [
        ("abcde", "c", (1, 1 / 5, 1 / 3, gain(3), 1)),
        ("abcdef", "af", (1 / 2, 1 / 5, 1, (gain(1) + gain(6)) / gain(1, 2), 1)),
        ("abcdef", "f", (0, 0, 1 / 6, gain(6), 0)),
        ("abcde", "xy", (0, 0, 0, 0, 0)),
        ("", "a", (0, 0, 0, 0, 0)),
        ("abcdefghijkl", "abcdefghijkl", (5 / 12, 1, 1, 1, 1)),
    ],
)
def test_what_a_list_is_worth(ranking, relevant, expected):
    assert measure(list(ranking), frozenset(relevant)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ([0.4], (0.4, 0.4)),
        ([0, 1], (0.025, 0.975)),
        (range(41), (1, 39)),
    ],
)
def test_quantiles(means, expected):
    assert interval(list(means)) == pytest.approx(expected)


def test_bm25_by_hand():
    """Two texts, of 3 and 1 terms; `cat` is in both, twice in the first, and `dog` in one."""
    index = BM25([["cat", "cat", "dog"], ["cat"]])
    scores = {}
    index.add_scores({"cat": 1.0, "dog": 2.0, "cow": 1.0}, 0.5, scores)
    rarity_cat, rarity_dog = log(1 + 0.5 / 2.5), log(1 + 1.5 / 1.5)
    long, short = 1.2 * (0.25 + 0.75 * 3 / 2), 1.2 * (0.25 + 0.75 * 1 / 2)
    assert scores == pytest.approx(
        {
            0: 0.5 * (rarity_cat * 2 * 2.2 / (2 + long) + 2 * rarity_dog * 2.2 / (1 + long)),
            1: 0.5 * rarity_cat * 2.2 / (1 + short),
        }
    )


def written(path, text):
    path.write_text(text)
    return path


LEARNING = {
    "id": "shop-1",
    "project": "shop",
    "category": "pitfall",
    "created_at": "2030-01-02T03:04:05.5+01:00",
    "summary": "The export has no header",
    "tags": ["Export", "csv"],
    "source": "fields of others are ignored",
}
QUERY = {
    "id": "q1",
    "project": "shop",
    "created_at": "2030-02-03T00:00:00Z",
    "ticket_title": "The export fails",
    "file_paths": ["reports/export.py"],
    "tags": ["Export"],
}


def test_a_learning_and_a_query_with_everything(tmp_path):
    path = written(tmp_path / "corpus.jsonl", f"\ufeff{json.dumps(LEARNING)}\r\n\n")
    (found,) = read_learnings(path)
    created = datetime(2030, 1, 2, 2, 4, 5, 500_000, tzinfo=UTC)
    assert found == CollectedLearning(
        learning=Learning(
            id="shop-1",
            category=Category.PITFALL,
            summary="The export has no header",
            detail="",
            session_id="",
            timestamp=created,
            tags=("export", "csv"),
        ),
        category="pitfall",
        project="shop",
    )
    (asked,) = read_queries(written(tmp_path / "queries.jsonl", json.dumps(QUERY)))
    assert asked == CollectedQuery(
        id="q1",
        query=Query(
            ticket_title="The export fails",
            tags=("export",),
            files=("reports/export.py",),
        ),
        project="shop",
        asked=datetime(2030, 2, 3, tzinfo=UTC),
    )


def judgments(path):
    return read_judgments(path, {"q1", "q2"}, {"a", "b"})


def test_judgments_of_what_there_is_and_how_many_others_there_are(tmp_path):
    path = tmp_path / "qrels.tsv"
    text = "query-id\tdoc-id\trelevance\nq1\ta\t1\nq1\tb\t2\r\nq2\ta\t0\n"
    assert judgments(written(path, text)) == Judgments(relevant={"q1": {"a", "b"}})
    found = judgments(written(path, "q9\ta\t1\nq9\tz\t1\nq1\tz\t1\nq1\ta\t1\n"))
    assert found == Judgments(relevant={"q1": {"a"}}, unknown_queries=2, unknown_learnings=1)


def second(**change):
    """A corpus whose second line is a learning with another id, changed."""
    return "\n".join(json.dumps(LEARNING | more) for more in ({}, {"id": "shop-2"} | change))


@pytest.mark.parametrize(
    ("read", "text", "complaint"),
    [
        (read_learnings, '{"id": ', "file:1: this is not JSON"),
        (read_learnings, '{"summary": "x"}', "file:1: id is missing"),
        (read_learnings, second(summary=3), "file:2: summary must be text"),
        (read_learnings, second(created_at="yesterday"), "file:2: created_at must be an ISO 8601"),
        (read_learnings, second(id="shop-1"), "file:2 has the id of line 1"),
        (judgments, "q1\ta\t1\nq1\ta\tyes\n", "file:2 is no judgment; write query-id"),
        (read_rules, "3", "file: this is not a JSON object"),
        (read_rules, '{"embargo_days": true}', "file: embargo_days must be a number"),
        (read_rules, '{"embargo_days": 36526}', "write 0 to 36525"),
        (read_rules, "[" * 100_000, "file: this is not JSON"),
        (read_rules, '{"scope": ["pooled"]}', "file: scope must be"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(tmp_path, read, text, complaint):
    with pytest.raises(GroveError) as caught:
        read(written(tmp_path / "file", text))
    assert complaint in str(caught.value)


def test_the_rules_are_read_from_beside_the_corpus(tmp_path):
    corpus = written(tmp_path / "corpus.jsonl", json.dumps(LEARNING))
    queries = written(tmp_path / "queries.jsonl", json.dumps(QUERY))
    qrels = written(tmp_path / "qrels.tsv", "q1\tshop-1\t1\n")
    assert read_collection(corpus, queries, qrels, None).rules == Rules()
    written(tmp_path / "meta.json", '{"embargo_days": 0.5, "scope": "pooled", "source": "us"}')
    pooled = read_collection(corpus, queries, qrels, None)
    assert pooled.name == tmp_path.name
    assert pooled.rules == Rules(embargo=timedelta(hours=12), scope=PoolScope.POOLED)
    assert read_collection(corpus, queries, qrels, "project").rules == Rules(
        embargo=timedelta(hours=12)
    )
