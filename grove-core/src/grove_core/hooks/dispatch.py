"""The full way of a hook: read, act, answer, and fail open whatever happens."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Final, cast

from grove_core.clock import now_utc
from grove_core.config import SESSION_END_DEADLINE_MS
from grove_core.diagnostics import Diagnostics
from grove_core.errors import CodecError, StorageError
from grove_core.hooks import STDIN_LIMIT
from grove_core.hooks.watchdog import Watchdog
from grove_core.hosts import claude_code
from grove_core.hosts.contract import SILENCE, Answer, HookEvent, HookInput
from grove_core.paths import Paths, grove_home
from grove_core.workspace import Workspace

CRASH_EXIT_CODE: Final = 3

Handler = Callable[[Workspace, HookInput], Answer]

_MODULES: Final = {
    HookEvent.SESSION_START: "session_start",
    HookEvent.USER_PROMPT_SUBMIT: "user_prompt",
    HookEvent.PRE_TOOL_USE: "pre_tool_use",
    HookEvent.POST_TOOL_USE: "post_tool_use",
    HookEvent.POST_TOOL_USE_FAILURE: "post_tool_use",
    HookEvent.TASK_COMPLETED: "pre_tool_use",
    HookEvent.STOP: "stop",
    HookEvent.SESSION_END: "session_end",
}


def run_hook(name: str, data: bytes) -> int:
    """Answer a hook call and print the answer.

    Args:
        name: The event's name, as given on the command line.
        data: What the client wrote to standard input.

    Returns:
        The exit code: 0 to go on, 2 to block, 3 when grove failed. Never 2 for a usage error,
        since to the client 2 means block.
    """
    with _silenced():
        answer = respond(name, data, os.environ)
    try:
        if answer.stdout:
            sys.stdout.write(answer.stdout)
            sys.stdout.flush()
        if answer.stderr:
            sys.stderr.write(answer.stderr)
            sys.stderr.flush()
    except OSError:
        # Nobody listens any more; what was decided is on disk, and the exit code still counts.
        sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: PTH123, SIM115 - until the process ends
    return answer.exit_code


@contextmanager
def _silenced() -> Iterator[None]:
    """Keep what plugins and their programs print away from the client, which reads our answer."""
    saved = [(stream, os.dup(stream)) for stream in (1, 2)]
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        for stream, _ in saved:
            os.dup2(nowhere, stream)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for stream, copy in saved:
            os.dup2(copy, stream)
            os.close(copy)
        os.close(nowhere)


def respond(name: str, data: bytes, environment: Mapping[str, str]) -> Answer:
    """Work out the answer to a hook call.

    Args:
        name: The event's name.
        data: What the client wrote to standard input.
        environment: The process's environment.

    Returns:
        The answer; a fault is logged and never blocks.
    """
    try:
        diagnostics = Diagnostics(Paths(grove_home(environment)))
    except StorageError as error:
        return Answer(exit_code=CRASH_EXIT_CODE, stderr=f"grove: {error}\n")
    try:
        event = HookEvent(name)
    except ValueError:
        # The client has many more events; only a name that it does not use itself is a mistake.
        if not claude_code.is_event(name, data):
            diagnostics.log("warning", "there is no such event; see grove hook --help", hook=name)
        return SILENCE
    if len(data) > STDIN_LIMIT:
        diagnostics.log("warning", "standard input of over 16 MiB was ignored", hook=name)
        return SILENCE
    try:
        call = claude_code.parse(event, data, environment)
    except CodecError as error:
        diagnostics.log("warning", str(error), hook=name)
        return SILENCE
    return _handle(call, environment, diagnostics)


def _handle(call: HookInput, environment: Mapping[str, str], diagnostics: Diagnostics) -> Answer:
    hook = call.event.value
    watchdog = Watchdog(lambda: _late(diagnostics, call))
    try:
        workspace = Workspace(_start(call), environment, now_utc())
        watchdog.start(_deadline_seconds(workspace, call.event))
        module = import_module(f"grove_core.hooks.{_MODULES[call.event]}")
        return cast("Handler", module.handle)(workspace, call)
    except Exception as error:  # noqa: BLE001 - whatever it is, work must go on
        diagnostics.crash(error, call.session_id, hook)
        return Answer(
            exit_code=CRASH_EXIT_CODE,
            stderr=f"grove: {hook} failed and work goes on; see {diagnostics.paths.crash_log}\n",
        )
    finally:
        watchdog.cancel()


def _start(call: HookInput) -> Path:
    """Find the agent's directory; the client starts hooks in it, and it may be gone by now."""
    if call.cwd:
        return Path(call.cwd)
    try:
        return Path.cwd()
    except OSError:
        return Path(os.environ.get("PWD") or "/")


def _deadline_seconds(workspace: Workspace, event: HookEvent) -> float:
    deadline = workspace.config.hooks.deadline_ms
    if event is HookEvent.SESSION_END:
        deadline = min(deadline, SESSION_END_DEADLINE_MS)
    return deadline / 1000


def _late(diagnostics: Diagnostics, call: HookInput) -> None:
    diagnostics.log(
        "error",
        "the hook passed its deadline and was ended; work goes on",
        session=call.session_id,
        hook=call.event.value,
    )
