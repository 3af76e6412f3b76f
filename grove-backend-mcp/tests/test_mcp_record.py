"""grove's own record: lines in any order, merged by git, torn or strange."""

import json
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grove_backend_mcp.sync.record import CachedLearnings, Record
from grove_core import LearningStatus
from grove_core.testing.samples import example_learning, learning_id

NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)
STATUSES = [*LearningStatus]
MARKERS = ["<<<<<<< HEAD", "=======", ">>>>>>> branch", "||||||| base"]
STRANGE = [
    *MARKERS,
    "",
    "{",
    "null",
    "[]",
    '{"at": "2026-02-06T12:00:00Z"}',
    '{"learning": null}',
    '{"learning": {"id": "cl_20260206_aaaaab"}}',
    '{"at": "never", "id": "cl_20260206_aaaaab", "status": "archived"}',
    '{"at": 7, "id": "cl_20260206_aaaaab", "status": "archived"}',
    '{"at": "2099-01-01T00:00:00Z", "id": "cl_20260206_aaaaab", "status": "burnt"}',
    '{"at": "2099-01-01T00:00:00Z", "id": ["cl_20260206_aaaaab"], "status": "archived"}',
    '{"at": "2099-01-01T00:00:00Z", "status": "archived"}',
    '{"a": ' * 5000,
    "\ufffd\x00",
]


def record_in(folder):
    return Record(folder / ".grove" / "mcp.jsonl", folder)


def lines_of(record):
    try:
        return record.path.read_text().splitlines(keepends=True)
    except FileNotFoundError:
        return []


def written_by(folder, steps):
    """The lines of a clone in which some learnings were written and given statuses."""
    record = record_in(folder)
    for number, status, seconds in steps:
        at = NOON + timedelta(seconds=seconds)
        if status is None:
            record.add(example_learning(number), at)
        else:
            record.add_status(learning_id(number), status, at)
    return lines_of(record)


STEPS = st.lists(
    st.tuples(st.integers(1, 4), st.none() | st.sampled_from(STATUSES), st.integers(-3, 3)),
    max_size=8,
)


def said_by(folder, lines):
    """What a record says that holds some lines and no others."""
    record = record_in(folder / "said")
    record.path.parent.mkdir(parents=True, exist_ok=True)
    record.path.write_text("".join(lines))
    return record.state()


@settings(max_examples=30, deadline=None)
@given(
    ours=STEPS,
    theirs=STEPS,
    order=st.randoms(use_true_random=False),
    strange=st.lists(st.sampled_from(STRANGE), max_size=4),
)
@example(  # in the same instant
    ours=[(1, None, 0), (1, LearningStatus.ACTIVE, 0)],
    theirs=[(1, LearningStatus.ARCHIVED, 0)],
    order=Random(1),
    strange=[],
)
def test_merged_lines_say_the_same_in_any_order(ours, theirs, order, strange, tmp_path_factory):
    folder = tmp_path_factory.mktemp("clones")
    merged = [*written_by(folder / "ours", ours), *written_by(folder / "theirs", theirs)]
    shuffled = merged[::-1]
    assert said_by(folder, shuffled) == said_by(folder, merged)
    order.shuffle(shuffled)
    for place, line in enumerate(strange):
        shuffled.insert(place * 2, f"{line}\n")
    said = said_by(folder, merged)
    assert said_by(folder, shuffled) == said == said_by(folder, [*merged, *merged])


def test_a_status_counts_whatever_the_clocks_say(tmp_path):
    """Of a clone whose clock is ahead, the status is the latest only until it is given another."""
    record = record_in(tmp_path)
    record.add(example_learning(), NOON)
    record.add_status(learning_id(1), LearningStatus.ARCHIVED, NOON + timedelta(days=300))
    record.add_status(learning_id(1), LearningStatus.ACTIVE, NOON, "restored")
    assert record.state().get(learning_id(1)) == example_learning()
    assert record_in(tmp_path).state() == record.state()
    assert json.loads(lines_of(record)[-1])["note"] == "restored"


def test_what_is_recorded_stays_as_it_is(tmp_path):
    record = record_in(tmp_path)
    assert record.add(example_learning(), NOON)
    assert not record.add(example_learning(detail="Something else."), NOON)
    # Another process has been faster than what this one has read.
    late = record_in(tmp_path)
    late.state()
    assert record.add(example_learning(2), NOON)
    assert not late.add(example_learning(2, detail="Something else."), NOON)
    assert len(lines_of(record)) == 2
    named = example_learning(4, supersedes=(learning_id(3),), detail=f'"{learning_id(3)}"')
    assert record.add(named, NOON)
    assert record.add(example_learning(3), NOON)


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"learning": 7}', '{"learning": {"id": "../x"}}', "\x00", '{"a":' * 9000],
)
def test_what_is_no_learning_in_a_cache_is_left_alone(tmp_path, text):
    kept = CachedLearnings(tmp_path / "seen.jsonl")
    kept.add([example_learning()])
    with kept.path.open("a") as file:
        file.write(f"{text}\n")
    assert CachedLearnings(kept.path).state() == {learning_id(1): example_learning()}
