"""Hooks and commands of one session side by side: nothing that was accepted is lost.

In the reference, parallel calls of one session lose updates: a `referenced` mark, or the gate's
status itself.
"""

import fcntl
import json
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock

from attrs import define, field
from deadly import Remains
from scale import turned_up

SECONDS = turned_up(25, 900)
MAX_BLOCKS = 3
SHOWN = [f"cl_{number:015d}" for number in range(300)]


@define
class Session:
    """A session that several use, and what was accepted from them."""

    world: object
    candidate: object
    closed: list = field(factory=list)
    notes: list = field(factory=list)
    references: list = field(factory=list)
    stops: list = field(factory=list)
    learnings: list = field(factory=list)
    calls: dict = field(factory=lambda: {"sub1": Lock(), "sub2": Lock()})
    skips: int = 0

    @property
    def path(self):
        return self.world.grove_home / "sessions" / "session-1.json"

    def run(self, *words, stdin=""):
        process = self.world.start(*words)
        out, err = process.communicate(stdin.encode(), timeout=600)
        return process.returncode, out.decode(), err.decode()

    def hook(self, event, **fields):
        payload = {"session_id": "session-1", "cwd": str(self.world.project), **fields}
        return self.run("hook", event, stdin=json.dumps(payload))

    def command(self, *words, stdin=""):
        code, out, err = self.run(*words, "--session-id", "session-1", stdin=stdin)
        assert code == 0, err
        return out

    def show_learnings(self):
        """As though it had been shown many, for days."""
        state = json.loads(self.path.read_text())
        shown = {"summary": "x", "score": 0.5, "via": "start", "personal": False}
        shown |= {"injected_at": state["created_at"], "outcome": "pending"}
        state["injected"] = [{"learning_id": one, **shown} for one in SHOWN]
        self.path.write_text(json.dumps(state))

    # --- what is done over and over ------------------------------------------------------------

    def closes(self, name, number, dice):
        """A call of a subagent that closes a ticket, whose report is lost now and then."""
        ticket = f"{name}-{number}"
        call = {"tool_name": "Bash", "tool_use_id": ticket, "agent_id": name}
        call["tool_input"] = {"command": f"cd . && bd close {ticket}"}
        # A stop in the midst of it would find a ticket that is not closed yet.
        with self.calls[name]:
            assert self.hook("pre-tool-use", **call) == (0, "", "")
            self.world.close_ticket(ticket)
            self.closed.append(ticket)
            if dice.random() < 0.8:
                done = {"stdout": "", "stderr": "", "interrupted": False}
                assert self.hook("post-tool-use", **call, tool_response=done) == (0, "", "")

    def observes(self, name, number, dice):
        self.command("observe", f"note {number} of {name}")
        self.notes.append(f"note {number} of {name}")

    def refers(self, name, number, dice):
        ids = dice.sample(SHOWN, 2)
        self.command("ref", *ids)
        self.references += ids

    def stops_and_pays(self, name, number, dice):
        with self.calls["sub1"], self.calls["sub2"]:
            code, _, said = self.hook("stop", stop_hook_active=False, background_tasks=[])
        self.stops.append((code, bool(said)))
        if code == 2 and dice.random() < 0.4:
            if dice.random() < 0.5:
                submission = json.dumps(self.candidate(len(self.learnings)))
                self.learnings.append(self.command("reflect", "-q", stdin=submission).strip())
            else:
                self.command("skip", f"nothing to learn, number {self.skips}")
                self.skips += 1
            self.stops.append((0, True))  # what is closed from here on is asked about anew


def watch(path, done):
    """Reads the session's file over and over: at no moment is it anything but whole."""
    while not done.is_set():
        json.loads(path.read_bytes())
        time.sleep(0.02)


def take_turns(act, name, ends):
    dice, number = random.Random(name), 0
    while time.monotonic() < ends:
        number += 1
        act(name, number, dice)


def race(session):
    """Lets all work until the time is up; the first one's fault is raised."""
    done, ends = Event(), time.monotonic() + SECONDS
    acts = [(session.stops_and_pays, "main"), (session.closes, "sub1"), (session.closes, "sub2")]
    acts += [(session.refers, "reader"), (session.observes, "observer")]
    with ThreadPoolExecutor(len(acts) + 1) as pool:
        watching = pool.submit(watch, session.path, done)
        working = [pool.submit(take_turns, *one, ends) for one in acts]
        try:
            for one in working:
                one.result()
        finally:
            done.set()
        watching.result()


def test_a_session_that_all_use_at_once_loses_nothing(beads, candidate):
    (beads.project / ".grove" / "config.toml").write_text(
        f"[circuit_breaker]\nmax_blocks = {MAX_BLOCKS}\ncooldown_seconds = 86400\n"
    )
    beads.agent().starts()
    session = Session(beads, candidate)
    session.show_learnings()
    race(session)
    # Whatever was announced and never heard of again is resolved by a stop.
    session.hook("stop", stop_hook_active=False, background_tasks=[])
    check_state(beads.session(), session)
    check_log(beads, session)
    check_files(beads)
    # A block, and the breaker, say why; at most so many blocks follow each other.
    assert {code for code, _ in session.stops} <= {0, 2}
    assert all(said for code, said in session.stops if code == 2)
    in_a_row = "".join(str(code) for code, _ in session.stops).split("0")
    assert max(map(len, in_a_row)) <= MAX_BLOCKS


def check_state(state, session):
    """Nothing that was accepted is missing."""
    assert state["intents"] == state["unproven"] == []
    assert state["recovered_from"] is None
    told = [one for one in state["trace"]["events"] if one["event_type"] == "ticket_closed"]
    counted = Counter(one["details"]["ticket"] for one in told)
    closed = Counter(session.closed)
    assert counted <= closed if state["trace"]["dropped"] else counted == closed
    assert [one["note"] for one in state["observations"]] == session.notes
    outcomes = {one["learning_id"]: one["outcome"] for one in state["injected"]}
    used = {one for one, outcome in outcomes.items() if outcome == "referenced"}
    assert used == set(session.references)
    assert [one["learning_id"] for one in state["written"]] == session.learnings


def check_log(world, session):
    """Every event is in the log, once."""
    logged = Counter(one["learning_id"] for one in world.events("referenced"))
    called = Counter(session.references)
    assert logged.keys() == called.keys()
    assert logged <= called
    assert {one["ticket_id"] for one in world.events("gate")} <= set(session.closed)
    assert len(world.events("skip")) == session.skips
    assert len(world.events("reflection")) == len(session.learnings)
    assert world.learning_ids() == session.learnings
    assert len(set(session.learnings)) == len(session.learnings)


def check_files(world):
    """No lock, no temporary file and no message is left."""
    assert Remains(world.folder).names() == []
    assert world.log("crash.log") == ""
    assert {line.split()[1] for line in world.log().splitlines()} <= {"WARNING"}
    assert all("circuit breaker" in line for line in world.log().splitlines())
    for path in [*world.grove_home.rglob("*"), *(world.project / ".grove").iterdir()]:
        if path.is_file():
            with path.open("rb+") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    flag = (world.grove_home / "cache" / "fast" / "session-1").read_bytes()[:1]
    assert flag == b"0"
