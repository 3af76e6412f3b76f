"""The main job of grove, once through, on a scratch repository: run by `make demo`.

A real git repository, the recorded payloads of the real client, the installed `grove`. Only the
ticket tool is played: tissue keeps its tickets in a JSON Lines file, and the demo writes the line
that `tissue status` writes. Nothing outside the scratch directory is touched.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
PAYLOADS = CHECKOUT / "tests" / "data" / "hook-payloads"
GROVE = Path(sys.executable).with_name("grove")

LEARNING = {
    "--category": "pitfall",
    "--criterion": "behavior_changing",
    "--tag": "time-zones",
    "--file": "auth/login.py",
    "--summary": "Session tokens expire in UTC, but login compares them in local time",
    "--detail": "`login()` in auth/login.py compared datetime.now() with `expires_at`, which is "
    "UTC: users west of Greenwich were logged out at once. Compare aware times.",
}


class Scratch:
    """A scratch repository and the sessions that work in it."""

    def __init__(self) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="grove-demo-"))
        self.project = self.base / "project"
        self.environment = {
            "HOME": str(self.base / "home"),
            "GROVE_HOME": str(self.base / "home" / ".grove"),
            "PATH": f"{GROVE.parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "LANG": os.environ.get("LANG", "C.UTF-8"),
        }
        (self.base / "home").mkdir()
        self.project.mkdir()
        (self.project / "auth").mkdir()
        (self.project / "auth" / "login.py").write_text("def login(user): ...\n")
        self.git("init", "--quiet")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message=Start")
        (self.project / ".tissue").mkdir()

    def git(self, *arguments: str) -> None:
        """Run git as a person of no importance."""
        who = ("-c", "user.name=demo", "-c", "user.email=demo@example.invalid")
        subprocess.run(
            ["git", *who, *arguments], cwd=self.project, env=self.environment, check=True
        )

    def ticket(self, ticket_id: str, title: str, status: str) -> None:
        """Write the line that tissue writes when a ticket changes."""
        now = int(time.time() * 1000)
        line = {
            "type": "issue",
            "id": ticket_id,
            "rev": f"{time.monotonic_ns():026d}",
            "title": title,
            "body": "",
            "status": status,
            "priority": 2,
            "tags": ["login"],
            "created_at": now,
            "updated_at": now,
        }
        with (self.project / ".tissue" / "issues.jsonl").open("a") as issues:
            issues.write(json.dumps(line) + "\n")

    def grove(self, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run grove in the project."""
        return subprocess.run(
            [str(GROVE), *arguments],
            cwd=self.project,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )

    def hook(
        self, event: str, payload: str, session: str, **changes: object
    ) -> subprocess.CompletedProcess[str]:
        """Send a recorded payload of the real client to `grove hook`."""
        recorded = json.loads((PAYLOADS / f"{payload}.json").read_text())["stdin"]
        recorded.update(changes, session_id=session, cwd=str(self.project))
        return self.grove("hook", event, stdin=json.dumps(recorded) + "\n")


def step(title: str) -> None:
    """Print a heading."""
    print(f"\n\033[1m{title}\033[0m" if sys.stdout.isatty() else f"\n{title}")


def show(text: str) -> None:
    """Print what a person or an agent would see, indented."""
    for line in text.rstrip("\n").split("\n"):
        print(f"    {line}".rstrip())


def expect(done: subprocess.CompletedProcess[str], exit_code: int) -> str:
    """Stop the demo if grove did not do what the demo is about to say it did."""
    if done.returncode != exit_code:
        sys.exit(
            f"demo: {' '.join(done.args[1:3])} ended with {done.returncode}, not {exit_code}:\n"
            f"{done.stdout}{done.stderr}"
        )
    return done.stdout + done.stderr


def context_of(output: str) -> str:
    """Take the text for the agent out of a SessionStart answer."""
    if not output.strip():
        return "(nothing fits yet)"
    return str(json.loads(output)["hookSpecificOutput"]["additionalContext"])


def close_ticket(scratch: Scratch, session: str, ticket_id: str, title: str) -> None:
    """Play the agent's tool call that closes a ticket: before, the tool itself, after."""
    command = f"tissue status {ticket_id} closed"
    call = {"tool_input": {"command": command}, "tool_use_id": f"toolu_{ticket_id}"}
    expect(scratch.hook("pre-tool-use", "PreToolUse-Bash", session, **call), 0)
    scratch.ticket(ticket_id, title, "closed")
    expect(scratch.hook("post-tool-use", "PostToolUse-Bash", session, **call), 0)
    show(f"$ {command}\n{ticket_id}")


def main() -> None:
    """Tell the story."""
    scratch = Scratch()
    bug = "Users west of Greenwich are logged out at once"
    scratch.ticket("app-1", bug, "in_progress")

    step("1. A project starts to use grove")
    show("$ grove init\n" + expect(scratch.grove("init"), 0))

    step(f"2. A session starts; the ticket in progress is app-1, “{bug}”")
    done = expect(scratch.hook("session-start", "SessionStart-startup", "monday"), 0)
    show(f"$ grove hook session-start\n{context_of(done)}")

    step("3. The agent fixes the bug and closes the ticket; grove lets it happen")
    (scratch.project / "auth" / "login.py").write_text("def login(user):\n    return user\n")
    close_ticket(scratch, "monday", "app-1", bug)

    step("4. The agent wants to stop; grove stops it once (exit code 2) and tells it why")
    show("$ grove hook stop\n" + expect(scratch.hook("stop", "Stop-first", "monday"), 2))

    step("5. The agent writes down what it learned")
    words = [word for pair in LEARNING.items() for word in pair]
    reflect = ["reflect", "--session-id", "monday", *words]
    show(f"$ grove {shlex.join(reflect)}\n" + expect(scratch.grove(*reflect), 0))

    step("6. It stops again, and the gate is open (exit code 0)")
    show("$ grove hook stop\n" + expect(scratch.hook("stop", "Stop-after-block", "monday"), 0))
    expect(scratch.hook("session-end", "SessionEnd-other", "monday"), 0)

    step("7. The learning is a file in .grove/learnings/, to be committed and reviewed like code")
    (file,) = (scratch.project / ".grove" / "learnings").iterdir()
    show(f"$ cat .grove/learnings/{file.name}\n{file.read_text()}")

    step("8. The next session works on app-2, “Remember me on the login page”, and is told")
    scratch.ticket("app-2", "Remember me on the login page", "in_progress")
    done = expect(scratch.hook("session-start", "SessionStart-startup", "tuesday"), 0)
    show(f"$ grove hook session-start\n{context_of(done)}")

    step("9. It helped, and the agent says so; use is counted, and decides what is shown next")
    used = ("ref", file.stem, "--how", "compared aware times")
    done = expect(scratch.grove(*used, "--session-id", "tuesday"), 0)
    show(f"$ grove ref {file.stem} --how 'compared aware times'\n{done}")
    show("$ grove stats\n" + expect(scratch.grove("stats"), 0).partition("\n\n")[0])

    grove = f"HOME={scratch.base / 'home'} {GROVE} -C {scratch.project}"
    print(f"\nThe scratch repository is left for you. Try:\n  {grove} list\n  {grove} stats")
    print(f"To remove it: rm -rf {scratch.base}")


if __name__ == "__main__":
    if shutil.which("git") is None:
        sys.exit("demo: git is needed and was not found")
    main()
