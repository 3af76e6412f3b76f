"""The short ways of hooks do what the full way would do, byte for byte, or leave it to that."""

import json
import os
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from core_worlds import git, own_git_only

from grove_core import finder, work_at_hand
from grove_core.clock import format_instant
from grove_core.codec import session_from_json, session_to_json
from grove_core.flow import work_query
from grove_core.hooks import dispatch, fast, plain_session, prompted, started
from grove_core.hooks.settled import settle
from grove_core.retrieval import relevance

NOW = datetime(2026, 2, 6, 12, 0, tzinfo=UTC)
ISSUE = {"type": "issue", "id": "app-1", "rev": "01", "title": "The export of orders is slow"}
TICKET = {"ticket_id": "bd-1", "title": "Mend it", "source": "tissue"}
CYCLE = {"tickets": [TICKET], "opened_at": "2026-02-06T10:00:00Z", "before": "idle"}
# What is derived, and may differ between two ways to the same end.
DERIVED = ("recall.json", "starts", "plugins", ".sqlite", "index.lock", "curation.lock")


class Place:
    """A project with a ticket, a branch and learnings, and a home."""

    def __init__(self, folder, patch):
        self.folder, self.patch, self.now = folder, patch, NOW
        self.project, self.home = folder / "project", folder / "home" / ".grove"
        self.project.mkdir(parents=True)
        self.home.mkdir(parents=True)
        self.said, self.learnings = [], 0
        for name in [one for one in os.environ if one.startswith(("GROVE_", "CLAUDE"))]:
            patch.delenv(name)
        own_git_only(patch, folder / "home")
        patch.setenv("GROVE_HOME", str(self.home))
        patch.setenv("GROVE_HOOKS_DEADLINE_MS", "60000")
        patch.setattr(dispatch, "now_utc", lambda: self.now)
        patch.setattr(plain_session, "now_text", lambda: format_instant(self.now))
        for module in (started, prompted):
            patch.setattr(module, "time", SimpleNamespace(time=self.seconds))
        patch.setattr(fast, "say", lambda text, *_: self.said.append(text) or 0)
        for module in (relevance, finder):
            patch.setattr(module, "FLOOR", 1e-9)
        for module in (work_query, started):
            patch.setattr(module, "STATUS_SECONDS", 60.0)
        patch.setattr(work_at_hand, "HISTORY_SECONDS", 60.0)

    def seconds(self):
        return self.now.timestamp()

    def write(self, path, text):
        path = self.project / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def learning(self, summary, tags="orders"):
        self.learnings += 1
        lines = f"### [cl_learning_{self.learnings}] {summary}\n- **Category:** pitfall\n"
        lines += f"- **Scope:** project\n- **Criteria:** stable_fact\n- **Tags:** {tags}\n"
        lines += "- **Created:** 2026-02-01T10:00:00Z\n- **Files:** app/store.py\n"
        with (self.project / ".grove/learnings.md").open("a") as file:
            file.write(f"{lines}\n> {summary}, and that is all.\n\n")

    def prepare(self, config="", *, tickets=True):
        self.write("app/store.py", "one\n")
        for words in ("init -q", "add -A", "commit -qm first", "switch -qc feature/orders-export"):
            git(*words.split(), cwd=self.project)
        self.write(".grove/config.toml", config)
        if tickets:
            self.write(".tissue/issues.jsonl", json.dumps(ISSUE | {"status": "in_progress"}) + "\n")
        self.learning("OrderStore.export() runs a query for each row")
        self.learning("LoginForm.clean() must not log the token", tags="login")

    def payload(self, event, session_id="new", **fields):
        transcript = str(self.folder / f"{session_id}.jsonl")
        known = {"session_id": session_id, "cwd": str(self.project), "transcript_path": transcript}
        return json.dumps({"hook_event_name": event, **known, **fields}).encode()

    def full(self, event, data):
        answer = dispatch.respond(event, data, os.environ)
        assert (answer.exit_code, answer.stderr) == (0, "") or event == "stop"
        return answer.stdout

    def start(self):
        return self.payload("SessionStart", source="startup")

    def settle_down(self):
        """Sessions that leave notes, until nothing is left to be done but to show learnings."""
        for name in ("earlier-1", "earlier-2"):
            self.full("session-start", self.payload("SessionStart", name, source="startup"))
            self.full("session-end", self.payload("SessionEnd", name, reason="other"))

    def change(self, gate=(), **fields):
        """Rewrite the session's state."""
        path = self.home / "sessions" / "new.json"
        document = json.loads(path.read_text())
        document |= {**fields, "gate": {**document["gate"], **dict(gate)}}
        path.write_bytes(session_to_json(session_from_json(json.dumps(document).encode())))

    def everything(self):
        return {
            path: path.read_bytes()
            for folder in (self.home, self.project / ".grove")
            for path in folder.rglob("*")
            if path.is_file() and not any(one in str(path) for one in DERIVED)
        }

    def both_ways(self, event, data):
        """What is printed and left behind: the short way's, or None; and the full way's."""
        before = self.everything()
        self.said.clear()
        code = settle(event, data, str(self.home), "new")
        assert code in (0, None)
        short = None if code is None else ("".join(self.said), self.everything())
        after = self.everything()
        assert code is not None or after == before, "what is left to the full way is left alone"
        for path in after.keys() - before.keys():
            path.unlink()
        for path, content in before.items():
            if after.get(path) != content:
                path.write_bytes(content)
        return short, (self.full(event, data), self.everything())


@pytest.fixture
def place(tmp_path, monkeypatch):
    return Place(tmp_path, monkeypatch)


# Whether there are tickets, what happens before the start, and whether the short way is taken.
STARTS = {
    "a ticket": (True, None, True),
    "session mode": (False, None, True),
    "a learning more": (True, lambda place: place.learning("Orders are exported at night"), False),
    "decay that is due": (
        True,
        lambda place: setattr(place, "now", NOW + timedelta(days=1)),
        False,
    ),
}


@pytest.mark.parametrize(("tickets", "before", "taken"), STARTS.values(), ids=STARTS)
def test_a_start(place, tickets, before, taken):
    place.prepare(tickets=tickets)
    place.settle_down()
    if before:
        before(place)
    short, full = place.both_ways("session-start", place.start())
    assert short == (full if taken else None)


@pytest.mark.parametrize("prompt", ["Why does OrderStore.export() query so often?", "Thank you."])
def test_a_prompt(place, prompt):
    place.prepare("[retrieval]\nmax_injections = 0\n")
    place.settle_down()
    place.full("session-start", place.start())
    for number in range(2):
        data = place.payload("UserPromptSubmit", prompt=prompt, prompt_id=f"p-{number}")
        short, full = place.both_ways("user-prompt-submit", data)
        assert short == full


ACTIVE = {"gate": {"status": "active", "ticket": TICKET}}
OWING = {"gate": {"status": "pending", "cycle": CYCLE}}
UNPROVEN = {"system": "tissue", "ticket_id": "x", "title": "", "directory": None}
WORK = [{"id": "b1", "type": "shell", "status": "running"}]
# Whether there are tickets, the session's state, the event and its payload, whether it is short.
ENDS = {
    "a stop": (True, {}, "Stop", {}, True),
    "session mode": (False, {}, "Stop", {}, True),
    "a debt": (True, OWING, "Stop", {}, False),
    "a close that waits": (True, {"unproven": [UNPROVEN]}, "Stop", {}, False),
    "background work": (True, {}, "Stop", {"background_tasks": WORK}, False),
    "the end": (True, ACTIVE, "SessionEnd", {"reason": "other"}, True),
    "the end with a debt": (True, OWING, "SessionEnd", {}, False),
}


@pytest.mark.parametrize(("tickets", "state", "name", "fields", "taken"), ENDS.values(), ids=ENDS)
def test_a_stop_and_an_end(place, tickets, state, name, fields, taken):
    place.prepare(tickets=tickets)
    place.full("session-start", place.start())
    place.change(**state)
    event = {"Stop": "stop", "SessionEnd": "session-end"}[name]
    short, full = place.both_ways(event, place.payload(name, **fields))
    assert short == (full if taken else None)
