"""What grove 0.1 left on disk, opened by this version: nothing is lost, nothing rewritten unasked."""

import hashlib
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from world import World, listing

RECORDED = Path(__file__).resolve().parents[1] / "data" / "version-0.1"
READING = (
    "status", "doctor", "list", "sessions", "stats", "backends", "maintain", "trust", "plugins",
    "config validate", "search rounding", "trace --session-id tuesday", "why --session-id tuesday",
)  # fmt: skip


@pytest.fixture
def recorded(tmp_path):
    world = World(tmp_path.resolve())
    for name in ("project", "grove-home"):
        shutil.copytree(RECORDED / name, world.folder / name, dirs_exist_ok=True)
    old, new = "/srv/grove-0.1/project", str(world.project)
    keys = [hashlib.sha256(root.encode()).hexdigest()[:16] for root in (old, new)]
    for path in world.grove_home.rglob("*.json*"):
        path.write_text(path.read_text().replace(old, new))
    (world.grove_home / "mcp" / keys[0]).rename(world.grove_home / "mcp" / keys[1])
    subprocess.run(["git", "init", "-q", world.project], check=True)
    return world


def ids(world):
    learnings = json.loads(world.grove("list", "--json").stdout)["learnings"]
    return sorted(learning["id"] for learning in learnings)


def every_recorded_id():
    texts = [path.read_text() for path in RECORDED.rglob("*.*") if path.suffix in {".md", ".jsonl"}]
    texts += [path.stem for path in RECORDED.glob("grove-home/outbox/*")]
    return sorted(set(re.findall(r"cl_\d{8}_\w{6}", "\n".join(texts))))


def test_reading_loses_and_rewrites_nothing(recorded):
    apart = [recorded.grove_home / "cache", recorded.grove_home / "grove.log"]
    before = listing(recorded.folder, apart_from=[*apart, recorded.project / ".git"])
    for words in READING:
        done = recorded.grove(*words.split())
        assert "Traceback" not in done.stderr
    after = listing(recorded.folder, apart_from=[*apart, recorded.project / ".git"])
    assert {path: after.get(path) for path in before} == before
    assert ids(recorded) == every_recorded_id()
    assert len(ids(recorded)) == 4


def test_what_waited_goes_on(recorded, candidate):
    states = recorded.grove("sessions", "--json").json["sessions"]
    gates = {state["id"]: state["gate"] for state in states}
    assert gates == {"monday": "reflected", "tuesday": "blocked", "wednesday": "skipped"}
    entries = {path: path.read_text() for path in recorded.folder.rglob("*learnings.md")}
    done = recorded.grove(
        "reflect", "--session-id", "tuesday", stdin=json.dumps({"candidates": [candidate()]})
    )
    assert done.code == 0, done.stderr
    assert len(ids(recorded)) == 5
    assert recorded.grove("debug", "tuesday", "--json").json["pending"] == []
    for path, text in entries.items():
        assert path.read_text().startswith(text)
    waited = next(RECORDED.glob("grove-home/outbox/*")).stem
    assert waited in (recorded.grove_home / "personal-learnings.md").read_text()
    assert not list((recorded.grove_home / "outbox").glob("cl_*"))


def test_numbers_are_those_of_the_logs(recorded):
    logs = (RECORDED / "project/.grove/stats.log", RECORDED / "grove-home/personal-stats.log")
    events = [json.loads(line)["event"] for log in logs for line in log.read_text().splitlines()]
    usage = recorded.grove("stats", "--json").json["usage"]
    kinds = ("surfaced", "referenced", "dismissed")
    assert {kind: usage[kind] for kind in kinds} == {kind: events.count(kind) for kind in kinds}
    assert usage["referenced"] == 1
