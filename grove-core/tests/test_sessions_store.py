"""Session stores: one contract for files and memory, and what only files can suffer."""

import json
import os
import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve

from grove_core.errors import CodecError, SessionNotFoundError, StorageError
from grove_core.model.gate import Gate, GateStatus
from grove_core.model.session import Baseline, DirtyFile, Session
from grove_core.sessions import FileSessionStore, MemorySessionStore

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
HOSTILE = [
    "",
    ".",
    "..",
    "../escape",
    "a/b",
    "/etc/passwd",
    "a.json",
    "a\0b",
    "a\nb",
    "a b",
    "é",
    "a" * 129,
    "~",
    "-rf *",
    "$(x)",
    "ａ",
]


def a_session(name="s1", **fields):
    given = {"cwd": "/p", "created_at": NOW, "updated_at": NOW, **fields}
    return Session(id=name, host="h", project_root="/p", **given)


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "home" / "sessions"


@pytest.fixture(params=["files", "memory"])
def store(request, directory):
    return FileSessionStore(directory) if request.param == "files" else MemorySessionStore()


@pytest.fixture
def on_disk(directory):
    return FileSessionStore(directory)


# The contract.


def test_what_was_put_is_got_and_what_was_not_is_not(store):
    assert store.get("s1") is None
    assert list(store.list()) == []
    store.put(a_session())
    assert store.get("s1") == a_session()
    assert store.get("S1") is None


def test_put_replaces_the_whole_session(store):
    store.put(a_session(transcript_path="/t"))
    store.put(a_session())
    assert store.get("s1") == a_session()


def test_update_begins_with_what_is_stored(store):
    seen = []

    def change(stored):
        seen.append(stored)
        return a_session(cwd=f"/{len(seen)}")

    assert store.update("s1", change).cwd == "/1"
    assert store.update("s1", change).cwd == "/2"
    assert seen == [None, a_session(cwd="/1")]
    assert store.get("s1").cwd == "/2"


def test_a_file_that_holds_another_sessions_state_is_refused_and_set_aside(on_disk):
    on_disk.put(a_session("other"))
    on_disk.path("s1").write_bytes(on_disk.path("other").read_bytes())
    with pytest.raises(CodecError, match="state of session 'other'"):
        on_disk.get("s1")
    after = on_disk.update("s1", lambda stored: stored or a_session())
    assert after.recovered_from == f"{on_disk.path('s1')}.corrupt-1"
    assert on_disk.get("other") == a_session("other")


@pytest.mark.parametrize("known", [True, False])
def test_a_change_that_raises_changes_nothing(store, known):
    if known:
        store.put(a_session())
    with pytest.raises(ZeroDivisionError):
        store.update("s1", lambda _: 1 // 0)
    assert store.get("s1") == (a_session() if known else None)
    assert len(store.list()) == known
    store.put(a_session(cwd="/later"))
    assert store.get("s1").cwd == "/later"


def test_list_gives_the_latest_written_first(store):
    for number, name in enumerate(["a", "b", "c"]):
        store.put(a_session(name, updated_at=NOW - timedelta(days=number)))
        settle(store, name, number)
    store.update("a", lambda stored: stored)
    settle(store, "a", 9)
    assert [one.id for one in store.list()] == ["a", "c", "b"]
    assert [one.id for one in store.list(2)] == ["a", "c"]
    assert list(store.list(0)) == []


def settle(store, name, second):
    """Give the file a time of its own: some disks know no more than ticks."""
    if isinstance(store, FileSessionStore):
        os.utime(store.path(name), (second, second))


def test_delete_removes_one_session_and_knows_no_missing_one(store):
    store.put(a_session("a"))
    store.put(a_session("b"))
    store.delete("a")
    store.delete("a")
    assert store.get("a") is None
    assert [one.id for one in store.list()] == ["b"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_id_is_refused(store, name, tmp_path):
    for act in (
        lambda: store.get(name),
        lambda: store.put(a_session(name)),
        lambda: store.update(name, lambda _: a_session(name)),
        lambda: store.delete(name),
    ):
        with pytest.raises(SessionNotFoundError, match="is no session id"):
            act()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a", "-", "_", "0", "A-b_9", "z" * 128])
def test_an_ordinary_id_is_taken(store, name):
    store.put(a_session(name))
    assert store.get(name).id == name


# Files.


def test_reading_creates_nothing(on_disk, tmp_path):
    on_disk.get("s1")
    on_disk.list()
    on_disk.delete("s1")
    assert list(tmp_path.iterdir()) == []


def test_state_is_for_its_owner_only_and_leaves_nothing_beside_it(on_disk, directory):
    on_disk.put(a_session())
    on_disk.put(a_session())
    assert [one.name for one in directory.iterdir()] == ["s1.json"]
    assert on_disk.path("s1").stat().st_mode & 0o777 == 0o600


def test_a_session_that_came_to_nothing_leaves_no_file(on_disk, directory):
    with pytest.raises(SessionNotFoundError):
        on_disk.update("s1", refuse)
    assert list(directory.iterdir()) == []
    on_disk.put(a_session())
    with pytest.raises(SessionNotFoundError):
        on_disk.update("s1", refuse)
    assert on_disk.get("s1") == a_session()


def refuse(_):
    raise SessionNotFoundError("there is none")


def test_paths_and_text_that_are_no_utf_8_survive(on_disk):
    odd = a_session(
        cwd="/\udcff\udc80",
        baseline=Baseline(taken_at=NOW, head="", dirty=(DirtyFile(path="\udce9", digest="d"),)),
        transcript_path="\ud800",
    )
    on_disk.put(odd)
    assert on_disk.get("s1") == odd


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b'{"id": 7}', b"null", b"<<<<<<< HEAD"])
def test_unreadable_state_is_set_aside_and_reported(on_disk, directory, content):
    directory.mkdir(parents=True)
    on_disk.path("s1").write_bytes(content)
    with pytest.raises(CodecError):
        on_disk.get("s1")
    assert list(on_disk.list()) == []
    seen = []
    after = on_disk.update("s1", lambda stored: seen.append(stored) or a_session())
    aside = directory / "s1.json.corrupt-1"
    assert seen == [None]
    assert aside.read_bytes() == content
    assert after.recovered_from == str(aside)
    assert on_disk.get("s1") == after
    (report,) = on_disk.set_aside
    assert (report.session_id, report.path) == ("s1", aside)
    assert report.reason
    assert [one.id for one in on_disk.list()] == ["s1"]


def test_each_unreadable_state_is_kept(on_disk, directory):
    directory.mkdir(parents=True)
    for number in range(3):
        on_disk.path("s1").write_text(f"broken {number}")
        on_disk.update("s1", lambda _: a_session())
    kept = [(directory / f"s1.json.corrupt-{number}").read_text() for number in (1, 2, 3)]
    assert kept == ["broken 0", "broken 1", "broken 2"]
    assert on_disk.get("s1").recovered_from.endswith("corrupt-3")


def test_a_debt_is_not_forgotten_when_its_state_is_torn(on_disk, directory):
    """The half of a state that a crash of the machine may leave is no fresh start."""
    owing = a_session(gate=Gate(status=GateStatus.PENDING))
    on_disk.put(owing)
    whole = on_disk.path("s1").read_bytes()
    on_disk.path("s1").write_bytes(whole[: len(whole) // 2])
    after = on_disk.update("s1", lambda stored: stored or a_session())
    assert after.recovered_from is not None
    assert (directory / "s1.json.corrupt-1").read_bytes() == whole[: len(whole) // 2]


def test_other_files_in_the_directory_are_no_sessions(on_disk, directory):
    on_disk.put(a_session())
    for name in (".s2.json.1.2.tmp", "s3.json.corrupt-1", "notes.txt", "a b.json", ".json"):
        (directory / name).write_text(on_disk.path("s1").read_text())
    (directory / "folder.json").mkdir()
    assert [one.id for one in on_disk.list()] == ["s1"]


def test_the_limit_counts_readable_sessions(on_disk, directory):
    for number in range(3):
        on_disk.put(a_session(f"s{number}"))
        os.utime(on_disk.path(f"s{number}"), (number, number))
    on_disk.path("s2").write_text("broken")
    assert [one.id for one in on_disk.list(2)] == ["s1", "s0"]


def test_what_cannot_be_removed_or_written_is_a_storage_error(on_disk, directory):
    (directory / "s1.json").mkdir(parents=True)
    for act in (
        lambda: on_disk.delete("s1"),
        lambda: on_disk.put(a_session()),
        lambda: on_disk.get("s1"),
    ):
        with pytest.raises(StorageError, match=r"s1\.json"):
            act()
    blocked = FileSessionStore(directory / "s1.json" / "x" / "file")
    (directory / "s1.json" / "x").write_text("")
    with pytest.raises(StorageError):
        blocked.put(a_session())


COUNT = """
    import os, pathlib, sys
    from datetime import UTC, datetime
    from attrs import evolve
    from grove_core.model.session import Session, SubagentObservation
    from grove_core.sessions import FileSessionStore
    NOW = datetime(2026, 2, 6, tzinfo=UTC)
    FIRST = Session(id="s", host="h", cwd="/", project_root="/", created_at=NOW, updated_at=NOW)
    children = []
    for number in range(8):
        child = os.fork()
        if child:
            children.append(child)
            continue
        code = 1
        try:
            store = FileSessionStore(pathlib.Path(sys.argv[1]))
            for turn in range(15):
                note = SubagentObservation(note=f"{number}-{turn}", timestamp=NOW)
                def add(stored):
                    base = stored or FIRST
                    return evolve(base, observations=(*base.observations, note))
                store.update("s", add)
            code = len(store.set_aside)
        finally:
            os._exit(code)
    print([os.waitpid(child, 0)[1] for child in children])
"""


def test_eight_processes_lose_no_increment(on_disk, directory):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(COUNT), directory],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == (f"{[0] * 8}\n", "")
    notes = [one.note for one in on_disk.get("s").observations]
    assert sorted(notes) == sorted(f"{n}-{t}" for n in range(8) for t in range(15))
    assert [one.name for one in directory.iterdir()] == ["s.json"]


def test_state_that_a_newer_grove_wrote_keeps_its_fields(on_disk, directory):
    on_disk.put(a_session())
    document = json.loads(on_disk.path("s1").read_text())
    document["invented_later"] = {"deep": [1, 2]}
    on_disk.path("s1").write_text(json.dumps(document))
    on_disk.update("s1", lambda stored: evolve(stored, cwd="/q"))
    assert json.loads(on_disk.path("s1").read_text())["invented_later"] == {"deep": [1, 2]}
