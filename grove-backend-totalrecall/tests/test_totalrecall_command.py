"""Logging through the client, with programs in its place that do what clients have done."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import define

from grove_backend_totalrecall import bounded
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
        program = self.programs / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{script}" "$@"\n')
        program.chmod(0o755)
        return program

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
    project.log.parent.mkdir(parents=True)
    project.log.write_text("# 2030-01-02\n\n## Notes\n")
    return project


def is_alive(pid):
    """Whether a process runs; one that waits for its parent to notice its end does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def assert_gone(*pids):
    end = time.monotonic() + 10
    while any(is_alive(pid) for pid in pids) and time.monotonic() < end:
        time.sleep(0.02)
    alive = [pid for pid in pids if is_alive(pid)]
    for pid in alive:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    assert alive == []


# --- what may come of it --------------------------------------------------------------------------


def test_a_client_that_logs_the_note(project):
    project.install("begin(); append(note); end('Logged to memory/daily/2030-01-02.md')")
    outcome = project.logs()
    assert outcome.logged
    assert outcome.why == '`claude` ended well ("Logged to memory/daily/2030-01-02.md")'
    assert f"[10:00] {NOTE}\n" in project.log.read_text()


def test_an_older_client_that_does_not_list_its_commands(project):
    project.install("say(type='system', subtype='init'); append(note); end()")
    assert project.logs().logged


FAILURES = {
    "unknown, said by an older client": (
        "begin(); end('Unknown command: /recall-log')",
        "the client knows no command /recall-log",
    ),
    "unknown, said in plain words": (
        "print('Unknown command: /recall-log')",
        "the client knows no command /recall-log",
    ),
    "unknown skill": (
        "begin(); end('Unknown skill: recall-log')",
        "the client knows no command /recall-log",
    ),
    "not in the list of commands": (
        "begin('recall:recall-log'); time.sleep(5); append(note); end()",
        "the client knows no command /recall-log",
    ),
    "denied": (
        "begin(); call = {'tool_name': 'Write', 'tool_input': {'file_path': str(log)}}; end(permission_denials=[call])",
        "the client did not permit Write memory/daily/2030-01-02.md",
    ),
    "denied, told oddly": (
        "begin(); end(permission_denials=['x', {'tool_name': 'Edit', 'tool_input': 'y'}])",
        "the client did not permit Edit",
    ),
    "not logged in": (
        "end('Not logged in · Please run /login', is_error=True); sys.exit(1)",
        "`claude` is not logged in",
    ),
    "not logged in, in plain words": (
        "print('Not logged in · Please run /login'); sys.exit(1)",
        "`claude` is not logged in",
    ),
    "exit code 1": (
        "print(\"error: unknown option '--tools'\", file=sys.stderr); sys.exit(1)",
        "`claude` ended with exit code 1 (\"error: unknown option '--tools'\")",
    ),
    "an error of the server": (
        "begin(); end('API Error: 529', is_error=True)",
        '`claude` ended with exit code 0 ("API Error: 529")',
    ),
    "nothing said": ("pass", "`claude` ended with exit code 0 (without a word)"),
    "killed": (
        "os.kill(os.getpid(), 9)",
        r"`claude` ended with exit code (-9|137) \(without a word\)",
    ),
    "no message of the end": (
        "begin(); print('{\"type\": \"result\"'); print('['*100000); say(type='x'); print('\\x1b[31m!')",
        r'`claude` ended with exit code 0 \("\{"type": "result" \[+…"\)',
    ),
}


@pytest.mark.parametrize(("behaviour", "why"), FAILURES.values(), ids=FAILURES)
def test_a_client_that_does_not_log_the_note(project, behaviour, why):
    project.install(behaviour)
    before = project.log.read_bytes()
    outcome = project.logs()
    assert not outcome.logged
    assert re.fullmatch(why, outcome.why) or outcome.why == why
    assert project.log.read_bytes() == before


def test_no_client(project):
    assert project.logs()[:2] == (False, "the program `claude` was not found on PATH")


def test_a_client_in_the_project_itself_is_not_run(project, monkeypatch):
    program = project.install("append('mine')")
    program.rename(project.root / "claude")
    monkeypatch.chdir(project.root)
    outcome = project.logs(PATH=os.pathsep.join([".", "", "/usr/bin", "/bin"]))
    assert outcome[:2] == (False, "the program `claude` was not found on PATH")
    assert project.call() is None


def test_a_client_that_cannot_be_started(project):
    program = project.programs / "claude"
    program.write_text("#!/nowhere/at/all\n")
    program.chmod(0o755)
    outcome = project.logs(PATH=str(project.programs))  # and no `timeout` to start it either
    assert not outcome.logged
    assert outcome.why.startswith("`claude` could not be started: ")
    assert not project.logs().logged


@pytest.mark.parametrize(
    "behaviour",
    [
        "begin(); Path('other.md').write_text(note); end()",
        "begin(); append('Orders: mind the loop'); end()",
    ],
    ids=["another file", "without the id"],
)
def test_what_only_the_log_can_tell(project, behaviour):
    """It ends well; whoever called finds no id in the log, and has words for why."""
    project.install(behaviour)
    assert project.logs()[:2] == (True, '`claude` ended well ("Logged")')
    assert "cl_20300102_aaaaaa" not in project.log.read_text()


# --- what was in the logs -------------------------------------------------------------------------

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


UNHARMED = {
    "nothing": "pass",
    "appended": "write(old + f'[10:00] {note}\\n')",
    "below a heading": "write(old.replace('## Notes\\n', f'## Notes\\n\\n[10:00] {note}\\n'))",
    "after the last line's end": "write(old[:-1]); write(old[:-1] + f'\\n[10:00] {note}\\n')",
    "other line ends": "write((old + f'[10:00] {note}\\n').replace('\\n', '\\r\\n'))",
    "a new log": "log.with_name('2030-01-03.md').write_text(note)",
    "a register": "(log.parents[1] / 'other.md').write_text(note)",
    "read": "log.read_text()",
}
HARMED = {
    "emptied": ("write('')", True),
    "a line is gone": ("write(old.replace('[09:30] Two\\n', '') + note)", True),
    "a line was changed": ("write(old.replace('One', 'Three') + note)", True),
    "lines change places": ("write(old.replace('One', '?').replace('Two', 'One') + note)", True),
    "only one of two equal lines": ("write(old.replace('[09:15] Twice\\n', '', 1))", True),
    "deleted": ("today.unlink()", True),
    "a folder in its place": ("today.unlink(); today.mkdir()", True),
    "another day's is deleted": ("log.unlink()", False),
    "another day's is written to": ("append(note)", False),
    "another day's is rewritten": ("log.write_text('x' * log.stat().st_size)", False),
}
HANDS = """
today = log.with_name(os.environ["TODAY"])
old = today.read_text()
def write(text):
    today.write_text(text, newline="")
begin()
"""


@pytest.mark.parametrize("behaviour", UNHARMED.values(), ids=UNHARMED)
def test_what_was_there_is_still_there(project, logs, behaviour):
    project.install(f"{HANDS}{behaviour}\nend()")
    outcome = project.logs()
    assert (outcome.logged, outcome.damage) == (True, "")


@pytest.mark.parametrize(("behaviour", "is_todays"), HARMED.values(), ids=HARMED)
def test_what_is_gone_is_told_and_not_mended(project, logs, behaviour, is_todays):
    os.utime(project.log, (1_000_000_000, 1_000_000_000))
    project.install(f"{HANDS}{behaviour}\nend()")
    outcome = project.logs()
    name = logs.name if is_todays else project.log.name
    assert outcome.logged
    assert outcome.damage.startswith(f"while `claude` ran: memory/daily/{name} ")
    assert outcome.damage.count("memory/daily/") == 1
    changed = logs if is_todays else project.log
    assert not changed.is_file() or changed.read_text() != (TODAY if is_todays else YESTERDAY)


@pytest.mark.parametrize("ending", ["sys.exit(1)", "time.sleep(60)", "begin('other')"])
def test_damage_is_told_after_a_failure_as_well(project, logs, ending):
    project.install(f"{HANDS}write('')\n{ending}")
    outcome = project.logs(seconds=1.5)
    assert not outcome.logged
    assert outcome.damage == (
        f"while `claude` ran: memory/daily/{logs.name} has lost or changed lines"
    )


def test_of_much_damage_only_some_is_named(project, logs):
    for number in range(1, 30):
        logs.with_name(f"2031-01-{number:02}.md").write_text("x")
    project.install(f"{HANDS}\nfor one in log.parent.iterdir(): one.unlink()\nend()")
    damage = project.logs().damage
    assert logs.name in damage
    assert "and 28 more" in damage
    assert len(damage) < 250


def test_no_logs_yet(project):
    project.log.unlink()
    project.log.parent.rmdir()
    project.install("begin(); log.parent.mkdir(); append(note); end()")
    assert project.logs()[::3] == (True, "")


# --- bounds ---------------------------------------------------------------------------------------

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


@pytest.mark.parametrize("path", [".", "", "programs", "./programs"])
def test_a_limiter_in_the_project_itself_is_not_run(project, monkeypatch, path):
    project.install("begin(); append(note); end()")
    for folder in (project.root, project.root / "programs"):
        folder.mkdir(exist_ok=True)
        (folder / "timeout").write_text(f"#!/bin/sh\ntouch '{project.root}/mine'\n")
        (folder / "timeout").chmod(0o755)
    monkeypatch.chdir(project.root)
    paths = [path, str(project.programs), "/usr/bin", "/bin"]
    assert project.logs(PATH=os.pathsep.join(paths)).logged
    assert not (project.root / "mine").exists()


def test_a_client_that_closes_its_output_and_stays(project):
    project.install(HANGS + "os.close(1); os.close(2); time.sleep(60)")
    outcome = project.logs(seconds=1.5)
    assert outcome[:2] == (False, "`claude` was not finished after 1.5 seconds")
    assert_gone(*project.call())


def test_what_the_client_leaves_behind_is_ended_with_it(project):
    """A process that holds its output open is not waited for."""
    project.install(HANGS + "append(note); end()")
    assert project.logs().logged
    assert_gone(*project.call())


def test_of_endless_output_little_is_kept(project):
    """And what comes last still counts."""
    project.install(
        "begin()\nfor _ in range(400): print('x' * 65536)\nappend(note)\nend('After 26 MB')"
    )
    assert project.logs()[:2] == (True, '`claude` ended well ("After 26 MB")')
    ended = bounded.run_bounded(
        ["sh", "-c", "head -c 9000000 /dev/zero; echo end"],
        cwd=project.root,
        environment=project.environment,
        seconds=20,
        is_enough=lambda _: False,
    )
    assert ended.code == 0
    assert len(ended.output) == 2 * bounded.KEPT_BYTES
    assert ended.output.endswith(b"\0end\n")


def test_the_end_of_this_process_ends_the_client(project):
    """A call that was given up in a thread does not go on when its process has ended."""
    project.install(HANGS + "time.sleep(60)")
    program = """
import json, os, sys, threading, time
from pathlib import Path
from grove_backend_totalrecall.command import log_by_claude
words = dict(command="/recall-log", root=Path.cwd(), environment=dict(os.environ), seconds=50)
threading.Thread(target=log_by_claude, args=["x"], kwargs=words, daemon=True).start()
while not Path(os.environ["CALLS"]).exists() or "[" != Path(os.environ["CALLS"]).read_text()[:1]:
    time.sleep(0.02)
"""
    subprocess.run(
        [sys.executable, "-c", program],
        cwd=project.root,
        env=project.environment,
        timeout=40,
        check=True,
    )
    assert_gone(*project.call())


# --- how it is called -----------------------------------------------------------------------------


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


def test_a_session_that_grove_has_started_starts_none(project):
    project.install("begin(); append(note); end()")
    outcome = project.logs(GROVE_NO_HOOKS="1")
    assert not outcome.logged
    assert "GROVE_NO_HOOKS is set" in outcome.why
    assert project.call() is None


HANDED_OVER = [
    "--dangerously-skip-permissions",
    "-p x",
    "; rm -rf . && $(id) `id` 'a' \"b\" \\",
    "costs $100, $1 and $ARGUMENTS; $HOME, ${HOME}",
    "mail dev@example.org; (@Autowired) and `@property`; a decorator: '@cache'",
    "a!=b, wow! (!important)",
    "größe 日本語 👍 <b>&amp;</b>",
    "/clear",
    "{}%s{time}",
]


@pytest.mark.parametrize("text", HANDED_OVER)
def test_a_note_is_one_argument_as_it_is(project, text):
    project.install("begin(); append(note); end()")
    note = f"{text} (grove:cl_20300102_aaaaaa)"
    assert project.logs(note).logged
    assert project.call()["arguments"][1] == f"{COMMAND} {note}"


REFUSED = [
    "two\nlines", "a\rb", "a\x00b", "a\x1b[0m", "a\u2028b", "a\u0085b",
    "see @src/orders.py", "@~/.ssh/id", 'see @"a b"', "see\u3000@a", "see\ufeff@a",
    "not !ready", "!`id`", "in `!x`", "then ! wait",
    "in ${CLAUDE_PROJECT_DIR}", "half \ud800 a letter",
]  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_a_note_that_the_client_would_not_pass_on_as_it_is(project, text):
    project.install("begin(); append(note); end()")
    outcome = project.logs(text)
    assert not outcome.logged
    assert "the note" in outcome.why or "could not be started" in outcome.why
    assert outcome.why.isprintable()
    assert project.call() is None
