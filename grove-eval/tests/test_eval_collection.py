"""Reading collections, and what is said of files that cannot be read."""

import json
from datetime import UTC, datetime, timedelta

import pytest

from grove_core import Category, GroveError, Learning, Query
from grove_eval.collection import (
    CollectedLearning,
    CollectedQuery,
    Judgments,
    PoolScope,
    Rules,
    read_collection,
    read_judgments,
    read_learnings,
    read_queries,
    read_rules,
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
