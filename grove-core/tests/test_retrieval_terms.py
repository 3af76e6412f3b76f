"""What texts, learnings and queries are made into."""

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.retrieval.indexed_text import (
    area_keys,
    directory_keys,
    file_keys,
    indexed_text,
    tag_keys,
    ticket_keys,
)
from grove_core.retrieval.query_terms import query_terms
from grove_core.retrieval.terms import identifiers, key, words

LEARNING = {
    "summary": "readFile fails on Windows",
    "detail": "The path is joined twice.",
    "category": "pitfall",
    "tags": ["file-io", "Windows"],
    "files": ["src/core/io/read.py", ".github/workflows/ci.yml", "setup.py"],
    "ticket_id": "ABC-12",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The tests were failing", ["test", "fail"]),
        ("readFile", ["readfil", "read", "file"]),
        ("read_file", ["readfil", "read", "file"]),
        ("read-file", ["readfil", "read", "file"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("os.path", ["ospath", "os", "path"]),
        ("src/lib.rs", ["srclibr", "src", "lib", "rs"]),
        (r"src\lib.rs", ["srclibr", "src", "lib", "rs"]),
        ("E0432 and 404", ["e0432", "404"]),
        ("ValueError: bad", ["valueerror", "valu", "error", "bad"]),
        ("the and of", []),
        ("", []),
        ("--- ... ///", []),
    ],
)
def test_words(text, expected):
    assert words(text) == expected


@pytest.mark.parametrize("other", ["readFile", "read_file", "read-file", "ReadFile", "READ_FILE"])
def test_an_identifier_is_found_however_it_is_written(other):
    assert words(other)[0] == words("readFile")[0]


def test_a_long_path_has_no_whole():
    assert words("a1/b2/c3/d4/e5.py") == ["a1", "b2", "c3", "d4", "e5", "py"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Größe der Länge", ["größe", "der", "länge"]),
        ("кэш устарел", ["кэш", "устарел"]),
        ("cafe\u0301", ["café"]),
        ("ｆｕｌｌ", ["full"]),
        ("日本語", ["日本", "本語"]),
        ("語", ["語"]),
        ("캐시 오류", ["캐시", "오류"]),
    ],
)
def test_other_languages_do_not_vanish(text, expected):
    assert words(text) == expected


def test_chinese_text_is_found_by_a_part_of_it():
    assert set(words("数据库")) & set(words("连接数据库失败"))


@settings(max_examples=300)
@given(st.text())
def test_any_text_gives_terms_of_letters_and_digits(text):
    assert all(word.isalnum() for word in words(text))
    assert set(identifiers(text)) <= set(words(text))


@given(st.text(), st.text())
def test_lines_are_independent_of_each_other(one, other):
    # A mark that belongs to the letter before it may not stand at the beginning of a line.
    assert words(f"{one} \n {other}") == words(one + " ") + words(" " + other)


def test_identifiers_are_what_is_written_together():
    assert identifiers("Why readFile and os_path of uv-client, not plain words or Words?") == [
        "readfil",
        "ospath",
        "uvclient",
    ]


def test_keys_differ_by_kind_and_value():
    keys = {key(kind, value) for kind in ("file", "tag") for value in ("a", "b", "ä", "")}
    assert len(keys) == 8
    assert all(one.isalnum() and one.isascii() and len(one) == 15 for one in keys)


def test_keys_are_the_same_in_every_process():
    program = "from grove_core.retrieval.terms import key; print(key('file', 'src/ä.py'))"
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert answers == {key("file", "src/ä.py")}


def test_a_file_is_the_same_however_its_path_is_written():
    assert file_keys(["./src/a.py"]) == file_keys(["src//a.py"]) == file_keys(["src\\a.py"])
    assert file_keys(["src/a.py"]) != file_keys(["src/b.py"])


def test_a_directory_is_that_of_the_file():
    assert directory_keys(["src/io/a.py", "src/io/b.py"]) == directory_keys(["src/io/c.py"])
    assert directory_keys(["setup.py", ""]) == []


def test_areas_begin_at_the_second_level_and_leave_out_what_belongs_to_tools():
    assert len(area_keys(["src/core/io/read.py"])) == 2
    assert set(area_keys(["src/core/b.py"])) < set(area_keys(["src/core/io/read.py"]))
    assert area_keys([".github/workflows/ci.yml", "src/a.py", "setup.py"]) == []


def test_a_learning_keeps_its_fields_apart():
    text = indexed_text(**LEARNING)
    assert text.summary == "readfil read file fail window"
    assert text.tags == "fileio file io window pitfal"
    assert text.detail == "path join twice"
    assert "read" in text.paths.split()
    assert " ".join(text).replace(" ", "").isalnum()


def test_what_a_query_names_whole_is_in_the_learning_of_the_same_things():
    query = query_terms(
        ticket_id="abc-12", tags=["windows"], files=["src/core/io/read.py", "setup.py"]
    )
    assert set(query.keys) <= set(indexed_text(**LEARNING).keys.split())
    assert query.areas <= set(indexed_text(**LEARNING).keys.split())


def test_a_title_counts_more_than_a_description_and_repetition_less_and_less():
    title = query_terms(ticket_title="cache").words["cach"]
    once = query_terms(ticket_description="cache").words["cach"]
    often = query_terms(ticket_description="cache " * 10).words["cach"]
    assert once < title < often < 10 * once


def test_all_terms_are_words_path_words_and_keys():
    query = query_terms(
        text="readFile", ticket_title="cache", files=["src/io/read.py"], error_signature="E0432"
    )
    terms = query.all_terms()
    assert {"readfil", "cach", "io", "e0432"} <= set(terms)
    assert set(query.keys) <= set(terms)
    assert all(weight > 0 for weight in terms.values())


def test_nothing_asked_is_no_term():
    assert query_terms().all_terms() == {}


def test_a_pasted_log_does_not_grow_the_query_without_bound():
    log = " ".join(f"word{number}x" for number in range(100_000))
    files = [f"src/part{number}/file{number}.py" for number in range(10_000)]
    assert len(query_terms(text=log, files=files).all_terms()) < 2_000


@given(
    st.fixed_dictionaries(
        {
            "summary": st.text(),
            "detail": st.text(),
            "category": st.text(),
            "tags": st.lists(st.text(), max_size=3),
            "files": st.lists(st.text(), max_size=3),
            "ticket_id": st.text(),
        }
    )
)
def test_any_learning_can_be_indexed_and_asked_for(learning):
    text = indexed_text(**learning)
    assert all(term.isalnum() for field in text for term in field.split())
    query = query_terms(text=learning["summary"], tags=learning["tags"], files=learning["files"])
    held = {term for field in text for term in field.split()}
    # What looks like the id of another ticket stands in no learning of its own.
    exact = {*tag_keys(learning["tags"]), *file_keys(learning["files"])}
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
    named = query_terms(ticket_id="app-13", ticket_description=description).keys
    assert 0 < named[ticket_keys(ticket)[0]] < named[ticket_keys("app-13")[0]]


def test_words_with_a_hyphen_are_no_tickets():
    assert query_terms(ticket_description="a read-only, well-known #thing").keys == {}


def test_latin_words_amid_other_scripts_are_words():
    assert {"redi", "api"} <= set(words("Redisの接続が切れる。APIキー"))
