"""Commands in common: what they print, where, and how they exit; and completion."""

import json
import re
import shlex
import subprocess

import pytest
from core_worlds import write_program
from pages import ROOT
from terminal import on_terminal
from world import GROVE

from grove_core.cli.groups import LazyGroup
from grove_core.cli.main import COMMANDS, PLUMBING, command_named

ONE = "cl_20300102_aaaaaa"
TWO = "cl_20300102_bbbbbb"


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


def test_quiet_prints_ids_or_nothing(project):
    for words, lines in [
        (("list", "-q"), [TWO, ONE]),
        (("list", "-q", "--tag", "login"), [TWO]),
        (("list", "-q", "--limit", "1"), [TWO]),
        (("list", "-q", "--category", "domain"), []),
        (("list", "-q", "--scope", "personal"), []),
        (("list", "-q", "--since", "2030-01-02"), [TWO]),
        (("search", "-q", "login", "token"), [TWO]),
        (("search", "-q", "zeppelin"), []),
        (("show", "-q", ONE), [ONE]),
        (("tickets", "-q"), ["session"]),
        (("backends", "-q"), ["markdown"]),
        (("status", "-q"), []),
        (("tickets", "match", "-q", "ls"), []),
        (("tickets", "match", "-q", "bd close bd-1 bd-2"), ["bd-1", "bd-2"]),
    ]:
        assert assert_done(project.grove(*words)).stdout.splitlines() == lines, words


def test_the_project_is_found_from_anywhere(project):
    inner = project.project / "src" / "deep"
    inner.mkdir(parents=True)
    for words, cwd in [(("-C", project.project), project.home), ((), inner), (("-C", inner), "/")]:
        for line in (("status", "--json", *words), (*words, "status", "--json")):
            assert project.grove(*line, cwd=cwd).json["root"] == str(project.project)
    words = ("tickets", "-C", project.project, "match", "--json", "bd close bd-1")
    assert project.grove(*words, cwd="/").json["closes"][0]["ids"] == ["bd-1"]


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
    # A client whose agent has started another's is not busy meanwhile.
    nested = {client: "session-2", "CODEX_SESSION_ID": "session-3"}
    state = live.grove_home / "sessions" / "session-2.json"
    state.write_text(state.read_text().replace('"updated_at":"20', '"updated_at":"19'))
    assert noted(**nested) == "session-3"
    assert noted(**{**nested, "CODEX_SESSION_ID": "of-another-project"}) == "session-2"
    message = assert_refused(live, "observe", "a note")
    assert all(f"session-{number}" in message for number in (1, 2, 3))
    live.agent("session-1").ends()
    live.agent("session-3").ends()
    assert noted() == "session-2"


def test_of_several_sessions_the_one_whose_reflection_is_pending(beads):
    """Of clients without a variable; one in a sandbox cannot even see that its client runs."""
    for number in (1, 2, 3):
        agent = beads.agent(f"session-{number}", CLAUDE_PID=2**22 + 1)
        agent.starts()
        if number != 3:
            agent.closes(f"bd-{number}")
    done = beads.grove("skip", "nothing was learned here", "--json")
    assert (done.code, done.json["session_id"]) == (0, "session-2")
    assert done.stderr == "grove: this is session session-2, the newest\n"
    assert beads.grove("observe", "a note", "--json").json["session_id"] == "session-1"
    beads.agent("session-1").ends()
    assert "no session is live here" in beads.grove("observe", "a note").stderr


def test_a_session_is_worked_on_in_its_project(live, candidate):
    """A shell that has gone elsewhere still writes to the session's project."""
    done = live.grove(
        "reflect", "-q", "--session-id", "session-1",
        stdin=json.dumps(candidate(1)), cwd=live.home,
    )  # fmt: skip
    assert_done(done)
    assert live.learning_ids() == [ONE, TWO, done.stdout.strip()]


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
    assert (brief["ticket_id"], brief["gate"]) == ("bd-1", "pending")
    assert [one["title"] for one in brief["tickets"]] == ["Orders are slow"]
    assert "report.py" in brief["files"]
    assert [one["note"] for one in brief["observations"]] == ["rows() is called twice"]
    assert [one["learning_id"] for one in brief["injected"]] == [ONE]
    assert "rows() is called twice" in assert_done(agent.grove("reflect", "--brief")).stdout


def every_command():
    """The words of each command that people call, and the command."""
    for name in COMMANDS.keys() - PLUMBING:
        command = command_named(name)
        yield name, command
        if isinstance(command, LazyGroup):
            yield from ((f"{name} {one}", sub) for one, sub in command.commands.items())


def holds(text, word):
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def test_help_in_a_directory_that_is_gone(world, monkeypatch):
    def gone():
        raise FileNotFoundError

    monkeypatch.setattr("pathlib.Path.cwd", gone)
    done = world.grove("--help")
    assert (done.code, done.stdout) == (1, "")
    assert done.stderr == "grove: the current directory does not exist any more; cd elsewhere\n"


def test_help_has_an_example_that_works_and_fits_every_width(world):
    helps = {}
    for width in (60, 200):
        for name, command in every_command():
            done = assert_done(world.grove(*name.split(), "--help", COLUMNS=width))
            helps[name] = done.stdout
            assert max(map(len, done.stdout.splitlines())) <= width, name
            for option in command.params:
                for value in getattr(option.type, "choices", ()):
                    assert holds(done.stdout, value) or name == "trace", (name, value)
    for name, text in helps.items():
        found = re.search(r"Example: grove (.*?) *$", text, re.MULTILINE)
        assert found, f"examples.toml has no line for {name}"
        words = shlex.split(found[1])
        assert words[: len(name.split())] == name.split()
        for option in (word for word in words if word.startswith("-") and word != "--"):
            assert holds(text, option), (name, option)
        page = re.search(r"Read on: (docs/\S+)", text)[1]
        assert (ROOT / page).is_file(), page


def test_no_color_is_heeded_on_a_terminal(project):
    for variables, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        shown = on_terminal(project, "list", plain=False, TERM="xterm-256color", **variables)[1]
        assert ("\x1b[36m" in shown) is coloured


def test_what_is_longer_than_the_terminal_goes_through_the_pager(project, tmp_path):
    pager = write_program(tmp_path / "pager", f"cat > {tmp_path}/read")
    assert ONE in on_terminal(project, "list", PAGER=pager)[1]
    for number in range(12):
        project.learning(f"cl_20300103_{number:06}", f"Number {number} of many learnings to list")
    for words, variables, is_paged in (
        (("list",), {"PAGER": pager}, True),
        (("list",), {"PAGER": "cat"}, False),
        (("list", "--limit", "3"), {"PAGER": pager}, False),
        (("list", "--quiet"), {"PAGER": pager}, False),
    ):
        code, shown = on_terminal(project, *words, **variables)
        assert (code, ONE in shown) == (0, not is_paged and "3" not in words)
        assert (tmp_path / "read").exists() is is_paged
        (tmp_path / "read").unlink(missing_ok=True)
    assert "The best 10 of 12 that fit" in project.grove("search", "many learnings").stdout


def test_usage_errors(world):
    for words in (
        ("nonsense",),
        ("maintain", "nonsense"),
        ("status", "--nonsense"),
        ("status", "-C", "/nonexistent"),
        ("show",),
        ("skip", "reason", "--decider", "nobody"),
        ("list", "--since", "yesterday"),
        ("list", "--limit", "0"),
    ):
        done = world.grove(*words)
        assert (done.code, done.stdout) == (2, ""), words
        assert "grove" in done.stderr
        assert "Traceback" not in done.stderr
    assert list(world.project.iterdir()) == []


def test_output_that_cannot_be_written(project):
    """A closed pipe is no fault; anything else is one line."""
    for number in range(400):
        project.learning(f"cl_20300103_{number:06}", f"Number {number} of many learnings to list")
    process = project.start("list", "--json")
    process.stdout.read(1)
    process.stdout.close()
    _, err = process.communicate()
    assert (err, process.returncode) == (b"", 0)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*GROVE, "list"],
            cwd=project.project,
            env=project.environment,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert re.fullmatch(r"grove: .*standard output.*\n", done.stderr)


def test_reflect_on_a_terminal_does_not_wait(project):
    code, shown = on_terminal(project, "reflect")
    assert (code, "JSON on standard input" in shown) == (1, True)


def test_what_the_shell_completes(project):
    for words, offered in (
        (("tickets", "m"), ["match"]),
        (("init", "--un"), ["--uninstall"]),
        (("list", "--category", "pit"), ["pitfall"]),
        (("nonsense", "x"), []),
        (("-C", "/nonexistent", "backends", "x"), []),
    ):
        line = " ".join(["grove", *words])
        done = project.grove(
            _GROVE_COMPLETE="bash_complete", COMP_WORDS=line, COMP_CWORD=len(words)
        )
        assert (done.code, done.stderr) == (0, "")
        found = [one.partition(",")[2] for one in done.stdout.splitlines() if one]
        assert sorted(found) == offered, words
