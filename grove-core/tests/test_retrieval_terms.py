"""What texts, learnings and queries are made into."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core.model.memory import Query
from grove_core.retrieval.terms import (
    file_keys,
    indexed_text,
    tag_keys,
    terms_of,
    ticket_keys,
    words,
)

LEARNING = {
    "summary": "readFile fails on Windows",
    "detail": "The path is joined twice.",
    "category": "pitfall",
    "tags": ["file-io", "Windows"],
    "context_files": ["src/core/io/read.py", ".github/workflows/ci.yml", "setup.py"],
    "ticket_id": "ABC-12",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The tests were failing", ["test", "fail"]),
        ("readFile", ["readfil", "read", "file"]),
        ("os.path", ["ospath", "os", "path"]),
        ("ValueError: bad", ["valueerror", "valu", "error", "bad"]),
        ("the and of", []),
        ("", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Größe der Länge", ["größe", "der", "länge"]),
        ("cafe\u0301", ["café"]),
        ("日本語", ["日本", "本語"]),
        ("캐시 오류", ["캐시", "오류"]),
    ],
)
def test_other_languages_do_not_vanish(text, expected):
    assert words(text) == expected


def test_a_learning_keeps_its_fields_apart():
    text = indexed_text(LEARNING)
    assert text.summary == "readfil read file fail window"
    assert text.tags == "fileio file io window pitfal"
    assert text.detail == "path join twice"
    assert "read" in text.paths.split()
    assert " ".join(text).replace(" ", "").isalnum()


def test_what_a_query_names_whole_is_in_the_learning_of_the_same_things():
    query = terms_of(
        Query(ticket_id="abc-12", tags=["windows"], files=["src/core/io/read.py", "setup.py"])
    )
    whole = {
        *file_keys(LEARNING["context_files"][::2]),
        *tag_keys(["windows"]),
        *ticket_keys("ABC-12"),
    }
    assert whole <= set(query.keys) <= set(indexed_text(LEARNING).keys.split())
    assert query.areas <= set(indexed_text(LEARNING).keys.split())


@given(
    st.fixed_dictionaries(
        {
            "summary": st.text(),
            "detail": st.text(),
            "category": st.text(),
            "tags": st.lists(st.text(), max_size=3),
            "context_files": st.lists(st.text(), max_size=3),
            "ticket_id": st.text(),
        }
    )
)
def test_any_learning_can_be_indexed_and_asked_for(learning):
    text = indexed_text(learning)
    assert all(term.isalnum() for field in text for term in field.split())
    query = terms_of(
        Query(text=learning["summary"], tags=learning["tags"], files=learning["context_files"])
    )
    held = {term for field in text for term in field.split()}
    # What looks like the id of another ticket stands in no learning of its own.
    exact = {*tag_keys(learning["tags"]), *file_keys(learning["context_files"])}
    assert {*query.words, *query.path_words, *exact} <= held


@pytest.mark.parametrize(
    ("description", "ticket"),
    [
        ("Follow-up of app-12.", "app-12"),
        ("see `BD-a1b2`, which broke it", "bd-a1b2"),
        ("fixes #431", "431"),
        ("fixes #431", "#431"),
    ],
)
def test_tickets_that_a_ticket_names_are_looked_for(description, ticket):
    named = terms_of(Query(ticket_id="app-13", ticket_description=description)).keys
    assert 0 < named[ticket_keys(ticket)[0]] < named[ticket_keys("app-13")[0]]
