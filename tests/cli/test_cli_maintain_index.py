"""`grove maintain index`, as a person and the process in the background see it."""

import shutil

import pytest

from grove_core import files

IDS = ("cl_20300102_aaaaaa", "cl_20300102_bbbbbb")


@pytest.fixture
def shop(world):
    world.initialise()
    world.learning(IDS[0], "OrderStore.rows() is slow")
    world.learning(IDS[1], "LoginForm.clean() must not log a token", status="archived")
    world.grove_home.mkdir()
    return world


def index(world, *words, code=0):
    done = world.grove("maintain", "index", *words)
    assert done.code == code, done.stderr
    return done


def index_file(world):
    (path,) = world.grove_home.glob("cache/*/index.sqlite")
    return path


def test_it_holds_all_learnings_of_any_status(shop):
    shown = index(shop, "--json").json
    path = str(index_file(shop))
    assert shown == {"learnings": 2, "complete": True, "elsewhere": False, "path": path}
    assert index(shop).stdout == f"2 learnings, up to date: {path}\n"
    assert index(shop, "-q").stdout == ""


def test_a_rebuild_reads_everything_again(shop):
    index(shop)
    index_file(shop).write_bytes(b"nothing of a database")
    assert index(shop, "--rebuild", "--json").json["learnings"] == 2
    assert index_file(shop).read_bytes().startswith(b"SQLite format 3")
    assert "rows() is slow" in shop.grove("search", "slow").stdout


def test_another_process_is_at_it(shop):
    index(shop)
    before = index_file(shop).stat().st_ino
    with files.locked(index_file(shop).with_name("index.lock")):
        shown = index(shop, "--rebuild", "--json").json
        assert shown == {"learnings": None, "complete": False, "elsewhere": True}
        assert index(shop).stdout == "Another process is at it.\n"
    assert index_file(shop).stat().st_ino == before


def test_what_cannot_be_read_is_said(shop):
    shutil.rmtree(shop.project / ".grove")
    shop.initialise()
    shop.learnings_file.mkdir()
    done = index(shop, "--json", code=1)
    assert done.json["complete"] is False
    assert "not all learnings could be read; `grove backends` says what is wrong" in done.stderr


def test_looking_makes_no_home(world):
    world.initialise()
    world.learning(IDS[0], "OrderStore.rows() is slow")
    assert index(world, "--json").json["learnings"] == 1
    assert not world.grove_home.exists()
