"""Notes in markdown: what becomes an entry, and what has too little substance."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.interchange.entries import Origin
from grove_core.interchange.markdown_text import without_comments
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


def sample():
    return read((SAMPLES / "CLAUDE.md").read_text())


def test_each_bullet_and_each_piece_of_prose_is_an_entry():
    assert [(one.line, one.fields["summary"].split()[0]) for one in sample().entries] == [
        (5, "The"),
        (14, "Run"),
        (20, "Never"),
        (24, "Use"),
    ]


def test_what_has_no_substance_is_left_out_with_a_reason():
    assert [(one.line, one.reason) for one in sample().left_out] == [
        (9, "code without a word of explanation"),
        (13, "fewer than 5 words"),
        (18, "a line that introduces what follows"),
        (23, "fewer than 5 words"),
        (30, "a table"),
    ]
    assert not any(one.is_fault for one in sample().left_out)


def test_the_headings_above_give_the_context():
    never = sample().entries[2]
    assert never.fields["detail"].startswith("From CLAUDE.md, Shop > Testing:\n\n**Never** mock")
    assert never.fields["detail"].endswith("- freeze it there with `SET TIME`")
    assert never.fields["summary"].endswith("which a mocked clock does not change.")
    assert never.fields["category"] == "pitfall"
    assert never.fields["tags"][0] == "testing"
    assert never.fields["context_files"] == ["tests/orders/test_export.py"]
    assert "behavior_changing" in never.fields["criteria_met"]


def test_the_mark_of_a_task_is_no_part_of_it():
    assert sample().entries[3].fields["summary"].startswith("Use factories of")


@pytest.mark.parametrize(
    "text",
    [
        f"- {RULE}",
        f"* {RULE}",
        f"1. {RULE}",
        f"  - {RULE}",
        f"## Database\n\n{RULE}\n",
        f"\n\n{RULE}",
        f"<!-- a comment -->\n- {RULE}",
        f"---\nlanguage: en\n---\n\n- {RULE}",
        f"- {RULE.replace(' since', chr(10) + '  since')}",
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


def test_prose_between_bullets_is_an_entry_of_its_own():
    text = f"- {RULE}\n\nProse between two bullets says this and that.\n\n- Another: {RULE}\n"
    assert [one.line for one in read(text).entries] == [1, 3, 5]


RETRIED = "Webhooks are retried for up to 3 days, so webhooks.handle() must be idempotent."
TABLE = "| host | port |\n|---|---|\n| a | 1 |"
CODE = "```bash\nmake run\n```"


@pytest.mark.parametrize(
    ("text", "details", "reasons"),
    [
        (f"{TABLE}\n\n{RETRIED}", [RETRIED], ["a table"]),
        (f"{RETRIED}\n\n{TABLE}\n\n{RULE}", [RETRIED, RULE], ["a table"]),
        (f"These hosts there are, and no others:\n\n{TABLE}\n\n{RETRIED}",
         [f"These hosts there are, and no others:\n\n{TABLE}", RETRIED], []),
        (f"{CODE}\n\n{RETRIED}", [RETRIED], ["code without a word of explanation"]),
        (f"{RETRIED}\n\n{CODE}\n\n{RULE}", [f"{RETRIED}\n\n{CODE}\n\n{RULE}"], []),
        (f"{TABLE}\n\n{CODE}\n\n{RETRIED}\n\n@docs/more.md", [RETRIED],
         ["a table", "code without a word of explanation"]),
        (f"- {RULE}\n\n{TABLE}\n\n{RETRIED}\n\n- {RULE} Twice.",
         [RULE, RETRIED, f"{RULE} Twice."], ["a table"]),
    ],
)  # fmt: skip
def test_tables_and_code_swallow_no_words(text, details, reasons):
    found = read(f"# Ops\n\n{text}\n")
    assert [one.fields["detail"].partition(":\n\n")[2] for one in found.entries] == details
    assert [one.reason for one in found.left_out] == reasons


@pytest.mark.parametrize(
    ("text", "is_entry"),
    [
        ("日本語のテストは必ずファイルを閉じてから実行し、データベースの接続を確認すること", True),
        ("合并之前必须先运行全部测试，否则会破坏发布流程", True),
        ("ทดสอบทุกครั้งก่อนรวมสาขา", True),
        ("重要事项", False),
    ],
)
def test_notes_in_scripts_without_spaces(text, is_entry):
    found = read(f"- {text}\n")
    assert [bool(found.entries), bool(found.left_out)] == [is_entry, not is_entry]


def test_code_belongs_to_its_bullet_and_its_headings_are_none():
    text = f"- {RULE}\n\n  ```sh\n  # no heading here\n  make db\n  ```\n"
    one = only(text)
    assert "# no heading here" in one.fields["detail"]


def test_a_short_bullet_gets_the_heading_into_its_summary():
    one = only("## Broker\n\n- Restart the broker nightly. It leaks memory under load.\n")
    assert one.fields["summary"].startswith("Broker: Restart the broker nightly.")


def test_a_long_section_is_shortened_and_says_so():
    one = only("## Log\n\n" + "Words that say little. " * 200)
    assert len(one.fields["detail"]) <= 2000
    assert one.fields["detail"].endswith("The rest is in CLAUDE.md.")
    assert one.notes == ("detail: shortened",)


@pytest.mark.parametrize("fence", ["```", "~~~", "`````"])
@pytest.mark.parametrize("length", [*range(1850, 1885), 1950])
def test_code_that_is_cut_is_closed_before_what_says_so(fence, length):
    """The cut lies within the code, in the fence that ends it, or a little behind that."""
    code = "\n".join([fence, "x" * length, fence])
    one = only(f"{RULE}\n\n{code}\n\n{'More words. ' * 200}\n")
    detail = one.fields["detail"]
    assert len(detail) <= 2000
    assert detail.endswith("\n\nThe rest is in CLAUDE.md.")
    assert close_fences(detail) == detail


def test_a_cut_closes_no_code_that_is_closed():
    one = only(f"{RULE}\n\n```\nmake db\n```\n\n{'More words. ' * 200}\n")
    assert one.fields["detail"].count("```") == 2


@pytest.mark.parametrize(
    ("outer", "inner", "end"),
    [
        ("````", "```", "````"),
        ("~~~~", "~~~", "~~~~"),
        ("```", "~~~", "```"),
        ("```", "~~~", "````"),
    ],
)
def test_code_ends_with_a_fence_of_its_own_kind_and_at_least_its_length(outer, inner, end):
    text = f"{RULE}\n\n{outer}md\n{inner}\n# No heading\n{inner}\n{end}\n"
    one, after = read(f"# Ops\n\n{text}\n## Other\n\n{RETRIED}\n").entries
    assert one.fields["detail"] == f"From CLAUDE.md, Ops:\n\n{text.strip()}"
    assert after.fields["detail"] == f"From CLAUDE.md, Ops > Other:\n\n{RETRIED}"


def test_code_within_a_line_opens_no_block():
    text = f"```make db``` has to be run before the integration tests.\n\n# Other\n\n- {RULE}\n"
    assert [one.line for one in read(text).entries] == [1, 5]


def test_a_file_with_a_description_is_one_memory():
    path = SAMPLES / "memory" / "feedback_clock.md"
    (one,) = read_notes(path.read_text(), Origin(name=path.name)).entries
    assert one.fields["summary"].startswith("Freeze the clock with SET TIME")
    assert "three tests were green" in one.fields["detail"]


def test_a_memory_has_the_date_of_its_front_matter():
    text = f"---\ndescription: What to run before the tests\ndate: 2026-05-01\n---\n{RULE}\n"
    assert only(text).timestamp == datetime(2026, 5, 1, tzinfo=UTC)


def test_the_list_of_memories_is_no_learning_but_what_stands_in_it_is():
    reading = read((SAMPLES / "memory" / "MEMORY.md").read_text())
    assert [one.line for one in reading.entries] == [5]
    assert {one.reason for one in reading.left_out} == {"a link to another file; import that file"}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "# Only a heading",
        "---\n---\n",
        "---\n: [\n---\n",
        "@a.md\n@b.md",
        "***",
        "```\n",
    ],
)
def test_nothing_to_import(text):
    assert read(text).entries == ()


@settings(max_examples=150)
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
    ("text", "expected"),
    [
        ("a<!-- b\nc -->d\n<!---->e", "a\nd\ne"),
        ("a<!-- b --> c <!-- d", "a c <!-- d"),
        ("<!--> a -->b", "b"),
        ("<!--" * 50_000, "<!--" * 50_000),
    ],
    ids=["two", "open", "tight", "many without an end"],
)
def test_comments_are_blanked_out_and_lines_keep_their_numbers(text, expected):
    assert without_comments(text) == expected


# --- front matter that cannot be read -----------------------------------------------------------


@pytest.mark.parametrize(
    ("front", "line", "words"),
    [
        ("title: [a\nfoo: bar", 2, "close it with ]"),
        ("x: b\ntags: [1, 2", 3, "close it with ]"),
        ("x: {a\nb: c", 2, "close it with }"),
        ('x: y\ntitle: "a\nfoo: b', 3, "never closed"),
        ("name: x\ntitle: a: b", 3, "a colon where none may stand"),
        ("name: x\n\ttitle: a", 3, "a tab"),
        ("title: @a", 2, "something else"),
        ("title: `a` is old", 2, "something else"),
        ("title: *a*", 2, "begins with *"),
        ("tags: - a", 2, "a list begins behind a colon"),
        ("title: 'it's bad'", 2, "words follow a quotation"),
        ('title: "\\q"', 2, "backslash"),
        ("title: |x", 2, "begin it in the next line"),
        ("[" * 5_000, 2, "nested"),
    ],
)
def test_a_file_whose_front_matter_cannot_be_read_says_what_to_mend(front, line, words):
    reading = read(f"---\n{front}\n---\n\n- {RULE}\n")
    assert reading.entries == ()
    (one,) = reading.left_out
    assert one.is_fault
    assert f"line {line}: " in one.reason
    assert words in one.reason
    assert "<unicode string>" not in one.reason
    assert "expected" not in one.reason


def test_a_control_character_in_front_matter():
    (one,) = read(f"---\na: \x01\n---\n\n- {RULE}\n").left_out
    assert "control character" in one.reason


@pytest.mark.parametrize("between", [RULE, f"- {RULE}"])
def test_words_between_two_rules_are_no_front_matter(between):
    assert only(f"---\n{between}\n---\n").fields["summary"] == RULE
