"""Files are written whole, by one process at a time, whatever dies."""

import errno
import json
import os
import subprocess
import sys
import textwrap
import time
from signal import SIGKILL

import pytest
from core_worlds import codes_of, fork
from deadly import Changes, Moment, moments

from grove_core.errors import StorageError
from grove_core.storage import files


@pytest.fixture
def path(tmp_path):
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder" / "notes.md"


def leftovers(path):
    return sorted(one.name for one in path.parent.iterdir() if one.name != path.name)


def mode_of(path):
    return path.stat().st_mode & 0o7777


def test_what_is_no_readable_file(tmp_path):
    assert files.read_bytes(tmp_path / "none") is None
    assert files.read_text(tmp_path / "none") is None
    with pytest.raises(StorageError, match="cannot read"):
        files.read_bytes(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    for name in ("pipe", "zeros"):
        with pytest.raises(StorageError, match=f"{name}: it is no regular file"):
            files.read_bytes(tmp_path / name)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, b"new\n"),
        (b"", b"new\n"),
        (b"old\n", b"old\nnew\n"),
        (b"old\r\n", b"old\r\nnew\n"),
        (b"torn \xff", b"torn \xff\nnew\n"),
    ],
)
def test_append_heals_a_missing_final_newline(path, before, after):
    if before is not None:
        path.write_bytes(before)
    assert files.append_text(path, "new\n")
    assert path.read_bytes() == after


@pytest.fixture
def confined(tmp_path):
    """A project whose files are links, and a file elsewhere."""
    folder = tmp_path / "project" / ".grove"
    folder.mkdir(parents=True)
    (tmp_path / "victim").write_text("a\n")
    return folder


WAYS = [
    lambda path, inside: files.append_text(path, "b\n", inside=inside),
    lambda path, inside: files.append_text(path, lambda _: "b\n", inside=inside),
    lambda path, inside: files.edit_text(path, str.upper, inside=inside),
]


@pytest.mark.parametrize("write", WAYS)
@pytest.mark.parametrize(
    "target", ["../../victim", "hop", "{tmp}/victim", "../../project-2", "../../new"]
)
def test_a_link_out_of_the_project_is_not_followed(confined, tmp_path, write, target):
    (tmp_path / "project-2").write_text("a\n")
    (confined / "hop").symlink_to(tmp_path / "victim")
    (confined / "stats.log").symlink_to(target.format(tmp=tmp_path))
    with pytest.raises(StorageError, match=r"stats\.log leads to .*, .* outside of"):
        write(confined / "stats.log", confined.parent)
    if "new" in target:
        assert not (tmp_path / "new").exists()
        return
    assert (confined / "stats.log").read_text() == "a\n"
    write(confined / "stats.log", None)
    assert (confined / "stats.log").read_text() in ("a\nb\n", "A\n")


def dead_process():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


@pytest.mark.parametrize(
    ("left", "hours", "stays"),
    [
        (".notes.md.{dead}.123456.tmp", 2, False),
        (".another.{dead}.5.tmp", 2, False),
        (".notes.md.{dead}.7.tmp", 0.5, True),
        (".notes.md.{here}.123456.tmp", 2, True),
        ("mine.tmp", 2, True),
    ],
)
def test_what_a_killed_process_left_behind_is_removed_later(tmp_path, left, hours, stays):
    path = tmp_path / left.format(dead=dead_process(), here=os.getpid())
    path.write_text("half")
    os.utime(path, (time.time() - hours * 3600,) * 2)
    files.replace(tmp_path / "notes.md", b"new")
    assert path.exists() is stays


@pytest.mark.parametrize("mode", [0o600, 0o755])
def test_an_edit_keeps_permissions_and_links_and_writes_nothing_unchanged(path, mode):
    real = path.with_name("real")
    real.write_bytes(b"one\r\ntwo\xff\r\n")
    real.chmod(mode)
    path.with_name("middle").symlink_to("../folder/real")
    path.symlink_to("middle")
    files.edit_text(path, lambda text: text.replace("one", "1"))
    assert real.read_bytes() == b"1\r\ntwo\xff\r\n"
    assert mode_of(real) == mode
    assert leftovers(path) == ["middle", "real"]
    assert path.is_symlink()
    before = real.stat()
    files.edit_text(path, lambda text: text)
    assert (real.stat().st_ino, real.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    files.append_text(path, "three\n")
    assert (real.stat().st_ino, mode_of(real)) == (before.st_ino, mode)


def test_an_edit_that_cannot_be_made_leaves_everything_and_the_lock_free(path):
    with pytest.raises(StorageError, match="there is no such file"):
        files.edit_text(path, str.upper)
    path.write_text("a")
    with pytest.raises(ZeroDivisionError):
        files.edit_text(path, lambda text: str(1 // 0))
    for write in (files.append_text, lambda path, text: files.edit_text(path, lambda _: text)):
        with pytest.raises(StorageError, match=r"notes\.md"):
            write(path, "a lone surrogate \ud800")
    files.edit_text(path, str.upper)
    assert path.read_text() == "A"
    assert leftovers(path) == []


class Disk:
    """Lets chosen functions of the operating system fail."""

    def __init__(self, monkeypatch):
        self._patch = monkeypatch

    def fails(self, *names, code=errno.ENOSPC):
        def fail(*_, **__):
            raise OSError(code, os.strerror(code))

        for name in names:
            self._patch.setattr(files.os, name, fail)

    def shortens_writes(self):
        write = os.write
        self._patch.setattr(files.os, "write", lambda fd, data: write(fd, bytes(data)[:2]))


@pytest.fixture
def disk(monkeypatch):
    return Disk(monkeypatch)


def writers(path):
    return [
        lambda: files.append_text(path, "new\n"),
        lambda: files.append_text(path, lambda text: text),
        lambda: files.edit_text(path, lambda text: text + "new\n"),
        lambda: files.replace(path, b"new\n"),
    ]


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize(
    "names",
    [("write",), ("fsync",), ("write", "ftruncate"), ("fsync", "unlink"), ("open",)],
    ids=" ".join,
)
def test_a_failing_disk_is_a_storage_error(path, disk, number, names):
    path.write_text("old\n")
    disk.fails(*names)
    with pytest.raises(StorageError, match="No space left"):
        writers(path)[number]()
    if "ftruncate" not in names:
        assert path.read_text() == "old\n"
    if "unlink" not in names:
        assert leftovers(path) == []


def test_an_append_that_fits_in_part_is_taken_back(path, disk):
    path.write_text("old")
    disk.shortens_writes()
    with pytest.raises(StorageError, match="No space left"):
        files.append_text(path, "new line\n")
    assert path.read_text() == "old"


@pytest.mark.parametrize("spelling", ["{}/home/", "{}/x/../home", "home"])
def test_groves_own_directory_is_private_however_it_is_spelt(tmp_path, monkeypatch, spelling):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROVE_HOME", spelling.format(tmp_path))
    files.make_directory(tmp_path / "home" / "cache")
    assert mode_of(tmp_path / "home") == 0o700
    files.append_text(tmp_path / "elsewhere" / "a", "text")
    assert mode_of(tmp_path / "elsewhere") != 0o700
    files.replace(tmp_path / "private", b"")
    assert mode_of(tmp_path / "private") == 0o600


PREAMBLE = """
    import json, os, pathlib, signal, sys, time
    from grove_core.storage import files
    from grove_core.errors import StorageError
    folder = pathlib.Path(sys.argv[1])

    def fork(work):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                work()
                code = 0
            finally:
                os._exit(code)
        return child

    def wait(*children):
        return [os.waitpid(child, 0)[1] for child in children]
"""


def run(script, folder, *arguments):
    program = textwrap.dedent(PREAMBLE) + textwrap.dedent(script)
    command = [sys.executable, "-c", program, folder, *arguments]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


EIGHT = """
    from datetime import UTC, datetime
    from attrs import evolve
    from grove_core.model.session import Session
    from grove_core.storage.sessions import SessionStore
    NOW = datetime(2026, 2, 6, tzinfo=UTC)
    store = SessionStore(folder / "sessions")
    store.update("s", lambda _: Session(
        id="s", host="h", cwd="0", project_root="/", created_at=NOW, updated_at=NOW
    ))

    def append(number):
        for turn in range(15):
            files.append_text(folder / "log", f"{number}-{turn} " + "x" * (number * 700) + "\\n")

    def edit():
        for _ in range(15):
            files.edit_text(folder / "number", lambda text: str(int(text) + 1))
            files.append_text(folder / "number", lambda text: "")
            store.update("s", lambda stored: evolve(stored, cwd=str(int(stored.cwd) + 1)))

    children = [fork(lambda: append(number)) for number in range(4)]
    print(json.dumps([wait(*children, *[fork(edit) for _ in range(4)]), store.get("s").cwd]))
"""


def test_eight_processes_that_append_and_edit_lose_nothing(tmp_path):
    """Each edit gives the file a new inode, on which the others must lock anew."""
    (tmp_path / "log").write_text("the beginning without a newline")
    (tmp_path / "number").write_text("0")
    assert run(EIGHT, tmp_path) == [[0] * 8, "60"]
    first, *lines = (tmp_path / "log").read_text().splitlines()
    assert first == "the beginning without a newline"
    written = sorted(f"{number}-{turn}" for number in range(4) for turn in range(15))
    assert sorted(line.split()[0] for line in lines) == written
    assert all(line.count("x") == int(line.split("-")[0]) * 700 for line in lines)
    assert (tmp_path / "number").read_text() == "60"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["log", "number", "sessions"]


HOLD = """
    ready, told = os.pipe()
    done, finished = os.pipe()

    def hold():
        with files.locked(folder / "f"):
            os.write(told, b"x")
            os.read(done, 1)

    child = fork(hold)
    os.read(ready, 1)
    try:
        with files.locked(folder / "f", timeout=0.05):
            outcome = "locked"
    except StorageError as error:
        outcome = str(error)
    {ending}
    wait(child)
    with files.locked(folder / "f", timeout=0.05):
        print(json.dumps([outcome, sorted(os.listdir(folder))]))
"""


@pytest.mark.parametrize("ending", ["os.write(finished, b'x')", "os.kill(child, signal.SIGKILL)"])
def test_a_lock_keeps_other_processes_out_and_dies_with_its_holder(tmp_path, ending):
    outcome, left = run(HOLD.format(ending=ending), tmp_path)
    assert f"{tmp_path / 'f'} is locked by another process" in outcome
    assert left == ["f"]


OLD = "old\xff\r\n"
ACTS = {
    "append": (
        lambda path: files.append_text(path, "new" * 1000 + "\n"),
        OLD + "new" * 1000 + "\n",
    ),
    "edit": (lambda path: files.edit_text(path, lambda text: text + "new"), OLD + "new"),
    "replace": (lambda path: files.replace(path, b"new"), "new"),
}


@pytest.mark.parametrize("operation", ACTS)
def test_death_at_any_moment_leaves_the_old_or_the_new_content(tmp_path, operation):
    """Before each change of a file that the operating system is asked for, or in the middle."""
    act, new = ACTS[operation]

    def acts_until(death):
        """The path, and the changes that are counted until a process dies in making them."""
        path = tmp_path / str(death.number) / str(death.half) / "f"
        path.parent.mkdir(parents=True)
        path.write_bytes(OLD.encode("latin-1"))
        changes = Changes(death)
        return path, changes.names, changes.counted_in(lambda: act(path))

    path, names, live = acts_until(Moment())
    live()
    assert path.read_bytes().decode("latin-1") == new
    assert len(names) >= 3
    for moment in moments(names):
        path, _, live = acts_until(moment)
        (code,) = codes_of(fork(live))
        assert code == -SIGKILL, moment
        content = path.read_bytes().decode("latin-1")
        if content in (OLD, new):
            continue
        # A write that the kernel itself cuts in the middle leaves a torn last line, no more: what
        # was there before is whole, and the next append begins on a line of its own.
        assert (operation, moment.half) == ("append", True)
        assert content.startswith(OLD + "new")
        files.append_text(path, "next\n")
        assert path.read_bytes().splitlines()[-1] == b"next"
