"""The index of an import finds what a reflection's comparison finds, and derived ids are stable."""

import json
import re
import time
from collections import Counter
from datetime import UTC, datetime
from math import log
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core import Candidate, Category, Criterion
from grove_core.interchange.duplicates import DuplicateIndex
from grove_core.interchange.identity import content_key, derived_id
from grove_core.reflection.duplicates import normalised_summary, repeats
from grove_core.reflection.similarity import say_the_same, terms_of

LESSONS = Path(__file__).parents[2] / "tests" / "data" / "lessons" / "training.jsonl"
WHEN = datetime(2026, 2, 6, 23, 59, tzinfo=UTC)


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
        ("OrderStore.rows() is slow unless customers are prefetched", "Something else entirely."),
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


def test_something_else_is_not_found(index):
    other = candidate("Exports stream rows", "csv.writer gets a generator in export.py.")
    assert index.find(other) is None


def test_what_is_superseded_may_be_repeated(index):
    same = candidate("OrderStore.rows() is slow unless customers are prefetched")
    assert index.find(same) is not None
    assert index.find(candidate(same.summary, supersedes=("cl_same",))) is None


def test_an_empty_index_finds_nothing():
    assert DuplicateIndex().find(candidate("Words", "More words")) is None


def test_a_derived_id_has_our_shape_and_depends_on_content_and_day():
    first = candidate("One", "Detail")
    made = derived_id(first, WHEN)
    assert re.fullmatch(r"cl_20260206_[a-z2-7]{6}", made)
    assert made == derived_id(candidate("One", "Detail"), WHEN.replace(hour=1))
    assert made != derived_id(candidate("Two", "Detail"), WHEN)
    assert made.endswith(content_key(first))


# --- as before, only sooner ---------------------------------------------------------------------

VOCABULARY = (
    "order export header retry queue timeout ledger invoice the a is ORDER_export straße Größe"
    " 第一 订单导出 orders exports"
).split()
SENTENCES = st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=9).map(" ".join)


def found_one_by_one(known, candidate):
    """What the index must find, by looking at every learning: slow, and plainly right."""
    index = DuplicateIndex()
    for one in known:
        index.add(*one)
    normalised = normalised_summary(candidate.summary)
    terms = terms_of(candidate.summary, candidate.detail)
    holders = Counter(term for one in index._known for term in one.terms.whole)
    number = len(known) + 8
    weights = {term: log(1 + number / (1 + holders[term])) for term in terms.whole}
    order = sorted(terms.whole, key=lambda term: (term not in terms.summary, -weights[term], term))
    probes = order[:14]
    near = [
        one
        for one in index._known
        if (shared := sum(term in one.terms.whole for term in probes))
        and shared >= 0.4 * len(probes)
    ]
    same = [one for one in index._known if one.normalised == normalised]
    for one in (*same[:1], *near):
        if one.learning_id in candidate.supersedes:
            continue
        if repeats(normalised, one.normalised) or say_the_same(terms, one.terms, weights):
            return one.learning_id
    return None


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(SENTENCES, SENTENCES), max_size=12), SENTENCES, SENTENCES, st.data())
def test_the_index_finds_what_a_look_at_every_learning_finds(pairs, summary, detail, data):
    known = [(f"cl_20300101_{at:06}", *pair) for at, pair in enumerate(pairs)]
    if known and data.draw(st.booleans()):
        summary = data.draw(st.sampled_from(known))[1] + data.draw(st.sampled_from(["", " retry"]))
    superseded = data.draw(st.lists(st.sampled_from([one[0] for one in known]))) if known else []
    one = candidate(summary, detail, supersedes=tuple(superseded))
    index = DuplicateIndex()
    for each in known:
        index.add(*each)
    found = index.find(one)
    assert (found and found.learning_id) == found_one_by_one(known, one)


def test_thousands_of_a_kind_take_no_longer_each_than_a_few():
    index = DuplicateIndex()
    started = time.process_time()
    for number in range(3_000):
        summary = f"Module{number}.run() needs step {number} before it starts"
        detail = f"Without it, Module{number}.run() fails with code {number} in worker {number}."
        assert index.find(candidate(summary, detail)) is None
        index.add(f"cl_20300101_{number:06}", summary, detail)
    # Compared with all of their kind, these took more than a minute.
    assert time.process_time() - started < 15
