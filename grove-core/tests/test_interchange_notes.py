"""Notes in markdown: what becomes an entry, and what has too little substance."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.interchange.entries import Origin
from grove_core.interchange.notes import read_notes
from grove_core.reflection.sanitise import close_fences
from grove_core.reflection.schema import ReadCandidate, read_candidate

SAMPLES = Path(__file__).parents[2] / "tests" / "data" / "interchange"
CLAUDE = Origin(name="CLAUDE.md", path="CLAUDE.md")
RULE = "Run `make db` before the integration tests, since they need its tables."


def read(text):
    return read_notes(text, CLAUDE)


def only(text):
    (one,) = read(text).entries
    return one


def test_what_becomes_an_entry_and_what_is_left_out():
    reading = read((SAMPLES / "CLAUDE.md").read_text())
    assert [(one.line, one.fields["summary"].split()[0]) for one in reading.entries] == [
        (5, "The"),
        (14, "Run"),
        (20, "Never"),
        (24, "Use"),
    ]
    assert [(one.line, one.reason, one.is_fault) for one in reading.left_out] == [
        (9, "code without a word of explanation", False),
        (13, "fewer than 5 words", False),
        (18, "a line that introduces what follows", False),
        (23, "fewer than 5 words", False),
        (30, "a table", False),
    ]
    never = reading.entries[2].fields
    # The headings above give the context.
    assert never["detail"].startswith("From CLAUDE.md, Shop > Testing:\n\n**Never** mock")
    assert never["detail"].endswith("- freeze it there with `SET TIME`")
    assert never["summary"].endswith("which a mocked clock does not change.")
    assert never["category"] == "pitfall"
    assert never["tags"][0] == "testing"
    assert never["context_files"] == ["tests/orders/test_export.py"]
    assert "behavior_changing" in never["criteria_met"]
    linked = read((SAMPLES / "memory" / "MEMORY.md").read_text())
    assert [one.line for one in linked.entries] == [5]
    assert {one.reason for one in linked.left_out} == {"a link to another file; import that file"}


@pytest.mark.parametrize(
    "text",
    [
        f"- {RULE}",
        f"<!-- a\n- comment -->\n- {RULE}",
        f"---\nlanguage: en\n---\n\n- {RULE}",
        f"- {RULE.replace(' since', chr(10) + 'since')}",
    ],
)
def test_one_rule_in_many_forms(text):
    one = only(text)
    assert one.fields["summary"] == RULE
    assert isinstance(read_candidate(one.fields), ReadCandidate)


def test_bullets_side_by_side_are_told_apart_and_nested_ones_stay():
    reading = read(f"- {RULE}\n  - and this nested bullet belongs to it\n\n- Another: {RULE}\n")
    assert [one.line for one in reading.entries] == [1, 4]
    assert "nested bullet" in reading.entries[0].fields["detail"]


RETRIED = "Webhooks are retried for up to 3 days, so webhooks.handle() must be idempotent."
TABLE = "| host | port |\n|---|---|\n| a | 1 |"


@pytest.mark.parametrize(
    ("text", "details", "reasons"),
    [
        (f"{TABLE}\n\n{RETRIED}", [RETRIED], ["a table"]),
        (f"These hosts there are, and no others:\n\n{TABLE}\n\n{RETRIED}",
         [f"These hosts there are, and no others:\n\n{TABLE}", RETRIED], []),
        (f"- {RULE}\n\n{TABLE}\n\n{RETRIED}\n\n- {RULE} Twice.",
         [RULE, RETRIED, f"{RULE} Twice."], ["a table"]),
    ],
)  # fmt: skip
def test_tables_and_code_swallow_no_words(text, details, reasons):
    found = read(f"# Ops\n\n{text}\n")
    assert [one.fields["detail"].partition(":\n\n")[2] for one in found.entries] == details
    assert [one.reason for one in found.left_out] == reasons


@pytest.mark.parametrize("fence", ["```", "~~~~"])
@pytest.mark.parametrize("length", [1850, 1865, 1870, 1875, 1880, 1950])
def test_code_that_is_cut_is_closed_before_what_says_so(fence, length):
    """The cut lies within the code, in the fence that ends it, or a little behind that."""
    code = "\n".join([fence, "x" * length, fence])
    one = only(f"{RULE}\n\n{code}\n\n{'More words. ' * 200}\n")
    detail = one.fields["detail"]
    assert len(detail) <= 2000
    assert detail.endswith("\n\nThe rest is in CLAUDE.md.")
    assert close_fences(detail) == detail
    assert one.notes == ("detail: shortened",)


def test_code_ends_with_a_fence_of_its_own_kind_and_at_least_its_length():
    text = f"{RULE}\n\n````md\n```\n# No heading\n~~~\n````\n"
    one, after = read(f"# Ops\n\n{text}\n## Other\n\n{RETRIED}\n").entries
    assert one.fields["detail"] == f"From CLAUDE.md, Ops:\n\n{text.strip()}"
    assert after.fields["detail"] == f"From CLAUDE.md, Ops > Other:\n\n{RETRIED}"


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["- ", "  - ", "# H", "```", "---", "", RULE, "<!--", "-->", "|", "\t", "1. "]
        )
        | st.text(max_size=20)
    ).map("\n".join)
)
def test_any_text_is_read_and_every_line_number_is_one_of_its_lines(text):
    reading = read(text)
    last = text.count("\n") + 1
    assert all(1 <= one.line <= last for one in (*reading.entries, *reading.left_out))
    assert reading == read(text)


@pytest.mark.parametrize(
    ("front", "line", "words"),
    [
        ("title: [a\nfoo: bar", 2, "close it with ]"),
        ('x: y\ntitle: "a\nfoo: b', 3, "never closed"),
        ("name: x\ntitle: a: b", 3, "a colon where none may stand"),
    ],
)
def test_a_file_whose_front_matter_cannot_be_read_says_what_to_mend(front, line, words):
    reading = read(f"---\n{front}\n---\n\n- {RULE}\n")
    assert reading.entries == ()
    (one,) = reading.left_out
    assert one.is_fault
    assert f"line {line}: " in one.reason
    assert words in one.reason
