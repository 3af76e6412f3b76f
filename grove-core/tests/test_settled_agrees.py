"""The short way of a stop and of a session's end does what the full way would do, byte for byte."""

import json
import os
import shutil
import subprocess
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grove_core.clock import format_instant
from grove_core.codec import session_from_json, session_to_json
from grove_core.hooks import dispatch, plain_session
from grove_core.hooks import settled as short_way

NOW = datetime(2026, 2, 6, 12, 0, tzinfo=UTC)
GIT = ("git", "-c", "user.name=Dev", "-c", "user.email=dev@example.org")
TICKET = {
    "ticket_id": "bd-1",
    "title": "Mend it",
    "source": "beads",
    "description": "",
    "labels": [],
    "detected_at": None,
}
SHOWN = {"summary": "s", "score": 0.5, "injected_at": "2026-02-06T10:00:00Z", "via": "start"}


class Place:
    """A project and a home, and one session that has just started."""

    def __init__(self, folder, *, kind):
        self.folder = folder
        self.project, self.home = folder / "project", folder / "home"
        self.project.mkdir(parents=True)
        subprocess.run([*GIT, "init", "-q", "."], cwd=self.project, check=True)
        (self.project / "kept.txt").write_text("one\n")
        if kind != "uninvited":
            (self.project / ".grove").mkdir()
        if kind == "tickets":
            (self.project / ".beads").mkdir()
            (self.project / ".beads" / "metadata.json").write_text("{}")
        subprocess.run([*GIT, "add", "-A"], cwd=self.project, check=True)
        subprocess.run([*GIT, "commit", "-qm", "first"], cwd=self.project, check=True)
        self.environment = {
            "HOME": str(folder),
            "GROVE_HOME": str(self.home),
            "GROVE_HOOKS_DEADLINE_MS": "60000",
        }
        self.patch = pytest.MonkeyPatch()
        self.full("session-start", {"hook_event_name": "SessionStart", "source": "startup"})

    def payload(self, fields):
        return json.dumps({"session_id": "s-1", "cwd": str(self.project), **fields}).encode()

    def full(self, event, fields):
        return dispatch.respond(event, self.payload(fields), self.environment)

    def short(self, event, fields):
        return short_way.settle(event, self.payload(fields), str(self.home), "s-1")

    @property
    def state(self):
        return self.home / "sessions" / "s-1.json"

    def document(self):
        return json.loads(self.state.read_text())

    def change(self, **fields):
        document = self.document()
        gate = fields.pop("gate", {})
        changed = {**document, **fields, "gate": {**document["gate"], **gate}}
        content = json.dumps(changed, separators=(",", ":")).encode()
        # Stored sessions have one shape; what the table writes shortly gets it here.
        current = changed["schema_version"] == document["schema_version"]
        self.state.write_bytes(session_to_json(session_from_json(content)) if current else content)

    def everything(self):
        """What the hooks own, but for files of derived data that both ways may keep."""
        kept = [
            path
            for path in (*self.home.rglob("*"), *(self.project / ".grove").rglob("*"))
            if path.is_file()
        ]
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in kept
            if "plugins" not in path.name
        }


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dispatch, "now_utc", lambda: NOW)
        patch.setattr(plain_session, "now_text", lambda: format_instant(NOW))
        patch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
        folder = tmp_path_factory.mktemp("settled")
        yield {
            kind: Place(folder / kind, kind=kind) for kind in ("tickets", "changes", "uninvited")
        }


@pytest.fixture
def kept(places):
    """Puts every place back as it was."""
    before = {kind: place.folder.with_name(f"{kind}.kept") for kind, place in places.items()}
    for kind, copy in before.items():
        if not copy.exists():
            shutil.copytree(places[kind].folder, copy, symlinks=True)
    return before


def restore(place, copy):
    """Files as they were, times included: a changed time would be a change of the configuration."""
    place.patch.undo()
    shutil.rmtree(place.folder)
    shutil.copytree(copy, place.folder, symlinks=True)


def both_ways(place, copy, change, event, fields):
    """The files after the short way (``None`` when it leaves it to the full one), and after the full way."""
    restore(place, copy)
    change(place)
    before = place.everything()
    done = place.short(event, fields)
    short = place.everything()
    if done is None:
        assert short == before, "what is left to the full way must be left alone"
    restore(place, copy)
    change(place)
    answer = place.full(event, fields)
    assert done is None or (done, answer.exit_code, answer.stdout, answer.stderr) == (0, 0, "", "")
    return (None if done is None else short), place.everything()


def end(reason="other"):
    return "session-end", {"hook_event_name": "SessionEnd", "reason": reason}


def stop(**fields):
    return "stop", {"hook_event_name": "Stop", "stop_hook_active": False, **fields}


def shown(*outcomes):
    return [
        {**SHOWN, "learning_id": f"cl_{number}", "personal": number % 2 == 1, "outcome": outcome}
        for number, outcome in enumerate(outcomes)
    ]


def edit(lines):
    def change(place):
        (place.project / "kept.txt").write_text("one\n" + "more\n" * lines)
        os.utime(
            place.project / "kept.txt", (1_000_000_000, 1_000_000_000)
        )  # it is part of the key

    return change


def measured(lines):
    """As after an earlier stop that had counted the lines."""

    def change(place):
        edit(lines)(place)
        place.full(*stop())

    return change


def state(**fields):
    return lambda place: place.change(**fields)


SHORT = {
    "a ticket project, idle": ("tickets", state(), stop()),
    "a ticket in progress": ("tickets", state(gate={"status": "active", "ticket": TICKET}), stop()),
    "reflected": ("tickets", state(gate={"status": "reflected"}), stop()),
    "skipped": ("tickets", state(gate={"status": "skipped"}), stop(stop_hook_active=True)),
    "an uninvited project": ("uninvited", state(), stop()),
    "session mode, nothing changed": ("changes", state(), stop()),
    "session mode, a small change that was counted": ("changes", measured(3), stop()),
    "session mode, reflected": ("changes", state(gate={"status": "reflected"}), stop()),
    "session mode, a ticket in progress": (
        "changes",
        state(gate={"status": "active", "ticket": TICKET}),
        stop(),
    ),
    "a full trace": (
        "tickets",
        lambda place: place.change(
            trace={"events": [place.document()["trace"]["events"][0]] * 500, "dropped": 7}
        ),
        stop(),
    ),
    "the end": ("tickets", state(), end()),
    "the end of a ticket in progress": (
        "tickets",
        state(gate={"status": "active", "ticket": TICKET}),
        end("clear"),
    ),
    "the end with dismissals": (
        "tickets",
        state(injected=shown("pending", "pending", "referenced", "dismissed")),
        end("prompt_input_exit"),
    ),
    "the end, uninvited, with dismissals": (
        "uninvited",
        state(injected=shown("pending", "pending")),
        end(),
    ),
    "the end in session mode": ("changes", state(injected=shown("pending")), end()),
    "the end with a small change": ("changes", measured(3), end()),
    "the end with a change of one line": ("changes", measured(1), end()),
    "the end with a change that is too large to be small": (
        "changes",
        state(measurement={"key": "1-0", "lines": 70, "small": False}),
        end(),
    ),
    "the end without a reason": ("changes", state(), end("")),
}
FULL = {
    "a debt": ("tickets", state(gate={"status": "pending"}), stop()),
    "a close that waits": ("tickets", lambda place: place.change(unproven=[{"system": "beads", "ticket_id": "x", "title": "", "directory": None}]), stop()),
    "background work": ("tickets", state(), stop(background_tasks=[{"id": "b1", "type": "shell", "status": "running"}])),
    "background work that has ended": ("tickets", state(gate={"seen_shells": ["b1"]}), stop()),
    "an edited configuration": ("tickets", lambda place: (place.project / ".grove" / "config.toml").write_text("[gate]\nsession = 'never'\n"), stop()),
    "a project initialised since": ("uninvited", lambda place: (place.project / ".grove").mkdir(), stop()),
    "a ticket system that has gone": ("tickets", lambda place: shutil.rmtree(place.project / ".beads"), stop()),
    "a .grove that has come above": ("uninvited", lambda place: (place.folder / ".grove").mkdir(), stop()),
    "a setting of the environment": ("tickets", lambda place: place.patch.setenv("GROVE_GATE_SESSION", "never"), stop()),
    "more dismissals than the trace can name": ("tickets", state(injected=shown(*["pending"] * 90)), end()),
    "a change that is not counted yet": ("changes", edit(2), stop()),
    "a large change": ("changes", edit(60), stop()),
    "a state of an older grove": ("tickets", state(surroundings=None), stop()),
    "a state of a newer grove": ("tickets", state(schema_version=2), stop()),
    "a state that lacks a field": ("tickets", lambda place: place.state.write_text(json.dumps({key: value for key, value in place.document().items() if key != "intents"})), stop()),
    "no JSON": ("tickets", lambda place: place.state.write_text("{"), stop()),
    "the end with a debt": ("tickets", state(gate={"status": "pending"}), end()),
    "the end after a breaker": ("tickets", state(gate={"broken_cycles": [{"tickets": [], "broken_at": "2026-02-06T10:00:00Z", "blocks": 3}]}), end()),
    "the end after a recovery": ("tickets", state(recovered_from="somewhere"), end()),
    "the end for a reason of several lines": ("tickets", state(), end("a\nb")),
}  # fmt: skip


@pytest.mark.parametrize("case", SHORT)
def test_what_is_settled_is_done_the_short_way_as_the_full_way_would(places, kept, case):
    kind, change, (event, fields) = SHORT[case]
    short, full = both_ways(places[kind], kept[kind], change, event, fields)
    assert short == full


@pytest.mark.parametrize("case", FULL)
def test_what_is_not_plainly_settled_is_left_to_the_full_way_untouched(places, kept, case):
    kind, change, (event, fields) = FULL[case]
    short, _ = both_ways(places[kind], kept[kind], change, event, fields)
    assert short is None


def test_a_plugin_that_observes_the_gate_is_told_of_a_tickets_end(places, kept):
    place = places["tickets"]
    surroundings = {**place.document()["surroundings"], "observed": True}
    change = state(gate={"status": "active", "ticket": TICKET}, surroundings=surroundings)
    assert both_ways(place, kept["tickets"], change, *end())[0] is None


statuses = st.sampled_from(["idle", "active", "reflected", "skipped", "pending", "blocked"])
outcomes = st.lists(
    st.sampled_from(["pending", "referenced", "dismissed", "corrected"]), max_size=4
)


def measurement_of(key, lines):
    """As the gate leaves one: what is small follows from the lines."""
    return {"key": key, "lines": lines, "small": bool(lines) and lines <= 5}


measurements = st.none() | st.builds(
    measurement_of, st.sampled_from(["1-0", "2-1"]), st.none() | st.integers(0, 9)
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    kind=st.sampled_from(["tickets", "changes", "uninvited"]),
    status=statuses,
    injected=outcomes,
    measurement=measurements,
    shells=st.lists(st.just("b1"), max_size=1),
    how=st.one_of(st.builds(end, st.sampled_from(["", "other", "clear", "odd words"])), st.builds(stop, stop_hook_active=st.booleans(), prompt_id=st.none() | st.just("p"))),
)  # fmt: skip
def test_both_ways_agree_whatever_the_session(  # noqa: PLR0917 - hypothesis gives them by name
    places, kept, kind, status, injected, measurement, shells, how
):
    gate = {"status": status, "seen_shells": shells}
    if status in ("pending", "blocked"):
        gate["cycle"] = {"tickets": [TICKET], "opened_at": "2026-02-06T10:00:00Z", "before": "idle"}
    change = state(gate=gate, injected=shown(*injected), measurement=measurement)
    short, full = both_ways(places[kind], kept[kind], change, *how)
    assert short is None or short == full
