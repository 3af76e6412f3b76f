"""Hooks, as the client calls them on the session's server; one at a time, in their order."""

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from grove_core.clock import now_utc
from grove_core.hooks import dispatch, fast, stops
from grove_core.identifiers import is_session_id
from grove_core.model.hook import SILENCE, HookAnswer, HookEvent
from grove_core.project import OWN_VARIABLE, Project, WarmCache

Send = Callable[[str, bool], None]
"""Gives the client a text, and whether it is a fault."""

_RESULTS: Final = (HookEvent.POST_TOOL_USE, HookEvent.POST_TOOL_USE_FAILURE)
_MOST_CALLS: Final = 1_000
EVENT_FIELD: Final = "event"
_EVENTS: Final = {
    "".join(word.capitalize() for word in event.value.split("-")): event for event in HookEvent
}
_BLOCKS, _FAULT = 2, 3
# What the server is told that is no text. Everything else is, whatever it looks like.
_VALUES: Final = frozenset({"tool_input", "stop_hook_active", "background_tasks"})
# May be of any type: a text counts as what it looks like only if that is an object or a list.
_ANY_VALUE: Final = "tool_response"


class Hooks:
    """Answers the hooks of the client that has started this process."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Begin with no session known."""
        self._warm = WarmCache()
        self._environment = {
            "GROVE_CLIENT_PID": str(os.getppid()),
            **environment,
            "GROVE_SERVER": "1",
        }
        self._calls: dict[str, None] = {}
        self.session_id = ""

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment with the session that the client is at now."""
        if not self.session_id:
            return self._environment
        # The client's own variable may be that of the session that it began with.
        left = {k: v for k, v in self._environment.items() if not k.endswith("SESSION_ID")}
        return {**left, OWN_VARIABLE: self.session_id}

    def warm_up(self) -> None:
        """Load ahead what the first hook would load; it may run meanwhile, in another thread."""
        warm = WarmCache()
        project = Project(Path.cwd(), self.environment, now_utc(), warm=warm)
        project.plugins.load_all()
        project.library.sources()  # backends import what they need when they are opened
        self._warm.take_plugins(warm)

    def handle(self, arguments: Mapping[str, Any], limit: dispatch.TimeLimit, send: Send) -> None:
        """Answer a hook."""
        event = event_of(arguments)
        if event is None or self._environment.get("GROVE_NO_HOOKS") == "1":
            _give(SILENCE, send)
            return
        payload = payload_of(arguments)
        session_id = str(payload.get("session_id"))
        is_known = is_session_id(session_id)
        if is_known:
            self.session_id = session_id

        def answer(event: HookEvent) -> HookAnswer:
            data = json.dumps(payload).encode()
            if fast.has_nothing_to_do(event.value, data):
                return SILENCE
            return dispatch.answer(event.value, data, self.environment, limit, self._warm)

        if self._is_new_call(event, payload):
            # The server that was told of the call has died before it answered, or in answering.
            answer(HookEvent.PRE_TOOL_USE)
        if event is not HookEvent.STOP or not is_known:
            _give(answer(event), send)
        else:
            turn = stops.Turn(fast.home(), session_id, stops.SERVER)
            given = SILENCE if turn.is_answered else answer(event)
            _give(given, send)
            turn.end(answered=not is_fault(given))

    def _is_new_call(self, event: HookEvent, payload: Mapping[str, Any]) -> bool:
        """Return whether a call has ended that this process was not told of before."""
        use_id = payload.get("tool_use_id")
        if not isinstance(use_id, str):
            return False
        if event is HookEvent.PRE_TOOL_USE:
            self._calls[use_id] = None
            if len(self._calls) > _MOST_CALLS:
                del self._calls[next(iter(self._calls))]
            return False
        is_known = use_id in self._calls
        self._calls.pop(use_id, None)
        return (
            event in _RESULTS and not is_known and not fast.touches_file(payload.get("tool_name"))
        )


def _give(answer: HookAnswer, send: Send) -> None:
    send(answer_text(answer), is_fault(answer))


def event_of(arguments: Mapping[str, Any]) -> HookEvent | None:
    """Return which event a call of the tool is about."""
    name = arguments.get(EVENT_FIELD)
    return _EVENTS.get(name) if isinstance(name, str) else None


def payload_of(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Turn what the client says into what it writes to the standard input of a command hook."""
    payload = {
        name: _value(name, text) for name, text in arguments.items() if text and name != EVENT_FIELD
    }
    payload["hook_event_name"] = arguments.get(EVENT_FIELD)
    return {name: value for name, value in payload.items() if value is not None}


def _value(name: str, text: object) -> object:
    if not isinstance(text, str) or name not in (*_VALUES, _ANY_VALUE):
        return text
    if name == _ANY_VALUE and text[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text if name == _ANY_VALUE else None


def is_fault(answer: HookAnswer) -> bool:
    """Return whether grove failed, which the client is to say and to go on."""
    return answer.exit_code == _FAULT


def answer_text(answer: HookAnswer) -> str:
    """Say as a hook's JSON what a command hook says with its exit code and its streams."""
    if answer.exit_code == _BLOCKS:
        return json.dumps({"decision": "block", "reason": answer.stderr.rstrip("\n")})
    if answer.stdout or is_fault(answer):
        return answer.stdout or answer.stderr
    return json.dumps({"systemMessage": answer.stderr.rstrip("\n")} if answer.stderr else {})
