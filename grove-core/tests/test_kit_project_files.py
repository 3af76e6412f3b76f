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
    assert "made or changed in the project by ping" in said
    assert "['elsewhere'" in said


def test_what_is_wrong_is_named_with_the_place(say):
    said = say(LINKS, LooksAtItsFileOnly)
    assert "written through shelves, which is a link to a copy of itself" in said
    assert "['shelves/shelf.json']" in said
    said = say(DAMAGE, PingsOneOfItsFiles)
    assert "ids.txt is a folder: Health(ok=True" in said


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
    expected = (
        "" if os.access(secret, os.R_OK) else "shelf.json is a file without permission to read"
    )
    assert expected in said
    assert bool(said) == bool(expected)
