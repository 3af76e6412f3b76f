"""What was considered, as a line: it keeps no secret, and a score can be worked out again."""

import json
import os
import stat
import string
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.flow.considering import considered_path, keep_line, occasions_of
from grove_core.learning_index.index import IN_MEMORY, LearningIndex
from grove_core.retrieval.choosing import SHOWN, choose
from grove_core.retrieval.considered import (
    MOST_LINES,
    NO_ROOM,
    Circumstances,
    line_of,
    occasion_of,
)
from grove_core.retrieval.entries import entry_of
from grove_core.retrieval.query_terms import query_terms
from grove_core.retrieval.ranking import rank
from grove_core.retrieval.strategy import RetrievalStrategy
from grove_core.testing.samples import example_learning

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
UNDER = Circumstances(
    at="2026-02-06T10:00:00Z",
    via="prompt",
    strategy="moderate",
    limit=5,
    floor=0.0,
    max_chars=4000,
    engine="default",
)
SECRET = "hunter2correcthorse"


def an_entry(name, summary="OrderReport.rows() runs one query per order", **fields):
    usual = {"tags": ("orders",), "context_files": ("reports/orders.py",)}
    learning = example_learning(id=f"cl_{name}", summary=summary, detail=name, **usual | fields)
    return entry_of(learning, backend="markdown", personal=False)


def search(entries, query, *, limit=5):
    """What the index finds, and what is chosen of it."""
    index = LearningIndex(IN_MEMORY)
    index.put("project markdown", entries, "", whole=True)
    ranked = rank(index.find(query), {}, NOW, 90)
    choice = choose(ranked, RetrievalStrategy.MODERATE, limit, NOW, floor=0.0)
    return index, choice


def test_a_line_says_it_all():
    query = query_terms(text=f"slow orders report {SECRET}", files=["reports/orders.py"])
    _, choice = search([an_entry("a"), an_entry("b", "Exports stream their rows")], query)
    shown = [choice.chosen[0].entry.id]
    line = line_of(UNDER._replace(failed=("search of elsewhere",)), query, choice, shown)
    assert line.endswith("\n")
    assert line.isascii()
    occasion = occasion_of(line)
    assert occasion.circumstances == UNDER._replace(failed=("search of elsewhere",))
    assert occasion.found == len(choice.verdicts) == 2
    assert occasion.shown == tuple(shown)
    for told, (ranked, _) in zip(occasion.verdicts, choice.verdicts, strict=True):
        assert told.id == ranked.entry.id
        assert told.score.total == pytest.approx(ranked.score.total, abs=1e-6)
        assert told.score.parts == pytest.approx(dict(ranked.score.parts), abs=1e-6)
    assert [one.rank for one in occasion.verdicts] == [1, 2]
    assert [one.reason for one in occasion.verdicts] == [SHOWN, NO_ROOM]


def test_what_no_learning_holds_is_not_written():
    query = query_terms(text=f"orders {SECRET}", files=[f"{SECRET}/x.py"], ticket_id=SECRET)
    _, choice = search([an_entry("a")], query)
    line = line_of(UNDER, query, choice, ["cl_a"])
    assert SECRET not in line
    document = json.loads(line)["query"]
    assert set(document) == set(query._fields)
    known = {name for name in document["words"] if not name.startswith("unknown ")}
    assert known == {"order"}
    for name in ("words", "path_words", "keys"):
        given = sorted(round(weight, 6) for weight in getattr(query, name).values())
        assert sorted(document[name].values()) == given


WORDS = st.text(string.ascii_lowercase, min_size=3, max_size=5)
TEXTS = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)


@given(st.lists(TEXTS, min_size=1, max_size=8, unique=True), TEXTS)
@settings(max_examples=25, deadline=None)
def test_every_score_can_be_worked_out_again(texts, prompt):
    entries = [an_entry(f"{number}", text) for number, text in enumerate(texts)]
    query = query_terms(text=prompt + " " + texts[0])
    index, choice = search(entries, query)
    kept = occasion_of(line_of(UNDER, query, choice, [])).query
    before = {one.entry.id: one.relevance for one in index.find(query)}
    after = {one.entry.id: one.relevance for one in index.find(kept)}
    assert before.keys() == after.keys()
    for learning_id, relevance in before.items():
        assert after[learning_id].value == pytest.approx(relevance.value, abs=1e-4)
        assert after[learning_id].parts == pytest.approx(dict(relevance.parts), abs=1e-4)


@pytest.mark.parametrize("line", ["{", "[]", '{"v": 2}', '{"v": 1, "at": "x"}'])
def test_what_cannot_be_read_is_nothing(line):
    assert occasion_of(line) is None


def numbered(number):
    query = query_terms(text="orders")
    choice = search([an_entry("a")], query)[1]._replace(chosen=(), verdicts=())
    at = f"2026-02-06T10:{number // 60:02}:{number % 60:02}Z"
    return line_of(UNDER._replace(at=at), query, choice, [])


def test_a_file_is_bounded_and_private(tmp_path):
    lines = [numbered(number) for number in range(MOST_LINES + 40)]
    path = considered_path(tmp_path, "s-1")
    for line in lines:
        keep_line(tmp_path, "s-1", line)
    with open(path) as file:
        kept = file.readlines()
    assert len(kept) <= MOST_LINES
    assert kept[0] == lines[0]
    assert kept[1:] == lines[-len(kept) + 1 :]
    assert len(kept) > MOST_LINES // 4
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert os.listdir(tmp_path / "considered") == ["s-1.jsonl"]
    assert occasions_of(tmp_path, "s-1")[0].circumstances.at == "2026-02-06T10:00:00Z"


def test_a_torn_line_hides_no_other_and_a_fault_is_none(tmp_path):
    keep_line(tmp_path, "s", numbered(1))
    with open(considered_path(tmp_path, "s"), "a") as file:
        file.write('{"v":1,"at":"20')
    keep_line(tmp_path, "s", numbered(2))
    assert [one.circumstances.at[-3:] for one in occasions_of(tmp_path, "s")] == ["01Z", "02Z"]
    (tmp_path / "home").write_text("in the way")
    keep_line(tmp_path / "home", "s", numbered(1))
    assert occasions_of(tmp_path / "home", "s") == []
