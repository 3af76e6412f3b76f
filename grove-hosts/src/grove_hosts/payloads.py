"""What clients write to a hook's standard input, as far as they write it like each other."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from grove_core import CodecError, HookEvent, HookInput, StartSource, ToolCall

MOST_ID_CHARACTERS: Final = 128
SET_VARIABLE: Final = "GROVE_HOOKS"
"""Set in the command of a project's hooks, which may run beside the person's own."""
OWN_WORDS: Final = "grove: "
"""How each reason for a block begins; some clients report it as a prompt."""
EVENTS: Final = {event.value.title().replace("-", ""): event for event in HookEvent}
"""By the names that Claude Code gave them and others have taken over."""
NAMES: Final = {event: name for name, event in EVENTS.items()}
_RARE: Final = (HookEvent.TASK_COMPLETED, HookEvent.SUBAGENT_STOP)
USUAL_EVENTS: Final = tuple(name for name, event in EVENTS.items() if event not in _RARE)
"""Those that are registered in any case where a client has them."""
_TRANSCRIPT_LIMIT: Final = 64 * 1024 * 1024

T = TypeVar("T")


def get(payload: Mapping[str, Any], name: str, kind: type[T], default: T) -> T:
    """Return a field if it is of the right type."""
    value = payload.get(name)
    return value if isinstance(value, kind) else default


def text(payload: Mapping[str, Any], name: str) -> str:
    """Return a field's text; empty when it has none."""
    return get(payload, name, str, "")


def path(payload: Mapping[str, Any], name: str) -> str:
    """Return a path that the kernel would take; else empty text."""
    found = text(payload, name)
    try:
        return "" if b"\0" in os.fsencode(found) else found
    except UnicodeEncodeError:
        return ""


def directory(payload: Mapping[str, Any]) -> str:
    """Return the agent's directory; empty unless it is absolute."""
    found = path(payload, "cwd")
    return found if found.startswith("/") else ""


def session_id_of(payload: Mapping[str, Any], *names: str) -> str:
    """Return the first of some fields that holds an id; it becomes the name of a file."""
    for name in names or ("session_id",):
        found = text(payload, name)
        # Letters, digits, - and _; the zero is for ids of the latter alone.
        plain = found.replace("-", "0").replace("_", "0")
        if plain.isascii() and plain.isalnum() and len(found) <= MOST_ID_CHARACTERS:
            return found
    raise CodecError(
        f"the payload holds no usable session_id: {text(payload, 'session_id')[:140]!r}"
    )


def shell_call(command: str, cwd: str, use_id: str = "") -> ToolCall:
    """Make the call of a shell, by grove's name of that."""
    return ToolCall(name="Bash", input={"command": command}, use_id=use_id or None, cwd=cwd)


def hook_input(
    event: HookEvent,
    payload: Mapping[str, Any],
    **more: Any,  # noqa: ANN401 - fields of HookInput
) -> HookInput:
    """Make a call from the fields that the clients share; what is given takes their place."""
    prompt = text(payload, "prompt")
    fields: dict[str, Any] = {
        "cwd": directory(payload),
        "transcript_path": path(payload, "transcript_path"),
        "agent_id": text(payload, "agent_id") or None,
        "agent_type": text(payload, "agent_type"),
        "source": StartSource(text(payload, "source")),
        "prompt": prompt,
        "is_notification": prompt.startswith(OWN_WORDS),
        "plan_mode": text(payload, "permission_mode") == "plan",
        "stop_hook_active": payload.get("stop_hook_active") is True,
    }
    if "session_id" not in more:
        more["session_id"] = session_id_of(payload)
    return HookInput(event=event, **{**fields, **more})


def transcript_lines(file: str, offset: int, holding: bytes) -> Iterator[Mapping[str, Any]]:
    """Read lines of a client's transcript that hold some bytes; what is no object is left out."""
    try:
        with Path(file).open("rb") as transcript:
            transcript.seek(offset)
            lines = transcript.read(_TRANSCRIPT_LIMIT).split(b"\n")
    except OSError:
        return
    for line in lines:
        try:
            found = json.loads(line) if holding in line else None
        except (ValueError, RecursionError):
            continue
        if isinstance(found, dict):
            yield found
