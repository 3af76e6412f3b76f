"""Cleaning: what is invisible goes, what is meant stays, what was changed is said."""

import re
import unicodedata
from pathlib import PurePosixPath, PureWindowsPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.reflection.sanitise import clean_path, clean_tag, close_fences, sanitise

ROOT = PurePosixPath("/home/dev/app")


def test_a_clean_candidate_is_left_alone():
    raw = {
        "category": "pitfall",
        "summary": "Tokens expire after five minutes",
        "detail": "Line one.\n\n```py\nx = 1\n```\n\tindented",
        "tags": ["auth", "n-plus-one"],
        "criteria_met": ["stable_fact"],
        "context_files": ["src/a.py"],
        "supersedes": ["cl_a1"],
        "other": {"kept": True},
    }
    assert sanitise(raw, root=ROOT) == (raw, ())


@pytest.mark.parametrize(
    ("name", "raw", "cleaned", "note"),
    [
        ("summary", "a\u202eb\u200bc\x1b[0m", "abc[0m", "invisible"),
        ("summary", "two\nlines\r\n and   more", "two lines and more", "one line"),
        ("detail", "kept\tand\nkept\r\n\r\nlines", "kept\tand\nkept\n\nlines", None),
        ("detail", "see\n```py\nx = 1", "see\n```py\nx = 1\n```", "code fence"),
        ("tags", ["***", "ok", ""], ["ok"], "dropped"),
        (
            "context_files",
            ["./src/a.py", "src\\a.py", "src//b.py"],
            ["src/a.py", "src/b.py"],
            "repeated",
        ),
        ("context_files", ["/home/dev/app/src/a.py"], ["src/a.py"], "normalised"),
        ("context_files", ["../x", "ok.py", "/etc/passwd"], ["ok.py"], '"../x", "/etc/passwd"'),
        ("context_files", [f"f{n}" for n in range(60)], [f"f{n}" for n in range(50)], "first 50"),
    ],
)
def test_what_is_changed_and_said(name, raw, cleaned, note):
    value, notes = sanitise({name: raw}, root=ROOT)
    assert value == {name: cleaned}
    if note is None:
        assert notes == ()
    else:
        assert any(note in line and line.startswith(name) for line in notes), notes


@pytest.mark.parametrize(
    ("raw", "tag"),
    [
        ("Rails", "rails"),
        ("  n  plus_one ", "n-plus-one"),
        ("node.js", "nodejs"),
        ("--a---b--", "a-b"),
        ("Größe", "größe"),
        ("Gro\u0308ße", "größe"),
        ("x\ny", "x-y"),
        ("x" * 50, "x" * 50),
    ],
)
def test_tags(raw, tag):
    assert clean_tag(raw) == tag


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ("src/a.py", "src/a.py"),
        ("./src/./a.py", "src/a.py"),
        ("src\\sub\\a.py", "src/sub/a.py"),
        ("/home/dev/app2/a.py", None),
        ("//server/share", None),
        ("a/../b", None),
        ("~root", None),
        ("./C:/x", None),
        ("file:///etc/passwd", None),
        ("a\nb", None),
        ("x" * 501, None),
    ],
)
def test_paths(raw, path):
    assert clean_path(raw, root=ROOT) == path


def test_roots():
    assert clean_path("/home/dev/app/a.py") is None
    windows = PureWindowsPath("C:\\dev\\app")
    assert clean_path("C:\\dev\\app\\src\\a.py", root=windows) == "src/a.py"
    assert clean_path("C:/dev/app/a.py", root=windows) == "a.py"
    assert clean_path("C:/dev/other/a.py", root=windows) is None


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("```\nx\n```", ""),
        ("```\nx", "```"),
        ("`````py\nx\n```", "`````"),
        ("```\nx\n``` not a close", "```"),
        ("``` a`b\nan inline span, no fence", ""),
    ],
)
def test_fences(text, missing):
    assert close_fences(text) == (f"{text}\n{missing}" if missing else text)


@settings(max_examples=50)
@given(st.text(alphabet="`~ x\n", max_size=40))
def test_closing_fences_adds_one_line_at_most_and_is_done_then(text):
    closed = close_fences(text)
    assert closed.startswith(text)
    assert close_fences(closed) == closed
    assert re.fullmatch(r"(\n(`{3,}|~{3,}))?", closed[len(text) :])


@settings(max_examples=50)
@given(st.text(max_size=60))
def test_a_tag_is_letters_digits_hyphens_and_stays(text):
    tag = clean_tag(text)
    if tag is not None:
        assert 1 <= len(tag) <= 50
        assert all(c == "-" or unicodedata.category(c)[0] in "LMN" for c in tag)
        assert tag == tag.lower()
        assert clean_tag(tag) == tag


@settings(max_examples=50)
@given(st.text(alphabet="./\\~C: ab\0\n\u200b", max_size=20) | st.text(max_size=20))
def test_a_path_never_leads_out_and_stays(text):
    path = clean_path(text, root=ROOT)
    if path is not None:
        assert not path.startswith(("/", "~", " "))
        assert not {"", ".", ".."} & set(path.split("/"))
        assert not PureWindowsPath(path).drive
        assert "\\" not in path
        assert "\n" not in path
        assert clean_path(path, root=ROOT) == path
