"""A world of its own for grove: a home, a project, and nothing else to write to.

Every call is watched: apart from `GROVE_HOME` and the project's `.grove/`, all files must be the same
afterwards, byte for byte. Commands and hooks are called in the tests' own process; `start` and
`grove(..., real=True)` run a program.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import in_process
from attrs import define, field, frozen
from core_worlds import install, run_program, write_program
from documented import undocumented

from grove_core.storage.paths import ProjectPaths

GROVE = (sys.executable, "-m", "grove_core._entry")
GIT_IDENTITY = ("-c", "user.name=Dev", "-c", "user.email=dev@example.org")
MAY_SPEAK = {"SessionStart", "UserPromptSubmit", "PostToolUse"}


@frozen
class Finished:
    """What a process left behind."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self):
        return json.loads(self.stdout)


def kebab_case(event):
    """The name that `grove hook` knows an event by."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", event).lower()


def listing(folder, *, apart_from=()):
    """Every file below a folder with its bytes, and every other entry with its kind."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if any(path == other or other in path.parents for other in apart_from):
            continue
        if path.is_symlink():
            found[path] = f"link to {path.readlink()}"
        else:
            found[path] = path.read_bytes() if path.is_file() else "folder"
    return found


def signatures(folder, *, apart_from):
    """What tells each file and folder below a folder from one that was written or made since."""
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if os.path.join(place, name) not in apart_from]
        found.update((os.path.join(place, name), "folder") for name in folders)
        for name in files:
            path = os.path.join(place, name)
            if path not in apart_from:
                seen = os.lstat(path)
                found[path] = (seen.st_ino, seen.st_size, seen.st_mtime_ns, seen.st_mode)
    return found


@define
class World:
    """A person's machine with one project; everything of grove goes into `grove_home`."""

    program = GROVE

    folder: Path
    environment: dict = field(factory=dict)
    lent: list = field(factory=list)  # folders of other programs that grove may write to

    def __attrs_post_init__(self):
        for folder in (self.home, self.project, self.folder / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        self.environment = {
            "HOME": str(self.home),
            "GROVE_HOME": str(self.grove_home),
            "TMPDIR": str(self.folder / "tmp"),
            "CLAUDE_CONFIG_DIR": str(self.home / ".claude"),
            "PATH": os.pathsep.join([str(Path(shutil.which("git")).parent), "/usr/bin", "/bin"]),
            "LANG": "C.UTF-8",
            # A machine that is busy with other tests must not make hooks late.
            "GROVE_HOOKS_DEADLINE_MS": "30000",
            **self.environment,
        }

    @property
    def home(self):
        return self.folder / "home"

    @property
    def others(self):
        """What other programs own: not watched."""
        return self.folder / "others"

    @property
    def grove_home(self):
        return self.folder / "grove-home"

    @property
    def project(self):
        return self.folder / "project"

    def start(self, *words, cwd=None, **variables):
        """A running `grove` that is not watched; for processes side by side."""
        return subprocess.Popen(
            [*self.program, *map(str, words)],
            cwd=cwd or self.project,
            env=self._environment(variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def grove(self, *words, stdin="", cwd=None, real=False, **variables):
        """Calls `grove` to its end, as a program if it must be; variables are added to its environment."""
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        with self.watched():
            if real:
                process = self.start(*words, cwd=cwd, **variables)
                out, err = process.communicate(data, timeout=600)
                return Finished(process.returncode, out.decode(), err.decode())
            done = in_process.call(
                *map(str, words),
                environment=self._environment(variables),
                cwd=cwd or self.project,
                stdin=data,
            )
        finished = Finished(done.code, done.stdout.decode(), done.stderr.decode())
        if "--json" in words and finished.stdout.startswith("{"):
            assert finished.stdout.isascii()
            found = undocumented(words, finished.json)
            assert not found, found
        return finished

    def _environment(self, variables):
        return {**self.environment, **{key: str(value) for key, value in variables.items()}}

    @contextmanager
    def watched(self):
        """Asserts that only grove's own files change."""
        git = self.project / ".git"
        # `grove init` takes an older grove's merge driver out, and has git leave settings out.
        clone = (git / "config", git / "info")
        own = (self.grove_home, self.project / ".grove", self.others, *self.lent, *clone)
        own = {str(path) for path in own}
        before = signatures(self.folder, apart_from=own)
        yield
        after = signatures(self.folder, apart_from=own)
        assert {path for path, _ in before.items() ^ after.items()} == set()

    def hook(self, event, payload, **variables):
        """Runs the hook of an event, and asserts what holds for every answer."""
        data = payload if isinstance(payload, bytes) else json.dumps(payload) + "\n"
        done = self.grove("hook", kebab_case(event), stdin=data, **variables)
        assert "permissionDecision" not in done.stdout
        if done.stdout:
            assert event in MAY_SPEAK
            assert done.code == 0
            answer = json.loads(done.stdout)
            told = answer.pop("systemMessage", None)
            assert told is None or (event == "SessionStart" and told.startswith("grove: "))
            assert set(answer) == {"hookSpecificOutput"}
            output = answer["hookSpecificOutput"]
            assert set(output) == {"hookEventName", "additionalContext"}
            assert output["hookEventName"] == event
            assert 0 < len(output["additionalContext"]) <= 9_000
        if event != "Stop":
            assert done.code != 2
        return done

    def agent(self, session_id="session-1", **variables):
        """A session of the client in the project."""
        return Agent(self, session_id, variables)

    def git(self, *words):
        done = run_program(
            ["git", *GIT_IDENTITY, *words], cwd=self.project, env=self.environment, check=True
        )
        return done.stdout

    def make_git(self):
        """Makes the project a repository with one commit of all that is there."""
        self.git("init", "-q", "-b", "main", "--template=")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "Start")

    def initialise(self, config=""):
        """What `grove init` makes, as far as hooks and commands care; with one file for all."""
        (self.project / ".grove").mkdir()
        self.learnings_file.touch()
        (self.project / ".grove" / "config.toml").write_text(config)

    def use_beads(self):
        """A beads project without a `bd` on PATH, so that only its files can tell of a close."""
        (self.project / ".beads").mkdir()
        (self.project / ".beads" / "metadata.json").write_text('{"backend": "dolt"}')

    def start_ticket(self, ticket_id, **fields):
        """beads' files as they are while a ticket is in progress."""
        issue = {"id": ticket_id, "status": "in_progress", **fields}
        (self.project / ".beads" / "issues.jsonl").write_text(json.dumps(issue) + "\n")
        (self.project / ".beads" / "last-touched").write_text(f"{ticket_id}\n")

    def close_ticket(self, ticket_id):
        """The line that beads leaves when a ticket is closed."""
        entry = {"id": ticket_id, "status": "closed"}
        with (self.project / ".beads" / "issues.jsonl").open("a") as file:
            file.write(json.dumps(entry) + "\n")

    def install_bd(self, status):
        """A `bd` on PATH that says of every issue that it has this status."""
        # It is asked with `--id=ID` last.
        answer = f'[{{\\"id\\": \\"${{id#--id=}}\\", \\"status\\": \\"{status}\\"}}]'
        script = f'for id; do :; done\necho "{answer}"'
        bd = write_program(self.others / "bin" / "bd", script)
        self.environment["PATH"] = f"{bd.parent}{os.pathsep}{self.environment['PATH']}"

    def install_plugin(self, name, source, group="grove.plugins"):
        """A third party's plugin: a module, and the folder that an installer leaves beside it."""
        site = self.others / "site"
        install(site, name, {group: {name: name}})
        (site / f"{name}.py").write_text(source)
        self.environment["PYTHONPATH"] = str(site)

    def learning(self, learning_id, summary, *, personal=False, **fields):
        """Writes a learning as the markdown backend keeps it."""
        values = {
            "category": "pitfall",
            "scope": "personal" if personal else "project",
            "confidence": "high",
            "status": "active",
            "criteria": "stable_fact",
            "tags": "orders, export",
            "origin": "ticket bd-7 | session earlier",
            "created": "2030-01-02T10:00:00Z",
            **fields,
        }
        detail = values.pop("detail", f"{summary}: that is all there is to say about it.")
        lines = [f"### [{learning_id}] {summary}"]
        lines += [f"- **{name.capitalize()}:** {value}" for name, value in values.items()]
        path = self.grove_home / "personal-learnings.md" if personal else self.learnings_file
        path.parent.mkdir(exist_ok=True)
        with path.open("a") as file:
            quoted = "\n".join(f"> {line}" for line in detail.split("\n"))
            file.write("\n".join(lines) + f"\n\n{quoted}\n\n")
        return learning_id

    @property
    def learnings_file(self):
        return self.project / ".grove" / "learnings.md"

    @property
    def event_log(self):
        return ProjectPaths(self.project, self.grove_home).events_file

    def learning_ids(self):
        """The ids of the project's learnings, in the order of the file, or of the files' names."""
        files = [self.learnings_file, *sorted((self.project / ".grove/learnings").glob("*.md"))]
        texts = [file.read_text() for file in files if file.exists()]
        return re.findall(r"^### \[(cl_\w+)\]", "\n".join(texts), re.MULTILINE)

    def events(self, *names, personal=False):
        """The events of some kinds in the project's log, or in the personal one."""
        path = self.grove_home / "personal-stats.log" if personal else self.event_log
        lines = path.read_text().splitlines() if path.exists() else []
        found = [json.loads(line) for line in lines]
        for event in found:
            assert event["v"] == 1
            assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", event["ts"])
            assert event["grove"]
        return [event for event in found if not names or event["event"] in names]

    def hidden(self, *, personal=False):
        """The ids that decay hides on this machine."""
        path = (self.grove_home if personal else self.event_log.parent) / "decayed.json"
        return [*json.loads(path.read_text())["hidden"]] if path.exists() else []

    def session(self, session_id="session-1"):
        """A session's state on disk, or `None`."""
        path = self.grove_home / "sessions" / f"{session_id}.json"
        return json.loads(path.read_text()) if path.exists() else None

    def gate(self, session_id="session-1"):
        return self.session(session_id)["gate"]["status"]

    def log(self, name="grove.log"):
        path = self.grove_home / name
        return path.read_text() if path.exists() else ""


@define
class Agent:
    """A session of the client: sends what the client sends, and runs what its agent runs."""

    world: World
    session_id: str
    variables: dict
    prompt_id: str = "prompt-1"
    calls: int = 0
    prompts: int = 0

    def send(self, event, *, variables=None, **fields):
        payload = {
            "session_id": self.session_id,
            "transcript_path": str(self.transcript),
            "cwd": str(self.world.project),
            "prompt_id": self.prompt_id,
            "permission_mode": "default",
            "hook_event_name": event,
            **fields,
        }
        return self.world.hook(event, payload, **{**self.variables, **(variables or {})})

    @property
    def transcript(self):
        return self.world.home / ".claude" / "projects" / f"{self.session_id}.jsonl"

    def starts(self, source="startup", **fields):
        """SessionStart; gives the context for the model."""
        return self.context(self.send("SessionStart", source=source, **fields))

    def asks(self, prompt, **fields):
        """UserPromptSubmit with an id of its own; gives the context for the model."""
        self.prompts += 1
        self.prompt_id = fields.setdefault("prompt_id", f"prompt-{self.prompts + 1}")
        return self.context(self.send("UserPromptSubmit", prompt=prompt, **fields))

    @staticmethod
    def context(done):
        assert (done.code, done.stderr) == (0, "")
        if not done.stdout:
            return ""
        return done.json["hookSpecificOutput"]["additionalContext"]

    def silent(self, event, **fields):
        done = self.send(event, **fields)
        assert (done.code, done.stdout, done.stderr) == (0, "", "")

    def announces(self, tool="Bash", **tool_input):
        """PreToolUse; gives the call, for what becomes of it."""
        self.calls += 1
        call = {
            "tool_name": tool,
            "tool_input": tool_input,
            "tool_use_id": f"toolu_{self.session_id}_{self.calls}",
        }
        self.silent("PreToolUse", **call)
        return call

    def touches(self, path, tool="Read", *, event="PostToolUse", **fields):
        """What follows when a tool has touched a file; gives the context for the model."""
        field = "notebook_path" if tool == "NotebookEdit" else "file_path"
        call = {"tool_name": tool, "tool_input": {field: str(self.world.project / path)}}
        call |= {"tool_use_id": "toolu_1", "tool_response": {}}
        return self.context(self.send(event, **call, **fields))

    def succeeds(self, call, stdout="", **response):
        if call["tool_name"] == "Bash":
            response = {"stdout": stdout, "stderr": "", "interrupted": False, **response}
        self.silent("PostToolUse", **call, tool_response=response)

    def fails(self, call, error="Exit code 1"):
        self.silent("PostToolUseFailure", **call, error=error, is_interrupt=False)

    def closes(self, *ticket_ids, **fields):
        """The agent closes tickets with a command that works."""
        call = self.announces(command=f"bd close {' '.join(ticket_ids)}", **fields)
        for ticket_id in ticket_ids:
            self.world.close_ticket(ticket_id)
        self.succeeds(call)

    def stops(self, *, active=False, **fields):
        """Stop; gives the finished process."""
        done = self.send("Stop", **{"stop_hook_active": active, "background_tasks": [], **fields})
        assert done.stdout == ""
        return done

    def is_let_go(self, **fields):
        done = self.stops(**fields)
        assert (done.code, done.stderr) == (0, "")

    def is_blocked(self, **fields):
        """Stop that is blocked; gives the reason."""
        done = self.stops(**fields)
        assert done.code == 2, done.stderr
        reason = done.stderr.removesuffix("\n")
        assert 0 < len(reason) <= 1_500
        return reason

    def ends(self, reason="other"):
        """SessionEnd, and what follows from it at the next command."""
        self.silent("SessionEnd", reason=reason)
        self.world.grove("status", "-q", **self.variables)

    def grove(self, *words, stdin=""):
        """Runs a command as the agent's shell would, with the client's variables."""
        own = {"CLAUDE_CODE_SESSION_ID": self.session_id, "CLAUDECODE": "1"}
        return self.world.grove(*words, stdin=stdin, **{**self.variables, **own})

    def reflects(self, *candidates, **fields):
        """`grove reflect --json` with these candidates."""
        submission = {"candidates": candidates, **fields} if candidates else fields
        return self.grove("reflect", "--json", stdin=json.dumps(submission))
