"""`grove export`: without loss for programs, readable for people, and nothing personal by chance."""

import json
import stat

import pytest
from world import listing

FIRST = "cl_20300101_aaaaaa"
SECOND = "cl_20300102_bbbbbb"
GONE = "cl_20300103_cccccc"
MINE = "cl_20300104_dddddd"


@pytest.fixture
def shop(world):
    """Two active learnings, an archived one, and one of the user's own."""
    world.initialise()
    world.learning(SECOND, "OrderStore.export() needs a header", tags="export, orders")
    world.learning(FIRST, "OrderStore.rows() is slow", created="2030-01-01T10:00:00Z")
    world.learning(GONE, "OrderStore is gone", status="archived", category="domain")
    world.learning(MINE, "I prefer short names", personal=True)
    return world


def export(world, *words, form="jsonl", code=0):
    done = world.grove("export", "--format", form, *words)
    assert done.code == code, done.stderr
    return done


def ids(done):
    return [json.loads(line)["id"] for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--all"], {FIRST, SECOND, GONE}),
        (["--status", "archived"], {GONE}),
        (["--tag", "export"], {FIRST, SECOND}),
        (["--category", "domain", "--all"], {GONE}),
        (["--scope", "project"], {FIRST, SECOND}),
        (["--scope", "personal"], {MINE}),
        (["--scope", "personal", "--scope", "project"], {FIRST, SECOND, MINE}),
        (["--limit", "1"], {SECOND}),
        (["--since", "2030-01-01T12:00:00Z"], {SECOND}),
    ],
)
def test_what_is_exported(shop, words, expected):
    assert set(ids(export(shop, *words))) == expected


def test_personal_learnings_go_only_where_that_is_said(shop):
    for words in ((), ("--all",), ("--scope", "team"), ("--tag", "orders")):
        for form in ("jsonl", "markdown"):
            assert MINE not in export(shop, *words, form=form).stdout


def test_a_file(shop):
    shop.lent.append(shop.project / "out.jsonl")
    done = export(shop, "--output", "out.jsonl")
    assert done.stdout == "2 learnings written to out.jsonl\n"
    path = shop.project / "out.jsonl"
    assert path.read_text() == export(shop).stdout
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    export(shop, "--output", "out.jsonl", "--scope", "personal")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    document = json.loads(export(shop, "--output", "out.jsonl", "--json").stdout)
    assert (document["count"], document["learnings"]) == (2, [])
    assert document["output"] == str(path)


@pytest.mark.parametrize("place", [".grove/learnings.md", ".grove/new.jsonl", "home"])
def test_grove_s_own_files_are_never_written_over(shop, place):
    target = shop.grove_home / "out.jsonl" if place == "home" else shop.project / place
    (shop.project / "link").symlink_to(shop.project / ".grove")
    before = listing(shop.project)
    assert "grove's own files" in export(shop, "--output", target, code=1).stderr
    through = export(shop, "--output", "link/learnings.md", code=1)
    assert "grove's own files" in through.stderr
    assert listing(shop.project) == before
