"""What real git makes of two branches' entries, and what can be repaired of it."""

import random
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from grove_backend_markdown.format import change_status, file_header, format_entry
from grove_backend_markdown.reader import read_entries
from grove_backend_markdown.repair import repair_of, repairs
from grove_core import Area, Category, Criterion, Learning, LearningStatus
from grove_core.testing.samples import example_learning

WORDS = "one two three four five six".split()
HEADER = file_header(Area.PROJECT)
PATH = Path("learnings.md")


@pytest.fixture
def repair(context):
    """Writes a text where learnings lie, and asks for its repair."""
    path = context.root / ".grove" / "learnings.md"
    path.parent.mkdir(exist_ok=True)

    def ask(text):
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
        found = repairs(context)
        return found[0] if found else None

    return ask


@pytest.fixture
def merge_file(tmp_path):
    """Merges three texts as git does."""

    def merge(base, ours, theirs, *options):
        for name, text in (("base", base), ("ours", ours), ("theirs", theirs)):
            (tmp_path / name).write_text(text)
        words = ["git", "merge-file", "-p", *options, "ours", "base", "theirs"]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, check=False).stdout.decode()

    return merge


def learning(rng, name):
    return Learning(
        id=f"cl_20260206_{name}",
        category=rng.choice([Category.PITFALL, Category.CONVENTION]),
        summary="Summary of " + " ".join(rng.sample(WORDS, 2)),
        detail="\n".join(" ".join(rng.sample(WORDS, 3)) for _ in range(rng.choice([1, 1, 2]))),
        session_id=name,
        timestamp=datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=rng.randrange(1000)),
        criteria_met=frozenset({rng.choice(list(Criterion))}),
        tags=tuple(rng.sample(WORDS, 2)),
        context_files=rng.choice([(), ("a.py",)]),
    )


def sides(rng, most):
    base = HEADER + "\n" + format_entry(learning(rng, "base"))
    added = [
        [learning(rng, f"{side}{number}") for number in range(rng.randint(1, most))]
        for side in ("ours", "theirs")
    ]
    texts = [base + "".join(f"\n{format_entry(one)}" for one in side) for side in added]
    return base, texts, {one.id: one for side in added for one in side}


def learnings_in(text):
    return {entry.learning.id: entry.learning for entry in read_entries(text).entries}


@pytest.mark.parametrize("style", ["--diff3", "--zdiff3", "--ours-and-theirs"])
def test_conflict_markers_leave_every_entry_as_it_was(repair, merge_file, style):
    options = () if style == "--ours-and-theirs" else (style,)
    for seed in range(8):
        base, texts, added = sides(random.Random(seed), 3)
        spoilt = merge_file(base, *texts, *options)
        assert "<<<<<<<" in spoilt
        repaired = repair(spoilt)
        assert not repaired.left
        found = learnings_in(repaired.after)
        assert found == learnings_in(base) | added, seed
        assert repair(repaired.after) is None


def test_an_entry_that_stands_there_twice_is_joined(repair):
    one = format_entry(example_learning(1))
    archived = change_status(one, example_learning(1).id, LearningStatus.ARCHIVED)
    repaired = repair(
        "\n".join([HEADER, one, format_entry(example_learning(2)), "Words.\n", archived])
    )
    assert not repaired.left
    found = learnings_in(repaired.after)
    assert found[example_learning(1).id].status is LearningStatus.ARCHIVED
    assert found[example_learning(2).id] == example_learning(2)
    assert repaired.after.count(example_learning(1).id) == 1
    assert "Words." in repaired.after


def test_entries_with_one_id_and_other_words_both_stay(repair):
    one = format_entry(example_learning(1))
    other = one.replace(example_learning(1).summary, "Another heading")
    text = "\n".join([HEADER, one, format_entry(example_learning(2)), other])
    found = repair(text)
    assert (found.after, found.repaired) == (text, ())
    assert "stands in line" in found.left[0]


STATUSES = [
    ("active", "archived (moved)", "archived (moved)"),
    ("archived", "active", "archived"),
    ("superseded", "archived (old; told)", "superseded"),
]


@pytest.mark.parametrize(("ours", "theirs", "written"), STATUSES)
def test_of_two_statuses_the_stronger_counts(ours, theirs, written):
    before, after = parts("Status")
    sides = (f"- **Status:** {one}\n" for one in (ours, theirs))
    found = repair_of(PATH, conflict(before, *sides, after))
    assert found.left == ()
    assert found.after == f"{before}- **Status:** {written}\n{after}"
    (dropped,) = {ours, theirs} - {written}
    assert found.repaired[1:] == (f"{ONE}: dropped is '- **Status:** {dropped}'",)


ONE = "cl_20260206_aaaaab"


def conflict(before, ours, theirs, after):
    return f"{before}<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n{after}"


def parts(field):
    """Return an entry's lines before a field, and those behind it."""
    text = f"{HEADER}\n{format_entry(example_learning(1))}"
    before, found, after = text.partition(f"- **{field}:** ")
    assert found
    return before, after.partition("\n")[2]


def test_markers_that_do_not_fit_together_are_left_to_people(repair):
    text = f"{HEADER}\n{format_entry(example_learning(1))}\n<<<<<<< ours\nLost its end\n"
    found = repair(text)
    assert found.after == text
    assert "markers that do not fit together" in found.left[0]


def test_an_entry_that_both_have_changed_stands_there_twice_and_is_named():
    before, after = parts("Confidence")
    spoilt = conflict(before, "- **Confidence:** high\n", "- **Confidence:** low\n", after)
    found = repair_of(PATH, spoilt)
    assert found.repaired
    assert found.left[0].startswith(f"{ONE}: both branches have changed it")
    for words in ("high", "low"):
        assert f"- **Confidence:** {words}" in found.after
    assert learnings_in(found.after)[ONE].confidence.value == "high"
