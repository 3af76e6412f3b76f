"""What appending, editing and replacing do to bytes, permissions, links and failing disks."""

import errno
import os
import subprocess
import sys
import time

import pytest

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
