"""The event log: lines in, events out, and what of it others get to read."""

import json

import pytest
from core_worlds import NOW, events_in
from hypothesis import given
from hypothesis import strategies as st

from grove_core import event_log
from grove_core.errors import StorageError
from grove_core.model.events import Referenced, Rejected, Skip, Surfaced
from grove_core.stats.lines import EventLine, read_lines
from grove_core.storage import files
from grove_core.storage.paths import ProjectPaths

ONE = Surfaced(ts=NOW, learning_id="cl_1", session_id="s", score=0.5)
TWO = Referenced(ts=NOW, learning_id="cl_1", session_id="s", how="é")
PRIVATE = (
    Rejected(ts=NOW, session_id="s", summary="My words", tags=("mine",), reason="my words again"),
    Rejected(ts=NOW, session_id="s", summary="More of my words", tags=("mine",)),
    Skip(ts=NOW, session_id="s", reason="my words", decider="agent"),
)


@pytest.fixture
def log(tmp_path):
    return tmp_path / "p" / "events.jsonl"


@pytest.fixture
def project(tmp_path):
    (tmp_path / "p" / ".grove").mkdir(parents=True)
    return ProjectPaths(tmp_path / "p", tmp_path / "home")


def append(path, *events):
    event_log.append(path, events, "9.9")


def published(project):
    """The lines of each published file, the oldest file first."""
    paths = sorted(project.published_events.glob("*"), key=lambda one: one.stat().st_mtime_ns)
    return [path.read_text().splitlines() for path in paths]


@given(
    reasons=st.lists(st.text(max_size=30), min_size=1, max_size=5, unique=True),
    noise=st.lists(st.binary(max_size=20), max_size=3),
)
def test_every_event_stands_in_a_line_of_its_own(tmp_path_factory, reasons, noise):
    log = tmp_path_factory.mktemp("log") / "events.jsonl"
    events = [Skip(ts=NOW, session_id="s", reason=one, decider="agent") for one in reasons]
    for number, skip in enumerate(events):
        append(log, skip)
        if number < len(noise):
            with log.open("ab") as file:
                file.write(b"{" + noise[number])
    found = read_lines(log.read_bytes().split(b"\n"))
    reasons_found = [one.fields["reason"] for one in found if isinstance(one, EventLine)]
    assert reasons_found == reasons


def test_each_publication_is_a_new_file_with_what_came_since(project):
    event_log.publish(project, NOW)
    assert published(project) == []
    append(project.events_file, ONE)
    event_log.publish(project, NOW)
    event_log.publish(project, NOW)
    append(project.events_file, TWO)
    event_log.publish(project, NOW)
    (first,), (second,) = published(project)
    assert project.events_file.read_text() == f"{first}\n{second}\n"
    names = {path.name[:9] for path in project.published_events.iterdir()}
    assert names == {"20260206-"}


def test_refused_texts_and_reasons_stay_here_and_the_events_stay_apart(project):
    append(project.events_file, *PRIVATE)
    event_log.publish(project, NOW)
    (lines,) = published(project)
    assert "my words" not in "".join(lines).lower()
    assert "mine" not in "".join(lines)
    assert len(set(lines)) == len(PRIVATE)
    theirs = events_in(*event_log.shared_event_files(project))
    assert [type(one) for one in theirs] == [type(one) for one in PRIVATE]


def test_what_is_no_event_and_what_is_half_written_is_not_published(project):
    append(project.events_file, ONE)
    with project.events_file.open("ab") as file:
        file.write(b'my words\n{"v":1,"ts":"2026-')
    event_log.publish(project, NOW)
    with project.events_file.open("ab") as file:
        file.write(b'02-06T10:00:00Z","event":"dismissed","learning_id":"c","session_id":"s"}\n')
    event_log.publish(project, NOW)
    (first,), (second,) = published(project)
    assert json.loads(first)["event"] == "surfaced"
    assert json.loads(second)["event"] == "dismissed"


@pytest.mark.parametrize("crash_at", range(3))
def test_after_a_crash_nothing_is_missing_and_nothing_counts_twice(project, crash_at, monkeypatch):
    append(project.events_file, ONE, *PRIVATE)
    really, calls = files.append_text, []

    def dying(*arguments, **options):
        if len(calls) == crash_at:
            raise StorageError("the power went out")
        calls.append(arguments)
        really(*arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(files, "append_text", dying)
        with pytest.raises(StorageError):
            event_log.publish(project, NOW)
    event_log.publish(project, NOW)
    assert event_log.event_files(project) == (project.events_file,)
    theirs = [line for lines in published(project) for line in lines]
    assert len(set(theirs)) == 1 + len(PRIVATE)
