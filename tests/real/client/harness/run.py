"""Runs the real Claude Code client once, headless, with a model on loopback that plays a script."""

import contextlib
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

from attrs import define, field
from fake_api import Scripts
from hosts import MARK, common, end_marked, wait
from transcript import read_transcript

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[3]
BUNDLED = "claude_agent_sdk/_bundled/claude"
MODEL = "claude-sonnet-5"

# Every event but WorktreeCreate and WorktreeRemove, whose hooks replace git's own work.
EVENTS = """PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit
UserPromptExpansion SessionStart SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact
PostCompact PreModelSwitch PostModelSwitch PermissionRequest PermissionDenied Setup TeammateIdle
TaskCreated TaskCompleted Elicitation ElicitationResult ConfigChange InstructionsLoaded CwdChanged
FileChanged DirectoryAdded MessageDisplay""".split()
DEFAULT_TOOLS = (
    "Bash Edit Write Read Agent TaskCreate TaskUpdate TaskList TodoWrite Skill ToolSearch"
)


@define(kw_only=True)
class Run:
    """One bounded run of the client."""

    script: dict
    cwd: Path
    out: Path
    home: Path
    path: str
    prompt: str | list = "Do the task."  # a list: one after the other, in one process
    plugin_dir: Path | None = None
    record: bool = False
    timeout: float = 90
    environment: dict = field(factory=dict)
    args: list = field(factory=list)
    model: type = Scripts


def find_claude():
    """The client's path, or None.

    Looked for in $CLAUDE_BIN, on PATH, in the claude-agent-sdk wheel of this interpreter, of the
    environment $E2E_VENV and of .e2e in the repository.
    """
    candidates = [os.environ.get("CLAUDE_BIN"), shutil.which("claude")]
    spec = importlib.util.find_spec("claude_agent_sdk")
    if spec and spec.origin:
        candidates.append(Path(spec.origin).parents[1] / BUNDLED)
    for folder in (os.environ.get("E2E_VENV"), REPOSITORY / ".e2e"):
        if folder:
            candidates += sorted(Path(folder).glob(f"lib/python3*/site-packages/{BUNDLED}"))
    usable = (str(each) for each in candidates if each and os.access(each, os.X_OK))
    return next(usable, None)


def write_settings(run):
    """The settings file of this run; the recorder is beside the other hooks of every event."""
    hooks = {}
    for event in EVENTS if run.record else ():
        words = [sys.executable, HERE / "recorder.py", run.out / "recorded", event]
        hooks[event] = [{"hooks": [{"type": "command", "command": shlex.join(map(str, words))}]}]
    path = run.out / "settings.json"
    path.write_text(json.dumps({"hooks": hooks}, indent=1))
    return path


def clean_environment(run, url):
    """The client's environment: of the caller's own, PATH alone."""
    return {
        **common(run.home),
        "PATH": run.path,
        "CLAUDE_CONFIG_DIR": str(run.home / ".claude"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        **run.environment,
    }


def command_line(run, claude, settings_path):
    """The client's whole command line."""
    command = [claude, "-p", "--output-format", "stream-json", "--verbose"]
    command += ["--input-format", "stream-json"] if isinstance(run.prompt, list) else [run.prompt]
    command += ["--include-hook-events", "--settings", settings_path, "--model", MODEL]
    command += ["--debug-file", run.out / "debug.log"]
    command += ["--plugin-dir", run.plugin_dir] if run.plugin_dir else []
    command += run.args
    if not any(str(each).lower().startswith("--allowed") for each in run.args):
        command += ["--allowedTools", DEFAULT_TOOLS]
    return [str(each) for each in command]


def execute(run):
    """Runs the client once and returns the transcript."""
    run.out.mkdir(parents=True)
    command = command_line(run, find_claude(), write_settings(run))
    mark = uuid.uuid4().hex
    model = run.model(run.script)
    try:
        environment = {**clean_environment(run, model.url), MARK: mark}
        exit_code, ended_by = run_to_the_end(run, command, environment, model)
    finally:
        model.close()
        left = end_marked(f"{MARK}={mark}")
    return {
        "exit_code": exit_code,
        "ended_by": ended_by,
        "left_running": left,
        **read_transcript(run.out, model.requests),
    }


def run_to_the_end(run, command, environment, model):
    """The client's exit code, and what it was ended for."""
    in_turn = isinstance(run.prompt, list)
    with (
        (run.out / "stream.jsonl").open("w") as stream,
        (run.out / "stderr.txt").open("w") as stderr,
        subprocess.Popen(
            command,
            cwd=run.cwd,
            env=environment,
            stdin=subprocess.PIPE if in_turn else subprocess.DEVNULL,
            stdout=subprocess.PIPE if in_turn else stream,
            stderr=stderr,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        talk = threading.Thread(target=converse, args=(process, run.prompt, stream), daemon=True)
        if in_turn:
            talk.start()
        ended_by = wait(process, model, time.monotonic() + run.timeout)
        if in_turn:
            talk.join(5)
    return process.returncode, ended_by


def converse(process, prompts, stream):
    """Gives the client one prompt after the other, the next when the last has its result."""
    waiting = list(prompts)
    say(process.stdin, waiting)
    for line in process.stdout:
        stream.write(line)
        if line.startswith("{") and json.loads(line).get("type") == "result":
            say(process.stdin, waiting)


def say(stdin, waiting):
    """The next prompt, or the end of all prompts."""
    with contextlib.suppress(OSError, ValueError):  # the client may end before its last prompt
        if waiting:
            message = {"role": "user", "content": waiting.pop(0)}
            stdin.write(json.dumps({"type": "user", "message": message}) + "\n")
            stdin.flush()
        else:
            stdin.close()
