"""The rules about a project's files: where they look, and what they say."""

import os
from contextlib import suppress

import pytest
from broken_backends import InFile, LooksAtItsFileOnly, PingsOneOfItsFiles
from faults import but
from verdicts import verdict

from grove_core.errors import BackendError, StorageError
from grove_core.storage.files import append_text
from grove_core.testing import BackendContract
from grove_core.testing.rules.project_files import differences, look_at, replaced

ASKING = "test_asking_leaves_nothing_behind"
LINKS = "test_writes_stay_in_the_project"
DAMAGE = "test_ping_tells_of_files_that_cannot_be_read"


class Contract(BackendContract):
    """Its tests are called here one by one."""


@pytest.fixture
def say(tmp_path):
    def say(case, made):
        (tmp_path / "shop").mkdir(exist_ok=True)
        return verdict(
            Contract(),
            case,
            open_backend=lambda: made(tmp_path / "shop" / "shelf.json"),
            project_folder=tmp_path / "shop",
            home_folder=tmp_path / "shop" / ".mine",
        )

    return say


def test_a_cache_may_be_made_in_the_users_folder_and_nowhere_else(say):
    def caching_in(name):
        def ping(me, sound):
            cache = me._path.parent / name
            cache.mkdir(exist_ok=True)
            (cache / "looked.txt").write_text("fine")
            return sound()

        return but(InFile, ping=ping)

    assert say(ASKING, caching_in(".mine")) == ""
    said = say(ASKING, caching_in("elsewhere"))
    assert "what: what ping has made or changed in the project" in said
    assert "found: ['elsewhere', 'elsewhere/looked.txt']" in said
    assert "read: help(grove_core.MemoryBackend)" in said


def test_a_link_that_is_followed_is_named_with_what_it_led_to(say):
    said = say(LINKS, LooksAtItsFileOnly)
    assert "what has changed elsewhere where shelves is a link to a copy of itself" in said
    assert "found: ['shelves/shelf.json']" in said
    assert "read: help(grove_core.confined)" in said


def test_a_file_that_ping_does_not_look_at_is_named_with_what_is_wrong(say):
    said = say(DAMAGE, PingsOneOfItsFiles)
    assert "expected: ok=False, or a warning in mend, where ids.txt is a folder" in said
    assert "found: Health(ok=True" in said


def test_a_file_that_is_not_needed_need_not_be_told_of(say):
    def write(me, sound, learning):
        with suppress(StorageError):
            append_text(me._path.with_name("log"), "one more", inside=me._path.parent)
        return sound(learning)

    for case in (ASKING, LINKS, DAMAGE):
        assert say(case, but(InFile, write=write)) == ""


def test_where_they_can_be_made_files_that_nobody_may_read_are_tried(say, tmp_path):
    def take_for_empty(me, sound):
        try:
            return sound()
        except BackendError:
            if me._path.is_file():
                return []
            raise

    secret = tmp_path / "secret"
    secret.touch(mode=0)
    said = say(DAMAGE, but(InFile, _all=take_for_empty))
    expected = "" if os.access(secret, os.R_OK) else "where shelf.json is a file that nobody may"
    assert expected in said
    assert bool(said) == bool(expected)


def test_what_was_replaced_is_the_same_again(tmp_path):
    folder = tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    (folder / "inner" / "file").write_text("text")
    before, times = look_at(tmp_path), (folder / "inner" / "file").stat()

    def link_away(place, real):
        place.symlink_to(real.parent)

    with replaced(folder, link_away):
        changed = differences(before, look_at(tmp_path))
        assert changed == [folder, folder / "inner", folder / "inner" / "file"]
    assert look_at(tmp_path) == before
    assert (folder / "inner" / "file").stat().st_mtime_ns == times.st_mtime_ns


def test_what_git_keeps_for_itself_and_the_users_folder_do_not_count(tmp_path):
    for name in (".git/index", "home/cache/one", "src/.git", "shelf.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    names = [one.relative_to(tmp_path).as_posix() for one in look_at(tmp_path)]
    others = ["home", "home/cache", "home/cache/one"]
    assert sorted(names) == sorted([*others, "shelf.json", "src", "src/.git"])
    looked = look_at(tmp_path, without=tmp_path / "home")
    assert [one.name for one in looked] == ["src", "shelf.json", ".git"]
