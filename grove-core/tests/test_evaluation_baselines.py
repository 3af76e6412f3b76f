"""The baselines, against the formulas and against each other."""

from datetime import UTC, datetime
from math import log

import pytest

from grove_core.evaluation.baselines import BASELINES, BM25, bm25, bm25f, fts5, recent
from grove_core.evaluation.collection import CollectedLearning
from grove_core.model.learning import Category, Learning
from grove_core.model.memory import Query
from grove_core.stats.log_lines import microseconds


def learning(name, summary, detail="", *, tags=(), files=(), category=""):
    created = datetime(2030, 1, 1, tzinfo=UTC)
    return CollectedLearning(
        learning=Learning(
            id=name,
            category=Category.PATTERN,
            summary=summary,
            detail=detail,
            session_id="",
            timestamp=created,
            tags=tags,
            context_files=files,
        ),
        category=category,
        project="shop",
        created=microseconds(created),
    )


SHOP = [
    learning("orders", "Orders are slow", "The report reads every order by itself"),
    learning("export", "The export has no header", tags=("csv",), files=("reports/export.py",)),
    learning("money", "Cents are whole numbers", "Never a float", category="convention"),
]


def best(scorer, **query):
    scores = scorer(Query(**query))
    return SHOP[max(scores, key=scores.get)].learning.id if scores else None


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


def test_without_length_normalisation_all_lengths_are_alike():
    scores = {}
    index = BM25([["cat", "dog", "cow"], ["cat"]], length_share=0.0)
    index.add_scores({"cat": 1.0}, 1.0, scores)
    assert scores[0] == scores[1]


@pytest.mark.parametrize("baseline", [bm25, bm25f, fts5], ids=lambda one: one.__name__)
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"ticket_title": "Slow order report"}, "orders"),
        ({"ticket_title": "A header", "ticket_description": "of the exports"}, "export"),
        ({"ticket_title": "Import", "tags": ("csv",)}, "export"),
        ({"ticket_title": "Nothing of that kind"}, None),
        ({"ticket_title": '" OR * the'}, None),
    ],
    ids=["title", "description", "tag", "nothing", "no words"],
)
def test_what_text_scores_find(baseline, query, expected):
    assert best(baseline(SHOP), **query) == expected


def test_only_the_one_with_fields_knows_files_and_categories():
    by_file = {"ticket_title": "Something else", "files": ("reports/export.py",)}
    assert best(bm25f(SHOP), **by_file) == "export"
    assert best(bm25(SHOP), **by_file) is None
    assert best(bm25f(SHOP), ticket_title="A convention") == "money"
    assert best(bm25(SHOP), ticket_title="A convention") is None


def test_recent_scores_everything_alike():
    assert recent(SHOP)(Query(ticket_title="whatever")) == {0: 1.0, 1: 1.0, 2: 1.0}


@pytest.mark.parametrize("name", BASELINES)
def test_a_collection_of_one_without_words(name):
    scores = BASELINES[name]([learning("a", "…")])(Query(ticket_title="…"))
    assert set(scores) <= {0}
