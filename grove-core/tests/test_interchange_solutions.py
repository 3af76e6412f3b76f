"""Documents of solved problems: front matter and sections become a digest."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.interchange.entries import Origin
from grove_core.interchange.solutions import read_solution
from grove_core.reflection.sanitise import close_fences
from grove_core.reflection.schema import ReadCandidate, read_candidate

SAMPLES = Path(__file__).parents[2] / "tests" / "data" / "interchange" / "solutions"
BODY = "# A title of enough words\n\n## Solution\n\nPrefetch the customers in the query set.\n"


def sample(place):
    path = SAMPLES / place
    origin = Origin(name=path.name, folder=path.parent.name, path=f"docs/solutions/{place}")
    return read_solution(path.read_text(), origin)


def read(text, folder="solutions", path="docs/solutions/x.md"):
    return read_solution(text, Origin(name="x.md", folder=folder, path=path))


def only(text, **origin):
    (one,) = read(text, **origin).entries
    return one


def with_front(**values):
    lines = [f"{name}: {value}" for name, value in values.items()]
    return "\n".join(["---", *lines, "---", "", BODY])


def test_front_matter_and_sections_become_one_learning():
    (one,) = sample("performance-issues/order-list-asks-once-a-row.md").entries
    assert one.fields["summary"] == "Order list: one query a row"
    assert one.fields["category"] == "pitfall"
    assert one.fields["tags"] == ["orders", "n-plus-one"]
    assert one.timestamp == datetime(2026, 1, 10, tzinfo=UTC)
    assert one.fields["context_files"] == [
        "docs/solutions/performance-issues/order-list-asks-once-a-row.md",
        "shop/orders.py",
        "tests/shop/test_orders.py",
    ]
    assert set(one.fields["criteria_met"]) == {
        "stable_fact",
        "behavior_changing",
        "decision_rationale",
    }
    assert isinstance(read_candidate(one.fields), ReadCandidate)


def test_what_is_to_be_done_stands_before_what_did_not_work():
    (one,) = sample("performance-issues/order-list-asks-once-a-row.md").entries
    titles = ["Problem", "Symptoms", "Cause", "Solution", "Prevention", "What did not work"]
    places = [one.fields["detail"].index(f"**{title}:**") for title in titles]
    assert places == sorted(places)
    assert "- The log shows 501 queries" in one.fields["detail"]
    assert "missing prefetch" in one.fields["detail"]


def test_tags_may_be_one_text():
    (one,) = sample("workflow-issues/release-tag-without-changelog.md").entries
    assert one.fields["tags"] == ["release", "changelog"]
    assert one.fields["category"] == "process"


def test_a_list_of_rules_without_front_matter_is_several_learnings():
    reading = sample("patterns/critical-patterns.md")
    assert [one.line for one in reading.entries] == [5, 9]


def test_an_index_is_left_out():
    reading = sample("README.md")
    assert reading.entries == ()
    assert [one.is_fault for one in reading.left_out] == [False]


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("build_error", "debugging"),
        ("best_practice", "pattern"),
        ("convention", "convention"),
        ("tooling_decision", "dependency"),
        ("docker_config_issue", "pitfall"),
    ],
)
def test_categories(said, category):
    assert only(with_front(problem_type=said)).fields["category"] == category


@pytest.mark.parametrize(
    ("folder", "category"),
    [("test-failures", "debugging"), ("best-practices", "pattern"), ("workflow", "process")],
)
def test_without_a_type_the_folder_tells(folder, category):
    assert only(BODY, folder=folder).fields["category"] == category


def test_a_long_document_is_a_digest_that_names_it_and_breaks_no_code():
    code = "```python\n" + "value = 1\n" * 150 + "```"
    paragraphs = "\n\n".join(f"Paragraph {number} says a few more words." for number in range(80))
    text = f"# Title of it\n\n## Problem\n\n{paragraphs}\n\n## Solution\n\nDo this.\n\n{code}\n"
    detail = only(text).fields["detail"]
    assert len(detail) <= 2000
    assert "**Solution:** Do this." in detail
    assert detail.count("```") % 2 == 0
    assert detail.endswith("The whole document: `docs/solutions/x.md`")
    assert "detail: a digest of the document" in only(text).notes


@pytest.mark.parametrize(
    "front",
    [
        "title: [unclosed",
        "a: &a [x, *a]",
        "title: {a: b}",
        "- a\n- list",
        "!!python/object/apply:os.system ['true']",
        "[" * 5000,
    ],
)
def test_odd_front_matter_harms_nothing(front):
    one = only(f"---\n{front}\n---\n\n{BODY}")
    assert one.fields["summary"] == "A title of enough words"


def test_broken_front_matter_is_named_with_its_line_and_mend():
    (note, *_) = only(f"---\ndate: 2026-01-01\ntitle: Orders: slow\n---\n\n{BODY}").notes
    assert "line 3: a colon where none may stand" in note
    assert "quotation marks" in note
    assert "headings" in note


def test_a_date_that_is_none_is_none():
    assert only(with_front(date="soon")).timestamp is None


def test_no_title_is_a_fault():
    reading = read("---\ndate: 2026-01-01\n---\n\nWords.\n")
    assert [one.is_fault for one in reading.left_out] == [True]


@settings(max_examples=150)
@given(
    st.lists(
        st.sampled_from(
            ["---", "title: x", "tags: [a", "## Solution", "# T", "```", "", "- a", "…"]
        )
        | st.text(max_size=20)
    ).map("\n".join)
)
def test_any_text_is_read_within_the_limits(text):
    for one in read(text).entries:
        assert len(one.fields["summary"]) <= 200
        assert len(one.fields["detail"]) <= 2000


@pytest.mark.parametrize("fence", ["```", "~~~", "~~~~"])
def test_code_that_a_digest_has_no_room_for_is_left_out_whole(fence):
    code = f"{fence}\nx = 1\n\n{'y = 2; ' * 900}\n{fence}"
    text = f"# A title of enough words\n\n## Solution\n\nFetch them at once.\n\n{code}\n"
    detail = only(f"{text}\n## Prevention\n\nCount the queries.\n").fields["detail"]
    assert close_fences(detail) == detail
    assert "Fetch them at once." in detail
    assert "**Prevention:** Count the queries." in detail
