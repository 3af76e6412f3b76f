"""Scratch projects to measure in: a home, a git repository, and a past."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from attrs import evolve, frozen
from history import History, write_history
from measuring import Command

from grove_core.codec import event_from_line

CHECKOUT: Final = Path(__file__).resolve().parent.parent
GROVE: Final = Path(sys.executable).with_name("grove")
LAUNCHER: Final = CHECKOUT / "plugin" / "bin" / "grove-hook"
_PAYLOADS: Final = CHECKOUT / "tests" / "data" / "hook-payloads"
_SOURCE_FILES: Final = 200
_CHANGED_FILES: Final = 3
_LONGEST_DEADLINE_MS: Final = 60_000
_SECONDS: Final = 300
_TICKET: Final = {
    "type": "issue",
    "id": "app-1",
    "rev": "00000000000000000000000001",
    "title": "The export of large orders times out",
    "body": "The nightly export of orders with more than 10,000 rows ends in a timeout.",
    "status": "in_progress",
    "priority": 2,
    "tags": ["orders", "export"],
    "created_at": 1_900_000_000_000,
    "updated_at": 1_900_000_000_000,
}
# What the ticket and the prompt are about; the made-up learnings are about other things.
FITTING: Final = (
    "The nightly export of large orders times out unless OrderStore.prefetch() loads the rows",
    "A large order is exported row by row: the timeout of the export counts for all of its rows",
    "OrderStore reads rows one by one inside a transaction, so that prefetch has to come first",
    "Orders with more than 10,000 rows need export_batch(), or the export ends in a timeout",
    "The retry of the worker repeats the whole export of an order, not the rows that are left",
    "The export worker has a retry without a limit: a timeout of one order stalls the nightly run",
    "Nightly runs start before the backup of orders ends: the export waits for its locks",
    "The timeout of the export is read when the worker starts, a changed one counts the next night",
    "Rows of an order must be prefetched in the order of their ids, the export stream needs that",
    "OrderStore.prefetch() ignores archived rows, the export of old orders reads these one by one",
)
_ENTRY: Final = """\
### [cl_fitting_{number}] {summary}
- **Category:** pitfall
- **Scope:** project
- **Confidence:** high
- **Status:** active
- **Criteria:** behavior_changing
- **Tags:** orders, export
- **Files:** app/orders_0/export_0.py
- **Origin:** ticket app-7 | session 00c0ffee00c0ffee
- **Created:** {created:%Y-%m-%dT%H:%M:%SZ}

> {summary}. It was seen in run {number}.

"""
# Writes down how it was called and goes on as git, so that git's share is measured with the very
# calls that a hook makes.
_RECORDER: Final = """\
#!/bin/sh
exec "{python}" -IS -c '
import json, os, sys
variables = {{key: value for key, value in os.environ.items() if key[:4] in ("GIT_", "LC_A")}}
with open(os.environ["GIT_CALLS_OF_A_HOOK"], "a") as file:
    file.write(json.dumps([sys.argv[1:], variables]) + "\\n")
os.execv("{git}", ["{git}", *sys.argv[1:]])
' "$@"
"""


@frozen(kw_only=True)
class World:
    """A home with one project.

    Attributes:
        folder: Where both lie.
        environment: What the client passes on to its hooks.
    """

    folder: Path
    environment: Mapping[str, str]

    @property
    def project(self) -> Path:
        """The project's root."""
        return self.folder / "project"

    @property
    def home(self) -> Path:
        """The directory of grove itself."""
        return self.folder / "home" / ".grove"

    def edit(self) -> None:
        """Change a source file that has uncommitted changes already."""
        _touch(self.project, 2 * _CHANGED_FILES - 1)

    def without_haste(self) -> "World":
        """Let hooks take as long as the configuration can allow them."""
        variable = {"GROVE_HOOKS_DEADLINE_MS": str(_LONGEST_DEADLINE_MS)}
        return evolve(self, environment={**self.environment, **variable})

    def command(self, *words: str, stdin: bytes = b"") -> Command:
        """Make a command that runs in the project.

        Args:
            words: The program and its arguments.
            stdin: What it reads.

        Returns:
            The command.
        """
        return Command(
            words=words, stdin=stdin, cwd=self.project, environment=dict(self.environment)
        )

    def payload(self, recorded: str, session_id: str, changes: Mapping[str, object]) -> bytes:
        """Take a payload that the client once sent into this project.

        Args:
            recorded: Its name among the recorded ones.
            session_id: The session that it is to come from.
            changes: Other fields that are to differ.

        Returns:
            What the client writes.
        """
        document = json.loads((_PAYLOADS / f"{recorded}.json").read_text())["stdin"]
        transcript = self.folder / "home" / ".claude" / f"{session_id}.jsonl"
        document.update(
            {"session_id": session_id, "cwd": str(self.project), "transcript_path": str(transcript)}
        )
        document.update(changes)
        return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def make_world(folder: Path, history: History, *, tickets: bool) -> World:
    """Make a home and a project that uses grove.

    Args:
        folder: A folder that is not there yet.
        history: What the project has behind it.
        tickets: Whether it has a ticket system, with a ticket in progress.

    Returns:
        The world.
    """
    world = World(folder=folder, environment=_environment(folder))
    world.project.mkdir(parents=True)
    (folder / "home").mkdir()
    (folder / "tmp").mkdir()
    _write_sources(world.project)
    _git(world, "init", "--quiet", "--initial-branch=main", "--template=")
    run(world.command(str(GROVE), "init"))
    if tickets:
        (world.project / ".tissue").mkdir()
        (world.project / ".tissue" / "issues.jsonl").write_text(json.dumps(_TICKET) + "\n")
    _write_past(world.project, history)
    _commit(world, "Start")
    _git(world, "switch", "--quiet", "--create", "feature/orders-export")
    for number in range(_CHANGED_FILES):
        _touch(world.project, number)
        _commit(world, f"Prefetch the rows of order {number}")
        _touch(world.project, number + _CHANGED_FILES)
    (world.project / "notes.txt").write_text("Measure the export again.\n")
    return world


def _write_past(project: Path, history: History) -> None:
    """Write what is made up, and some learnings that fit the work, if there are to be any."""
    fitting = FITTING[: history.learnings]
    write_history(project, evolve(history, learnings=history.learnings - len(fitting)))
    yesterday = datetime.now(UTC) - timedelta(days=1)
    with (project / ".grove" / "learnings.md").open("a", encoding="utf-8") as file:
        for number, summary in enumerate(fitting):
            file.write(_ENTRY.format(number=number, summary=summary, created=yesterday))


def prove(world: World, history: History) -> None:
    """Make sure that grove reads all of a made-up past.

    Args:
        world: The world that has it.
        history: How much there must be.
    """
    learnings = json.loads(run(world.command(str(GROVE), "list", "--json")))["total"]
    with (world.project / ".grove" / "stats.log").open(encoding="utf-8") as log:
        events = sum(event_from_line(line) is not None for line in log)
    if (learnings, events) != (history.learnings, history.events):
        sys.exit(f"grove reads {learnings} learnings and {events} events of what was made up")


def run(command: Command, expected_exit: int = 0) -> str:
    """Run a command for what it does, not for what it costs.

    Args:
        command: What to run.
        expected_exit: How it must end.

    Returns:
        What it wrote to its standard output.
    """
    done = subprocess.run(
        command.words,
        input=command.stdin,
        cwd=command.cwd,
        env=command.environment,
        capture_output=True,
        check=False,
        timeout=_SECONDS,
    )
    if done.returncode != expected_exit:
        sys.exit(f"{command.words} ended with {done.returncode}:\n{done.stderr.decode()}")
    return done.stdout.decode()


def git_calls(world: World, command: Command, expected_exit: int = 0) -> Sequence[Command]:
    """Run a command once, and find out which calls of git it makes.

    Args:
        world: Where it runs.
        command: The command.
        expected_exit: How it must end.

    Returns:
        The calls, to be run by themselves.
    """
    git = _program("git")
    folder = world.folder / "recorder"
    calls = folder / "calls"
    folder.mkdir(exist_ok=True)
    calls.unlink(missing_ok=True)
    recorder = folder / "git"
    recorder.write_text(_RECORDER.format(python=sys.executable, git=git))
    recorder.chmod(0o755)
    path = f"{folder}{os.pathsep}{world.environment['PATH']}"
    environment = {**world.environment, "PATH": path, "GIT_CALLS_OF_A_HOOK": str(calls)}
    run(
        Command(words=command.words, stdin=command.stdin, cwd=command.cwd, environment=environment),
        expected_exit,
    )
    lines = calls.read_text().splitlines() if calls.exists() else []
    return [_recorded(world, git, *json.loads(line)) for line in lines]


def _recorded(
    world: World, git: str, arguments: Sequence[str], variables: Mapping[str, str]
) -> Command:
    return Command(
        words=(git, *arguments),
        stdin=b"",
        cwd=world.project,
        environment={**world.environment, **variables},
    )


def _program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        sys.exit(f"{name} is needed and was not found")
    return found


def _environment(folder: Path) -> Mapping[str, str]:
    """Name every variable: whatever else is set here, people's machines do not have it.

    Without `PYTHONDONTWRITEBYTECODE` the first run compiles what the installer did not.
    """
    git = Path(_program("git")).parent
    environment = {
        "HOME": str(folder / "home"),
        "GROVE_HOME": str(folder / "home" / ".grove"),
        "TMPDIR": str(folder / "tmp"),
        "PATH": os.pathsep.join([str(GROVE.parent), str(git), "/usr/bin", "/bin"]),
        "LANG": "C.UTF-8",
        # Most of what is made up is older than decay allows. It would archive a few at every start,
        # each time with the file and the index changed; what is to be measured is a project that
        # rests.
        "GROVE_DECAY_PASSIVE_DURATION_DAYS": "36500",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    if "PYTHONPATH" in os.environ:
        # Another tree than the installed one is to be measured.
        environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
    return environment


def _write_sources(project: Path) -> None:
    for number in range(_SOURCE_FILES):
        path = _source(project, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"value_{line} = {number}\n" for line in range(40)))


def _source(project: Path, number: int) -> Path:
    return project / "app" / f"orders_{number % 20}" / f"export_{number}.py"


def _touch(project: Path, number: int) -> None:
    with _source(project, number).open("a") as file:
        file.write("prefetched = True\n")


def _commit(world: World, subject: str) -> None:
    _git(world, "add", "--all")
    identity = ("-c", "user.name=dev", "-c", "user.email=dev@example.invalid")
    _git(world, *identity, "commit", "--quiet", f"--message={subject}")


def _git(world: World, *arguments: str) -> None:
    run(world.command(_program("git"), *arguments))
