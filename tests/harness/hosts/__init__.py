"""Real coding agents, headless, each with a model on loopback that plays a script.

client.configure(home, project)
run = play(CODEX, [Shell("bd close bd-1"), "Done."], project, home=home)
assert "grove reflect" in run.requests[2].new
"""

import contextlib
import json
import os
import shlex
import signal
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryFile
from uuid import uuid4

from attrs import frozen

from hosts.api import Call, Failure, Model, Request, Shell
from hosts.clients import CLIENTS, CODEX, COPILOT, GEMINI, OPENCODE, QWEN, Client

__all__ = (
    "CLIENTS", "CODEX", "COPILOT", "GEMINI", "OPENCODE", "QWEN", "Call", "Client", "Failure",
    "Request", "Run", "Shell", "end_marked", "play",
)  # fmt: skip

SESSION_KEYS = ("thread_id", "sessionId", "sessionID", "session_id")
MARK = "HOST_HARNESS_RUN"


@frozen
class Run:
    """What became of one run of a client.

    Attributes:
        exit_code: The client's own.
        ended_by: What the harness ended it for: `timeout`, `requests`, or nothing.
        session: The session's id, to resume it by.
        requests: What the model was sent, without what is asked beside the conversation.
        seconds: How long it took.
        left: The command lines of processes that outlived it, and were ended.
    """

    exit_code: int
    ended_by: str
    session: str | None
    requests: tuple
    seconds: float
    stdout: str
    stderr: str
    left: tuple

    def first(self, text):
        """The number of the first request in which the model read a text, or None."""
        return next((n for n, each in enumerate(self.requests) if text in each.read), None)


def play(
    client, script, project, *,
    home, resume=None, prompt="Do the task.", environment=None, arguments=(), timeout=180, most=40,
):  # fmt: skip
    """Run a client once, to its end or to what the test allows.

    Args:
        client: One of `CLIENTS`.
        script: The model's turns.
        project: The folder to work in.
        home: The home, which `client.configure` has seen.
        resume: The id of the session to go on with.
        prompt: What the user says.
        environment: Further variables; of the caller's own, only PATH is handed on.
        arguments: Further words for the client.
        timeout: The seconds after which it is ended.
        most: The number of requests after which it is ended.
    """
    started, mark = time.monotonic(), uuid4().hex
    model = Model(script, client.shell, most)
    own = {**client.variables(model.url), MARK: mark}
    variables = {**common(home), **own, **(environment or {})}
    # Codex has a login shell, for which Debian's /etc/profile sets PATH.
    (home / ".profile").write_text(f"PATH={shlex.quote(variables['PATH'])}\n")
    words = client.command(model.url, prompt, resume, arguments)
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        try:
            with subprocess.Popen(
                words, cwd=project, env=variables, stdin=subprocess.DEVNULL,
                stdout=out, stderr=err, start_new_session=True,
            ) as process:  # fmt: skip
                ended_by = wait(process, model, started + timeout)
        finally:
            model.close()
            left = end_marked(f"{MARK}={mark}")
        stdout, stderr = (file.seek(0) or file.read() for file in (out, err))
    return Run(
        exit_code=process.returncode,
        ended_by=ended_by,
        session=session_of(stdout),
        requests=tuple(each for each in model.requests if each.turn is not None),
        seconds=round(time.monotonic() - started, 2),
        stdout=stdout,
        stderr=stderr,
        left=left,
    )


def common(home):
    """The variables of every client. Codex lets its shell write TMPDIR, wherever it is."""
    temporary = home / "tmp"
    temporary.mkdir(exist_ok=True)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "TMPDIR": str(temporary),
        "USER": "dev",
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_PROXY": "127.0.0.1,localhost",
    }


def wait(process, model, until):
    """Wait for the end of a client, or end it; give the reason."""
    ended_by = ""
    try:
        while process.poll() is None and not ended_by:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
            late = time.monotonic() > until
            ended_by = "requests" if model.overrun.is_set() else "timeout" if late else ""
        if process.poll() is None:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)
    finally:
        process.kill()
    return ended_by


def session_of(stdout):
    """The first id of a session in a client's JSON lines."""
    for line in stdout.splitlines():
        with contextlib.suppress(ValueError, AttributeError):
            document = json.loads(line)
            found = [document[key] for key in SESSION_KEYS if document.get(key)]
            if found:
                return found[0]
    return None


def end_marked(mark):
    """End the processes that have inherited a variable; give their command lines."""
    left = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (folder / "environ").read_bytes():
                words = (folder / "cmdline").read_bytes().replace(b"\0", b" ")
                left.append(words.decode(errors="replace").strip())
                os.kill(int(folder.name), signal.SIGKILL)
    return tuple(left)
