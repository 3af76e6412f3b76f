"""Logging through the client, with programs in its place that do what clients have done."""

import json
import os
import re
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import define
from core_worlds import write_file, write_program

from grove_backend_totalrecall.command import log_by_claude

NOTE = "**Pitfall** (grove:cl_20300102_aaaaaa): Orders are read one by one"
COMMAND = "/recall-log"
# Runs before what a client does: how it was called, and what clients print.
PRELUDE = """\
import json, os, subprocess, sys, time
from pathlib import Path

call = {"arguments": sys.argv[1:], "cwd": os.getcwd(), "environment": dict(os.environ)}
call["stdin"] = sys.stdin.read()
Path(os.environ["CALLS"]).write_text(json.dumps(call))
note = sys.argv[2].partition(" ")[2]
log = Path("memory/daily/2030-01-02.md")

def say(**message):
    print(json.dumps(message), flush=True)

def begin(*commands):
    say(type="system", subtype="init", slash_commands=["clear", *(commands or ["recall-log"])])

def end(result="Logged", **fields):
    say(**{"type": "result", "is_error": False, "permission_denials": [], "result": result, **fields})

def append(text):
    with log.open("a") as file:
        file.write(f"[10:00] {text}\\n")
"""


@define
class Project:
    """A project with one daily log, and a folder of programs that comes first on PATH."""

    root: Path
    programs: Path
    environment: dict

    @property
    def log(self):
        return self.root / "memory" / "daily" / "2030-01-02.md"

    def install(self, behaviour, name="claude"):
        script = self.programs / f"{name}.py"
        script.write_text(PRELUDE + behaviour)
        return write_program(self.programs / name, f'exec "{sys.executable}" "{script}" "$@"')

    def call(self):
        """How the client was called; `None` if it was not."""
        path = Path(self.environment["CALLS"])
        return json.loads(path.read_text()) if path.exists() else None

    def logs(self, note=NOTE, *, command=COMMAND, seconds=20.0, **variables):
        return log_by_claude(
            note,
            command=command,
            root=self.root,
            environment={**self.environment, **variables},
            seconds=seconds,
        )


@pytest.fixture
def project(tmp_path):
    root, programs = tmp_path / "größere projects", tmp_path / "programs"
    programs.mkdir()
    environment = {
        "PATH": os.pathsep.join([str(programs), "/usr/bin", "/bin"]),
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "CALLS": str(tmp_path / "call.json"),
    }
    project = Project(root, programs, environment)
    write_file(project.log, "# 2030-01-02\n\n## Notes\n")
    return project


def state_of(pid):
    """The letter of a process's state; one that only waits to be noticed is gone as well."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def assert_gone(*pids):
    end = time.monotonic() + 10
    while alive := [pid for pid in pids if state_of(pid) not in "ZX"]:
        assert time.monotonic() < end, alive
        time.sleep(0.02)


def test_a_client_that_logs_the_note(project):
    project.install("begin(); append(note); end('Logged to memory/daily/2030-01-02.md')")
    outcome = project.logs()
    assert outcome.logged
    assert outcome.why == '`claude` ended well ("Logged to memory/daily/2030-01-02.md")'
    assert f"[10:00] {NOTE}\n" in project.log.read_text()


DENIED = """begin()
end(permission_denials=[{"tool_name": "Write", "tool_input": {"file_path": str(log)}}])
"""
FAILURES = [
    (
        "begin('recall:recall-log'); time.sleep(60); append(note); end()",
        "the client knows no command /recall-log",
    ),
    (
        DENIED,
        "the client did not permit Write memory/daily/2030-01-02.md",
    ),
    (
        "end('Not logged in · Please run /login', is_error=True); sys.exit(1)",
        "`claude` ended with exit code 1 .*Not logged in.*",
    ),
    ("os.kill(os.getpid(), 9)", r"`claude` ended with exit code (-9|137) \(without a word\)"),
    (
        "begin(); print('{\"type\": \"result\"'); print('['*100000); print('\\x1b[31m!')",
        r'`claude` ended with exit code 0 \("\{"type": "result" \[+…"\)',
    ),
]


@pytest.mark.parametrize(("behaviour", "why"), FAILURES)
def test_a_client_that_does_not_log_the_note(project, behaviour, why):
    project.install(behaviour)
    before = project.log.read_bytes()
    outcome = project.logs()
    assert not outcome.logged
    assert re.fullmatch(why, outcome.why)
    assert project.log.read_bytes() == before


def test_a_client_in_the_project_itself_is_not_run(project, monkeypatch):
    program = project.install("append('mine')")
    program.rename(project.root / "claude")
    monkeypatch.chdir(project.root)
    outcome = project.logs(PATH=os.pathsep.join([".", "", "/usr/bin", "/bin"]))
    assert outcome[:2] == (False, "the program `claude` was not found on PATH")
    assert project.call() is None


YESTERDAY = "[09:12] The old catalogue stays\n"
TODAY = "# today\n\n## Notes\n\n[09:00] One\n[09:15] Twice\n[09:15] Twice\n[09:30] Two\n"


@pytest.fixture
def logs(project):
    """Today's log and that of another day."""
    project.log.write_text(YESTERDAY)
    today = project.log.with_name(f"{datetime.now(UTC).astimezone():%Y-%m-%d}.md")
    today.write_text(TODAY)
    project.environment["TODAY"] = today.name
    return today


UNHARMED = (
    "pass",
    "write(old.replace('## Notes\\n', f'## Notes\\n\\n[10:00] {note}\\n'))",
    "log.with_name('2030-01-03.md').write_text(note)",
)
HANDS = """
today = log.with_name(os.environ["TODAY"])
old = today.read_text()
def write(text):
    today.write_text(text, newline="")
begin()
"""


@pytest.mark.parametrize("behaviour", UNHARMED)
def test_what_was_there_is_still_there(project, logs, behaviour):
    project.install(f"{HANDS}{behaviour}\nend()")
    outcome = project.logs()
    assert (outcome.logged, outcome.damage) == (True, "")


HANGS = """\
begin()
child = subprocess.Popen(["sleep", "60"])
Path(os.environ["CALLS"]).write_text(json.dumps([os.getpid(), child.pid]))
"""


@pytest.mark.parametrize("variable", ["PATH", ""], ids=["with timeout", "without timeout"])
def test_the_end_of_its_time_ends_the_client_and_all_that_it_started(project, variable):
    project.install(HANGS + "time.sleep(60)")
    only_sleep = project.programs / "sleep"
    only_sleep.symlink_to("/bin/sleep")
    path = {} if variable else {"PATH": str(project.programs)}
    outcome = project.logs(seconds=1.5, **path)
    assert outcome[:2] == (False, "`claude` was not finished after 1.5 seconds")
    assert_gone(*project.call())


def test_how_the_client_is_called(project):
    project.install("begin('recall:recall-log'); append(note); end()")
    assert project.logs(command="/recall:recall-log", CLAUDECODE="1").logged
    call = project.call()
    assert call["arguments"][:2] == ["-p", f"/recall:recall-log {NOTE}"]
    assert call["cwd"] == str(project.root)
    assert call["stdin"] == ""
    assert call["environment"]["GROVE_NO_HOOKS"] == "1"
    assert call["environment"]["HOME"] == project.environment["HOME"]
    options = dict(zip(call["arguments"][2:], call["arguments"][3:], strict=False))
    assert options["--tools"] == "Read,Edit,Write"
    assert options["--allowedTools"] == "Read(memory/**),Edit(memory/daily/**)"
    assert options["--permission-mode"] == "dontAsk"
    assert re.search(r"\bThe local time is \d\d:\d\d\.", options["--append-system-prompt"])


REFUSED = (
    "two\nlines", "a\x00b", "a\u2028b", "see @src/orders.py", "see\u3000@a", "not !ready", "in `!x`",
    "in ${CLAUDE_PROJECT_DIR}", "half \ud800 a letter",
)  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_a_note_that_the_client_would_not_pass_on_as_it_is(project, text):
    project.install("begin(); append(note); end()")
    outcome = project.logs(text)
    assert not outcome.logged
    assert "the note" in outcome.why or "could not be started" in outcome.why
    assert outcome.why.isprintable()
    assert project.call() is None
