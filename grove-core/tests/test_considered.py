"""What was considered, as a line: it keeps no secret, and a score can be worked out again."""

import json
import os
import stat
import string
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.flow.considering import considered_path, keep_line, occasions_of
from grove_core.learning_index.index import IN_MEMORY, LearningIndex
from grove_core.model.learning import Category, Learning
from grove_core.retrieval.choosing import SHOWN, choose
from grove_core.retrieval.considered import (
    MOST_CHARACTERS,
    MOST_LINES,
    MOST_VERDICTS,
    NO_ROOM,
    Circumstances,
    has_room,
    line_of,
    occasion_of,
    with_room_made,
)
from grove_core.retrieval.entries import entry_of
from grove_core.retrieval.matching import in_words, matches_of, missing_words, spellings
from grove_core.retrieval.query_terms import query_terms
from grove_core.retrieval.ranking import rank
from grove_core.retrieval.strategy import RetrievalStrategy

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
    given = {"tags": ("orders",), "context_files": ("reports/orders.py",), **fields}
    learning = Learning(
        id=f"cl_{name}",
        category=Category.PITFALL,
        summary=summary,
        detail=f"What {name} says in many words.",
        session_id="s",
        timestamp=NOW,
        **given,
    )
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


def test_the_same_word_has_the_same_number_everywhere():
    query = query_terms(text="readFile of zeppelin", files=["zeppelin/hangar.py"])
    line = line_of(UNDER, query, search([an_entry("a")], query)[1], [])
    document = json.loads(line)["query"]
    both = set(document["words"]) & set(document["path_words"])
    assert len(both) == 1
    assert set(document["identifiers"]) <= set(document["words"])


WORDS = st.text(string.ascii_lowercase, min_size=3, max_size=5)
TEXTS = st.lists(WORDS, min_size=1, max_size=12).map(" ".join)


@given(st.lists(TEXTS, min_size=1, max_size=8, unique=True), TEXTS)
@settings(max_examples=60, deadline=None)
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


def test_only_the_best_and_what_was_shown_are_kept():
    entries = [an_entry(f"{n}", f"orders {'again ' * n}", tags=(f"t{n}",)) for n in range(60)]
    query = query_terms(text="orders")
    _, choice = search(entries, query)
    last = choice.verdicts[-1]
    moved = choice._replace(verdicts=[*choice.verdicts[:-1], last._replace(reason=SHOWN)])
    occasion = occasion_of(line_of(UNDER, query, moved, [last.ranked.entry.id]))
    assert occasion.found == 60
    assert [one.rank for one in occasion.verdicts] == [*range(1, MOST_VERDICTS + 1), 60]


def test_what_is_too_long_is_left_out():
    many = [f"word{number}" for number in range(5000)]
    query = query_terms(text="orders")._replace(words=dict.fromkeys(["order", *many], 1.0))
    _, choice = search([an_entry("a")], query)
    line = line_of(UNDER, query, choice, ["cl_a"])
    assert len(line) < 64 * 1024
    occasion = occasion_of(line)
    assert occasion.query is None
    assert occasion.shown == ("cl_a",)


@pytest.mark.parametrize(
    "line",
    ["", "{", "[]", "3", "null", "{}", '{"v": 2}', '{"v": 1, "at": "x"}'],
)
def test_what_cannot_be_read_is_nothing(line):
    assert occasion_of(line) is None


def test_a_query_of_another_shape_cannot_be_asked_again():
    query = query_terms(text="orders")
    line = line_of(UNDER, query, search([an_entry("a")], query)[1], ["cl_a"])
    document = json.loads(line)
    document["query"] = {"terms": {"order": 1.0}}
    occasion = occasion_of(json.dumps(document))
    assert occasion.query is None
    assert occasion.shown == ("cl_a",)


# --- the file -----------------------------------------------------------------------------------


def numbered(number, size=0):
    query = query_terms(text="orders")
    choice = search([an_entry("a")], query)[1]._replace(chosen=(), verdicts=())
    at = f"2026-02-06T10:{number // 60:02}:{number % 60:02}Z"
    line = line_of(UNDER._replace(at=at), query, choice, [])
    return line if not size else line.replace('"moderate"', f'"{"m" * size}"')


def test_a_file_is_bounded_and_private(tmp_path):
    lines = [numbered(number) for number in range(3 * MOST_LINES)]
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


@given(st.lists(st.integers(0, 60_000), max_size=120))
@settings(max_examples=40, deadline=None)
def test_a_text_never_grows_beyond_its_bounds(sizes):
    text = ""
    for number, size in enumerate(sizes):
        line = f"{number}{'x' * size}\n"
        text = text + line if has_room(text, line) else with_room_made(text, line)
        assert text.count("\n") <= MOST_LINES
        assert len(text) <= MOST_CHARACTERS
        assert text.endswith(line)
        assert text.startswith("0")


def test_a_torn_line_hides_no_other(tmp_path):
    keep_line(tmp_path, "s", numbered(1))
    with open(considered_path(tmp_path, "s"), "a") as file:
        file.write('{"v":1,"at":"20')
    keep_line(tmp_path, "s", numbered(2))
    assert [one.circumstances.at[-3:] for one in occasions_of(tmp_path, "s")] == ["01Z", "02Z"]


def test_faults_are_none(tmp_path):
    assert occasions_of(tmp_path, "s") == []
    (tmp_path / "considered").write_text("in the way")
    keep_line(tmp_path, "s", numbered(1))
    assert occasions_of(tmp_path, "s") == []
    assert (tmp_path / "considered").read_text() == "in the way"


def test_neither_attrs_nor_pathlib_is_needed():
    code = "import sys, grove_core.retrieval.considered, grove_core.flow.considering\n"
    code += "print(*sorted({'attr', 'attrs', 'pathlib'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


# --- in words -----------------------------------------------------------------------------------


def test_matches_are_told_as_people_write_them():
    entry = an_entry("a", tags=("orders", "n-plus-one"), ticket_id="bd-7")
    query = query_terms(
        text="Why do queries of OrderReport for exports take long?",
        tags=["n-plus-one"],
        files=["reports/orders.py", "reports/other.py"],
        ticket_id="BD-7",
    )
    found = in_words(matches_of(query, entry))
    assert found[1:] == [
        "tags n-plus-one",
        "files reports/orders.py",
        "ticket bd-7",
    ]
    assert {"query", "orderreport"} <= set(found[0].removeprefix("words ").split(", "))
    missing, unknown = missing_words(query, entry, spellings([an_entry("b", "Exports are big")]))
    assert "exports" in missing
    assert unknown == 0


def test_a_directory_is_told_where_the_file_is_another():
    entry = an_entry("a", context_files=("reports/daily/orders.py",))
    query = query_terms(files=["reports/daily/rows.py"])
    matches = matches_of(query, entry)
    assert (matches.files, matches.directories) == ((), ("reports/daily",))
    assert {"report", "daily"} <= set(matches.path_words)


def test_nothing_in_common_is_no_words():
    assert in_words(matches_of(query_terms(text="zeppelin"), an_entry("a"))) == []
