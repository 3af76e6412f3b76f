"""grove's own record and journal: lines in any order, merged by git, torn or strange."""

import json
import os
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from attrs import evolve
from core_worlds import write_file
from hypothesis import example, given, settings
from hypothesis import strategies as st

from grove_backend_mcp.backend import McpBackend
from grove_backend_mcp.protocol.results import Found
from grove_backend_mcp.settings import McpSettings
from grove_backend_mcp.sync.journal import Journal
from grove_backend_mcp.sync.record import CachedLearnings, Contents, Paths, Record
from grove_backend_mcp.sync.server import hits_of
from grove_core import BackendContext, BackendError, LearningStatus, Query, StorageError
from grove_core.testing.samples import SUBJECTS, example_learning, learning_id

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
    write_file(record.path, "".join(lines))
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


@pytest.fixture
def context(tmp_path):
    (tmp_path / "project" / ".grove").mkdir(parents=True)
    return BackendContext(root=tmp_path / "project", home=tmp_path / "home", settings=McpSettings())


def record_of(context):
    return context.root / ".grove" / "mcp.jsonl"


PLACES = {
    "a pipe": lambda place, other: os.mkfifo(place),
    "an endless file": lambda place, other: place.symlink_to("/dev/zero"),
    "the record of another project": lambda place, other: place.symlink_to(other),
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES.keys())
def test_what_is_no_record_is_neither_waited_for_nor_read(context, tmp_path, place):
    McpBackend(context).write(example_learning())
    place(record_of(context), record_of(context).rename(tmp_path / "other.jsonl"))
    backend = McpBackend(context)
    for ask in (
        lambda: [*backend.iterate()],
        lambda: backend.changes(""),
        lambda: backend.write(example_learning()),
    ):
        with pytest.raises((BackendError, StorageError)):
            ask()
    assert not backend.ping().ok


def test_lines_that_cannot_be_read_are_counted(context):
    backend = McpBackend(context)
    backend.write(example_learning())
    with record_of(context).open("a") as record:
        record.write('<<<<<<< ours\n{"at": "2026-02\n')
    health = backend.ping()
    assert health.ok
    assert "lines of mcp.jsonl that cannot be read: 2" in health.detail


ACTIVE, ARCHIVED = LearningStatus.ACTIVE, LearningStatus.ARCHIVED
ONE = learning_id(1)


def test_what_version_0_1_has_written_still_counts(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_text(
        f'{{"id": "{ONE}", "at": "2026-02-06T12:00:00Z", "state": "wanted", "is_new": true}}\n'
    )
    assert Journal(path, "a").waits(example_learning(), can_update=False)


KEROSENE, BRANCHES, WORKERS, VOUCHERS = SUBJECTS.values()
ASKED = Query(text="kerosene migrations")


def found(written, **fields):
    values = {
        "learning_id": written.id,
        "learning": written,
        "project": "shop",
        "handle": written.id,
        "text": written.summary,
    }
    return Found(**values | fields)


@pytest.fixture
def contents(tmp_path):
    contents = Contents(Paths(BackendContext(root=tmp_path, home=tmp_path / "home"), ""))
    for learning in (KEROSENE, BRANCHES, WORKERS):
        contents.record.add(learning, NOON)
    return contents


@pytest.fixture
def judge(contents):
    return lambda query, *results: hits_of(results, query, contents, "shop")


def ids(known):
    return [hit.learning.id for hit in known[0]]


def test_the_end_of_a_list_that_has_no_word_in_common_is_left_out(judge):
    known = judge(ASKED, *map(found, (BRANCHES, KEROSENE, WORKERS)))
    assert ids(known) == [BRANCHES.id, KEROSENE.id]
    first, second = known[0]
    assert 0 < first.relevance < second.relevance
    assert "meaning" in first.reasons[0]


def test_our_own_record_and_its_status_count_whatever_the_server_says(judge, contents):
    contents.record.add_status(KEROSENE.id, LearningStatus.ARCHIVED, NOON)
    ((hit,), _) = judge(ASKED, found(evolve(KEROSENE, detail="Forged.")))
    assert hit.learning == evolve(KEROSENE, status=LearningStatus.ARCHIVED)
    ((cut,), _) = judge(ASKED, found(KEROSENE, learning=None, project=None))
    assert (cut.learning, cut.complete) == (hit.learning, True)


def test_what_others_have_written_is_kept_and_what_is_of_other_projects_is_not(judge):
    asked = Query(text="vouchers")
    known = judge(asked, found(VOUCHERS))
    assert (ids(known), [*known[1]]) == ([VOUCHERS.id], [VOUCHERS])
    elsewhere = judge(asked, found(VOUCHERS, project="library"), found(VOUCHERS, learning=None))
    assert elsewhere == ([], [])
