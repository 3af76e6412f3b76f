"""The index of an import finds what a reflection's comparison finds."""

import json
from pathlib import Path

import pytest

from grove_core import Candidate, Category, Criterion
from grove_core.interchange.duplicates import DuplicateIndex

LESSONS = Path(__file__).parents[2] / "tests" / "data" / "lessons" / "training.jsonl"


def candidate(summary, detail="", **fields):
    values = {"category": Category.PITFALL, "criteria_met": frozenset({Criterion.STABLE_FACT})}
    return Candidate(summary=summary, detail=detail, tags=("orders",), **values | fields)


@pytest.fixture(scope="module")
def index():
    found = DuplicateIndex()
    for number, line in enumerate(LESSONS.read_text().splitlines()):
        one = json.loads(line)["candidate"]
        found.add(f"cl_{number}", one["summary"], one["detail"])
    found.add(
        "cl_same",
        "OrderStore.rows() is slow unless customers are prefetched",
        "Each row of OrderStore asks for its customer. select_related in orders.py makes one query.",
    )
    return found


@pytest.mark.parametrize(
    ("summary", "detail"),
    [
        ("  ORDERSTORE.rows() is slow unless customers are prefetched! ", "x"),
        ("OrderStore.rows() is slow unless customers are prefetched here", "x"),
        (
            "Rows of OrderStore: prefetch customers, or it is slow",
            "OrderStore asks each row for its customer; one query with select_related in orders.py.",
        ),
    ],
)
def test_the_same_in_other_words_is_found_among_many(index, summary, detail):
    known = index.find(candidate(summary, detail))
    assert known is not None
    assert known.learning_id == "cl_same"


def test_what_is_superseded_may_be_repeated(index):
    same = candidate("OrderStore.rows() is slow unless customers are prefetched")
    assert index.find(same) is not None
    assert index.find(candidate(same.summary, supersedes=("cl_same",))) is None
