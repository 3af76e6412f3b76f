"""Learnings as rows: the same when they are read, and searchable by what they name."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_backend_postgres.rows import learning_of, read_all, row_of
from grove_core.testing.samples import example_learning

ANY_TEXT = st.text(st.characters(), max_size=60)


@settings(max_examples=40, deadline=None)
@given(summary=ANY_TEXT, detail=ANY_TEXT, ticket_id=ANY_TEXT)
def test_any_text_comes_back_and_columns_take_it(summary, detail, ticket_id):
    learning = example_learning(summary=summary, detail=detail, ticket_id=ticket_id)
    row = row_of(learning)
    assert learning_of(row["document"], "active") == learning
    for value in row.values():
        texts = value if isinstance(value, list) else [value]
        for text in texts:
            if isinstance(text, str):
                assert "\0" not in text
                text.encode("utf-8")


@pytest.mark.parametrize(
    ("document", "status"),
    [
        ("", "active"),
        ("[]", "active"),
        ("[" * 100_000, "active"),
        ("{}", "active"),
        (None, "retired"),
        ('{"id": 1', "active"),
    ],
)
def test_what_a_newer_grove_has_written_is_no_learning(document, status):
    written = row_of(example_learning())["document"] if document is None else document
    assert learning_of(written, status) is None


def test_a_row_that_holds_another_learning_cannot_be_read():
    first, second = example_learning(1), example_learning(2)
    rows = [row_of(first), row_of(second) | {"document": row_of(first)["document"]}]
    assert read_all(rows) == {first.id: first}
