"""What an older program of the same name got wrong, tried from outside.

docs/explanation/older-program.md names, for each of its faults, the test that keeps grove from it.
Here are those that are no other test's business.
"""

import ast
import json
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FIRST, SECOND = "cl_20300102_aaaaaa", "cl_20300102_bbbbbb"
ABOUT_ORDERS = "OrderReport.rows() runs one query per order unless prefetched"
# Every key with a closed set of values, and one that is not its default.
CHOICES = {
    "gate.session": "never",
    "gate.auto_skip.decider": "always",
    "gate.write_gate.mode": "off",
    "retrieval.strategy": "aggressive",
    "retrieval.engine": "rules",
    "storage.layout": "spread",
    "backends.total-recall.via": "claude",
}
MY_PATTERN = {"name": "mine", "command": "mine close {id}"}


@pytest.fixture
def agent(beads):
    return beads.agent()


def edit_session(world, change, session_id="session-1"):
    """Changes a session's state behind grove's back."""
    path = world.grove_home / "sessions" / f"{session_id}.json"
    state = json.loads(path.read_text())
    change(state)
    path.write_text(json.dumps(state))


def shown(context):
    """The ids of the learnings that a context shows, in order."""
    return re.findall(r"^\[\w+ \| (cl_\w+) \|", context, re.MULTILINE)


def usage(world, *words):
    """How each learning of a project has fared, by its id."""
    listed = world.grove("list", "--json", *words).json["learnings"]
    numbers = ("surfaced", "referenced", "dismissed")
    return {one["id"]: tuple(one["usage"][name] for name in numbers) for one in listed}


def event_line(event, learning_id, session_id, **fields):
    """A line of the log, as some version of grove has written it."""
    head = {"v": 1, "ts": "2030-01-03T10:00:00Z", "grove": "0.1.0"}
    named = {"event": event, "learning_id": learning_id, "session_id": session_id}
    return json.dumps({**head, **named, **fields}) + "\n"


# --- the gate -----------------------------------------------------------------------------------


def test_three_tickets_reflected_within_five_minutes_never_trip_the_breaker(
    beads, agent, candidate
):
    for number in range(1, 6):
        agent.closes(f"bd-{number}")
        assert f"ticket bd-{number} is closed" in agent.is_blocked()
        assert agent.reflects(candidate(number)).code == 0
        agent.is_let_go(active=True)
    outcomes = [(one["outcome"], one["blocks"]) for one in beads.events("gate")]
    assert outcomes == [("reflected", 1)] * 5


def test_cooldown_does_not_forget_the_debt(beads, agent):
    agent.closes("bd-1")
    for _ in range(2):
        agent.is_blocked()

    def an_hour_ago(state):
        breaker = state["gate"]["breaker"]
        day, rest = breaker["last_block_at"].split("T")
        year = int(day[:4]) - 1
        breaker["last_block_at"] = f"{year}{day[4:]}T{rest}"

    edit_session(beads, an_hour_ago)
    for active in (False, True, True):
        agent.is_blocked(active=active)
    assert agent.stops(active=True).code == 0
    assert len(beads.grove("status", "--json").json["debts"]) == 1


def in_progress(agent, _candidate):
    agent.world.start_ticket("bd-9")
    agent.starts()


def stopped_once(agent, _candidate):
    agent.closes("bd-1")
    agent.is_blocked()


def reflected(agent, candidate):
    stopped_once(agent, candidate)
    assert agent.reflects(candidate(1)).code == 0


def skipped(agent, candidate):
    stopped_once(agent, candidate)
    assert agent.grove("skip", "only a label was renamed").code == 0


@pytest.mark.parametrize(
    ("status", "lead_to"),
    [
        ("active", in_progress),
        ("blocked", stopped_once),
        ("reflected", reflected),
        ("skipped", skipped),
    ],
    ids=["active", "blocked", "reflected", "skipped"],
)
def test_a_failing_command_leaves_the_gate_as_it_was(beads, agent, candidate, status, lead_to):
    """Neither its announcement nor its failure moves anything."""
    lead_to(agent, candidate)
    before = beads.session()["gate"]
    assert before["status"] == status
    call = agent.announces(command="bd close bd-9")
    assert beads.session()["gate"] == before
    agent.fails(call, "Exit code 1\nno such database")
    assert beads.session()["gate"] == before
    assert beads.session()["intents"] == []


def test_a_close_counts_whatever_its_output_speaks_of(beads, agent):
    call = agent.announces(command="bd close bd-1 && cat notes.txt")
    agent.succeeds(call, "error handling: the report ends with exit code 3, FAILED, Error: none\n")
    assert "ticket bd-1 is closed" in agent.is_blocked()


@pytest.mark.parametrize(
    "response",
    ["✓ Closed bd-1", {"stdout": "✓ Closed bd-1", "stderr": ""}, ["✓ Closed bd-1"], None, 7],
    ids=["text", "object", "list", "null", "number"],
)
def test_a_close_counts_whatever_shape_its_answer_has(beads, agent, response):
    call = agent.announces(command="bd close bd-1")
    agent.silent("PostToolUse", **call, tool_response=response)
    assert "ticket bd-1 is closed" in agent.is_blocked()


def test_a_close_of_a_system_that_is_turned_off_arms_nothing(beads, agent):
    (beads.project / ".grove" / "config.toml").write_text(
        '[ticketing.overrides]\nbeads = false\n[gate]\nsession = "never"\n'
    )
    agent.starts()
    agent.closes("bd-1")
    agent.is_let_go()
    assert beads.gate() == "idle"


@pytest.mark.parametrize(
    "words",
    [
        ("--nonsense", "hook", "stop"),
        ("-C", "/no/such/directory", "hook", "stop"),
        ("--project", "/no/such/directory", "hook", "stop"),
        ("--no-plugins", "hook", "stpo"),
        ("hook", "stop", "--nonsense", "further"),
    ],
    ids=" ".join,
)
def test_no_word_on_the_command_line_of_a_hook_blocks(world, words):
    done = world.grove(*words, stdin='{"session_id": "session-1"}')
    assert (done.code, done.stdout, done.stderr) == (0, "", "")


# --- places -------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_git", [True, False], ids=["git", "no git"])
def test_starts_from_a_subdirectory_share_the_learnings(beads, candidate, in_git):
    inner = beads.project / "shop" / "deep"
    inner.mkdir(parents=True)
    (inner / "export.py").write_text("rows = []\n")
    if in_git:
        beads.make_git()
    below = beads.agent()
    below.starts(cwd=str(inner))
    below.closes("bd-1")
    below.is_blocked(cwd=str(inner))
    words = ("reflect", "--json", "--session-id", "session-1")
    done = beads.grove(*words, stdin=json.dumps(candidate(1)), cwd=inner)
    assert done.code == 0, done.stderr
    below.ends()
    (learning_id,) = beads.learning_ids()
    beads.start_ticket("bd-2", title="Orders export is slow")
    assert shown(beads.agent("above").starts()) == [learning_id]
    assert shown(beads.agent("below").starts(cwd=str(inner))) == [learning_id]
    assert [path.name for path in inner.iterdir()] == ["export.py"]


def test_numbers_of_another_project_are_never_shown(world):
    """Two projects with as many events about one id: what is kept of them must not be mixed up."""
    world.initialise()
    world.learning(FIRST, ABOUT_ORDERS)
    ours = [event_line("surfaced", FIRST, "one"), event_line("referenced", FIRST, "one")]
    theirs = [event_line("surfaced", FIRST, "one"), event_line("dismissed", FIRST, "one")]
    other = world.others / world.project.name
    (other / ".grove").mkdir(parents=True)
    (other / ".grove" / "learnings.md").write_bytes(world.learnings_file.read_bytes())
    for project, lines in ((world.project, ours), (other, theirs)):
        (project / ".grove" / "stats.log").write_text("".join(lines))
    for _ in range(2):
        assert usage(world) == {FIRST: (1, 1, 0)}
        assert usage(world, "-C", other) == {FIRST: (1, 0, 1)}


def test_one_bad_line_of_the_log_hides_no_other(world):
    """A merge without help, a colleague with a newer grove, a write that was cut short."""
    world.initialise()
    for learning_id, summary in ((FIRST, ABOUT_ORDERS), (SECOND, "HTTP 429 needs a retry")):
        world.learning(learning_id, summary)
    (world.project / ".grove" / "stats.log").write_text(
        "<<<<<<< HEAD\n"
        + event_line("surfaced", FIRST, "one")
        + "=======\n"
        + event_line("surfaced", SECOND, "two")
        + ">>>>>>> theirs\n"
        + event_line("praised", FIRST, "one", stars=5)
        + event_line("referenced", FIRST, "one", v=2, mood="glad")
        + '{"v": 1, "ts": "2030-01-'
    )
    assert usage(world) == {FIRST: (1, 1, 0), SECOND: (1, 0, 0)}
    done = world.agent("three").grove("ref", SECOND, "--session-id", "three")
    assert done.code == 1  # grove knows no such session yet
    agent = world.agent("three")
    agent.starts()
    assert agent.grove("ref", SECOND).code == 0
    assert usage(world)[FIRST][:2] == (2, 1)
    assert usage(world)[SECOND][:2] == (2, 1)


def test_markdown_headings_in_a_detail_corrupt_nothing(beads, agent, candidate):
    detail = (
        "OrderStore.export() in shop/export.py joins two tables.\n"
        "## Background\n\n---\n\n### [cl_20300102_cccccc] A heading that is no learning\n"
        "- **Status:** archived\n> quoted\n<!-- a comment -->\n\\# escaped, 40 s with 1,000 orders"
    )
    first = candidate(1, detail=detail, context_files=["shop/a, b.py", "shop/#1 | two.py"])
    agent.closes("bd-1")
    done = agent.reflects(first, candidate(2))
    assert done.code == 0, done.stderr
    ids = [one["id"] for one in done.json["accepted"]]
    assert len(ids) == 2
    for submitted, learning_id in zip((first, candidate(2)), ids, strict=True):
        found = beads.grove("show", learning_id, "--json").json
        assert found["status"] == "active"
        for name in ("summary", "detail", "context_files"):
            assert found[name] == submitted[name]
    listed = beads.grove("list", "--all", "--json").json
    assert {one["id"] for one in listed["learnings"]} == set(ids)
    # Said again, it is known by its summary, whatever that holds.
    assert agent.reflects(candidate(1, detail="The same again. " * 4)).code == 1


# --- what is shown ------------------------------------------------------------------------------


def test_a_learning_that_three_sessions_did_not_use_is_shown_to_the_fourth(beads):
    beads.learning(FIRST, ABOUT_ORDERS)
    beads.start_ticket("bd-1", title="Orders report", labels=["orders"])
    for number in range(4):
        agent = beads.agent(f"session-{number}")
        assert shown(agent.starts()) == [FIRST]
        agent.ends()
    # Nor does one that was never shown push it aside.
    beads.learning(SECOND, "Orders are archived after 30 days by shop/archive.py")
    assert set(shown(beads.agent("session-4").starts())) == {FIRST, SECOND}
    assert usage(beads)[FIRST] == (5, 0, 4)


def test_a_learning_that_was_replaced_is_shown_no_more(beads, agent, candidate):
    beads.learning(FIRST, ABOUT_ORDERS)
    assert shown(agent.starts()) == [FIRST]
    agent.closes("bd-1")
    agent.is_blocked()
    done = agent.reflects(candidate(1, supersedes=[FIRST]))
    (replacement,) = [one["id"] for one in done.json["accepted"]]
    later = beads.agent("later")
    assert shown(later.starts()) == [replacement]
    assert later.asks(f"What about this: {ABOUT_ORDERS}?") == ""


def test_prompts_of_one_session_show_a_bounded_number_of_learnings(world):
    world.initialise()
    for number in range(9):
        summary = f"OrderReport.part_{number}() runs {number} queries per order"
        world.learning(f"cl_20300102_aaaaa{number}", summary)
    limits = {"GROVE_RETRIEVAL_MAX_PER_PROMPT": "2", "GROVE_RETRIEVAL_MAX_PER_SESSION": "3"}
    agent = world.agent(**limits)
    agent.starts()
    before = {one["learning_id"] for one in world.events("surfaced")}
    counts = [len(shown(agent.asks("How many queries per order in orders?"))) for _ in range(3)]
    assert counts == [2, 1, 0]
    after = [one["learning_id"] for one in world.events("surfaced")]
    assert len(after) == len(set(after)) == len(before) + 3


# --- settings and code without effect -----------------------------------------------------------


def another(one):
    """A valid value that differs from the default."""
    default = one["default"]
    match default:
        case bool():
            return not default
        case int():
            return default + 1
        case float():
            return default / 2
        case list():
            return {"ticketing.patterns": [MY_PATTERN], "secrets.allow": ["0123456789abcdef"]}.get(
                one["key"], ["mine"]
            )
    return CHOICES.get(one["key"], "mine")


def test_every_key_of_the_configuration_can_be_set_in_a_file_and_back(world):
    world.initialise()
    world.grove_home.mkdir()
    del world.environment["GROVE_HOOKS_DEADLINE_MS"]
    found = world.grove("config", "show", "--json").json["settings"]
    found = [one for one in found if not one["key"].startswith(OF_ONE_PIECE)]
    defaults = {one["key"]: one["default"] for one in found if one["default"] != {}}
    wanted = {one["key"]: another(one) for one in found if one["key"] in defaults}
    user, project = world.grove_home / "config.toml", world.project / ".grove" / "config.toml"
    user.write_text("".join(f"{key} = {toml(value)}\n" for key, value in wanted.items()))
    assert values(world, "user") == wanted
    # A project must not set this one, back or not.
    del defaults[USERS_ALONE]
    back = {key: "" if default is None else default for key, default in defaults.items()}
    project.write_text("".join(f"{key} = {toml(value)}\n" for key, value in back.items()))
    assert values(world, "project", apart_from={USERS_ALONE}) == defaults


def values(world, source, *, apart_from=()):
    """The value of every key that a file may set, all of them from one place."""
    done = world.grove("config", "show", "--json")
    settings = [one for one in done.json["settings"] if one["default"] != {}]
    settings = [one for one in settings if one["key"] not in apart_from]
    settings = [one for one in settings if not one["key"].startswith(OF_ONE_PIECE)]
    assert {one["origin"]["source"] for one in settings} == {source}, done.stderr
    return {one["key"]: one["value"] for one in settings}


def toml(value):
    """A value as TOML writes it."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return '[{name = "mine", command = "mine close {id}"}]'
    text = json.dumps(value)
    assert tomllib.loads(f"key = {text}") == {"key": value}
    return text


# They are called by a library, only named in annotations, or made for tests of whoever needs them.
CALLED_BY_OTHERS = {
    *("get_command", "SessionStore", "MemorySessionStore"),
    *("makefile", "readinto", "sendall"),  # of a socket, by http.client
}
# Its keys belong together, so that values of any kind make no section: its own tests set each.
OF_ONE_PIECE = ("backends.mcp.", "backends.postgres.")
USERS_ALONE = "backends.total-recall.via"


def test_no_code_is_there_that_only_tests_use():
    """A function that nothing but its tests calls is a feature that nobody has."""
    paths = [*ROOT.glob("grove-*/src/**/*.py"), *ROOT.glob("docs/examples/**/*.py")]
    nodes_of = {path: [*ast.walk(ast.parse(path.read_text()))] for path in paths}
    nodes = [node for each in nodes_of.values() for node in each]
    # What tests of plugins are made with is there for others' tests.
    ours = [path for path in paths if "testing" not in path.parts]
    used = {word for node in nodes for word in words_of(node)}
    defined = {
        node.name
        for path in ours
        for node in nodes_of[path]
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith(("__", "test_"))  # pytest calls the kit's rules
    }
    assert defined - used - CALLED_BY_OTHERS == set()


def words_of(node):
    """The names by which a piece of code may mean a function or a class."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return {name}
        case ast.Constant(value=str(text)):
            return set(re.findall(r"\w+", text)) if len(text) < 60 else set()
    return set()
