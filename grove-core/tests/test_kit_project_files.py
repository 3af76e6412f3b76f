"""The rules about a project's files, as a plugin's author meets them: run by pytest."""

import os
import subprocess
import sys
from textwrap import dedent

import pytest

from grove_core.testing.rules.project_files import differences, look_at, replaced

RULES = "asking_leaves or writes_stay or cannot_be_read"
MODULE = """
    import pytest
    from grove_core.testing import BackendContract, InMemoryBackend, InMemoryStorage
    from grove_core.testing.broken.in_file import *

    class TestMine(BackendContract):
        shared_between_processes = False

        @pytest.fixture
        def open_backend(self, tmp_path):
            project = tmp_path / "{folder}"
            project.mkdir()
            storage = InMemoryStorage()
            return lambda: {opened}
    """
FOLDERS = """
    @pytest.fixture
    def project_folder(self, tmp_path):
        return tmp_path / "shop"

    @pytest.fixture
    def home_folder(self, tmp_path):
        return tmp_path / "shop" / ".mine"
"""
CACHED = """
    class Cached(InFile):
        def ping(self):
            cache = self._path.parent / "{cache}"
            cache.mkdir(exist_ok=True)
            (cache / "looked.txt").write_text("fine")
            return super().ping()

    """


@pytest.fixture
def run(tmp_path):
    """Runs those rules on a backend in a process of its own, and gives what is said."""

    def run(opened, *, own="", backend="", folder="project"):
        head, of_class, rest = dedent(MODULE).partition("class TestMine")
        body = rest.format(opened=opened, folder=folder)
        (tmp_path / "test_mine.py").write_text(f"{head}{dedent(backend)}{of_class}{body}{own}")
        (tmp_path / "pytest.ini").write_text("[pytest]\n")
        command = [sys.executable, "-m", "pytest", "-q", "-rs", "--tb=short", "-k", RULES]
        command += ["-p", "no:cacheprovider", f"--basetemp={tmp_path / 'base'}"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    return run


def test_a_sound_backend_passes_in_the_usual_folder(run):
    assert "3 passed" in run("InFile(project / 'shelf.json')")


def test_without_files_two_rules_are_left_out_by_name(run):
    said = run("InMemoryBackend('mine', storage=storage)")
    assert "1 passed, 2 skipped" in said
    assert "the backend mine has no files in its project" in said


def test_other_folders_are_named_by_fixtures(run):
    opened = "FollowsLinks(project / 'shelf.json')"
    assert "1 failed, 2 passed" in run(opened, own=FOLDERS, folder="shop")
    assert "2 skipped" in run(opened, own=FOLDERS.replace("shop", "empty"), folder="shop")


@pytest.mark.parametrize(("cache", "verdict"), [(".mine", "3 passed"), ("elsewhere", "1 failed")])
def test_a_cache_may_be_made_in_the_users_folder_and_nowhere_else(run, cache, verdict):
    opened, backend = "Cached(project / 'shelf.json')", CACHED.format(cache=cache)
    said = run(opened, own=FOLDERS, backend=backend, folder="shop")
    assert verdict in said
    if cache == "elsewhere":
        assert "what: what ping has made or changed in the project" in said
        assert "found: ['elsewhere', 'elsewhere/looked.txt']" in said
        assert "read: help(grove_core.MemoryBackend)" in said


def test_a_link_that_is_followed_is_named_with_what_it_led_to(run):
    said = run("LooksAtItsFileOnly(project / 'shelf.json')")
    assert "what has changed elsewhere where shelves is a link to a copy of itself" in said
    assert "found: ['shelves/shelf.json']" in said
    assert "read: help(grove_core.confined)" in said


def test_a_file_that_ping_does_not_look_at_is_named_with_what_is_wrong(run):
    said = run("PingsOneOfItsFiles(project / 'shelf.json')")
    assert "expected: ok=False, or a warning in mend, where ids.txt is a folder" in said
    assert "found: Health(ok=True" in said


def test_a_file_that_is_not_needed_need_not_be_told_of(run):
    class_ = """
    class Notes(InFile):
        def write(self, learning):
            receipt = super().write(learning)
            with suppress(StorageError):
                append_text(self._path.with_name("log"), "one more", inside=self._path.parent)
            return receipt

    """
    assert "3 passed" in run("Notes(project / 'shelf.json')", backend=class_)


def test_where_they_can_be_made_files_that_nobody_may_read_are_tried(run, tmp_path):
    class_ = """
    class TakesItForEmpty(InFile):
        def _all(self):
            try:
                return super()._all()
            except BackendError:
                if self._path.is_file():
                    return []
                raise

    """
    secret = tmp_path / "secret"
    secret.touch(mode=0)
    said = run("TakesItForEmpty(project / 'shelf.json')", backend=class_)
    if os.access(secret, os.R_OK):
        assert "3 passed" in said
    else:
        assert "where shelf.json is a file that nobody may read" in said


def test_what_was_replaced_is_the_same_again(tmp_path):
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").write_text("text")
    before, times = look_at(tmp_path), (folder / "inner" / "file").stat()

    def link_away(place, real):
        place.symlink_to(real.parent)

    with replaced(folder, link_away):
        assert differences(before, look_at(tmp_path)) == [
            folder,
            folder / "inner",
            folder / "inner" / "file",
        ]
    assert look_at(tmp_path) == before
    assert (folder / "inner" / "file").stat().st_mtime_ns == times.st_mtime_ns


def test_what_git_keeps_for_itself_and_the_users_folder_do_not_count(tmp_path):
    for name in (".git/index", "home/cache/one", "src/.git", "shelf.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    names = [one.relative_to(tmp_path).as_posix() for one in look_at(tmp_path)]
    assert sorted(names) == [
        "home",
        "home/cache",
        "home/cache/one",
        "shelf.json",
        "src",
        "src/.git",
    ]
    looked = look_at(tmp_path, without=tmp_path / "home")
    assert [one.name for one in looked] == ["src", "shelf.json", ".git"]
