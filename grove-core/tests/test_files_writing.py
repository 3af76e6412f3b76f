"""What appending, editing and replacing do to bytes, permissions, links and failing disks."""

import errno
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grove_core import files
from grove_core.errors import StorageError

ROOT = os.geteuid() == 0


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "notes.md"


def leftovers(path):
    return sorted(one.name for one in path.parent.iterdir() if one.name != path.name)


def mode_of(path):
    return path.stat().st_mode & 0o7777


# Reading.


def test_a_missing_file_reads_as_none(tmp_path):
    assert files.read_bytes(tmp_path / "none") is None
    assert files.read_text(tmp_path / "none") is None


@pytest.mark.parametrize("content", [b"", b"a\r\nb\rc\n", b"\xff\xfe\x00", "é\u2028x".encode()])
def test_text_of_any_bytes_comes_back_as_the_same_bytes(tmp_path, content):
    file = tmp_path / "f"
    file.write_bytes(content)
    text = files.read_text(file)
    assert text.encode("utf-8", "surrogateescape") == content


def test_what_is_there_and_cannot_be_read_is_a_storage_error(tmp_path):
    with pytest.raises(StorageError, match="cannot read"):
        files.read_bytes(tmp_path)


def test_below_a_file_there_is_none(tmp_path):
    (tmp_path / "file").write_text("x")
    assert files.read_bytes(tmp_path / "file" / "below") is None


# Appending.


def test_a_pipe_and_an_endless_device_are_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    for name in ("pipe", "zeros"):
        with pytest.raises(StorageError, match=f"{name}: it is no regular file"):
            files.read_bytes(tmp_path / name)


def test_append_creates_the_file_and_its_directory(path):
    assert files.append_text(path, "one\n")
    assert files.append_text(path, "two\n")
    assert path.read_bytes() == b"one\ntwo\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"", b"new\n"),
        (b"old", b"old\nnew\n"),
        (b"old\n", b"old\nnew\n"),
        (b"old\r\n", b"old\r\nnew\n"),
        (b"torn \xff", b"torn \xff\nnew\n"),
    ],
)
def test_append_heals_a_missing_final_newline(path, before, after):
    path.parent.mkdir()
    path.write_bytes(before)
    files.append_text(path, "new\n")
    assert path.read_bytes() == after


def test_append_of_what_the_text_there_asks_for(path):
    path.parent.mkdir()
    path.write_bytes(b"\xffa\r\n")
    seen = []

    def decide(text):
        seen.append(text)
        return "" if len(seen) == 1 else "b\n"

    assert not files.append_text(path, decide)
    assert path.read_bytes() == b"\xffa\r\n"
    assert files.append_text(path, decide)
    assert path.read_bytes() == b"\xffa\r\nb\n"
    assert seen == ["\udcffa\r\n"] * 2


def test_append_keeps_permissions_and_follows_a_link(tmp_path):
    real = tmp_path / "real"
    real.write_text("a\n")
    real.chmod(0o640)
    link = tmp_path / "link"
    link.symlink_to(real)
    files.append_text(link, "b\n")
    assert link.is_symlink()
    assert (real.read_text(), mode_of(real)) == ("a\nb\n", 0o640)


@given(parts=st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=8))
def test_appended_lines_all_stand_there(tmp_path_factory, parts):
    path = tmp_path_factory.mktemp("append") / "f"
    for part in parts:
        files.append_text(path, part + "\n")
    expected = "".join(part + "\n" for part in parts)
    assert (files.read_text(path) or "") == expected


# Links that lead out of a project.


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
@pytest.mark.parametrize("target", ["../../victim", "hop", "{tmp}/victim"])
def test_a_link_out_of_the_project_is_not_followed(confined, tmp_path, write, target):
    (confined / "hop").symlink_to(tmp_path / "victim")
    (confined / "stats.log").symlink_to(target.format(tmp=tmp_path))
    with pytest.raises(StorageError, match=r"stats\.log leads to .*victim, .* outside of"):
        write(confined / "stats.log", confined.parent)
    assert (tmp_path / "victim").read_text() == "a\n"
    write(confined / "stats.log", None)
    assert (tmp_path / "victim").read_text() in ("a\nb\n", "A\n")


@pytest.mark.parametrize("write", WAYS)
def test_nothing_is_made_outside_of_the_project(confined, tmp_path, write):
    for name, target in (("stats.log", tmp_path / "new"), ("folder", tmp_path / "far")):
        (confined / name).symlink_to(target)
    for path in (confined / "stats.log", confined / "folder" / "file"):
        with pytest.raises(StorageError, match="outside of"):
            write(path, confined.parent)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["project", "victim"]


@pytest.mark.parametrize("write", WAYS)
def test_links_that_stay_inside_and_linked_projects_are_fine(confined, tmp_path, write):
    (confined / "real").write_text("a\n")
    (confined / "stats.log").symlink_to("real")
    (tmp_path / "link").symlink_to("project")
    write(tmp_path / "link" / ".grove" / "stats.log", tmp_path / "link")
    assert (confined / "stats.log").is_symlink()
    assert (confined / "real").read_text() in ("a\nb\n", "A\n")


def test_a_project_beside_of_a_like_name_is_outside(confined, tmp_path):
    (tmp_path / "project-2").mkdir()
    (confined / "stats.log").symlink_to(tmp_path / "project-2" / "log")
    with pytest.raises(StorageError, match="outside of"):
        files.append_text(confined / "stats.log", "x", inside=confined.parent)


# What killed processes leave behind.


def dead_process():
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


def leave(folder, name, hours):
    path = folder / name
    path.write_text("half")
    os.utime(path, (time.time() - hours * 3600,) * 2)
    return name


def test_what_a_killed_process_left_behind_is_removed_with_the_next_change(tmp_path):
    dead = dead_process()
    leave(tmp_path, f".notes.md.{dead}.123456.tmp", 2)
    leave(tmp_path, f".another.{dead}.5.tmp", 2)
    kept = [
        leave(tmp_path, f".notes.md.{dead}.7.tmp", 0.5),
        leave(tmp_path, f".notes.md.{os.getpid()}.123456.tmp", 2),
        leave(tmp_path, f".notes.md.{dead}.tmp", 2),
        leave(tmp_path, f"notes.md.{dead}.123456.tmp", 2),
        leave(tmp_path, f".notes.md.{dead}.123456.tmp.bak", 2),
        leave(tmp_path, "mine.tmp", 2),
    ]
    (tmp_path / f".folder.{dead}.1.tmp").mkdir()
    files.replace(tmp_path / "notes.md", b"new")
    left = sorted(one.name for one in tmp_path.iterdir() if one.is_file())
    assert left == sorted([*kept, "notes.md"])


def test_a_crowded_directory_is_not_searched(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_MOST_ENTRIES", 1)
    name = leave(tmp_path, f".notes.md.{dead_process()}.123456.tmp", 2)
    files.replace(tmp_path / "notes.md", b"new")
    assert (tmp_path / name).exists()


# Editing.


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
def test_edit_keeps_permissions(path, mode):
    path.parent.mkdir()
    path.write_bytes(b"one\r\ntwo\xff\r\n")
    path.chmod(mode)
    files.edit_text(path, lambda text: text.replace("one", "1"))
    assert path.read_bytes() == b"1\r\ntwo\xff\r\n"
    assert mode_of(path) == mode
    assert leftovers(path) == []


def test_edit_follows_a_chain_of_links(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    real = tmp_path / "elsewhere" / "real"
    real.write_text("a")
    (tmp_path / "middle").symlink_to("elsewhere/real")
    link = tmp_path / "link"
    link.symlink_to("middle")
    files.edit_text(link, str.upper)
    assert real.read_text() == "A"
    assert link.is_symlink()
    assert (tmp_path / "middle").is_symlink()


def test_edit_that_changes_nothing_writes_nothing(path):
    path.parent.mkdir()
    path.write_text("a")
    before = path.stat()
    files.edit_text(path, lambda text: text)
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_edit_of_a_missing_file_creates_nothing(path):
    path.parent.mkdir()
    dangling = path.with_name("dangling")
    dangling.symlink_to("nowhere")
    for one in (path, dangling):
        with pytest.raises(StorageError, match="there is no such file"):
            files.edit_text(one, str.upper)
    assert leftovers(path) == ["dangling"]


def test_an_edit_that_raises_leaves_the_file_and_its_lock_free(path):
    path.parent.mkdir()
    path.write_text("a")
    with pytest.raises(ZeroDivisionError):
        files.edit_text(path, lambda text: str(1 // 0))
    files.edit_text(path, str.upper)
    assert path.read_text() == "A"
    assert leftovers(path) == []


@given(content=st.binary(max_size=200), insertion=st.text(st.characters(codec="ascii")))
def test_edit_keeps_every_byte_that_it_was_not_told_to_change(tmp_path_factory, content, insertion):
    path = tmp_path_factory.mktemp("edit") / "f"
    path.write_bytes(content)
    files.edit_text(path, lambda text: insertion + text)
    assert path.read_bytes() == insertion.encode() + content


# Text that is no Unicode.


@pytest.mark.parametrize("text", ["\ud800", "a\udbffb"])
def test_a_lone_surrogate_is_a_storage_error_and_changes_nothing(path, text):
    path.parent.mkdir()
    path.write_text("a")
    with pytest.raises(StorageError, match=r"notes\.md"):
        files.append_text(path, text)
    with pytest.raises(StorageError, match=r"notes\.md"):
        files.edit_text(path, lambda _: text)
    assert path.read_text() == "a"


# A disk that fails.


FAULTS = [errno.ENOSPC, errno.EIO, errno.EROFS, errno.EDQUOT, errno.EACCES]


class Disk:
    """Lets chosen functions of the operating system fail."""

    def __init__(self, monkeypatch):
        self._patch = monkeypatch

    def fails(self, *names, code=errno.ENOSPC):
        for name in names:
            self._patch.setattr(files.os, name, self._raising(code))

    def shortens_writes(self):
        real = os.write
        self._patch.setattr(
            files.os, "write", lambda descriptor, data: real(descriptor, bytes(data)[:2])
        )

    @staticmethod
    def _raising(code):
        def fail(*_, **__):
            raise OSError(code, os.strerror(code))

        return fail


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
@pytest.mark.parametrize("code", FAULTS)
@pytest.mark.parametrize(
    "names",
    [("write",), ("fsync",), ("write", "ftruncate"), ("fsync", "unlink"), ("open",)],
    ids=" ".join,
)
def test_a_failing_disk_is_a_storage_error(path, disk, number, code, names):
    path.parent.mkdir()
    path.write_text("old\n")
    disk.fails(*names, code=code)
    with pytest.raises(StorageError, match=os.strerror(code)):
        writers(path)[number]()
    if "ftruncate" not in names:
        assert path.read_text() == "old\n"
    if "unlink" not in names:
        assert leftovers(path) == []


@pytest.mark.parametrize("name", ["replace", "fchmod"])
def test_a_new_file_that_cannot_take_its_place_leaves_the_old_one(path, disk, name):
    path.parent.mkdir()
    path.write_text("old\n")
    disk.fails(name, code=errno.EIO)
    for write in writers(path)[2:]:
        with pytest.raises(StorageError, match="cannot write"):
            write()
    assert path.read_text() == "old\n"
    assert leftovers(path) == []


def test_a_file_that_cannot_be_read_under_its_lock_is_a_storage_error(path, disk):
    path.parent.mkdir()
    path.write_text("old\n")
    disk.fails("pread", code=errno.EIO)
    for write in writers(path)[:3]:
        with pytest.raises(StorageError):
            write()


def test_an_append_that_fits_in_part_is_taken_back(path, disk):
    path.parent.mkdir()
    path.write_text("old")
    disk.shortens_writes()
    with pytest.raises(StorageError, match="No space left"):
        files.append_text(path, "new line\n")
    assert path.read_text() == "old"


def test_a_replacement_in_many_short_writes_is_whole(path, disk):
    path.parent.mkdir()
    disk.shortens_writes()
    files.replace(path, b"0123456789")
    assert path.read_bytes() == b"0123456789"


LIMITED = """
    import pathlib, resource, sys
    from grove_core import files
    from grove_core.errors import StorageError
    folder = pathlib.Path(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
    told = []
    for write in (
        lambda: files.append_text(folder / "append", "x" * 5000 + "\\n"),
        lambda: files.edit_text(folder / "edit", lambda text: text + "x" * 5000),
        lambda: files.replace(folder / "replace", b"x" * 5000),
    ):
        try:
            write()
        except StorageError as error:
            told.append(str(error))
    print(len(told))
"""


def test_a_full_disk_leaves_the_old_content(tmp_path):
    """The kernel itself cuts the write: a limit on the size of files."""
    for name in ("append", "edit", "replace"):
        (tmp_path / name).write_text("old\n")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(LIMITED), tmp_path],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
    )
    assert (done.stdout, done.stderr) == ("3\n", "")
    assert {one.name: one.read_text() for one in tmp_path.iterdir()} == {
        "append": "old\n",
        "edit": "old\n",
        "replace": "old\n",
    }


@pytest.mark.skipif(ROOT, reason="nothing is forbidden to root")
def test_a_directory_without_permission_is_a_storage_error(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "f").write_text("a")
    closed.chmod(0)
    try:
        for act in (
            lambda: files.append_text(closed / "f", "x"),
            lambda: files.edit_text(closed / "f", str.upper),
            lambda: files.replace(closed / "f", b""),
            lambda: files.read_bytes(closed / "f"),
            lambda: files.make_directory(closed / "d"),
        ):
            with pytest.raises(StorageError):
                act()
    finally:
        closed.chmod(0o700)


@pytest.mark.parametrize("place", ["file/f", "file/deep/f", "directory"])
def test_a_path_that_cannot_be_a_file_is_a_storage_error(tmp_path, place):
    (tmp_path / "file").write_text("a")
    (tmp_path / "directory").mkdir()
    path = tmp_path / place
    for act in writers(path):
        with pytest.raises(StorageError):
            act()
    assert sorted(one.name for one in tmp_path.iterdir()) == ["directory", "file"]


@pytest.mark.parametrize("spelling", ["{}/home", "{}/home/", "{}/x/../home", "home"])
def test_groves_own_directory_is_private_however_it_is_spelt(tmp_path, monkeypatch, spelling):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROVE_HOME", spelling.format(tmp_path))
    files.make_directory(tmp_path / "home" / "cache")
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700
    files.append_text(tmp_path / "elsewhere" / "a", "text")
    assert (tmp_path / "elsewhere").stat().st_mode & 0o777 != 0o700


@pytest.mark.parametrize("place", ["f", "f/d"])
def test_a_directory_where_a_file_is_in_the_way(tmp_path, place):
    (tmp_path / "f").write_text("a")
    with pytest.raises(StorageError, match=f"cannot create .*/{place}: a file is in the way"):
        files.make_directory(tmp_path / place)


def test_new_files_are_private_or_as_the_umask_says(tmp_path):
    before = os.umask(0o022)
    try:
        files.replace(tmp_path / "private", b"")
        files.append_text(tmp_path / "shared", "x\n")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "private") == 0o600
    assert mode_of(tmp_path / "shared") == 0o644


def test_no_descriptor_stays_open(path, disk):
    def count():
        return len(os.listdir("/proc/self/fd"))

    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("this system does not list open files")
    path.parent.mkdir()
    path.write_text("old\n")
    before = count()
    for write in writers(path):
        write()
    disk.fails("fsync", code=errno.EIO)
    for write in (writers(path)[0], *writers(path)[2:]):
        with pytest.raises(StorageError):
            write()
    assert count() == before


def test_the_limit_of_this_process_is_untouched():
    """The full disk above was another process's."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
