"""The event log: lines in, events out, and nothing unreadable stops the rest."""

import json

import pytest
from core_worlds import NOW
from hypothesis import given
from hypothesis import strategies as st

from grove_core.errors import StorageError
from grove_core.model.events import Referenced, Skip, Surfaced
from grove_core.stats.log import EventLog

ONE = Surfaced(ts=NOW, learning_id="cl_1", session_id="s", score=0.5)
TWO = Referenced(ts=NOW, learning_id="cl_1", session_id="s", how="é")


@pytest.fixture
def log(tmp_path):
    return EventLog(tmp_path / "p" / ".grove" / "stats.log", "9.9")


def test_events_come_back_in_order(log):
    log.append([ONE, TWO])
    log.append([ONE])
    assert log.read().events == (ONE, TWO, ONE)
    lines = [json.loads(line) for line in log.path.read_text().splitlines()]
    assert all(line["v"] == 1 and line["grove"] == "9.9" for line in lines)
    assert lines[0]["ts"] == "2026-02-06T10:00:00Z"


def test_what_cannot_be_read_is_skipped_and_named_by_its_line(log):
    log.append([ONE])
    good = log.path.read_text()
    newer = '{"v":9,"ts":"2026-02-06T10:00:00Z","event":"invented","grove":"99"}\n'
    log.path.write_bytes(
        b"".join(
            [
                b"<<<<<<< HEAD\n",
                good.encode(),
                b"=======\r\n",
                good.encode().replace(b"\n", b"\r\n"),
                b"\n",
                b"\xff\xfe\n",
                newer.encode(),
                good.encode()[:40],
            ]
        )
    )
    content = log.read()
    assert content.events == (ONE, ONE)
    assert content.unreadable == (1, 3, 6, 8)
    assert content.unknown == 1


def test_an_append_after_a_torn_line_spoils_nothing(log):
    log.append([ONE])
    with log.path.open("ab") as file:
        file.write(b'{"v":1,"ts":')
    log.append([TWO])
    content = log.read()
    assert (content.events, content.unreadable) == ((ONE, TWO), (2,))


@given(
    reasons=st.lists(st.text(max_size=30), max_size=5),
    noise=st.lists(st.binary(max_size=20), max_size=3),
)
def test_every_event_stands_in_a_line_of_its_own(tmp_path_factory, reasons, noise):
    log = EventLog(tmp_path_factory.mktemp("log") / "stats.log", "1")
    events = [Skip(ts=NOW, session_id="s", reason=one, decider="agent") for one in reasons]
    for number, skip in enumerate(events):
        log.append([skip])
        if number < len(noise):
            with log.path.open("ab") as file:
                file.write(b"{" + noise[number])
    assert log.read().events == tuple(events)


def test_a_log_that_cannot_be_read_at_all_is_a_storage_error(log):
    log.path.mkdir(parents=True)
    with pytest.raises(StorageError, match=r"stats\.log"):
        log.read()
    with pytest.raises(StorageError, match=r"stats\.log"):
        log.append([ONE])
