"""Reading collections, and what is said of files that cannot be read."""

import json
from datetime import UTC, datetime

import pytest

from grove_core.errors import GroveError
from grove_core.evaluation.collection import DAY, PoolScope, Rules
from grove_core.evaluation.reading import (
    read_collection,
    read_judgments,
    read_learnings,
    read_queries,
    read_rules,
)
from grove_core.model.learning import Category
from grove_core.stats.log_lines import microseconds


def written(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


LEARNING = {
    "id": "shop-1",
    "project": "shop",
    "category": "pitfall",
    "created_at": "2030-01-02T03:04:05.5+01:00",
    "summary": "The export has no header",
    "detail": "It takes the columns from the first row.",
    "tags": ["Export", "csv"],
    "context_files": ["reports/export.py"],
    "ticket_id": "shop-7",
    "source": "fields of others are ignored",
}
QUERY = {
    "id": "q1",
    "project": "shop",
    "created_at": "2030-02-03T00:00:00Z",
    "ticket_title": "The export fails",
    "ticket_description": "for a new tenant",
    "file_paths": ["reports/export.py"],
    "tags": ["Export"],
}


def test_a_learning_with_everything(tmp_path):
    path = written(tmp_path / "corpus.jsonl", f"\ufeff{json.dumps(LEARNING)}\r\n\n")
    (found,) = read_learnings(path)
    assert (found.project, found.category) == ("shop", "pitfall")
    assert found.created == microseconds(datetime(2030, 1, 2, 2, 4, 5, 500_000, tzinfo=UTC))
    known = found.learning
    assert known.category is Category.PITFALL
    assert known.tags == ("export", "csv")
    assert known.context_files == ("reports/export.py",)
    assert known.ticket_id == "shop-7"
    assert known.timestamp == datetime(2030, 1, 2, 2, 4, 5, 500_000, tzinfo=UTC)


def test_a_learning_with_little(tmp_path):
    path = written(tmp_path / "corpus.jsonl", '{"id": "a", "summary": "b", "category": "odd"}')
    (found,) = read_learnings(path)
    assert (found.created, found.project, found.category) == (0, "", "odd")
    assert found.learning.category is Category.PATTERN


def test_a_query(tmp_path):
    (found,) = read_queries(written(tmp_path / "queries.jsonl", json.dumps(QUERY)))
    assert (found.id, found.project) == ("q1", "shop")
    assert found.asked == microseconds(datetime(2030, 2, 3, tzinfo=UTC))
    assert found.query.ticket_title == "The export fails"
    assert found.query.ticket_description == "for a new tenant"
    assert found.query.tags == ("export",)
    assert found.query.files == ("reports/export.py",)


def without(document, *names):
    return {name: value for name, value in document.items() if name not in names}


@pytest.mark.parametrize(
    ("second_line", "complaint"),
    [
        ('{"id": ', "corpus.jsonl:2 is no JSON"),
        ('["id"]', "corpus.jsonl:2 is JSON, but no object"),
        (without(LEARNING, "id"), "corpus.jsonl:2 id is missing; every line needs one"),
        (without(LEARNING, "summary"), "corpus.jsonl:2 summary is missing"),
        ({**LEARNING, "summary": 3}, "corpus.jsonl:2 summary is no text"),
        ({**LEARNING, "tags": "csv"}, 'corpus.jsonl:2 tags is no list of texts, such as ["a"'),
        ({**LEARNING, "tags": [1]}, "corpus.jsonl:2 tags is no list of texts"),
        (
            {**LEARNING, "created_at": "0001-01-01T00:00:00+05:00"},
            "corpus.jsonl:2 created_at is no",
        ),
        ({**LEARNING, "created_at": "yesterday"}, "corpus.jsonl:2 created_at is no time; write"),
        (LEARNING, "corpus.jsonl:2 has the id of line 1"),
        (b"\xff", "corpus.jsonl:2 is no UTF-8"),
        ("[" * 100_000, "corpus.jsonl:2 is nested too deeply"),
        ({**LEARNING, "id": "a\ud83d"}, "corpus.jsonl:2 id holds \\ud83d, which is half a"),
        ({**LEARNING, "category": "\udcff"}, "corpus.jsonl:2 category holds \\udcff"),
        ({**LEARNING, "tags": ["a", "\ud800"]}, "corpus.jsonl:2 tags holds \\ud800"),
    ],
    ids=lambda one: one if isinstance(one, str) and "corpus" in one else "",
)
def test_a_line_that_cannot_be_read_is_named(tmp_path, second_line, complaint):
    line = json.dumps(second_line) if isinstance(second_line, dict) else second_line
    data = line if isinstance(line, bytes) else line.encode()
    path = written(tmp_path / "corpus.jsonl", json.dumps(LEARNING).encode() + b"\n" + data)
    with pytest.raises(GroveError) as caught:
        read_learnings(path)
    assert complaint in str(caught.value)


def test_an_empty_file_and_a_missing_one_are_named(tmp_path):
    with pytest.raises(GroveError, match=r"queries\.jsonl is empty"):
        read_queries(written(tmp_path / "queries.jsonl", "\n"))
    with pytest.raises(GroveError, match=r"cannot read .*other\.jsonl: No such file"):
        read_queries(tmp_path / "other.jsonl")


# --- judgments ----------------------------------------------------------------------------------


def judgments(tmp_path, text):
    return read_judgments(written(tmp_path / "qrels.tsv", text), {"q1", "q2"}, {"a", "b"})


@pytest.mark.parametrize("heading", ["", "query-id\tdoc-id\trelevance\n"], ids=["bare", "heading"])
def test_judgments(tmp_path, heading):
    found = judgments(tmp_path, f"{heading}q1\ta\t1\nq1\tb\t2\r\nq2\ta\t0\n")
    assert found.relevant == {"q1": {"a", "b"}}
    assert (found.unknown_queries, found.unknown_learnings) == (0, 0)


def test_judgments_that_name_what_there_is_not_are_counted(tmp_path):
    found = judgments(tmp_path, "q9\ta\t1\nq9\tz\t1\nq1\tz\t1\nq1\ta\t1\n")
    assert found.relevant == {"q1": {"a"}}
    assert (found.unknown_queries, found.unknown_learnings) == (2, 1)


@pytest.mark.parametrize("line", ["q1 a 1", "q1\ta", "q1\ta\tyes", "q1\t0\ta\t1"])
def test_a_judgment_that_cannot_be_read_is_named(tmp_path, line):
    with pytest.raises(GroveError, match=r"qrels\.tsv:2 is no judgment; write query-id"):
        judgments(tmp_path, f"q1\ta\t1\n{line}\n")


@pytest.mark.parametrize("line", ["q1 a 1", "q1\ta", "q1\ta\tyes", "q1\tz\tyes", "q9\ta\tyes"])
def test_a_first_line_that_means_a_judgment_is_no_heading(tmp_path, line):
    with pytest.raises(GroveError, match=r"qrels\.tsv:1 is no judgment; write query-id"):
        judgments(tmp_path, f"{line}\nq1\ta\t1\n")


@pytest.mark.parametrize("line", ["q1\t0\ta\t1", "q1 0 a 1", "query\titeration\tdoc\trelevance"])
def test_the_columns_of_others_get_a_hint(tmp_path, line):
    with pytest.raises(GroveError, match="TREC has them, leave out the second"):
        judgments(tmp_path, f"{line}\n")


# --- the rules ----------------------------------------------------------------------------------


def test_the_rules_are_read_from_beside_the_corpus(tmp_path):
    corpus = written(tmp_path / "corpus.jsonl", json.dumps(LEARNING))
    queries = written(tmp_path / "queries.jsonl", json.dumps(QUERY))
    qrels = written(tmp_path / "qrels.tsv", "q1\tshop-1\t1\n")
    assert read_collection(corpus, queries, qrels, None).rules == Rules()
    written(tmp_path / "meta.json", '{"embargo_days": 0.5, "scope": "pooled", "source": "us"}')
    pooled = read_collection(corpus, queries, qrels, None)
    assert pooled.name == tmp_path.name
    assert pooled.rules == Rules(embargo=DAY // 2, scope=PoolScope.POOLED)
    overridden = read_collection(corpus, queries, qrels, "project")
    assert overridden.rules == Rules(embargo=DAY // 2)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "meta.json is no JSON"),
        ("3", "meta.json is JSON, but no object"),
        ('{"embargo_days": "two"}', "meta.json: embargo_days is 'two'; write how many, 0 or more"),
        ('{"embargo_days": -1}', "meta.json: embargo_days is -1"),
        ('{"embargo_days": true}', "meta.json: embargo_days is True"),
        ('{"embargo_days": NaN}', "meta.json: embargo_days is nan"),
        ('{"embargo_days": 1e300}', "meta.json: embargo_days is 1e+300; write how many, 0 or more"),
        ('{"embargo_days": 36526}', "and at most 36525"),
        ('{"embargo": 2}', "meta.json: the key 'embargo' is unknown; write embargo_days, or"),
        ('{"Scope": "pooled"}', "meta.json: the key 'Scope' is unknown; write scope, or"),
        ("[" * 100_000, "meta.json is nested too deeply"),
        ('{"scope": "all"}', 'meta.json: scope is \'all\'; write "project" or "pooled"'),
        ('{"scope": ["pooled"]}', "meta.json: scope is ['pooled']"),
    ],
)
def test_rules_that_cannot_be_read_are_named(tmp_path, text, complaint):
    with pytest.raises(GroveError) as caught:
        read_rules(written(tmp_path / "meta.json", text))
    assert complaint in str(caught.value)
