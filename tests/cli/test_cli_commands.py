"""Every command as a process: what it prints, where, and how it exits."""

import json
import os
import re
import subprocess
import sys

import pytest

ONE = "cl_20300102_aaaaaa"
TWO = "cl_20300102_bbbbbb"
COMMANDS = [
    "init", "status", "reflect", "skip", "observe", "ref", "search", "list", "show", "tickets",
    "backends", "plugins", "hook",
]  # fmt: skip
READING = {
    "status": ("status",),
    "search": ("search", "orders"),
    "list": ("list",),
    "show": ("show", ONE),
    "tickets": ("tickets",),
    "tickets match": ("tickets", "match", "bd close bd-1"),
    "backends": ("backends",),
    "plugins": ("plugins",),
    "reflect --schema": ("reflect", "--schema"),
}
SHAPES = {
    "status": {"root", "home", "initialised", "session", "active_ticket_system", "backends"},
    "search": {"query", "count", "results"},
    "list": {"count", "total", "learnings"},
    "show": {"id", "category", "summary", "detail", "tags", "scope", "status", "usage"},
    "tickets": {"ticket", "systems"},
    "tickets match": {"closes"},
    "backends": {"backends", "personal"},
    "plugins": {"plugins", "problems"},
    "reflect --schema": {"$schema", "$defs"},
}


@pytest.fixture
def project(world):
    """A project with two learnings."""
    world.initialise()
    world.learning(ONE, "OrderReport.rows() runs one query per order", created="2030-01-01T00:00Z")
    world.learning(TWO, "LoginForm.clean() must not log the token", tags="login, token")
    return world


@pytest.fixture
def live(project):
    """The same with a live session."""
    project.agent().starts()
    return project


def assert_done(done):
    assert done.code == 0, done.stderr
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    return done


def assert_refused(world, *words, code=1, **variables):
    """A command that cannot do it: the reason on stderr, and as an object under `--json`."""
    done = world.grove(*words, **variables)
    assert (done.code, done.stdout) == (code, "")
    assert "Traceback" not in done.stderr
    if code == 1:
        assert done.stderr.startswith("grove: ")
        as_json = world.grove(*words, "--json", **variables)
        assert as_json.code == 1
        assert set(as_json.json) == {"error"}
        assert as_json.json["error"] in as_json.stderr
    return done.stderr


# --- help and version ---------------------------------------------------------------------------


def test_help_names_every_command(world):
    done = assert_done(world.grove("--help"))
    for name in COMMANDS:
        assert f" {name} " in done.stdout
    assert world.grove("-h").stdout == done.stdout
    assert not world.grove_home.exists() or not (world.grove_home / "sessions").exists()


@pytest.mark.parametrize("name", [*COMMANDS, "tickets match"])
def test_every_command_has_help(world, name):
    done = assert_done(world.grove(*name.split(), "--help"))
    assert f"grove {name}" in done.stdout
    if name != "hook":
        for option in ("--json", "--quiet", "--project"):
            assert option in done.stdout


def test_version(world):
    done = assert_done(world.grove("--version"))
    assert done.stdout.startswith("grove 0.")
    assert not world.grove_home.exists()


def test_grove_alone_is_a_usage_error_that_helps(world):
    done = world.grove()
    assert done.code == 2
    assert done.stdout == world.grove("--help").stdout


@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("status", "--nonsense"),
        ("status", "-C", "/nonexistent"),
        ("show",),
        ("ref",),
        ("search",),
        ("skip",),
        ("skip", "  "),
        ("observe", "\u200b"),
        ("skip", "reason", "--decider", "nobody"),
        ("list", "--since", "yesterday"),
        ("list", "--category", "nonsense"),
        ("list", "--limit", "0"),
        ("tickets", "match"),
        ("tickets", "match", "--tool", "X", "--input", "{"),
        ("tickets", "match", "--tool", "X"),
        ("tickets", "match", "--input", "{}"),
        ("tickets", "match", "--tool", "X", "--input", "{}", "bd close bd-1"),
    ],
)
def test_usage_errors(world, words):
    done = world.grove(*words)
    assert done.code == 2
    assert done.stdout == ""
    assert "grove" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(world.project.iterdir()) == []


def test_an_unknown_command_suggests_the_nearest(world):
    done = world.grove("statuss")
    assert done.code == 2
    assert "Did you mean status?" in done.stderr
    assert "Did you mean" not in world.grove("zeppelin").stderr


def test_help_is_a_word_for_help(world):
    assert assert_done(world.grove("help")).stdout == world.grove("--help").stdout
    done = assert_done(world.grove("help", "tickets", "match"))
    assert done.stdout == world.grove("tickets", "match", "--help").stdout
    assert world.grove("help", "nonsense").code == 2


def test_version_is_an_option(world):
    done = world.grove("version")
    assert done.code == 2
    assert "Did you mean --version?" in done.stderr


# --- reading ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", READING)
def test_json_is_one_object_and_nothing_else(project, name):
    done = assert_done(project.grove(*READING[name], "--json"))
    assert isinstance(done.json, dict)
    assert set(done.json) >= SHAPES[name]
    assert done.stdout.isascii()


@pytest.mark.parametrize("name", [name for name in READING if name != "show"])
def test_reading_creates_nothing(world, name):
    (world.project / "app.py").write_text("print()\n")
    assert assert_done(world.grove(*READING[name])).stdout.strip()
    assert [path.name for path in world.project.iterdir()] == ["app.py"]
    for made in ("sessions", "grove.log", "crash.log", "outbox", "personal-learnings.md"):
        assert not (world.grove_home / made).exists()


def test_quiet_prints_ids_or_nothing(project):
    for words, lines in [
        (("list", "-q"), [TWO, ONE]),
        (("list", "-q", "--tag", "login"), [TWO]),
        (("list", "-q", "--limit", "1"), [TWO]),
        (("list", "-q", "--category", "domain"), []),
        (("list", "-q", "--scope", "personal"), []),
        (("list", "-q", "--status", "archived"), []),
        (("list", "-q", "--file", "shop/export.py"), []),
        (("list", "-q", "--since", "2030-01-02"), [TWO]),
        (("search", "-q", "login", "token"), [TWO]),
        (("search", "-q", "zeppelin"), []),
        (("show", "-q", ONE), [ONE]),
        (("tickets", "-q"), ["session"]),
        (("backends", "-q"), ["markdown"]),
        (("status", "-q"), []),
        (("tickets", "match", "-q", "ls"), []),
        (("tickets", "match", "-q", "bd close bd-1 bd-2"), ["bd-1", "bd-2"]),
        (("config", "get", "gate.session", "-q"), ["initialized"]),
        (("config", "validate", "-q"), []),
    ]:
        assert assert_done(project.grove(*words)).stdout.splitlines() == lines, words


def test_quiet_prints_the_script_of_completion(project):
    script = assert_done(project.grove("completion", "bash")).stdout
    assert assert_done(project.grove("completion", "bash", "-q")).stdout.split("\n") == (
        script.split("\n")
    )


def test_quiet_prints_the_keys_with_mistakes(project):
    config = project.project / ".grove" / "config.toml"
    config.write_text("[circuit_breaker]\nmax_blocks = 99\nnonsense = 1\n[gate\n")
    assert project.grove("config", "validate", "-q").stdout.splitlines() == [str(config)]
    config.write_text("[circuit_breaker]\nmax_blocks = 99\nnonsense = 1\n")
    done = project.grove("config", "validate", "-q")
    assert done.code == 1
    assert done.stdout.splitlines() == ["circuit_breaker.max_blocks", "circuit_breaker.nonsense"]


def test_mistakes_that_are_not_of_the_key_are_counted(project):
    config = project.project / ".grove" / "config.toml"
    config.write_text("[circuit_breaker]\nmax_blocks = 99\nnonsense = 1\n")
    other = project.grove("config", "get", "gate.session")
    assert other.stdout == "initialized\n"
    line = "2 mistakes in the configuration; see grove config validate"
    assert other.stderr == f"grove: {line}\n"
    own = project.grove("config", "get", "circuit_breaker.max_blocks").stderr.splitlines()
    assert "max_blocks must be" in own[0]
    assert own[1] == "grove: 1 mistake in the configuration; see grove config validate"
    assert project.grove("list").stderr == ""


def test_search_explains_itself(project):
    (hit,) = project.grove("search", "query", "per", "order", "--json").json["results"]
    assert hit["id"] == ONE
    assert set(hit["score"]) == {"total", "relevance", "recency", "boost", "parts", "reasons"}
    assert 0 < hit["score"]["total"] <= hit["score"]["relevance"] <= 1
    human = assert_done(project.grove("search", "query", "per", "order", "--explain"))
    assert "relevance" in human.stdout
    assert "Nothing fits." in project.grove("search", "zeppelin").stdout


def test_the_project_is_found_from_anywhere(project):
    inner = project.project / "src" / "deep"
    inner.mkdir(parents=True)
    for words, cwd in [(("-C", project.project), project.home), ((), inner), (("-C", inner), "/")]:
        for line in (("status", "--json", *words), (*words, "status", "--json")):
            assert project.grove(*line, cwd=cwd).json["root"] == str(project.project)
    words = ("tickets", "-C", project.project, "match", "--json", "bd close bd-1")
    assert project.grove(*words, cwd="/").json["closes"][0]["ids"] == ["bd-1"]


def test_a_list_tells_none_fits_from_none_there(project):
    assert (
        assert_done(project.grove("list", "--tag", "zeppelin")).stdout == "None fits; 2 in all.\n"
    )
    project.learnings_file.unlink()
    assert assert_done(project.grove("list")).stdout == "No learnings yet.\n"


def break_cycle(agent):
    """The agent closes a ticket and stops until it is let go."""
    agent.starts()
    agent.closes("bd-1")
    while agent.stops().code:
        pass


def test_status_says_what_a_session_left_undone(beads):
    break_cycle(beads.agent())
    beads.agent("session-2").starts()
    status = beads.grove("status", "--json").json
    assert {one["id"] for one in status["live_sessions"]} == {"session-1", "session-2"}
    assert status["session"] == status["live_sessions"][0]
    (debt,) = status["debts"]
    assert "session session-1 was let go without its reflection (bd-1)" in debt
    human = assert_done(beads.grove("status")).stdout
    assert human.count("Session   session-") == 2
    beads.agent().ends()
    (debt,) = beads.grove("status", "--json").json["debts"]
    assert "session session-1 ended without the reflection it owed (bd-1)" in debt


def test_debts_are_found_behind_many_sessions_of_other_projects(beads):
    break_cycle(beads.agent())
    state = beads.grove_home / "sessions" / "session-1.json"
    text = state.read_text().replace("session-1", "other").replace(str(beads.project), "/other")
    for number in range(60):
        state.with_name(f"other-{number}.json").write_text(text)
    assert len(beads.grove("status", "--json").json["debts"]) == 1


def test_status_shows_the_gate_and_the_health(beads):
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    status = beads.grove("status", "--json").json
    assert status["session"]["id"] == "session-1"
    assert status["session"]["gate"] == "blocked"
    assert [one["ticket_id"] for one in status["session"]["closed"]] == ["bd-1"]
    assert status["session"]["blocks"] == 1
    assert status["active_ticket_system"] == "beads"
    assert [(one["name"], one["health"]["ok"]) for one in status["backends"]] == [
        ("markdown", True)
    ]
    human = assert_done(beads.grove("status")).stdout
    for word in ("session-1", "blocked", "bd-1", "beads", "markdown"):
        assert word in human


def test_a_bad_configuration_is_named_and_stops_nothing(project):
    config = project.project / ".grove" / "config.toml"
    config.write_text("[circuit_breaker]\nmax_blocks = 99\nnonsense = 1\n")
    done = project.grove("status", "--json")
    assert done.code == 0
    assert len(done.json["config_problems"]) == 2
    for problem in done.json["config_problems"]:
        assert str(config) in problem
        assert problem in done.stderr


def test_plugins_can_be_left_out(project):
    done = assert_done(project.grove("--no-plugins", "plugins", "--json"))
    assert {one["state"] for one in done.json["plugins"]} == {"blocked"}
    assert project.grove("--no-plugins", "tickets", "--json").json["systems"] == []
    assert "pip install" in project.grove("tickets", GROVE_PLUGINS="").stdout


def test_a_broken_plugin_is_shown(project):
    project.install_plugin("stranger", "raise RuntimeError('broken at import')")
    done = project.grove("plugins", "--json")
    assert done.code == 0
    (stranger,) = [one for one in done.json["plugins"] if one["name"] == "stranger"]
    assert stranger["state"] == "failed"
    assert "broken at import" in json.dumps(done.json)


BROKEN_BACKEND = """
import grove_core as grove

class Broken:
    name = "stranger"
    capabilities = frozenset({grove.Capability.ITERATE})
    def write(self, learning): raise grove.BackendError("disk on fire")
    def search(self, query, filters): raise grove.BackendError("disk on fire")
    def get(self, learning_id): raise grove.BackendError("disk on fire")
    def set_status(self, learning_id, status, note=""): raise grove.BackendError("disk on fire")
    def iterate(self): raise grove.BackendError("disk on fire")
    def ping(self): return grove.Health(ok=True, detail="fine")

@grove.hookimpl
def grove_memory_backends():
    detect = lambda context: grove.Detection(marker="always")
    return [grove.BackendSpec(name="stranger", detect=detect, open=lambda context: Broken())]
"""


def test_a_fault_of_a_plugin_follows_every_command(project, candidate):
    project.install_plugin("stranger", BROKEN_BACKEND, group="grove.backends")
    (project.project / ".grove" / "config.toml").write_text('[backends]\nprimary = "stranger"\n')
    done = project.grove("list", "--json")
    assert (done.code, done.json["count"]) == (0, 2)
    (line,) = done.stderr.splitlines()
    assert line.startswith("grove: plugin stranger 1.0 (grove.backends:stranger): ")
    assert "disk on fire" in line
    plugins = project.grove("plugins")
    assert plugins.stderr == ""
    project.agent().starts()
    # In another project's directory it is the session's own backends that are asked.
    words = ("reflect", "--session-id", "session-1")
    queued = project.grove(*words, stdin=json.dumps(candidate(1)), cwd=project.home)
    assert "stranger could not take it: it is kept in markdown until that can" in queued.stdout
    assert "disk on fire" in queued.stderr
    assert project.grove("--no-plugins", "list").stderr == ""


def test_a_command_of_a_broken_plugin_is_not_just_unknown(world):
    world.install_plugin("stranger", "raise RuntimeError('broken at import')")
    done = world.grove("stranger-count")
    assert done.code == 2
    assert "broken at import" in done.stderr


@pytest.mark.parametrize("key", ["primary", "personal"])
def test_a_configured_backend_that_is_not_there_is_named(project, key):
    config = project.project / ".grove" / "config.toml"
    for name, reason in (("nosuch", "not installed"), ("mcp", "cannot")):
        config.write_text(f'[backends]\n{key} = "{name}"\n')
        for command in ("status", "backends"):
            done = project.grove(command, "--json")
            (warning,) = done.json["warnings"]
            assert done.code == 0
            assert warning.startswith(f"{config}: backends.{key} names {name}, which")
            assert reason in warning
            assert f"grove: {warning}\n" in done.stderr
    config.write_text(f'[backends]\n{key} = "markdown"\n')
    assert assert_done(project.grove("backends", "--json")).json["warnings"] == []


# --- what a command would close -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "closes"),
    [
        (("--", "bd", "close", "bd-1", "bd-2"), [("beads", ["bd-1", "bd-2"], True)]),
        (
            ("cd sub && bd close bd-1; tissue status 7 closed",),
            [("beads", ["bd-1"], True), ("tissue", ["7"], True)],
        ),
        (('bd close "$ID"',), [("beads", [], False)]),
        (("echo bd close bd-1",), []),
        (
            ("--tool", "TaskUpdate", "--input", '{"taskId": "1", "status": "completed"}'),
            [("tasks", ["1"], True)],
        ),
    ],
)
def test_tickets_match(world, words, closes):
    found = world.grove("tickets", "match", "--json", *words).json["closes"]
    assert sorted((one["system"], one["ids"], one["certain"]) for one in found) == closes
    assert list(world.project.iterdir()) == []


# --- which session ------------------------------------------------------------------------------


def test_an_unknown_session_is_an_error_that_names_the_known(live):
    for words in (
        ("skip", "a reason"),
        ("observe", "a note"),
        ("ref", ONE),
        ("reflect", "--brief"),
    ):
        message = assert_refused(live, *words, "--session-id", "session-9")
        assert "session-9" in message
        assert "session-1" in message
    for session_id in ("../escape", "a" * 129, "a b"):
        assert_refused(live, "skip", "a reason", "--session-id", session_id)
    sessions = live.grove_home / "sessions"
    assert [path.name for path in sessions.iterdir()] == ["session-1.json"]


def test_no_session_at_all(world):
    assert_refused(world, "skip", "a reason")
    assert_refused(world, "observe", "a note", CLAUDE_CODE_SESSION_ID="session-1")
    assert not (world.grove_home / "sessions").exists()


def test_the_session_is_the_one_that_runs_the_command(live):
    def noted(*words, **variables):
        done = live.grove("observe", "a note", "--json", *words, **variables)
        return done.json.get("session_id")

    client, own = "CLAUDE_CODE_SESSION_ID", "GROVE_SESSION_ID"
    assert noted() == "session-1"  # the only live one
    live.agent("session-2").starts()
    live.agent("session-3").starts()
    assert noted("--session-id", "session-1", **{client: "session-2"}) == "session-1"
    assert noted(**{client: "session-2", own: "session-3"}) == "session-2"
    assert noted(**{own: "session-3"}) == "session-3"
    message = assert_refused(live, "observe", "a note")
    for name in ("session-1", "session-2", "session-3"):
        assert name in message
    live.agent("session-1").ends()
    live.agent("session-3").ends()
    assert noted() == "session-2"


def test_a_session_whose_client_is_gone_is_not_live(world):
    world.initialise()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    world.agent("dead", CLAUDE_PID=ended.pid).starts()
    world.agent("alive", CLAUDE_PID=os.getpid()).starts()
    assert world.grove("observe", "a note", "--json").json["session_id"] == "alive"


def test_a_session_is_worked_on_in_its_project(live, candidate):
    """A shell that has gone elsewhere still writes to the session's project."""
    done = live.grove(
        "reflect", "-q", "--session-id", "session-1",
        stdin=json.dumps(candidate(1)), cwd=live.home,
    )  # fmt: skip
    assert_done(done)
    assert live.learning_ids() == [ONE, TWO, done.stdout.strip()]


def test_known_sessions_are_told_apart(live):
    live.agent("session-2").starts()
    live.agent("session-1").ends()
    live.agent("session-2").ends()
    message = assert_refused(live, "observe", "a note")
    assert "session-2 (ended), session-1 (ended)" in message
    live.agent("session-3").starts()
    elsewhere = assert_refused(live, "observe", "a note", cwd=live.home)
    assert f"session session-3 belongs to {live.project}" in elsewhere


# --- writing ------------------------------------------------------------------------------------


def test_ref_takes_existing_ids_only(live):
    done = live.grove("ref", "cl_20300102_zzzzzz")
    assert (done.code, done.stdout) == (1, "")
    assert "cl_20300102_zzzzzz" in done.stderr
    assert live.events("referenced") == []
    assert assert_done(live.grove("ref", "-q", TWO, TWO)).stdout == f"{TWO}\n"
    assert len(live.events("referenced")) == 1


def test_show_and_its_error(project):
    human = assert_done(project.grove("show", TWO)).stdout
    assert "LoginForm.clean() must not log the token" in human
    assert "bd-7" in human
    assert "cl_20300102_zzzzzz" in assert_refused(project, "show", "cl_20300102_zzzzzz")


def test_the_brief_names_what_to_reflect_on(beads):
    beads.learning(ONE, "OrderReport.rows() runs one query per order")
    beads.start_ticket("bd-1", title="Orders are slow", description="40 seconds")
    beads.make_git()
    (beads.project / "report.py").write_text("print()\n")
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    assert agent.grove("observe", "rows() is called twice").code == 0
    brief = agent.grove("reflect", "--brief", "--json").json
    assert brief["ticket_id"] == "bd-1"
    assert brief["gate"] == "pending"
    assert [one["title"] for one in brief["tickets"]] == ["Orders are slow"]
    assert "report.py" in brief["files"]
    assert [one["note"] for one in brief["observations"]] == ["rows() is called twice"]
    assert [one["learning_id"] for one in brief["injected"]] == [ONE]
    human = assert_done(agent.grove("reflect", "--brief")).stdout
    for word in ("bd-1", "Orders are slow", "report.py", "rows() is called twice", ONE):
        assert word in human


@pytest.mark.parametrize(
    "form",
    [
        lambda one: json.dumps([one]),
        json.dumps,
        lambda one: "```json\n" + json.dumps({"candidates": [one]}, indent=2) + "\n```\n",
        lambda one: "Here is what I learned:\n\n" + json.dumps({"candidates": [one]}),
    ],
    ids=["array", "object", "fence", "prose"],
)
def test_reflect_takes_every_form(live, candidate, form):
    file = live.others / "input.json"
    file.parent.mkdir()
    file.write_text(form(candidate(1)))
    done = assert_done(live.grove("reflect", "--json", "--file", file))
    assert [one["summary"] for one in done.json["accepted"]] == [candidate(1)["summary"]]


def test_reflect_without_a_project_says_how_to_begin(world, candidate):
    world.agent().starts()
    done = world.agent().reflects(candidate(1))
    assert done.code == 1
    assert "grove init" in done.json["rejected"][0]["reason"]
    assert list(world.project.iterdir()) == []
    personal = world.agent().reflects(candidate(1, scope="personal"))
    assert personal.code == 0
    assert list(world.project.iterdir()) == []


def test_ephemeral_learnings_stay_in_the_session(live, candidate):
    done = live.agent().reflects(candidate(1, scope="ephemeral"))
    assert done.json["accepted"][0]["backend"] == "session"
    assert live.learning_ids() == [ONE, TWO]
    assert [one["summary"] for one in live.session()["ephemeral"]] == [candidate(1)["summary"]]
    human = live.agent().grove("reflect", stdin=json.dumps(candidate(2, scope="ephemeral")))
    assert "(kept in this session only)" in human.stdout


def test_init_makes_what_is_missing_and_touches_nothing_else(world):
    done = assert_done(world.grove("init", "--json"))
    names = {
        ".grove/config.toml",
        ".grove/.gitattributes",
        ".grove/learnings.md",
        ".grove/stats.log",
    }
    assert done.json["root"] == str(world.project)
    assert {os.path.relpath(path, world.project) for path in done.json["created"]} == names
    attributes = (world.project / ".grove" / ".gitattributes").read_text()
    assert attributes == (
        "stats.log merge=union\n*.jsonl merge=union\n"
        "learnings.md merge=grove\nlearnings/*.md merge=grove\n"
    )
    config = (world.project / ".grove" / "config.toml").read_text()
    assert all(line.startswith(("#", "[")) or not line for line in config.splitlines())
    assert "max_blocks" in config
    assert world.grove("status", "--json").json["config_problems"] == []

    before = {}
    for name in names - {".grove/.gitattributes"}:
        path = world.project / name
        path.write_text(f"# mine: {name}\n")
        before[path] = path.read_bytes()
    again = assert_done(world.grove("init", "--json"))
    assert again.json["created"] == again.json["extended"] == []
    assert {path: path.read_bytes() for path in before} == before


def test_init_adds_what_git_attributes_lack(world):
    path = world.project / ".grove" / ".gitattributes"
    path.parent.mkdir()
    path.write_text("# mine\nstats.log -merge\nlearnings.md merge=grove\n")
    done = assert_done(world.grove("init", "--json"))
    assert done.json["extended"] == [str(path)]
    assert path.read_text() == (
        "# mine\nstats.log -merge\nlearnings.md merge=grove\n"
        "*.jsonl merge=union\nlearnings/*.md merge=grove\n"
    )
    assert assert_done(world.grove("init", "--json")).json["extended"] == []


def test_init_registers_the_merge_driver_and_takes_it_back(world):
    world.make_git()
    config = world.project / ".git" / "config"
    before = config.read_bytes()
    assert assert_done(world.grove("init", "--json")).json["merge_driver"] == "registered"
    assert "merge-driver %O %A %B -- %P; case" in config.read_text()
    assert assert_done(world.grove("init", "--json")).json["merge_driver"] == "kept"
    assert_done(world.grove("init", "--uninstall", "--yes"))
    assert config.read_bytes() == before


def test_a_merge_driver_of_somebody_else_stays(world):
    world.make_git()
    config = world.project / ".git" / "config"
    with config.open("a") as file:
        file.write('[merge "grove"]\n\tdriver = mine %A\n')
    before = config.read_bytes()
    done = assert_done(world.grove("init", "--json"))
    assert done.json["merge_driver"] == "foreign"
    assert_done(world.grove("init", "--uninstall", "--yes"))
    assert config.read_bytes() == before


def test_a_refusal_says_that_the_gate_is_closed_only_if_it_is(beads):
    beads.agent().starts()
    refused = json.dumps({"candidates": [{"summary": "no"}]})
    assert beads.agent().grove("reflect", "--json", stdin=refused).json["error"] == (
        "no candidate was accepted"
    )
    beads.agent().closes("bd-1")
    assert beads.agent().grove("reflect", "--json", stdin=refused).json["error"] == (
        "no candidate was accepted; the gate stays closed"
    )


def test_init_names_the_program(world):
    record = world.grove_home / "program"
    first = world.grove("init", "--json").json
    assert first["previous_program"] is None
    assert record.read_text() == f"{first['program']}\n"
    record.write_text("/elsewhere/grove\n")
    human = world.grove("init").stdout
    assert f"a launcher will find grove at {first['program']} (was /elsewhere/grove)" in human
    assert "hooks will run" not in human
    assert "(was" not in world.grove("init").stdout
    world.start("init", "--hooks").communicate(timeout=60)
    assert f"hooks will run {first['program']}" in world.grove("init").stdout


def test_the_configuration_file_explains_every_key(world):
    world.grove("init")
    config = (world.project / ".grove" / "config.toml").read_text()
    assert re.search(r"^## .*[.]\n# on_file = ", config, re.MULTILINE)
    assert re.search(r"^## .*[.]\n# max_blocks = ", config, re.MULTILINE)


def test_init_in_a_folder_of_a_repository_goes_to_its_top(world):
    world.make_git()
    inner = world.project / "src"
    inner.mkdir()
    assert world.grove("init", "--json", cwd=inner).json["root"] == str(world.project)
    assert list(inner.iterdir()) == []


def test_groves_own_home_is_no_project(world):
    """`~/.grove` lies where a project's `.grove` would."""
    message = assert_refused(world, "init", cwd=world.home, GROVE_HOME=world.home / ".grove")
    assert "init" in message


# --- streams ------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("list",), ("list", "--json"), ("--help",), ("list", "-q")])
def test_a_closed_pipe_is_no_fault(project, words):
    for number in range(400):
        project.learning(f"cl_20300103_{number:06}", f"Number {number} of many learnings to list")
    process = project.start(*words)
    process.stdout.read(1)
    process.stdout.close()
    _, err = process.communicate()
    assert (err, process.returncode) == (b"", 0)


@pytest.mark.parametrize("words", [("list",), ("list", "--json"), ("--help",), ("status", "-q")])
@pytest.mark.parametrize("output", [">/dev/full", ">&-"])
def test_output_that_cannot_be_written_is_one_line(project, words, output):
    if words[-1] == "-q" and output == ">/dev/full":
        pytest.skip("prints nothing")
    done = subprocess.run(
        [
            "sh",
            "-c",
            f'exec "$@" {output}',
            "sh",
            sys.executable,
            "-m",
            "grove_core._entry",
            *words,
        ],
        cwd=project.project,
        env=project.environment,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert re.fullmatch(r"grove: .*standard output.*\n", done.stderr)


def test_a_terminal_gets_colours_unless_it_wants_none(project):
    def on_a_terminal(**variables):
        leader, follower = os.openpty()
        subprocess.run(
            [sys.executable, "-m", "grove_core._entry", "list"],
            cwd=project.project,
            env={**project.environment, "TERM": "xterm-256color", **variables},
            stdin=subprocess.DEVNULL,
            stdout=follower,
            check=True,
        )
        os.close(follower)
        out = os.read(leader, 65_536).decode()
        os.close(leader)
        assert ONE in out
        return out

    assert "\x1b[36m" in on_a_terminal()
    assert "\x1b[36m" not in on_a_terminal(NO_COLOR="1")


def test_reflect_on_a_terminal_does_not_wait(project):
    leader, follower = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "grove_core._entry", "reflect"],
        cwd=project.project,
        env=project.environment,
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    out, err = process.communicate(timeout=30)
    os.close(leader)
    os.close(follower)
    assert (process.returncode, out) == (1, b"")
    assert b"--schema" in err


def test_text_of_any_kind_is_printed_anywhere(project):
    summary = "Größe [bold]und[/bold] 木 \U0001f333 count as one"
    project.learning("cl_20300103_zzzzzz", summary, created="2030-01-03T00:00:00Z")
    narrow = [{"PYTHONIOENCODING": "ascii"}]
    if sys.prefix.isascii():
        # In this locale Python itself cannot start from an environment at another path.
        narrow.append({"LANG": "C", "LC_ALL": "C"})
    for variables in ({}, *narrow):
        done = project.grove("list", "--limit", "1", **variables)
        assert done.code == 0, done.stderr
        assert "[bold]und[/bold]" in done.stdout


def test_bytes_of_another_encoding_are_no_fault(project):
    text = project.learnings_file.read_bytes().replace(b"LoginForm", b"Anmeldung f\xfcr LoginForm")
    project.learnings_file.write_bytes(text)
    assert "LoginForm" in assert_done(project.grove("list")).stdout
    assert len(assert_done(project.grove("list", "--json")).json["learnings"]) == 2
    assert TWO in project.agent().starts()
