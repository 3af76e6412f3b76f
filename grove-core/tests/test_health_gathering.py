"""How `grove doctor` looks: it changes nothing, and a look that fails is a finding of its own."""

import json
import time
from datetime import UTC, datetime

import pytest

from grove_core.clock import now_utc
from grove_core.health.check import Status, ok
from grove_core.health.derived_numbers import gather_cache
from grove_core.health.event_logs import LineFault, gather_log
from grove_core.health.onlooking import look_only
from grove_core.health.running import Probe, run_probes
from grove_core.health.secrets import gather_secrets
from grove_core.storage.paths import Paths
from grove_core.workspace import Workspace

KEY = "-----BEGIN PRIVATE KEY-----"


@pytest.fixture
def paths(tmp_path):
    return Paths(tmp_path / "home")


@pytest.fixture
def workspace(tmp_path, paths):
    root = tmp_path / "project"
    (root / ".grove").mkdir(parents=True)
    environment = {"HOME": str(tmp_path), "GROVE_HOME": str(paths.home)}
    return Workspace(root, environment, now_utc())


def fails():
    raise OSError("the disk\nis \x1b[31mgone")


def hangs():
    time.sleep(0.5)
    return ()


@pytest.mark.parametrize(
    ("look", "word"),
    [(fails, "the disk is"), (hangs, "longer than 0.1 seconds")],
)
def test_a_look_that_fails_is_broken_and_the_others_go_on(look, word):
    probes = [
        Probe(name="first", look=lambda: [ok("first", "fine")]),
        Probe(name="bad", look=look, seconds=0.005),
        Probe(name="last", look=lambda: iter([ok("last", "fine")])),
    ]
    first, bad, last = run_probes(probes)
    assert (first.name, bad.name, last.name) == ("first", "bad", "last")
    assert bad.status is Status.BROKEN
    assert word in bad.detail
    assert bad.mend
    assert bad.detail.isprintable()


def test_looking_writes_neither_log_nor_cache(workspace, paths):
    look_only(workspace)
    workspace.plugins.load_all()
    workspace.diagnostics.log("error", "something is wrong", session="monday")
    assert not paths.home.exists()
    assert workspace.paths == paths


def an_event(number, **fields):
    known = {"v": 1, "ts": f"2030-01-02T10:00:{number:02}Z", "event": "rated", "grove": "0.1.0"}
    return json.dumps({**known, "learning_id": "cl_1", "useful": True, **fields})


def test_every_line_that_does_not_count_is_named_with_its_reason(tmp_path):
    lines = [
        an_event(1),
        "<<<<<<< ours",
        an_event(2),
        "=======",
        an_event(5),
        ">>>>>>> theirs",
        an_event(3, event="celebrated"),
        an_event(3, v=7, useful="very"),
        an_event(3, useful="very"),
        "\x00\x00\x00",
        an_event(3)[:40],
    ]
    path = tmp_path / "stats.log"
    path.write_bytes("\n".join(lines).encode("latin-1"))
    facts = gather_log("event log", path)
    assert facts.faults == {
        LineFault.MARKER: [2, 4, 6],
        LineFault.UNKNOWN: [7],
        LineFault.NEWER: [8],
        LineFault.UNREADABLE: [9, 10],
        LineFault.TORN: [11],
    }
    assert facts.count == 3
    assert facts.newest == datetime(2030, 1, 2, 10, 0, 5, tzinfo=UTC)


TOKEN = "ghp_" + "1234567890abcdefghijABCDEFGHIJ123456"
BODY = "MIIEowIBAAKCAQEAv7qk3Zs0p1XnQ8rWm5tYh2LdBc9fGj"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"### [cl_1] Deploys\r\n\r\n> Use {TOKEN} for it.\r\n", [3]),
        ("line\n" * 398 + f"> {KEY}\n> {BODY}\n" + "line\n" * 500, [399]),
    ],
)
def test_secrets_in_learnings(workspace, paths, text, lines):
    path = workspace.root / ".grove" / "learnings.md"
    path.write_bytes(text.encode())
    assert [one.line for one in gather_secrets(workspace).places] == lines
    path.unlink()
    paths.home.mkdir()
    paths.personal_learnings.write_bytes(text.encode())
    found = gather_secrets(workspace).places
    assert [(one.path, one.line) for one in found] == [
        (paths.personal_learnings, line) for line in lines
    ]
    for one in found:
        assert TOKEN not in repr(one)
        assert BODY not in repr(one)


def test_secrets_in_logs(workspace, paths):
    lines = [
        an_event(1, event="surfaced", session_id="s"),
        an_event(2, event="skip", reason=f"the key is {TOKEN}", session_id="s", decider="user"),
        an_event(3, event="rejected", summary=f"{KEY}\n{BODY}", session_id="s"),
        f'{{"event": "torn", "why": "{TOKEN}',
        an_event(5, event="celebrated", what={"password": ["hunter2-Zq8vXw41"]}),
        an_event(6, event="skip", reason="nothing new", session_id=TOKEN[4:], decider="user"),
    ]
    path = workspace.project.grove_directory / "stats.log"
    path.write_text("\n".join(lines))
    facts = gather_secrets(workspace)
    assert [one.line for one in facts.places] == [2, 3, 4, 5]
    assert facts.files == 1
    config = workspace.root / ".grove" / "config.toml"
    config.write_text(f'[secrets]\nallow = ["{facts.places[0].digest}"]\n')
    again = Workspace(workspace.root, workspace.environment, workspace.now)
    assert TOKEN not in repr(facts)
    assert len(gather_secrets(again).places) < 4


def test_the_cache_is_looked_at_and_left_alone(workspace):
    assert gather_cache(workspace).exists is False
    workspace.paths.home.mkdir()
    workspace.statistics()
    facts = gather_cache(workspace)
    folder = facts.path.parent

    def looks():
        return {one.name: (one.stat().st_mtime_ns, one.read_bytes()) for one in folder.iterdir()}

    before = looks()
    assert f"{facts.path.name}-wal" in before  # it is open
    assert (facts.exists, gather_cache(workspace).fault) == (True, "")
    assert looks() == before
    workspace.numbers.cache.close()
    facts.path.write_bytes(b"no database at all" * 100)
    assert gather_cache(workspace).fault
