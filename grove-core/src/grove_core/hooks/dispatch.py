"""Answering a hook: read, act, answer, and let work go on whatever happens."""

# `signal` itself makes enumerations of its constants.
import _signal as signal  # type: ignore[import-not-found]
import faulthandler
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, Final, Protocol

from attrs import evolve

from grove_core.clock import format_instant, now_utc
from grove_core.environment import handed_in
from grove_core.errors import CodecError, StorageError
from grove_core.hooks import CRASH_EXIT_CODE, STDIN_LIMIT, session_id_in
from grove_core.model.hook import NO_REPLY, SILENCE, HookAnswer, HookEvent, HookInput, HookReply
from grove_core.plugins.hosts import DEFAULT_HOST
from grove_core.project import Project, WarmCache
from grove_core.storage.diagnostics import Diagnostics
from grove_core.storage.paths import Paths, grove_home

# What plugins leave to grove for writing state and answering.
_SECONDS_FOR_THE_ANSWER: Final = 0.4
_SHARE_FOR_THE_ANSWER: Final = 0.25
# By the clock, for whatever waits: so generous that no busy machine opens the gate.
_LONGEST_CLOCK_SECONDS: Final = 20.0
_USUAL_CLOCK_SECONDS: Final = 10.0
_CLOCK_SECONDS: Final = {
    **{event.value: _USUAL_CLOCK_SECONDS for event in HookEvent},
    HookEvent.STOP.value: _LONGEST_CLOCK_SECONDS,
    HookEvent.PRE_TOOL_USE.value: _LONGEST_CLOCK_SECONDS,
}
# Before the configuration is read; its deadline follows.
_LONGEST_WORK_SECONDS: Final = 60.0

_GRACE_SECONDS: Final = 0.5
_SIGNALS: Final = {signal.ITIMER_PROF: signal.SIGPROF, signal.ITIMER_REAL: signal.SIGALRM}
# Of which each does first what an agent has handed in from a sandbox.
_TAKING_IN: Final = (HookEvent.STOP, HookEvent.USER_PROMPT_SUBMIT, HookEvent.SESSION_START)
# Of events whose module is not called as they are.
_MODULES: Final = {
    HookEvent.SESSION_START: "session",
    HookEvent.USER_PROMPT_SUBMIT: "user_prompt",
    HookEvent.PRE_TOOL_USE: "tool_use",
    HookEvent.POST_TOOL_USE: "tool_use",
    HookEvent.POST_TOOL_USE_FAILURE: "tool_use",
    HookEvent.TASK_COMPLETED: "tool_use",
    HookEvent.SUBAGENT_STOP: "stop",
}


def run_hook(name: str, data: bytes) -> int:
    """Answer a hook call and print the answer."""
    with _silenced() as stderr:
        given = answer(name, data, os.environ, Watchdog(stderr))
    for stream, text in ((1, given.stdout), (2, given.stderr)):
        data = text.encode("utf-8", "replace")
        with suppress(OSError):  # no one listens any more; the exit code still counts
            while data:
                data = data[os.write(stream, data) :]
    return given.exit_code


@contextmanager
def _silenced() -> Iterator[int | None]:
    """Keep what plugins and their programs print away from the client, which reads our answer."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    saved: dict[int, int] = {}
    for stream in (1, 2):
        with suppress(OSError):  # one that was closed stays nowhere
            saved[stream] = os.dup(stream)
        os.dup2(nowhere, stream)
    if nowhere not in (1, 2):
        os.close(nowhere)
    try:
        yield saved.get(2)
    finally:
        for output in (sys.stdout, sys.stderr):
            if output is not None:
                output.flush()
        for stream, copy in saved.items():
            os.dup2(copy, stream)
            os.close(copy)


class Watchdog:
    """Ends the process when its time is up, with alarms of the kernel: exit code 0, no answer."""

    def __init__(self, stderr: int | None) -> None:
        """Arm nothing yet."""
        self.last_words: Callable[[], None] = lambda: None
        self._stderr = 2 if stderr is None else stderr

    def start(self, work: float, clock: float) -> None:
        """Start or restart: so many seconds of processor time, and so many by the clock."""
        for timer, seconds in ((signal.ITIMER_PROF, work), (signal.ITIMER_REAL, clock)):
            signal.signal(_SIGNALS[timer], self._bark)
            signal.setitimer(timer, max(seconds, 0.001))  # none would stop the timer
        # No Python code runs, this class's neither, while a plugin's C code holds Python's lock; a
        # thread of C then ends the process with exit code 1, which blocks nothing.
        late = max(clock, 0) + _GRACE_SECONDS
        faulthandler.dump_traceback_later(late, exit=True, file=self._stderr)

    def cancel(self) -> None:
        """Stop the alarms."""
        for timer in _SIGNALS:
            signal.setitimer(timer, 0)
        faulthandler.cancel_dump_traceback_later()

    def _bark(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        try:
            self.last_words()
        finally:
            # Not sys.exit: whatever hangs must not get a word in.
            os._exit(0)


class TimeLimit(Protocol):
    """What ends a hook that passes its deadline, as its transport can, after some last words."""

    last_words: Callable[[], None]

    def start(self, work: float, clock: float) -> None:
        """Start or restart: so many seconds of processor time, and so many by the clock."""

    def cancel(self) -> None:
        """Stop."""


def answer(
    name: str,
    data: bytes,
    environment: Mapping[str, str],
    limit: TimeLimit,
    warm: WarmCache | None = None,
) -> HookAnswer:
    """Work out the answer to a hook call, which is named by its event or by the client."""
    is_event = name in _CLOCK_SECONDS
    try:
        diagnostics = Diagnostics(Paths(grove_home(environment)))
    except StorageError as error:
        return _failed(f"grove: {error}\n") if is_event else SILENCE
    if len(data) > STDIN_LIMIT:
        diagnostics.log("warning", "standard input of over 16 MiB was ignored", hook=name)
        return SILENCE
    of_hook = {"session": session_id_in(data).decode("ascii"), "hook": name}
    late = "the hook passed its deadline and was ended; work goes on"
    limit.last_words = lambda: diagnostics.log("error", late, **of_hook)
    try:
        # Of millions of names JSON takes its time, too.
        limit.start(_LONGEST_WORK_SECONDS, _CLOCK_SECONDS.get(name, _LONGEST_CLOCK_SECONDS))
        try:
            return _handle(name, _load(data), environment, limit, warm)
        except CodecError as error:
            diagnostics.log("warning", str(error), **of_hook)
            return SILENCE
    except Exception as error:  # noqa: BLE001 - whatever it is, work must go on
        where = diagnostics.crash(error, of_hook["session"], name)
        # Some clients take any other exit code, or a word, for a denial.
        text = f"grove: {name} failed and work goes on; {where}\n"
        return _failed(text) if is_event else SILENCE
    finally:
        limit.cancel()


def _failed(text: str) -> HookAnswer:
    return HookAnswer(exit_code=CRASH_EXIT_CODE, stderr=text)


def _load(data: bytes) -> Mapping[str, Any]:
    try:
        payload = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise CodecError(f"standard input is not JSON: {error}") from error
    if not isinstance(payload, dict):
        raise CodecError("standard input is JSON but not an object")
    return payload


def _handle(
    name: str,
    payload: Mapping[str, Any],
    environment: Mapping[str, str],
    limit: TimeLimit,
    warm: WarmCache | None,
) -> HookAnswer:
    clock = _CLOCK_SECONDS.get(name, _LONGEST_CLOCK_SECONDS)
    end, work_started = time.monotonic() + clock, time.thread_time()
    project = Project(_directory(payload), environment, now_utc(), warm=warm)
    _set_deadlines(project, limit, end, work_started)
    project.work_started = work_started if warm else 0.0
    host = project.plugins.host(DEFAULT_HOST if name in _CLOCK_SECONDS else name)
    if host is None:
        return _unknown(name, payload, project)
    event = name if name in _CLOCK_SECONDS else ""
    call = host.value.parse(event, payload, environment)
    if call is None or call.event is HookEvent.SESSION_END:
        return SILENCE  # whoever looks next sees that a session has ended
    call = evolve(call, host=host.name)
    project = _project_of(call, project)
    if call.event in _TAKING_IN and handed_in(os.fspath(project.root)):
        from grove_core.services.inbox import take_in
        from grove_core.services.requests import carry_out

        # What a reflection takes is not the hook's own time, which begins after it.
        limit.start(_LONGEST_WORK_SECONDS, end - time.monotonic())
        take_in(project, carry_out)
        _set_deadlines(project, limit, end, time.thread_time())
    return host.value.answer(call, _reply(project, call))


def _set_deadlines(project: Project, limit: TimeLimit, end: float, work_started: float) -> None:
    """Give a hook's own work its time, and all of it until an end by the clock."""
    work = project.config.hooks.deadline_ms / 1000
    limit.start(work, end - time.monotonic())
    for_the_answer = min(_SECONDS_FOR_THE_ANSWER, work * _SHARE_FOR_THE_ANSWER)
    project.deadline = end - for_the_answer
    project.work_deadline = work_started + work - for_the_answer


def _unknown(name: str, payload: Mapping[str, Any], project: Project) -> HookAnswer:
    event = payload.get("hook_event_name")
    if name in _CLOCK_SECONDS:
        mistake = f"no adapter for {DEFAULT_HOST} can be used; see grove doctor"
    elif isinstance(event, str) and name.replace("-", "") == event.lower():
        return SILENCE  # a client has many more events; only a name that is none is a mistake
    else:
        what = f"there is no hook event and no client {name}" if name else "no hook event is named"
        mistake = f"{what}; see grove hook --help"
    project.diagnostics.log("error", mistake, hook=name)
    text = f"grove: {mistake}\n"
    return _failed(text) if name == HookEvent.SESSION_START.value else HookAnswer(stderr=text)


def _directory(payload: Mapping[str, Any]) -> Path:
    """Return where the agent is."""
    cwd = payload.get("cwd")
    if isinstance(cwd, str) and cwd.startswith("/") and "\0" not in cwd:
        return Path(cwd)
    try:
        return Path.cwd()
    except OSError:  # it is gone by now
        return Path(os.environ.get("PWD") or "/")


def _project_of(call: HookInput, project: Project) -> Project:
    """Return the project the session belongs to, wherever the agent has gone since."""
    if call.cwd and Path(call.cwd) != project.start:  # its adapter has found that elsewhere
        project = project.elsewhere(Path(call.cwd))
    if call.event is HookEvent.SESSION_START and not call.source.continues:
        return project
    session = project.session(call.session_id)
    if session is None or Path(session.project_root) == project.root:
        return project
    return project.elsewhere(Path(session.project_root))


def _reply(project: Project, call: HookInput) -> HookReply:
    if os.path.isdir(project.paths.pauses) and (paused := _pause(project, call)):  # noqa: PTH112 - never raises
        return paused
    module = _MODULES.get(call.event) or call.event.value.replace("-", "_")
    reply: HookReply = import_module(f"grove_core.hooks.{module}").handle(project, call)
    return reply


def _pause(project: Project, call: HookInput) -> HookReply | None:
    """Answer while a person has grove pause: nothing, but for a line where a session starts."""
    from grove_core.storage.pause import Pauses

    pauses = Pauses(project.paths.pauses, project.files.key)
    until = pauses.until(call.session_id, project.now)
    if until is None:
        return None
    if call.event is not HookEvent.SESSION_START:
        return NO_REPLY
    text = f"grove is paused here until {format_instant(until)}; grove resume ends that."
    return HookReply(context=text)
