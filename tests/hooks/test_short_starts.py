"""Starts by the real process while nothing has changed: short, and never at the price of an answer."""

import json
import os
import re
import shutil
import sqlite3
from contextlib import contextmanager

import pytest

ABOUT_ORDERS = "OrderReport.rows() runs one query per order unless prefetched"
COUNTING = """
from pathlib import Path
from grove_core import Detection, Ticket, TicketProbe, hookimpl

def note(what):
    with Path({notes!r}).open("a") as file:
        file.write(what + "\\n")
"""
ASKED_FOR_WORDS = """
@hookimpl
def grove_query_terms(project, ticket):
    note("words")
    return []
"""
HEARS_OF_THE_GATE = """
@hookimpl
def grove_gate_changed(session, before, after, cause):
    note("gate")
"""
TICKETS = """
def current_ticket(context):
    note("ticket")
    return Ticket(ticket_id="x-1", source="acme", title="Orders")

@hookimpl
def grove_ticket_probes():
    detect = lambda context: Detection(marker="always")
    return [TicketProbe(name="acme", detect=detect, current_ticket=current_ticket{more})]
"""


class Plugin:
    """A third party's plugin that notes down when it is asked."""

    def __init__(self, world):
        self.world = world
        self.notes = world.others / "notes"

    def install(self, source, group="grove.plugins"):
        self.world.others.mkdir(parents=True, exist_ok=True)
        self.world.install_plugin("acme", COUNTING.format(notes=str(self.notes)) + source, group)

    def said(self):
        return self.notes.read_text().split() if self.notes.exists() else []


@pytest.fixture
def plugin(world):
    return Plugin(world)


@pytest.fixture
def project(world):
    world.initialise()
    world.learning("cl_20300102_aaaaaa", ABOUT_ORDERS)
    return world


def lives(world, number):
    """A session that starts and ends; what its start showed."""
    agent = world.agent(f"session-{number}")
    shown = agent.starts()
    agent.ends()
    return shown


def notes_of(world):
    return [path.read_bytes() for path in (world.grove_home / "cache/starts").glob("*.json")]


def is_short(world, number):
    """Whether a start leaves no note, as the full way does each time it may."""
    for path in (world.grove_home / "cache/starts").glob("*.json"):
        path.write_text(path.read_text() + " ")
    before = notes_of(world)
    lives(world, number)
    return bool(before) and notes_of(world) == before


def settled(world):
    """Sessions until nothing is left to be done: what was installed just now is no sure thing yet."""
    return next(number for number in range(20) if number > 1 and is_short(world, number))


def test_a_start_while_nothing_has_changed_is_short_and_says_the_same(project):
    number = settled(project)
    shown = lives(project, number + 1)
    assert ABOUT_ORDERS in shown
    session = project.session(f"session-{number + 1}")
    assert session["injected"][0]["learning_id"] == "cl_20300102_aaaaaa"
    assert session["baseline"] is None  # it has ended
    project.learning("cl_20300102_bbbbbb", "Orders are exported at night")
    assert "exported at night" in lives(project, number + 2)


def test_what_the_client_asks_for_is_done(project):
    number = settled(project)
    variables = {"CLAUDE_PID": 7, "CLAUDE_ENV_FILE": project.others / "environment"}
    project.others.mkdir(exist_ok=True)
    agent = project.agent("session-new")
    shown = agent.starts(variables=variables) if number else ""
    assert ABOUT_ORDERS in shown
    assert project.session("session-new")["process_id"] == 7
    line = (project.others / "environment").read_text()
    assert line == "export GROVE_SESSION_ID=session-new\n"


def test_a_session_that_died_is_told_of_by_the_next_start(project):
    number = settled(project)
    agent = project.agent("session-dead")
    agent.starts()
    path = project.grove_home / "sessions" / "session-dead.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "process_id": 999_999_999}))
    lives(project, number + 1)
    outcomes = [one["outcome"] for one in project.session("session-dead")["injected"]]
    assert outcomes == ["dismissed"]


@pytest.mark.parametrize(
    ("source", "said"), [(ASKED_FOR_WORDS, "words"), (TICKETS.format(more=""), "ticket")]
)
def test_a_plugin_that_wants_to_be_asked_is_asked_each_time(project, plugin, source, said):
    plugin.install(source, "grove.tickets" if said == "ticket" else "grove.plugins")
    for number in range(4):
        lives(project, number)
    assert plugin.said().count(said) == 4


def test_a_plugin_that_hears_of_the_gate_hears_of_each_ticket(beads, plugin):
    beads.start_ticket("bd-1", title="Orders")
    beads.learning("cl_20300102_aaaaaa", ABOUT_ORDERS)
    plugin.install(HEARS_OF_THE_GATE)
    for number in range(3):
        beads.agent(f"session-{number}").starts()
    assert plugin.said().count("gate") == 3


SOURCES = {
    "a file": ("lambda context: [context.root / 'tickets.txt']", True),
    "nothing": ("lambda context: []", True),
    "no telling": ("lambda context: None", False),
    "no paths": ("lambda context: ['tickets.txt']", False),
    "a relative path": ("lambda context: [Path('tickets.txt')]", False),
    "a fault": ("lambda context: 1 / 0", False),
    "all of the environment": ("lambda context: [] if dict(context.environment) else []", False),
}


@pytest.mark.parametrize("case", SOURCES)
def test_a_ticket_system_is_asked_unless_it_says_what_it_reads(project, plugin, case):
    function, trusted = SOURCES[case]
    plugin.install(TICKETS.format(more=f", sources={function}"), "grove.tickets")
    if trusted:
        settled(project)
    else:
        lives(project, 0)
        lives(project, 1)
    before = len(plugin.said())
    assert lives(project, 30)
    assert len(plugin.said()) == before + (not trusted)
    assert project.session("session-30")["gate"]["ticket"]["ticket_id"] == "x-1"


def test_what_a_ticket_system_reads_is_watched_with_the_variables(project, plugin):
    function = "lambda context: [context.root / 'tickets.txt', Path(context.environment.get('ACME') or '/x')]"
    plugin.install(TICKETS.format(more=f", sources={function}"), "grove.tickets")
    settled(project)
    before = len(plugin.said())
    (project.project / "tickets.txt").write_text("one")
    lives(project, 30)
    assert len(plugin.said()) == before + 1
    project.environment["ACME"] = "/y"
    lives(project, 31)
    assert len(plugin.said()) == before + 2


def test_a_list_of_tasks_that_sessions_share_is_seen(project):
    """The directory of the client's tasks has the session's name, unless a variable names it."""
    settled(project)
    directory = project.home / ".claude" / "tasks" / "session-30"
    directory.mkdir(parents=True)
    task = {"id": "1", "subject": "Orders", "status": "in_progress"}
    (directory / "1.json").write_text(json.dumps(task))
    agent = project.agent("session-30")
    agent.starts()
    assert project.session("session-30")["ticket_system"] == "tasks"


def test_nothing_is_told_of_secrets(project, plugin):
    function = "lambda context: [Path(context.environment.get('ACME_TOKEN') or '/x')]"
    plugin.install(TICKETS.format(more=f", sources={function}"), "grove.tickets")
    project.environment["ACME_TOKEN"] = "/hunter2-hunter2"
    settled(project)
    texts = [one.decode() for one in notes_of(project)]
    assert texts
    assert not any(re.search(r"ACME_TOKEN=", one) for one in texts)
    kept = [*project.grove_home.glob("cache/starts/*"), *project.grove_home.rglob("recall.json")]
    assert {path.stat().st_mode & 0o777 for path in kept} == {0o600}


FOUND_ELSEWHERE = """
from grove_core import TicketProbe

def detect(context):
    return Detection(marker="acme") if {where} else None

def current_ticket(context):
    return Ticket(ticket_id="x-1", source="acme", title="Orders")

@hookimpl
def grove_ticket_probes():
    return [TicketProbe(name="acme", detect=detect, paths=(".acme",), {more})]
"""


def configure(world, text):
    (world.project / ".grove/config.toml").write_text(text)


IN_A_FILE = "(context.root / 'elsewhere').exists()"


@pytest.mark.parametrize("more", ["", "current_ticket=current_ticket"])
def test_a_ticket_system_that_does_not_say_what_it_reads_is_seen_when_it_comes(
    project, plugin, more
):
    plugin.install(FOUND_ELSEWHERE.format(where=IN_A_FILE, more=more), "grove.tickets")
    for number in range(3):
        lives(project, number)
    assert project.session("session-2")["ticket_system"] == "session"
    (project.project / "elsewhere").touch()
    lives(project, 30)
    assert project.session("session-30")["ticket_system"] == "acme"


@pytest.mark.parametrize("how", ["participation=Participation.ENABLED", "blocked"])
def test_a_ticket_system_that_cannot_count_is_in_nobody_s_way(project, plugin, how):
    more = "" if how == "blocked" else how
    source = FOUND_ELSEWHERE.format(where=IN_A_FILE, more=more)
    plugin.install(f"from grove_core import Participation\n{source}", "grove.tickets")
    if how == "blocked":
        configure(project, "[ticketing.overrides]\nacme = false\n")
    settled(project)


def test_patterns_of_the_configuration_are_in_nobody_s_way(project):
    configure(project, '[[ticketing.patterns]]\nname = "acme"\ncommand = "acme done {id}"\n')
    settled(project)
    assert lives(project, 30)
    assert project.session("session-30")["ticket_system"] == "acme"


BACKEND = """
import os
from grove_core import BackendSpec

class Backend:
    name = "acme"
    capabilities = frozenset()

    def write(self, learning): ...
    def ping(self): ...
    def search(self, query, filters):
        note("searched")
        return []

@hookimpl
def grove_memory_backends():
    detect = lambda context: Detection(marker="acme") if {where} else None
    return [BackendSpec(name="acme", detect=detect, open=lambda context: Backend(){more})]
"""
IN_A_FOLDER = "(context.root / 'acme/here').exists()"


def prompts(world, number):
    agent = world.agent(f"session-{number}")
    agent.starts()
    agent.asks("Why does OrderReport.rows() run one query per order?")


def test_a_backend_that_a_variable_makes_available_is_seen(project, plugin):
    plugin.install(BACKEND.format(where="os.environ.get('ACME')", more=""), "grove.backends")
    for number in range(3):
        prompts(project, number)
    assert not notes_of(project)
    assert not list(project.grove_home.rglob("recall.json"))
    project.environment["ACME"] = "1"
    prompts(project, 30)
    assert plugin.said()


@pytest.mark.parametrize("known", [True, False])
def test_a_backend_that_its_paths_make_available_is_seen(project, plugin, known):
    if known:
        (project.project / "acme").mkdir()
    plugin.install(BACKEND.format(where=IN_A_FOLDER, more=", paths=('acme',)"), "grove.backends")
    settled(project)
    (project.project / "acme").mkdir(exist_ok=True)
    (project.project / "acme/here").touch()
    prompts(project, 30)
    assert plugin.said()


# --- what hangs or fails --------------------------------------------------------------------------


@contextmanager
def busy(path):
    """A file that another process has for itself."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("BEGIN EXCLUSIVE")
    yield
    connection.execute("ROLLBACK")
    connection.close()


@pytest.mark.parametrize("name", ["index.sqlite", "stats.sqlite"])
def test_a_file_that_is_busy_holds_up_nobody(project, name):
    settled(project)
    (path,) = project.grove_home.rglob(name)
    agent = project.agent("session-30")
    with busy(path):
        assert ABOUT_ORDERS in agent.starts()
        agent.asks("Why does OrderReport.rows() run one query per order?")
    assert project.session("session-30")["injected"]


def test_the_client_s_file_may_be_a_pipe_that_nobody_reads(project):
    project.others.mkdir(exist_ok=True)
    pipe = project.others / "environment"
    os.mkfifo(pipe)
    for number in (0, 1, 2, 3):
        agent = project.agent(f"session-{number}")
        assert ABOUT_ORDERS in agent.starts(variables={"CLAUDE_ENV_FILE": pipe})
        agent.ends()


def test_what_cannot_be_noted_down_costs_no_answer(project):
    settled(project)
    (folder,) = project.grove_home.rglob("open-sessions")
    shutil.rmtree(folder)
    folder.write_text("in the way")
    assert is_short(project, 30)
    assert ABOUT_ORDERS in lives(project, 31)


def test_files_of_other_names_are_no_open_sessions(project):
    settled(project)
    (folder,) = project.grove_home.rglob("open-sessions")
    (folder / ".of nobody").touch()
    for number in range(40, 62):
        project.agent(f"session-{number}").starts()
    assert is_short(project, 30)


def test_what_hangs_is_left_to_the_full_way(project):
    """The note of the start is a pipe that nobody writes to."""
    settled(project)
    (note,) = (project.grove_home / "cache/starts").glob("*.json")
    note.unlink()
    os.mkfifo(note)
    assert ABOUT_ORDERS in lives(project, 30)
