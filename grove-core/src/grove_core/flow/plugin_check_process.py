"""The process in which plugins are tried, and the end of everything that they start there."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import IO, Any, Final

from grove_core.errors import PluginError

# By name: no module of grove imports the kit, which needs pytest.
_CHILD: Final = "grove_core.testing.checking"
_LAST_LINES: Final = 20
# So faulthandler begins, which ends the process when a test takes too long.
_HUNG: Final = "Timeout ("
_ENDING_SECONDS: Final = 5.0
# What would lead tests to the user's own files, or change how they are run.
_LEFT_OUT: Final = ("GROVE_PLUGINS", "GROVE_SESSION", "CLAUDE", "PYTEST_", "XDG_")
_PROCESSES: Final = Path("/proc")


def results_of(request: Mapping[str, Any]) -> Generator[dict[str, Any], None, None]:
    """Run the process, and give what it tells as it tells it; whoever stops early closes this."""
    with TemporaryDirectory(prefix="grove-check-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "run").mkdir()
        with (
            (folder / "output").open("w+", errors="replace") as output,
            _ended_by_signals(),
            _running(folder, output) as process,
        ):
            yield from _told(process, json.dumps(request), output)


@contextmanager
def _running(folder: Path, output: IO[str]) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-m", _CHILD],
        cwd=folder / "run",
        env=_environment(folder),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=output,
        encoding="utf-8",
        # A group of its own: it can be ended with all that plugins have started in it.
        start_new_session=True,
    )
    try:
        yield process
        # What plugins have started may be ended when the process ends by itself.
        with suppress(subprocess.TimeoutExpired):
            process.wait(_ENDING_SECONDS)
    finally:
        _end(process, folder)


def _end(process: "subprocess.Popen[str]", folder: Path) -> None:
    # There may be nobody left, or nobody but those that have ended already.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    for number in _started_in(folder):
        with suppress(ProcessLookupError, PermissionError):
            os.kill(number, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        # Not read to its end: it may be open elsewhere still.
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()


def _started_in(folder: Path) -> Iterator[int]:
    """Find those that have left the group."""
    mark = os.fsencode(folder) + b"/"
    for environment in _PROCESSES.glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in environment.read_bytes():
                yield int(environment.parent.name)


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Let what ends this program end the process as well, which has a session of its own."""
    before = {
        number: signal.signal(number, _exit)
        for number in (signal.SIGTERM, signal.SIGHUP)
        # Whoever has them ignored, such as nohup, wants it to go on.
        if signal.getsignal(number) is signal.SIG_DFL
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _exit(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _told(
    process: "subprocess.Popen[str]", request: str, output: IO[str]
) -> Iterator[dict[str, Any]]:
    assert process.stdin is not None
    assert process.stdout is not None
    # A process that ends before it has read is told of below, with what it has printed.
    with suppress(BrokenPipeError):
        process.stdin.write(request)
        process.stdin.close()
    for line in process.stdout:
        result: dict[str, Any] = json.loads(line)
        if result["event"] == "finished":
            return
        yield result
    output.seek(0)
    last = _last_of(output.readlines()) or "nothing was printed"
    raise PluginError(f"the tests ended before their time, with code {process.wait()}:\n{last}")


def _last_of(lines: Sequence[str]) -> str:
    hung = [number for number, line in enumerate(lines) if line.startswith(_HUNG)]
    # Where a test hangs stands first after that line, and pytest's own calls below.
    start = hung[-1] if hung else max(len(lines) - _LAST_LINES, 0)
    return "".join(lines[start : start + _LAST_LINES]).strip()


def _environment(folder: Path) -> dict[str, str]:
    """Return the process a home of its own, and no plugin of pytest that is not grove's."""
    home, temporary = folder / "home", folder / "tmp"
    home.mkdir()
    temporary.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_LEFT_OUT)}
    return {
        **kept,
        "HOME": str(home),
        "GROVE_HOME": str(home / ".grove"),
        # What is left there goes with the folder.
        "TMPDIR": str(temporary),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }
