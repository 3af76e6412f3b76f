"""Death at every write of whole commands and hooks: what was accepted is there, and can go on.

A flow writes several files. Death between two of them leaves some new and some old; each of them
is whole, and doing the same again brings all of them to where the flow would have brought them.
"""

import json
import re
from collections import Counter
from signal import SIGKILL

import pytest
from attrs import field, frozen
from deadly import Remains, keep, moments, run
from scale import turned_up

# The tests' own process has one thread.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")

EACH = turned_up(4, 1)  # of how many moments one is tried

LEARNINGS = "learnings.md"
SHOWN = "cl_00000000000000a"
OTHER = "cl_00000000000000b"


def unpaid(agent, blocks=0):
    """A ticket is closed and the agent was stopped some times for it."""
    agent.closes("bd-1")
    for _ in range(blocks):
        agent.is_blocked()


def submission(candidate, **fields):
    candidates = [candidate(1), candidate(2, supersedes=[OTHER])]
    used = [{"id": SHOWN, "how": "said where to look"}]
    return json.dumps({"candidates": candidates, "learnings_used": used, **fields})


def break_backend(world):
    """A store that cannot be written: what is accepted goes to the outbox."""
    text = world.learnings_file.read_text()
    world.learnings_file.unlink()
    outside = world.home / "elsewhere.md"
    outside.write_text(text)
    world.learnings_file.symlink_to(outside)


def mend_backend(world):
    world.learnings_file.unlink()
    (world.home / "elsewhere.md").rename(world.learnings_file)


def leave_in_outbox(agent, candidate):
    unpaid(agent)
    break_backend(agent.world)
    assert agent.reflects(candidate(3)).code == 0
    mend_backend(agent.world)


CALL = {
    "tool_name": "Bash",
    "tool_use_id": "toolu_1",
    "tool_input": {"command": "bd close bd-1"},
}
RESULT = {"tool_response": {"stdout": "", "stderr": "", "interrupted": False}}


def announced(agent):
    agent.silent("PreToolUse", **CALL)
    agent.world.close_ticket("bd-1")


def ended(agent):
    """The hook writes the end down; the next command does what follows from it."""
    unpaid(agent, 1)
    agent.silent("SessionEnd", reason="other")


@frozen
class Flow:
    """A command or a hook, and what comes before it."""

    words: tuple
    prepare: object = lambda agent, candidate: None
    fields: dict = field(factory=dict)
    stdin: object = lambda candidate: ""
    then: tuple = ()
    codes: tuple = (0, 0)
    keeps: tuple = ()


FLOWS = {
    "start": Flow(("hook", "session-start"), fields={"source": "resume"}),
    "first hook": Flow(
        ("hook", "session-start"), fields={"session_id": "session-2", "source": "startup"}
    ),
    "prompt": Flow(("hook", "user-prompt-submit"), fields={"prompt": "the ledger is slow"}),
    "announce": Flow(("hook", "pre-tool-use"), fields=CALL),
    "confirm": Flow(
        ("hook", "post-tool-use"),
        prepare=lambda agent, _: announced(agent),
        fields={**CALL, **RESULT},
        # The client sends it once: the next stop must make up for it.
        then=("hook", "stop"),
        codes=(0, 2),
    ),
    "confirm at stop": Flow(
        ("hook", "stop"), prepare=lambda agent, _: announced(agent), codes=(2, 2)
    ),
    "block": Flow(("hook", "stop"), prepare=lambda agent, _: unpaid(agent), codes=(2, 2)),
    "breaker": Flow(("hook", "stop"), prepare=lambda agent, _: unpaid(agent, 3)),
    "end": Flow(("status", "-q"), prepare=lambda agent, _: ended(agent)),
    "reflect": Flow(
        ("reflect", "--json"),
        prepare=lambda agent, _: unpaid(agent, 1),
        stdin=submission,
        keeps=("learnings",),
    ),
    "reflect into the outbox": Flow(
        ("reflect", "--json"),
        prepare=lambda agent, _: [unpaid(agent), break_backend(agent.world)],
        stdin=lambda candidate: json.dumps({"candidates": [candidate(1), candidate(2)]}),
        keeps=("waiting",),
    ),
    "reflect and deliver": Flow(
        ("reflect", "--json"),
        # A second reflection at once is taken only where one is owed.
        prepare=lambda agent, candidate: [leave_in_outbox(agent, candidate), agent.closes("bd-2")],
        stdin=lambda candidate: json.dumps({"candidates": [candidate(1)]}),
        keeps=("learnings",),
    ),
    "skip": Flow(("skip", "a typing mistake only"), prepare=lambda agent, _: unpaid(agent)),
    "archive": Flow(("maintain", "archive", SHOWN, "--reason", "it is wrong")),
    "deliver": Flow(("maintain", "flush"), prepare=leave_in_outbox, keeps=("learnings",)),
    "ref": Flow(("ref", SHOWN, "--how", "it named the file")),
    "observe": Flow(("observe", "items are read in a loop")),
}
# Written after the state that they tell of: a death between the two leaves them out of the numbers.
# No use that an agent has recorded, no reason for a skip and no learning is among them.
LOGGED_AFTERWARDS = {"gate", "archived", "reflection", "corrected", "surfaced", "dismissed"}


@frozen
class View:
    """What anybody can read of a session and its project."""

    session: dict
    learnings: Counter
    waiting: list
    statuses: dict
    events: Counter


def view(world, session_id):
    """Looks at a world; every file in it must be whole."""
    stored = [read_entry(entry) for entry in entries(world)]
    waiting = [
        json.loads(path.read_text())["learning"]["summary"]
        for path in (world.grove_home / "outbox").glob("*.json")
    ]
    return View(
        session=session_view(world, session_id),
        learnings=Counter({*waiting, *(summary for summary, _ in stored)}),
        waiting=sorted(waiting),
        statuses=dict(stored),
        events=Counter(event_names(world)),
    )


def entries(world):
    text = world.learnings_file.read_text()
    return re.split(r"^(?=### )", text, flags=re.MULTILINE)[1:]


def read_entry(entry):
    """Summary and status of an entry that must be whole."""
    summary = re.match(r"### \[cl_\w+\] (.*)", entry)[1]
    status = re.search(r"^- \*\*Status:\*\* (\w+)", entry, re.MULTILINE)[1]
    assert "- **Created:** " in entry
    assert re.search(r"^> .*(prefetch_items\(\) first|to say about it)\.$", entry, re.MULTILINE)
    return summary.replace("\\", ""), status


def session_view(world, session_id):
    path = world.grove_home / "sessions" / f"{session_id}.json"
    content = path.read_bytes() if path.exists() else b""
    if not content:
        return {}
    session = json.loads(content)
    gate = session["gate"]
    return {
        "gate": gate["status"],
        "tickets": [one["ticket_id"] for one in (gate["cycle"] or {}).get("tickets", ())],
        "broken": len(gate["broken_cycles"]),
        "blocks": gate["breaker"]["cycle_blocks"],
        "intents": [one["key"] for one in session["intents"]],
        "notes": [one["note"] for one in session["observations"]],
        "outcomes": {one["learning_id"]: one["outcome"] for one in session["injected"]},
        "ended": session["ended_at"] is not None,
    }


def event_names(world):
    """The log's events: kind, and what they are about. A torn line is none."""
    log = world.event_log
    for line in log.read_text().splitlines() if log.exists() else []:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        yield event["event"], event.get("learning_id") or event.get("outcome") or ""


def in_process_grove(world, *words, death=None, **options):
    """As `run` does, in the tests' own process."""
    return world.grove(*words, **options)


@frozen
class Scene:
    """A flow in a world."""

    flow: Flow
    world: object
    candidate: object

    @property
    def session_id(self):
        return self.flow.fields.get("session_id", "session-1")

    def prepare(self, place):
        """Two learnings, a session that was shown them, and what comes before the flow.

        Gives a function that brings this back.
        """
        self.world.learning(SHOWN, "The ledger is slow", tags="ledger")
        self.world.learning(OTHER, "The ledger is old", tags="ledger")
        agent = self.world.agent()
        agent.starts()
        self.flow.prepare(agent, self.candidate)
        back = keep(self.world.folder, place)
        # Children begin with all that it takes imported.
        self._run(self.flow.words, call=in_process_grove)
        back()
        return back

    def begin(self, death=None):
        """The flow itself."""
        return self._run(self.flow.words, death)

    def go_on(self):
        """What comes then."""
        return self._run(self.flow.then or self.flow.words)

    def _run(self, words, death=None, call=run):
        if words[0] == "hook":
            payload = {"session_id": self.session_id, "cwd": str(self.world.project)}
            stdin = json.dumps({**payload, "background_tasks": [], **self.flow.fields})
            variables = {}
        else:
            stdin = self.flow.stdin(self.candidate)
            variables = {"CLAUDE_CODE_SESSION_ID": self.session_id}
        return call(self.world, *words, stdin=stdin, death=death, **variables)

    def look(self):
        return view(self.world, self.session_id)


@pytest.mark.parametrize("name", FLOWS)
def test_death_at_any_write_of_a_flow(beads, candidate, tmp_path_factory, name):
    flow, remains = FLOWS[name], Remains(beads.folder)
    scene = Scene(flow, beads, candidate)
    back = scene.prepare(tmp_path_factory.mktemp("place"))
    old = scene.look()
    whole = scene.begin()
    assert whole.code == flow.codes[0], whole.stderr
    new = scene.look()
    assert scene.go_on().code == flow.codes[1]
    again = scene.look()

    every = list(moments(whole.changes, never_torn=[LEARNINGS]))
    assert every
    for moment in every[list(FLOWS).index(name) % EACH :: EACH]:
        back()
        assert scene.begin(moment).code == -SIGKILL, moment
        seen = scene.look()
        for key, value in seen.session.items():
            assert value in (old.session.get(key, value), new.session[key]), f"{key} {moment}"
        if seen.session.get("gate") == new.session["gate"] != old.session.get("gate"):
            for kind in flow.keeps:
                assert getattr(seen, kind) == getattr(new, kind), moment
        remains.grow_old()
        done = scene.go_on()
        assert done.code == flow.codes[1], f"{moment}: {done.stderr}"
        after = scene.look()
        for key, value in after.session.items():
            assert value in (new.session[key], again.session[key]), f"{key} {moment}"
        assert after.learnings == new.learnings, moment
        assert after.statuses in (new.statuses, again.statuses), moment
        assert after.events <= again.events, moment
        assert {kind for kind, _ in new.events - after.events} <= LOGGED_AFTERWARDS, moment
        assert remains.names() == [], moment
    assert beads.log("crash.log") == ""


def test_a_torn_learning_is_whole_when_it_is_written_again(beads, candidate, tmp_path_factory):
    """The kernel may take half of a write: what waits in the outbox must not be lost by that."""
    scene = Scene(FLOWS["deliver"], beads, candidate)
    back = scene.prepare(tmp_path_factory.mktemp("place"))
    changes = scene.begin().changes
    new = scene.look()
    torn = [one for one in moments(changes) if one.half and one.change.endswith(f" {LEARNINGS}")]
    assert torn
    for moment in torn:
        back()
        assert scene.begin(moment).code == -SIGKILL
        assert scene.go_on().code == 0
        assert scene.look().learnings == new.learnings, moment
