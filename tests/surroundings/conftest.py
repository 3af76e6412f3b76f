"""Processes in bad surroundings: other users, full disks, closed streams, small terminals."""

import ctypes
import fcntl
import json
import os
import pty
import resource
import shutil
import struct
import subprocess
import sys
import termios
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import define, frozen

GROVE = (sys.executable, "-m", "grove_core._entry")
DATA = Path(__file__).parents[1] / "data" / "hook-payloads"
LIBC = ctypes.CDLL(None, use_errno=True)
PR_CAPBSET_DROP = 24
# What lets root read and write whatever the permissions say.
CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 1, 2
# Maps this user to one that no password database knows, in a namespace of its own.
STRANGER = ("unshare", "--user", "--map-user=54321", "--map-group=54321")


@frozen
class Finished:
    """What a process left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self):
        return json.loads(self.stdout)


def bound_by_permissions():
    """Before the program starts: root, too, is held by what permissions say."""
    if os.getuid() == 0:
        for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            if LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0):
                raise OSError(ctypes.get_errno(), "cannot give up a capability")


def disk_of(size):
    """Before the program starts: no file grows beyond so many bytes, as on a full disk."""

    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


def without_streams(*numbers):
    """Before the program starts: these of the three standard streams are closed."""

    def close():
        for number in numbers:
            os.close(number)

    return close


@define
class Surroundings:
    """Runs `grove` for a world as no decent shell would."""

    world: object

    def environment(self, without=(), **variables):
        given = {key: str(one) for key, one in variables.items()}
        # On a full disk, Python itself would leave broken bytecode behind for everybody.
        changed = {**self.world.environment, "PYTHONDONTWRITEBYTECODE": "1", **given}
        return {key: value for key, value in changed.items() if key not in without}

    def run(
        self,
        *words,
        stdin=b"",
        before=None,
        prefix=(),
        cwd=None,
        without=(),
        **variables,
    ):
        """Runs `grove` to its end; nothing but grove's own files may change.

        `before` runs in the new process, `prefix` is the program that starts grove, `without`
        names variables that are not set.
        """
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        with self.world.watched():
            done = subprocess.run(
                [*prefix, *GROVE, *words],
                cwd=cwd or self.world.project,
                env=self.environment(without, **variables),
                input=data,
                capture_output=True,
                timeout=60,
                preexec_fn=before,
                check=False,
            )
        return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())

    def hook(self, event, payload=None, **options):
        """Runs a hook; what holds for every answer is asserted."""
        document = {"session_id": "session-1", "cwd": str(self.world.project), "source": "startup"}
        data = (
            payload if isinstance(payload, bytes) else json.dumps({**document, **(payload or {})})
        )
        done = self.run("hook", event, stdin=data, **options)
        assert done.code in ((0, 2, 3) if event == "stop" else (0, 3))
        assert "Traceback" not in done.stderr
        if done.stdout:
            assert set(done.json) == {"hookSpecificOutput"}
            assert "permissionDecision" not in done.stdout
        return done

    def lines(self, name="grove.log"):
        """The lines of a log, which are forgotten afterwards."""
        path = self.world.grove_home / name
        if not path.exists():
            return []
        lines = path.read_text().splitlines()
        path.unlink()
        return lines

    def in_terminal(self, *words, columns, **variables):
        """Runs a command in a terminal of a width; gives its exit code and what is on the screen."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(
            [*GROVE, *words],
            cwd=self.world.project,
            env=self.environment(TERM="xterm", **variables),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        parts = []
        with open(ours, "rb", buffering=0) as screen:
            try:
                while part := screen.read(65536):
                    parts.append(part)
            except OSError:
                pass  # what a terminal says once nobody writes to it any more
        return process.wait(timeout=60), b"".join(parts).decode()


@pytest.fixture
def surroundings(world):
    return Surroundings(world)


@pytest.fixture(scope="session")
def first_armed():
    """What the first armed project has left behind, for the others to be made of: path to bytes."""
    return {}


@pytest.fixture
def armed(beads, first_armed):
    """A beads project in which session-1 owes a reflection; grove was set up in mid-session."""
    agent = beads.agent()
    here = os.fsencode(beads.folder)
    if not first_armed:
        agent.closes("bd-1")
        for folder in (beads.grove_home, beads.project):
            for path in filter(Path.is_file, folder.rglob("*")):
                content = path.read_bytes().replace(here, b"<FOLDER>")
                first_armed[path.relative_to(beads.folder)] = content
    for path, content in first_armed.items():
        (beads.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (beads.folder / path).write_bytes(content.replace(b"<FOLDER>", here))
    agent.calls = 1
    return agent


@pytest.fixture
def recorded():
    """The recorded payloads of the client, moved into a world."""

    def load(name, world):
        text = (DATA / f"{name}.json").read_text()
        text = text.replace("/home/dev/project", str(world.project))
        return json.loads(text.replace("/home/dev", str(world.home)))

    return load


@contextmanager
def read_only_tree(*folders):
    """Takes the right to write from folders and everything below them."""
    changed = {}
    for folder in folders:
        for path in [*folder.rglob("*"), folder]:
            if not path.is_symlink():
                changed[path] = path.stat().st_mode
                path.chmod(path.stat().st_mode & 0o555)
    try:
        yield
    finally:
        for path, mode in reversed(changed.items()):
            path.chmod(mode)


@pytest.fixture
def read_only():
    return read_only_tree


@pytest.fixture
def bounds():
    """What can be done to a process before it starts."""
    return {
        "permissions": bound_by_permissions,
        "disk": disk_of,
        "streams": without_streams,
    }


@pytest.fixture
def stranger():
    """A prefix that makes a process's user one whom nobody knows; skips where that cannot be had."""
    if shutil.which(STRANGER[0]):
        done = subprocess.run(
            [*STRANGER, sys.executable, "-c", ""], check=False, capture_output=True
        )
        if done.returncode == 0:
            return STRANGER
    pytest.skip("this machine gives no user namespaces")
