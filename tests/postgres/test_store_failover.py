"""Connections break anywhere, servers crash, many write at once: nothing is lost, nothing twice."""

import random
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cutting_proxy import proxy_before

from grove_core import LearningStatus
from grove_core.testing.samples import example_learning

HARNESS = Path(__file__).parent / "harness"
NOON = datetime(2026, 2, 6, 12, tzinfo=UTC)
ACTIVE, ARCHIVED, _ = LearningStatus
WRITERS, EACH = 20, 8


def writers(program, url, number, each):
    return [
        subprocess.Popen(
            [sys.executable, str(HARNESS / program), url, "shop", str(n), str(each)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for n in range(number)
    ]  # fmt: skip


def told_by(running):
    """What each has printed, after it has ended well."""
    said = [one.communicate(timeout=120) for one in running]
    assert [(one.returncode, err) for one, (_, err) in zip(running, said, strict=True)] == [
        (0, "") for _ in running
    ]
    return [out.split("\n") for out, _ in said]


def revisions(database):
    rows = database.ask("SELECT number FROM grove.revision ORDER BY number")
    return [number for (number,) in rows]


@pytest.mark.parametrize("seed", range(24))
def test_a_connection_that_breaks_anywhere(database, open_store, seed):
    chance = random.Random(seed)
    open_store(database).migrate()
    learnings = [example_learning(n) for n in range(chance.choice((1, 3, 40)))]
    with proxy_before(database.server.port) as proxy:
        # What is said before the first statement takes some 400 bytes, and 900 the other way.
        longest = 3_000 + 1_200 * len(learnings)
        proxy.limits = [
            (chance.randrange(400, longest), None)
            if chance.random() < 0.5
            else (None, chance.randrange(900, 2_500))
            for _ in range(chance.choice((1, 2, 3)))
        ]
        store = open_store(
            database, url=database.server.url(database.name, database.name, proxy.port)
        )
        assert store.add(learnings) == {one.id for one in learnings}
        assert store.set_status(learnings[0].id, ARCHIVED, NOON, was=ACTIVE)
        pulled = store.changes_since("")
    assert proxy.cut
    assert {one.id for one in pulled.learnings} == {one.id for one in learnings}
    assert pulled.status_times[learnings[0].id] == NOON
    assert database.ask("SELECT count(*) FROM grove.learning") == [(len(learnings),)]
    assert revisions(database) == [1, 2]


def test_an_answer_that_is_lost_after_the_commit(database, open_store):
    """The worst place: it is stored, and nobody was told."""
    open_store(database).migrate()
    whole = open_store(database)
    with proxy_before(database.server.port) as proxy:
        url = database.server.url(database.name, database.name, proxy.port)
        lost = 0
        for place in range(40):
            proxy.limits = [*proxy.limits, *[(None, None)] * (proxy.opened - len(proxy.limits))]
            proxy.limits.append((None, 1_000 + 25 * place))
            learning, cuts = example_learning(place), proxy.cut
            before = whole.changes_since("").total
            assert open_store(database, url=url).add([learning]) == {learning.id}
            assert whole.changes_since("").total == before + 1
            lost += proxy.cut > cuts
    assert lost > 10
    assert revisions(database) == [*range(1, 41)]


def test_what_breaks_is_not_printed_by_the_driver(database, open_store):
    open_store(database).migrate()
    with proxy_before(database.server.port) as proxy:
        # Each learning has a connection of its own that breaks, and another one.
        proxy.limits = [
            limits for place in range(20) for limits in ((1_500 + 50 * place, None), (None, None))
        ]
        url = database.server.url(database.name, database.name, proxy.port)
        told_by(writers("writer.py", url, 1, 20))
        assert proxy.cut > 10


def test_twenty_write_at_once_and_one_reads(database, open_store):
    running = writers("writer.py", database.url, WRITERS, EACH)
    reader, seen, mark = open_store(database, seconds=120), [], ""
    while any(one.poll() is None for one in running):
        pulled = reader.changes_since(mark)
        assert not (pulled.whole and seen)
        seen += [one.id for one in pulled.learnings]
        mark = pulled.mark
    seen += [one.id for one in reader.changes_since(mark).learnings]
    wanted = {example_learning(n * 1000 + k).id for n in range(WRITERS) for k in range(EACH)}
    assert len(seen) == len(wanted)
    assert {*seen} == wanted
    lines = [line for lines in told_by(running) for line in lines if line]
    assert sorted(lines) == sorted(f"{id_} 1" for id_ in wanted)
    assert revisions(database) == [*range(1, WRITERS * EACH + 1)]


def test_the_same_is_written_by_twenty_at_once(database, open_store):
    running = writers("same_writer.py", database.url, WRITERS, EACH)
    new = [int(line) for lines in told_by(running) for line in lines if line]
    assert sum(new) == EACH
    assert open_store(database).count() == EACH


def test_a_server_that_crashes_under_load(own_server, open_store):
    database = own_server.database()
    open_store(database).migrate()
    running = writers("steadfast_writer.py", database.url, 4, 60)
    for _ in range(3):
        running[0].stdout.readline()
        assert running[0].poll() is None
        own_server.control("restart", "-m", "immediate")
    said = told_by(running)
    assert open_store(database).count() == 4 * 60
    acknowledged = {line for lines in said for line in lines if line.startswith("cl_")}
    stored = {one.id for one in open_store(database).changes_since("").learnings}
    assert (
        acknowledged
        <= stored
        == {example_learning(n * 1000 + k).id for n in range(4) for k in range(60)}
    )


def test_a_database_that_serialises_everything(database, open_store):
    """Distributed ones do: of transactions at the same time most are told to begin anew."""
    open_store(database).migrate()
    url = f"{database.url}?options=-c%20default_transaction_isolation%3Dserializable"
    lines = [line for one in told_by(writers("writer.py", url, 8, EACH)) for line in one if line]
    assert len(lines) == 8 * EACH
    assert {line.split()[1] for line in lines} == {"1"}
    assert open_store(database, url=url).count() == 8 * EACH
    assert revisions(database) == [*range(1, 8 * EACH + 1)]
    conflicts = database.server.errors(database.name)
    assert any("could not serialize access" in one for one in conflicts)
