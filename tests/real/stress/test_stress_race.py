"""Hooks and commands of one session side by side: nothing that was accepted is lost.

In the reference, parallel calls of one session lose updates: a `referenced` mark, or the gate's
status itself.
"""

import fcntl
import json
import random
import re
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from types import SimpleNamespace

from attrs import define, field
from deadly import Remains
from scale import turned_up

SECONDS = turned_up(25, 900)
SEED = "grove"
MAX_BLOCKS = 3
SHOWN = 300
SUBAGENT = {"id": "task-1", "type": "subagent", "status": "running"}


@define
class Worker:
    """One of those that use the session: it decides by its own dice, and writes down what it did."""

    name: str
    world: object
    run: object
    dice: random.Random = field(init=False)
    calls: int = 0
    closes: dict = field(factory=dict)
    notes: list = field(factory=list)
    references: list = field(factory=list)
    stops: list = field(factory=list)
    learnings: list = field(factory=list)
    skips: int = 0
    prompts: int = 0

    def __attrs_post_init__(self):
        self.dice = random.Random(f"{SEED}-{self.name}")

    # --- hooks ---------------------------------------------------------------------------------

    def hook(self, event, **fields):
        payload = {
            "session_id": "session-1",
            "cwd": str(self.world.project),
            "prompt_id": f"prompt-{self.prompts}",
            **fields,
        }
        done = self.run("hook", event, stdin=json.dumps(payload))
        assert done.stdout == "" or event == "user-prompt-submit"
        return done

    def silent(self, event, **fields):
        done = self.hook(event, **fields)
        assert (done.code, done.stdout, done.stderr) == (0, "", "")

    def closes_a_ticket(self, **fields):
        """A call that closes a ticket, or fails to, or is never heard of again."""
        self.calls += 1
        ticket = f"{self.name}-{self.calls}"
        closed = self.dice.random() < 0.7
        heard = self.dice.random() < 0.8
        self.closes[ticket] = closed
        call = {
            "tool_name": "Bash",
            "tool_use_id": f"toolu_{ticket}",
            "tool_input": {"command": f"cd . && bd close {ticket}"},
            **fields,
        }
        # Before the call is announced, so that it does not matter who asks first whether it is
        # closed: this call's own report, or a stop.
        if closed:
            self.world.close_ticket(ticket)
        self.silent("pre-tool-use", **call)
        if heard and closed:
            done = {"stdout": "", "stderr": "", "interrupted": False}
            self.silent("post-tool-use", **call, tool_response=done)
        elif heard:
            self.silent("post-tool-use-failure", **call, error="Exit code 1", is_interrupt=False)

    def does_something_else(self):
        self.calls += 1
        call = {
            "tool_name": "Bash",
            "tool_use_id": f"toolu_{self.name}-{self.calls}",
            "tool_input": {"command": self.dice.choice(["make test", "bd list", "git status"])},
        }
        self.silent("pre-tool-use", **call)
        self.silent("post-tool-use", **call, tool_response={"stdout": "", "stderr": ""})

    def asks(self):
        self.prompts += 1
        done = self.hook("user-prompt-submit", prompt=f"and now number {self.prompts}")
        assert (done.code, done.stderr) == (0, "")

    def stops_once(self, *, subagents=False):
        background = [SUBAGENT] if subagents else []
        done = self.hook("stop", stop_hook_active=False, background_tasks=background)
        self.stops.append((done.code, bool(done.stderr)))
        return done

    # --- commands ------------------------------------------------------------------------------

    def command(self, *words, stdin=""):
        done = self.run(*words, "--session-id", "session-1", stdin=stdin)
        assert done.code == 0, done.stderr
        return done

    def observes(self):
        note = f"note {len(self.notes)} of {self.name}"
        self.command("observe", note)
        self.notes.append(note)

    def refers(self):
        """Mostly to one learning, at times to two, at times to one again."""
        number = self.dice.choice([1, 1, 2])
        ids = sorted(self.dice.sample(learning_ids(), number))
        self.command("ref", *ids)
        self.references.append(" ".join(ids))

    def reflects(self, candidate):
        number = len(self.learnings)
        done = self.command("reflect", "-q", stdin=json.dumps(candidate(number)))
        self.learnings.append(done.stdout.strip())

    def skips_it(self):
        self.command("skip", f"nothing to learn, number {self.skips}")
        self.skips += 1

    # --- what it does over and over ------------------------------------------------------------

    def main_agent(self, candidate):
        """A turn: a prompt, some calls, and stops until it is let go or gives in."""
        self.asks()
        for _ in range(self.dice.randrange(3)):
            self.dice.choice([self.closes_a_ticket, self.does_something_else])()
        patience = self.dice.randrange(6)
        while self.stops_once(subagents=self.dice.random() < 0.3).code == 2:
            if patience > 0:
                patience -= 1
            elif self.dice.random() < 0.5:
                self.reflects(candidate)
            else:
                self.skips_it()
        if self.dice.random() < 0.1:
            self.skips_it()  # ahead of a close: it counts for the next one

    def subagent(self):
        """Its calls are the session's, and nobody waits for it."""
        own = {"agent_id": f"agent-{self.name}", "agent_type": "general-purpose"}
        self.dice.choice([lambda: self.closes_a_ticket(**own), self.observes])()

    def reader(self):
        self.dice.choice([self.refers, self.refers, self.observes, self.does_something_else])()


def learning_ids():
    return [f"cl_{number:015d}" for number in range(SHOWN)]


def show_learnings(world):
    """A session that was shown as many learnings as if it had gone on for days."""
    path = world.grove_home / "sessions" / "session-1.json"
    state = json.loads(path.read_text())
    state["injected"] = [
        {
            "learning_id": one,
            "summary": f"Summary of {one}",
            "score": 0.5,
            "injected_at": state["created_at"],
            "via": "start",
            "personal": False,
            "outcome": "pending",
        }
        for one in learning_ids()
    ]
    path.write_text(json.dumps(state))


def watch(path, done):
    """Reads the session's file over and over: at no moment is it anything but whole."""
    while not done.is_set():
        json.loads(path.read_bytes())
        time.sleep(0.02)


def take_turns(act, ends):
    while time.monotonic() < ends:
        act()


def race(workers, acts, path):
    """Lets all of them work until the time is up; the first one's fault is raised."""
    done = Event()
    ends = time.monotonic() + SECONDS
    with ThreadPoolExecutor(len(workers) + 1) as pool:
        watching = pool.submit(watch, path, done)
        working = [pool.submit(take_turns, act, ends) for act in acts]
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
    show_learnings(beads)

    def fresh(*words, stdin=""):
        process = beads.start(*words)
        out, err = process.communicate(stdin.encode(), timeout=600)
        return SimpleNamespace(code=process.returncode, stdout=out.decode(), stderr=err.decode())

    main = Worker("main", beads, fresh)
    subagents = [Worker(name, beads, fresh) for name in ("sub1", "sub2")]
    readers = [Worker(name, beads, fresh) for name in ("reader1", "reader2")]
    workers = [main, *subagents, *readers]
    acts = [
        lambda: main.main_agent(candidate),
        *(one.subagent for one in subagents),
        *(one.reader for one in readers),
    ]
    path = beads.grove_home / "sessions" / "session-1.json"
    race(workers, acts, path)
    # Whatever was announced and never heard of again is resolved by a stop.
    main.stops_once()
    check_stops(main.stops)
    check_state(beads.session(), workers)
    check_log(beads, workers)
    check_files(beads)
    assert beads.grove("status", "--json").code == 0


def check_stops(stops):
    """A block, and the breaker, say why; at most so many blocks follow each other."""
    assert {code for code, _ in stops} <= {0, 2}
    assert all(said for code, said in stops if code == 2)
    in_a_row = "".join(map(str, (code for code, _ in stops))).split("0")
    assert max(map(len, in_a_row)) <= MAX_BLOCKS


def check_state(state, workers):
    """Nothing that was accepted is missing."""
    assert state["gate"]["breaker"]["cycle_blocks"] <= MAX_BLOCKS
    assert state["intents"] == state["unproven"] == []
    assert state["recovered_from"] is None
    closes = Counter(ticket for one in workers for ticket, closed in one.closes.items() if closed)
    trace = state["trace"]
    told = [one for one in trace["events"] if one["event_type"] == "ticket_closed"]
    counted = Counter(one["details"]["ticket"] for one in told)
    assert counted <= closes if trace["dropped"] else counted == closes
    notes = [note for one in workers for note in one.notes]
    assert Counter(one["note"] for one in state["observations"]) == Counter(notes)
    references = [ids for one in workers for ids in one.references]
    used = {learning_id for ids in references for learning_id in ids.split()}
    outcomes = {one["learning_id"]: one["outcome"] for one in state["injected"]}
    assert {one for one, outcome in outcomes.items() if outcome == "referenced"} == used
    assert set(outcomes.values()) <= {"referenced", "pending"}
    learnings = [one for worker in workers for one in worker.learnings]
    assert [one["learning_id"] for one in state["written"]] == learnings


def check_log(world, workers):
    """Every event is in the log, once."""
    called = Counter(one for worker in workers for ids in worker.references for one in ids.split())
    # A use that is said again is logged once, unless two say it at the same moment.
    logged = Counter(one["learning_id"] for one in world.events("referenced"))
    assert logged.keys() == called.keys()
    assert all(logged[one] <= called[one] for one in logged)
    closed = {ticket for one in workers for ticket, is_closed in one.closes.items() if is_closed}
    assert {one["ticket_id"] for one in world.events("gate")} <= closed
    assert len(world.events("skip")) == sum(one.skips for one in workers)
    learnings = [one for worker in workers for one in worker.learnings]
    assert len(world.events("reflection")) == len(learnings)
    assert world.learning_ids() == learnings
    assert len(set(learnings)) == len(learnings)
    listed = world.grove("list", "--json")
    assert listed.code == 0


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


def test_reflections_of_many_sessions_at_once_all_get_ids_of_their_own(beads, candidate):
    """In the reference, twenty that were accepted left three."""
    sessions = [f"session-{number}" for number in range(4)]
    for session in sessions:
        beads.agent(session).starts()
    numbers = range(turned_up(8, 40))
    processes = []
    for number in numbers:
        session = sessions[number % len(sessions)]
        processes.append(beads.start("reflect", "-q", "--session-id", session))
        processes[-1].stdin.write(json.dumps(candidate(number)).encode())
        processes[-1].stdin.close()
        processes[-1].stdin = None
    answers = [process.communicate(timeout=600) for process in processes]
    assert {process.returncode for process in processes} == {0}, answers
    told = [out.decode().strip() for out, _ in answers]
    assert sorted(beads.learning_ids()) == sorted(set(told))
    assert len(set(told)) == len(numbers)
    text = beads.learnings_file.read_text()
    assert len(re.findall(r"^> .*prefetch_items\(\) first\.$", text, re.MULTILINE)) == len(numbers)
    assert len(beads.events("reflection")) == len(numbers)
    written = [len(beads.session(session)["written"]) for session in sessions]
    assert written == [len(numbers) // len(sessions)] * len(sessions)
