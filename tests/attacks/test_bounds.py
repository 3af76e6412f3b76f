"""What a repository brings is read in bounded pieces, and what is left out is named."""

import json
import os

import pytest

from grove_backend_markdown import store
from grove_core.services import decay
from grove_core.storage import files


def test_of_too_many_entries_the_first_are_read_and_doctor_names_the_rest(
    world, candidate, monkeypatch
):
    monkeypatch.setattr(store, "MOST_ENTRIES", 5)
    world.initialise()
    ids = [world.learning(f"cl_20300102_aaaaa{letter}", f"Fact {letter}") for letter in "abcdefgh"]
    listed = world.grove("list", "--json").json["learnings"]
    assert [one["id"] for one in listed] == ids[:5]
    assert "at most" in world.grove("doctor").stdout
    before = world.learnings_file.read_bytes()
    done = world.grove("maintain", "repair")
    assert (done.code, "Traceback" in done.stderr) == (1, False)
    assert world.grove("maintain", "archive", ids[0], "--reason", "x").code == 1
    assert world.learnings_file.read_bytes() == before
    # What is written now is put where it is read.
    world.agent().starts()
    assert world.agent().reflects(candidate()).code == 0
    assert world.learnings_file.read_bytes() == before
    assert len(world.grove("list", "--json").json["learnings"]) == 6
    monkeypatch.setattr(store, "MOST_IN_ALL", 5)
    assert "a project has at most" in world.grove("doctor").stdout
    assert len(world.grove("list", "--json").json["learnings"]) == 5


def test_a_line_without_an_end_is_read_in_pieces(world):
    world.initialise()
    world.learning("cl_20300102_aaaaaa", "Orders are paged")
    log = world.project / ".grove/stats.log"
    event = {"v": 1, "ts": "2030-01-03T10:00:00Z", "event": "surfaced", "grove": "x"}
    event |= {"learning_id": "cl_20300102_aaaaaa", "session_id": "s", "via": "start", "score": 0.5}
    log.write_bytes(b"\0" * 5_000_000 + b"\n" + json.dumps(event).encode() + b"\n")
    assert world.grove("show", "cl_20300102_aaaaaa", "--json").json["usage"]["surfaced"] == 1


def test_of_too_many_events_those_of_this_machine_are_kept(world, monkeypatch):
    monkeypatch.setattr(decay, "_ROOM", 2_000)
    world.initialise()
    name = world.learning("cl_20300102_aaaaaa", "Orders are paged")
    usual = {"v": 1, "ts": "2030-01-03T10:00:00Z", "event": "referenced", "grove": "x"}
    lines = [
        json.dumps({**usual, "learning_id": name, "session_id": "s", "ticket_id": f"T{number}"})
        for number in range(9)
    ]
    (world.project / ".grove/stats.log").write_text("\n".join(lines) + "\n")
    world.agent().starts()
    world.agent().grove("ref", name, "--how", "it named the file")
    history = world.grove("show", name, "--json").json["history"]
    assert [one["detail"] for one in history] == ["it named the file"]


def test_no_file_is_read_whole_that_is_too_large(tmp_path):
    large = tmp_path / "large"
    large.touch()
    os.truncate(large, files.LARGEST_BYTES + 1)
    with pytest.raises(files.StorageError, match="64 MiB"):
        files.read_bytes(large)
    assert files.read_bytes(large, 3) == b"\0\0\0"
    with pytest.raises(files.StorageError, match="64 MiB"):
        files.edit_text(large, str.upper)


def test_a_session_keeps_two_hundred_notes(beads, monkeypatch):
    monkeypatch.setattr("grove_core.services.requests._MOST_NOTES", 3)
    agent = beads.agent()
    agent.starts()
    assert [agent.grove("observe", f"note {number}").code for number in range(5)] == [0, 0, 0, 1, 1]
    assert len(beads.session()["observations"]) == 3
