"""The short ways of a start and of a prompt do what the full ways would do, byte for byte."""

import json
import os
import subprocess
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest

from grove_core import finder, work_at_hand, workspace
from grove_core.clock import format_instant
from grove_core.flow import work_query
from grove_core.hooks import dispatch, fast, plain_session, prompted, started
from grove_core.hooks.settled import settle
from grove_core.retrieval import relevance

NOW = datetime(2026, 2, 6, 12, 0, tzinfo=UTC)
GIT = ("git", "-c", "user.name=Dev", "-c", "user.email=dev@example.org")
ISSUE = {
    "type": "issue",
    "id": "app-1",
    "rev": "01",
    "title": "The export of orders is slow",
    "body": "OrderStore.export() takes minutes with large orders",
    "status": "in_progress",
    "tags": ["Orders", "export"],
    "updated_at": 1_900_000_000_000,
}
# What is derived, and may differ between two ways to the same end.
DERIVED = ("recall.json", "starts", "plugins", ".sqlite", "index.lock", "curation.lock")
NEW = "new-session"


class Place:
    """A project and a home; sessions have been started there before."""

    def __init__(self, folder, patch):
        self.folder, self.patch = folder, patch
        self.project, self.home = folder / "project", folder / "home" / ".grove"
        self.project.mkdir(parents=True)
        self.home.mkdir(parents=True)
        self.cwd = self.project
        self.said = []
        self.now = NOW
        self.payload_fields = {}
        self.learnings = 0
        for name in [one for one in os.environ if one.startswith(("GROVE_", "GIT_", "CLAUDE"))]:
            patch.delenv(name)
        for name, value in {
            "HOME": folder / "home",
            "GROVE_HOME": self.home,
            "GROVE_HOOKS_DEADLINE_MS": "60000",
            "GIT_CONFIG_GLOBAL": os.devnull,
        }.items():
            patch.setenv(name, str(value))
        patch.setattr(dispatch, "now_utc", lambda: self.now)
        clock = SimpleNamespace(time=self.seconds)
        patch.setattr(started, "time", clock)
        patch.setattr(prompted, "time", clock)
        patch.setattr(plain_session, "now_text", lambda: format_instant(self.now))
        patch.setattr(fast, "say", lambda text, *_: self.said.append(text) or 0)
        # git may be slow while other tests run.
        patch.setattr(work_query, "STATUS_SECONDS", 30.0)
        patch.setattr(started, "STATUS_SECONDS", 30.0)
        patch.setattr(work_at_hand, "HISTORY_SECONDS", 30.0)

    def seconds(self):
        return self.now.timestamp()

    # --- the past -------------------------------------------------------------------------------

    def git(self, *words):
        subprocess.run([*GIT, *words], cwd=self.project, check=True, capture_output=True)

    def write(self, path, text):
        path = self.project / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def grove(self, config=""):
        self.write(".grove/config.toml", config)

    def learning(self, summary, *, personal=False, **fields):
        """Writes a learning as the markdown backend keeps it."""
        self.learnings += 1
        values = {
            "category": "pitfall",
            "scope": "personal" if personal else "project",
            "confidence": "high",
            "status": "active",
            "criteria": "stable_fact",
            "tags": "orders, export",
            "created": "2026-02-01T10:00:00Z",
            **fields,
        }
        lines = [f"### [cl_learning_{self.learnings}] {summary}"]
        lines += [f"- **{name.capitalize()}:** {value}" for name, value in values.items()]
        text = "\n".join(lines) + f"\n\n> {summary}, and that is all.\n\n"
        path = (
            self.home / "personal-learnings.md"
            if personal
            else self.project / ".grove/learnings.md"
        )
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as file:
            file.write(text)

    def ticket(self, **fields):
        self.write(".tissue/issues.jsonl", json.dumps({**ISSUE, **fields}) + "\n")

    def branch(self):
        self.git("init", "-q", "-b", "main", "--template=")
        self.write("app/orders/export.py", "one\n")
        self.write("app/orders/store.py", "one\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "first")
        self.git("switch", "-qc", "feature/orders-export")
        self.write("app/orders/store.py", "one\ntwo\n")
        self.git("commit", "-qam", "Prefetch the rows of large orders")

    # --- hooks ----------------------------------------------------------------------------------

    def payload(self, event, session_id, **fields):
        transcript = str(self.folder / f"{session_id}.jsonl")
        known = {"session_id": session_id, "cwd": str(self.cwd), "transcript_path": transcript}
        return json.dumps({"hook_event_name": event, **known, **fields}).encode()

    def full(self, event, data):
        answer = dispatch.respond(event, data, os.environ)
        assert (answer.exit_code, answer.stderr) == (0, "")
        return answer.stdout

    def short(self, event, data, session_id=NEW):
        """What the short way prints, or `None` when it leaves the hook to the full way."""
        self.said.clear()
        code = settle(event, data, str(self.home), session_id)
        assert code in (0, None)
        return None if code is None else "".join(self.said)

    def live(self, session_id):
        """A session that starts and ends the full way, and so leaves notes."""
        fields = {"source": "startup"}
        shown = self.full("session-start", self.payload("SessionStart", session_id, **fields))
        self.full("session-end", self.payload("SessionEnd", session_id, reason="other"))
        return shown

    def settle_down(self):
        """Sessions until nothing is left to be done but to show learnings."""
        self.live("earlier-1")
        return self.live("earlier-2")

    # --- what is left behind --------------------------------------------------------------------

    def everything(self):
        return {
            path: path.read_bytes()
            for folder in (self.home, self.project / ".grove", self.folder / "others")
            for path in folder.rglob("*")
            if path.is_file() and not any(one in str(path) for one in DERIVED)
        }

    def put_back(self, before):
        """The files as they were; those that nobody touched keep their times."""
        now = self.everything()
        for path in now.keys() - before.keys():
            path.unlink()
        for path, content in before.items():
            if now.get(path) != content:
                path.write_bytes(content)

    def both_ways(self, event, data, session_id=NEW):
        """What is printed and left behind: the short way's (`None` if not taken), the full way's."""
        before = self.everything()
        said = self.short(event, data, session_id)
        short = self.everything()
        if said is None:
            assert short == before, "what is left to the full way must be left alone"
        self.put_back(before)
        full = self.full(event, data), self.everything()
        return (None if said is None else (said, short)), full

    def start(self, session_id=NEW, **fields):
        fields = {"source": "startup", **self.payload_fields, **fields}
        return self.payload("SessionStart", session_id, **fields)


@pytest.fixture
def place(tmp_path, monkeypatch):
    place = Place(tmp_path, monkeypatch)
    for module in (relevance, finder):
        monkeypatch.setattr(module, "FLOOR", 1e-9)
    return place


# --- the worlds: each prepares a project --------------------------------------------------------


def ticket_mode(place, config=""):
    place.branch()
    place.grove(config)
    place.ticket()
    place.learning("OrderStore.export() runs a query for each row", files="app/orders/store.py")
    place.learning("Large orders are exported in pages of 500 rows", category="convention")
    place.learning("LoginForm.clean() must not log the token", tags="login")
    place.learning("Exports of orders need the schema's columns", personal=True)
    place.write("app/orders/export.py", "one\nthree\n")
    place.write("notes of mine.txt", "Measure the export.\n")


def without_git(place):
    place.grove()
    place.learning("Orders are exported at night", created="2026-02-02T10:00:00Z")
    place.learning("Orders are exported in pages")
    place.learning("Of all projects", personal=True)


def session_mode(place):
    place.branch()
    place.grove()
    place.learning("OrderStore.export() runs a query for each row", files="app/orders/store.py")
    place.write("app/orders/export.py", "one\nthree\n")
    place.write("image.bin", "a\0b")
    (place.project / "app/orders/store.py").unlink()
    (place.project / "link").symlink_to("nowhere")
    (place.folder / f"{NEW}.jsonl").write_text("{}\n")


def nothing_known(place):
    place.git("init", "-q", "-b", "main", "--template=")
    place.grove()
    place.learning("Orders are exported at night")
    place.git("add", "-A")
    place.git("commit", "-qm", "first")


def crowded(place):
    """Nothing is known of the work, and the newest learnings are of other projects."""
    nothing_known(place)
    for number in range(60):
        created = f"2026-02-03T10:00:{number:02}Z"
        place.learning(f"Of all projects, number {number}", personal=True, created=created)


def empty(place):
    ticket_mode(place)
    (place.project / ".grove/learnings.md").unlink()
    (place.home / "personal-learnings.md").unlink()


def uninvited(place):
    place.branch()
    place.ticket()
    place.learning("Exports of orders need the schema's columns", personal=True)


def beads(place):
    place.grove()
    place.learning("OrderStore.export() runs a query for each row")
    issue = {"id": "bd-1", "status": "in_progress", "title": "Orders export", "labels": ["x"]}
    place.write(".beads/metadata.json", "{}")
    place.write(".beads/issues.jsonl", json.dumps(issue) + "\n")
    place.write(".beads/last-touched", "bd-1\n")


def below_the_root(place):
    ticket_mode(place)
    place.cwd = place.project / "app"


def project_in_a_repository(place):
    """The project lies below the top of the work tree."""
    place.branch()
    place.project /= "app"
    place.cwd = place.project
    place.grove()
    place.ticket()
    place.learning("Orders are exported at night", files="orders/store.py")
    place.write("orders/export.py", "one\nthree\n")


def through_a_link(place):
    ticket_mode(place)
    place.cwd = place.folder / "link"
    place.cwd.symlink_to(place.project)


def nothing_fits(place):
    ticket_mode(place)
    for module in (relevance, finder):
        place.patch.setattr(module, "FLOOR", 1.0)


def client_s_own(place):
    ticket_mode(place)
    place.patch.setenv("CLAUDE_PID", str(os.getpid()))
    (place.folder / "others").mkdir()
    place.patch.setenv("CLAUDE_ENV_FILE", str(place.folder / "others" / "environment"))
    place.payload_fields = {"prompt_id": "prompt-1"}


def another_that_goes_on(place):
    ticket_mode(place)
    data = place.payload("SessionStart", "another", source="startup")
    place.full("session-start", data)


def without_learnings_of_files(place):
    ticket_mode(place, "[retrieval]\non_file = false\n")


def conservative_by_the_title(place):
    """Nothing but words of the ticket's title says which tags are asked for."""
    place.git("init", "-q", "-b", "main", "--template=")
    place.grove("[retrieval]\nstrategy = 'conservative'\n")
    place.ticket(tags=[])
    place.learning("Orders are exported at night", tags="orders")
    place.learning("Large orders are exported in pages", tags="pages")
    place.git("add", "-A")
    place.git("commit", "-qm", "first")


WORLDS = {
    "a ticket": ticket_mode,
    "no ticket in progress": lambda place: (ticket_mode(place), place.ticket(status="open")),
    "conservative": lambda place: ticket_mode(place, "[retrieval]\nstrategy = 'conservative'\n"),
    "conservative by the title": conservative_by_the_title,
    "little room": lambda place: ticket_mode(place, "[retrieval]\nmax_chars = 500\n"),
    "no room": lambda place: ticket_mode(place, "[retrieval]\nmax_chars = 200\n"),
    "one at most": lambda place: ticket_mode(place, "[retrieval]\nmax_injections = 1\n"),
    "none at all": lambda place: ticket_mode(place, "[retrieval]\nmax_injections = 0\n"),
    "spread": lambda place: ticket_mode(place, "[storage]\nlayout = 'spread'\n"),
    "no watch on files": without_learnings_of_files,
    "nothing fits": nothing_fits,
    "session mode": session_mode,
    "without git": without_git,
    "nothing known of the work": nothing_known,
    "crowded": crowded,
    "no learnings": empty,
    "uninvited": uninvited,
    "beads": beads,
    "below the root": below_the_root,
    "below the top": project_in_a_repository,
    "through a link": through_a_link,
    "what the client says besides": client_s_own,
    "another session that goes on": another_that_goes_on,
}
SILENT = {"no room", "none at all", "nothing fits", "no learnings"}


@pytest.mark.parametrize("source", ["startup", "clear"])
@pytest.mark.parametrize("world", WORLDS)
def test_a_start_does_the_short_way_what_it_would_the_full_way(place, world, source):
    WORLDS[world](place)
    shown = place.settle_down()
    assert bool(shown) is (world not in SILENT)
    short, full = place.both_ways("session-start", place.start(source=source))
    assert short == full


def test_what_was_shown_often_sinks_both_ways(place):
    ticket_mode(place)
    for number in range(3):
        place.live(f"earlier-{number}")
    for number in range(3):
        data = place.payload("SessionStart", f"short-{number}", source="startup")
        short, full = place.both_ways("session-start", data, f"short-{number}")
        assert short == full
        end = place.payload("SessionEnd", f"short-{number}", reason="other")
        assert place.short("session-end", end, f"short-{number}") == ""


# --- what is not for the short way --------------------------------------------------------------


def with_config(text):
    return lambda place: place.write(".grove/config.toml", text)


def another_session(**changes):
    """Another session of the project, as it may have been left."""

    def change(place):
        data = place.payload("SessionStart", "another", source="startup")
        place.full("session-start", data)
        path = place.home / "sessions" / "another.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    return change


def corrected(place):
    event = {"v": 1, "ts": "2026-02-06T11:00:00Z", "grove": "0", "session_id": "earlier-2"}
    surfaced = {**event, "event": "surfaced", "learning_id": "cl_learning_1", "via": "start"}
    wrong = {**event, "event": "corrected", "learning_id": "cl_learning_1"}
    with (place.project / ".grove/stats.log").open("a") as file:
        file.write(json.dumps(surfaced | {"score": 0.5}) + "\n" + json.dumps(wrong) + "\n")


def later(**time):
    def change(place):
        place.now = NOW + timedelta(**time)

    return change


def old_note(place):
    for path in (place.home / "cache/starts").iterdir():
        os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 3601))


def known_session(place):
    data = place.payload("SessionStart", NEW, source="startup")
    place.full("session-start", data)


REASONS = {
    "a new ticket in progress": lambda place: place.ticket(title="Another matter"),
    "a ticket system that has gone": lambda place: (place.project / ".tissue/issues.jsonl").unlink(),
    "a ticket system that has come": lambda place: place.write(".tickets/a-1.md", "---\nid: a-1\n---\n"),
    "a variable that a ticket system reads": lambda place: place.patch.setenv("TISSUE_STORE", "/nowhere"),
    "a setting of the project": with_config("[retrieval]\nmax_injections = 1\n"),
    "a setting of the user": lambda place: (place.home / "config.toml").write_text("[retrieval]\nmax_chars = 1000\n"),
    "a setting of the environment": lambda place: place.patch.setenv("GROVE_RETRIEVAL_MAX_CHARS", "900"),
    "a learning more": lambda place: place.learning("Orders are exported at night"),
    "a personal learning more": lambda place: place.learning("Orders of mine", personal=True),
    "what another backend may be found by": lambda place: place.write(".mcp.json", "{}"),
    "a project nearer to the agent": lambda place: (place.project / "app/.grove").mkdir(),
    "a work tree nearer to the agent": lambda place: (place.project / "app/.git").mkdir(),
    "another session that died": another_session(process_id=999_999_999),
    "another session that has ended": another_session(ended_at="2026-02-06T12:00:00Z"),
    "another session that was left": another_session(updated_at="2026-02-05T11:00:00Z"),
    "another session of a newer grove": another_session(schema_version=2),
    "another session that cannot be read": lambda place: (
        another_session()(place),
        (place.home / "sessions" / "another.json").write_text("{"),
    ),
    "a learning that was corrected": corrected,
    "decay that is due": later(days=1),
    "a clock that went back": later(days=-1),
    "an index that is gone": lambda place: [one.unlink() for one in place.home.rglob("index.sqlite*")],
    "an index that is damaged": lambda place: [one.write_bytes(b"?" * 4096) for one in place.home.rglob("index.sqlite*")],
    "a note that is old": old_note,
    "a note that is torn": lambda place: [one.write_text("{") for one in (place.home / "cache/starts").iterdir()],
    "a note of another version": lambda place: [
        one.write_text(one.read_text().replace('"format": ', '"format": 9')) for one in (place.home / "cache/starts").iterdir()
    ],
    "a session that is known": known_session,
}  # fmt: skip


@pytest.mark.parametrize("reason", REASONS)
def test_what_is_unusual_is_left_to_the_full_way(place, reason):
    ticket_mode(place)
    place.cwd = place.project / "app"
    place.settle_down()
    REASONS[reason](place)
    assert place.both_ways("session-start", place.start())[0] is None


@pytest.mark.parametrize("fields", [
    {"source": "resume"}, {"source": "compact"}, {"source": "fork"}, {"source": "odd"},
    {"source": None}, {"cwd": ""}, {"cwd": "app"}, {"cwd": "/"},
])  # fmt: skip
def test_other_starts_are_left_to_the_full_way(place, fields):
    ticket_mode(place)
    place.settle_down()
    assert place.both_ways("session-start", place.start(**fields))[0] is None


@pytest.mark.parametrize(
    "config",
    ["[retrieval]\nstrategy = 'aggressive'\n", "[retrieval]\nengine = 'rules'\n", "odd = 1\n"],
)
def test_there_is_no_note_under_some_configurations(place, config):
    ticket_mode(place, config)
    place.settle_down()
    assert place.both_ways("session-start", place.start())[0] is None


def test_there_is_no_note_where_a_program_has_to_be_asked(place):
    beads(place)
    (place.project / ".beads/last-touched").unlink()
    place.settle_down()
    assert place.both_ways("session-start", place.start())[0] is None


def test_a_start_that_showed_a_correction_leaves_a_note_without_it(place):
    ticket_mode(place)
    corrected(place)
    assert "found wrong since" in place.settle_down()
    assert place.both_ways("session-start", place.start())[0] is None
    place.now = NOW + timedelta(days=7, hours=1)
    assert "found wrong since" not in place.settle_down()
    short, full = place.both_ways("session-start", place.start("another"), "another")
    assert short == full


# --- prompts ------------------------------------------------------------------------------------

PROMPTS = {
    "one that fits": "Why does OrderStore.export() run so many queries in app/orders/store.py?",
    "one that nothing fits": "Thank you.",
    "an empty one": " ",
    "a notification": "<task-notification> done",
}


@pytest.mark.parametrize("config", ["", "[retrieval]\non_prompt = false\n", "[retrieval]\nmax_per_session = 1\n"])  # fmt: skip
@pytest.mark.parametrize("prompt", PROMPTS)
def test_a_prompt_does_the_short_way_what_it_would_the_full_way(place, prompt, config):
    ticket_mode(place, f"{config or '[retrieval]'}\nmax_injections = 1\n")
    place.settle_down()
    assert place.short("session-start", place.start()) is not None
    for number in range(2):
        fields = {"prompt": PROMPTS[prompt], "prompt_id": f"prompt-{number}"}
        short, full = place.both_ways(
            "user-prompt-submit", place.payload("UserPromptSubmit", NEW, **fields)
        )
        assert short == full


def test_a_prompt_is_answered_once(place):
    """The client may hold two sets of hooks."""
    ticket_mode(place, "[retrieval]\nmax_injections = 1\nmax_per_prompt = 1\n")
    place.settle_down()
    place.full("session-start", place.start())
    fields = {"prompt": PROMPTS["one that fits"], "prompt_id": "prompt-0"}
    data = place.payload("UserPromptSubmit", NEW, **fields)
    assert place.short("user-prompt-submit", data)
    before = place.everything()
    assert place.short("user-prompt-submit", data) is None
    assert place.full("user-prompt-submit", data) == ""
    assert place.everything() == before


# --- notes of one moment ------------------------------------------------------------------------


def without_configuration(place, act):
    """Something that happens while the project's configuration is elsewhere."""
    path = place.project / ".grove/config.toml"
    path.rename(place.folder / "aside")
    act()
    (place.folder / "aside").rename(path)


def with_setting(place, act):
    place.patch.setenv("GROVE_RETRIEVAL_MAX_PER_PROMPT", "1")
    act()
    place.patch.delenv("GROVE_RETRIEVAL_MAX_PER_PROMPT")


def shown_in(said):
    return said.count("cl_learning_")


@pytest.mark.parametrize(
    ("config", "otherwise", "most"),
    [
        ("[retrieval]\nmax_per_prompt = 1\nmax_injections = 0\n", without_configuration, 1),
        ("[retrieval]\nmax_injections = 0\n", with_setting, 3),
    ],
)
def test_what_was_configured_for_one_prompt_alone_does_not_hold_for_the_next(
    place, config, otherwise, most
):
    ticket_mode(place, config)
    place.learning("OrderStore.export() orders the rows of store.py in app/orders")
    place.learning("OrderStore.export() runs with many queries in app/orders")
    place.full("session-start", place.start())
    fields = {"prompt": PROMPTS["one that fits"], "prompt_id": "prompt-0"}
    data = place.payload("UserPromptSubmit", "another", **fields)
    place.full("session-start", place.payload("SessionStart", "another", source="startup"))
    otherwise(place, lambda: place.full("user-prompt-submit", data))
    data = place.payload("UserPromptSubmit", NEW, **fields)
    short, full = place.both_ways("user-prompt-submit", data)
    assert shown_in(full[0]) == most
    assert short in (None, full)


def test_what_changes_while_the_configuration_is_read_leaves_no_note(place, monkeypatch):
    ticket_mode(place)
    place.settle_down()
    read = workspace.load_config

    def slow(*arguments):
        loaded = read(*arguments)
        place.write(".grove/config.toml", "[retrieval]\nmax_injections = 0\n")
        return loaded

    monkeypatch.setattr(workspace, "load_config", slow)
    assert place.full("session-start", place.start("late"))
    monkeypatch.setattr(workspace, "load_config", read)
    short, full = place.both_ways("session-start", place.start())
    assert short is None
    assert not full[0]
