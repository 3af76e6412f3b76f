"""The entry-wise three-way merge: nothing lost, nothing doubled, no side preferred."""

from itertools import permutations

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_backend_markdown.format import file_header, format_entry
from grove_backend_markdown.merging import merge_texts
from grove_backend_markdown.reader import read_entries
from grove_backend_markdown.status import change_status
from grove_core import Area, BackendError, Confidence, LearningStatus

ACTIVE, ARCHIVED, SUPERSEDED = (
    LearningStatus.ACTIVE,
    LearningStatus.ARCHIVED,
    LearningStatus.SUPERSEDED,
)
HEADER = file_header(Area.PROJECT)


def file_of(*learnings, head=HEADER):
    return "\n".join([head, *(format_entry(one) for one in learnings)])


def learnings_in(text):
    return {entry.learning.id: entry.learning for entry in read_entries(text).entries}


@st.composite
def histories(draw, learnings):
    """A base and two sides: added, deleted and restatused entries, prose, line ends."""
    pool = draw(st.lists(learnings, min_size=1, max_size=7, unique_by=lambda one: one.id))
    cut = draw(st.integers(0, len(pool)))
    known, new = [evolve(one, status=ACTIVE) for one in pool[:cut]], pool[cut:]
    base = file_of(*known)
    sides, expected = [], []
    for number in (0, 1):
        text, present = base, {one.id: one for one in known}
        for one in known:
            act = draw(st.sampled_from(["", "", "", *LearningStatus, "prose"]))
            if isinstance(act, LearningStatus):
                text = change_status(text, one.id, act, draw(st.sampled_from(["", "a", "b"])))
                present[one.id] = evolve(one, status=act)
            elif act == "prose":
                text = text.rstrip("\n") + f"\n\nA word {number} by hand.\n"
        for one in new[number::2]:
            text += "\n" + format_entry(one)
            present[one.id] = one
        sides.append(text)
        expected.append(present)
    return base, sides, expected


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_a_merge_is_the_union_whichever_side_is_ours(hostile_learnings, data):
    base, (ours, theirs), expected = data.draw(histories(hostile_learnings))
    merged = merge_texts(base, ours, theirs)
    assert merged == merge_texts(base, theirs, ours)
    assert merge_texts(base, merged, merged) == merged
    assert merge_texts(ours, merged, ours) == merge_texts(theirs, theirs, merged) == merged
    # Merging a side again brings nothing.
    assert learnings_in(merge_texts(base, merged, ours)) == learnings_in(merged)
    found = learnings_in(merged)
    assert found.keys() == expected[0].keys() | expected[1].keys()
    for key, learning in found.items():
        allowed = [side[key] for side in expected if key in side]
        assert learning in allowed
    for number in (0, 1):
        word = f"A word {number} by hand."
        assert (word in merged) == (word in ours + theirs)


STATUSES = [
    # base, ours, theirs, merged
    (ACTIVE, ARCHIVED, ACTIVE, ARCHIVED),
    (ARCHIVED, ACTIVE, ARCHIVED, ACTIVE),
    (ARCHIVED, ACTIVE, SUPERSEDED, SUPERSEDED),
    (ACTIVE, ARCHIVED, SUPERSEDED, SUPERSEDED),
    (SUPERSEDED, ACTIVE, ARCHIVED, ARCHIVED),
    (None, ACTIVE, ARCHIVED, ARCHIVED),
    (None, SUPERSEDED, ARCHIVED, SUPERSEDED),
]


@pytest.mark.parametrize(("base", "ours", "theirs", "merged"), STATUSES)
def test_the_status_that_was_changed_counts_and_of_two_the_stronger(
    make_learning, base, ours, theirs, merged
):
    texts = [
        HEADER if status is None else file_of(make_learning(1, status=status))
        for status in (base, ours, theirs)
    ]
    for sides in (texts[1:], texts[:0:-1]):
        (learning,) = learnings_in(merge_texts(texts[0], *sides)).values()
        assert learning.status is merged


def test_a_deleted_entry_is_gone_unless_the_other_side_has_changed_it(make_learning):
    first, second = make_learning(1), make_learning(2)
    base = file_of(first, second)
    deleted = file_of(second)
    added = file_of(first, second, make_learning(3))
    assert learnings_in(merge_texts(base, deleted, added)).keys() == {
        second.id,
        "cl_20260206_000003",
    }
    archived = change_status(added, first.id, ARCHIVED, "decayed 2026-05-07")
    kept = learnings_in(merge_texts(base, archived, deleted))
    assert kept[first.id].status is ARCHIVED
    assert len(kept) == 3


def test_prose_of_both_sides_stays_behind_the_entry_it_follows(make_learning):
    first, second = format_entry(make_learning(1)), format_entry(make_learning(2))
    base = f"{HEADER}\n{first}\nOn databases.\n\n{second}"
    ours = base.replace("On databases.", "On databases.\nOurs.")
    theirs = base.replace("On databases.", "On databases.\nTheirs.").replace(
        "# Learnings", "# Lore"
    )
    merged = merge_texts(base, ours, theirs)
    assert merged == base.replace("On databases.", "On databases.\nOurs.\nTheirs.").replace(
        "# Learnings", "# Lore"
    )


def test_fields_that_both_sides_edited_are_joined_or_quoted(make_learning):
    one = make_learning(1)
    base = file_of(one)
    ours = file_of(evolve(one, tags=("rails", "sql"), confidence=Confidence.LOW, detail="Ours."))
    theirs = file_of(
        evolve(
            one, tags=("rails", "n-plus-one", "orm"), confidence=Confidence.HIGH, detail="Theirs."
        )
    )
    merged = merge_texts(base, ours, theirs)
    assert merged == merge_texts(base, theirs, ours)
    (learning,) = learnings_in(merged).values()
    assert sorted(learning.tags) == ["orm", "rails", "sql"]
    for words in ("Ours.", "Theirs.", "- **Confidence:** high", "- **Confidence:** low"):
        assert words in merged


def test_line_ends_stay_or_follow_the_side_that_changed_them(make_learning):
    base, ours = file_of(make_learning(1)), file_of(make_learning(1), make_learning(2))
    theirs = file_of(make_learning(1), make_learning(3))
    both = file_of(*map(make_learning, (1, 2, 3)))
    crlf = [text.replace("\n", "\r\n") for text in (base, ours, theirs, both)]
    assert merge_texts(*crlf[:3]) == crlf[3]
    assert merge_texts(base, ours, crlf[2]) == crlf[3]
    assert merge_texts(crlf[0], crlf[1], theirs) == both
    one_line = ours.replace("\n\n", "\r\n\n", 1)
    assert learnings_in(merge_texts(base, one_line, theirs)) == learnings_in(both)


def test_markers_are_refused(make_learning):
    base = file_of(make_learning(1))
    marked = f"{base}\n<<<<<<< HEAD\n=======\n>>>>>>> other\n"
    with pytest.raises(BackendError, match="conflict markers"):
        merge_texts(base, marked, file_of(make_learning(1), make_learning(2)))


NOTES = [
    (("no longer so", "moved to the wiki"), "archived (moved to the wiki; no longer so)"),
    (("", "moved"), "archived (moved)"),
    (("a; b", "b; c"), "archived (a; b; c)"),
    (("a (b)", "c"), "archived (a (b); c)"),
]


@pytest.mark.parametrize(("notes", "status"), NOTES)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_both_notes_on_one_status_are_kept(make_learning, notes, status, line_end):
    base = file_of(make_learning(1)).replace("\n", line_end)
    sides = [
        change_status(base, make_learning(1).id, LearningStatus.ARCHIVED, note) for note in notes
    ]
    for order in permutations(sides):
        merged = merge_texts(base, *order)
        assert f"- **Status:** {status}{line_end}" in merged
        assert merge_texts(base, merged, order[0]) == merged
    assert not read_entries(merged).problems
