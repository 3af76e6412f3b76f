"""Runs the real Claude Code client once, headless, against a scripted API on loopback."""

import importlib.util
import json
import os
import shlex
import shutil
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path

from hosts import end_marked

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))
import fake_api  # noqa: E402 - beside this file, whichever way this file was started
from client import wait_for_client  # noqa: E402 - likewise
from transcript import read_transcript  # noqa: E402 - likewise

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


@dataclass(kw_only=True)
class Run:
    """One bounded run of the client."""

    script: dict
    cwd: Path
    out: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="claude-run-")))
    prompt: str | list = "Do the task."  # a list: one after the other, in one process
    plugin_dirs: list = field(default_factory=list)
    record: bool = False
    home: Path | None = None
    path: str = field(default_factory=lambda: os.environ["PATH"])
    timeout: float = 90
    environment: dict = field(default_factory=dict)
    arguments: list = field(default_factory=list)


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


def clean_environment(run, home, port):
    """The client's environment: of the caller's own, PATH alone."""
    return {
        "PATH": run.path,
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "SHELL": "/bin/bash",
        "USER": "dev",
        "TMPDIR": tempfile.gettempdir(),
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{port}",
        "ANTHROPIC_API_KEY": "dummy",
        "NO_PROXY": "127.0.0.1,localhost",
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
    for folder in run.plugin_dirs:
        command += ["--plugin-dir", Path(folder).resolve()]
    command += run.arguments
    if not any(str(each).lower().startswith("--allowed") for each in run.arguments):
        command += ["--allowedTools", DEFAULT_TOOLS]
    return [str(each) for each in command]


def execute(run):
    """Runs the client once and returns the transcript."""
    run.out = Path(run.out).resolve()
    home = Path(run.home or run.out / "home").resolve()
    for folder in (run.out, home):
        folder.mkdir(parents=True, exist_ok=True)
    command = command_line(run, find_claude(), write_settings(run))
    mark = uuid.uuid4().hex
    server = fake_api.serve(run.script, run.out / "requests.jsonl")
    started = time.time()
    try:
        environment = clean_environment(run, home, server.server_address[1])
        environment["CLAUDE_HARNESS_RUN"] = mark
        exit_code, timed_out = wait_for_client(run, command, environment)
    finally:
        server.shutdown()
        server.server_close()
        seconds = round(time.time() - started, 2)
        left = list(end_marked(f"CLAUDE_HARNESS_RUN={mark}"))
    return {
        "command": command,
        "exit_code": exit_code,
        "timed_out": timed_out,
        "seconds": seconds,
        "left_running": left,
        **read_transcript(run.out),
    }


def play(turns, cwd, *, script=None, plugin_dir=(), args=(), **options):
    """Runs the client once from Python.

    Args:
        turns: The assistant's turns of the main conversation (README.md).
        cwd: The working repository.
        script: The script's other key: agents.
        plugin_dir: One folder of a plugin, or several.
        args: Further arguments of the client.
        options: The other fields of ``Run``.

    Returns:
        The transcript.
    """
    one = isinstance(plugin_dir, (str, os.PathLike))
    return execute(
        Run(
            script={**(script or {}), "turns": turns},
            cwd=Path(cwd),
            plugin_dirs=[plugin_dir] if one else list(plugin_dir),
            arguments=list(args),
            **options,
        )
    )
