"""What the gate keeps for a session, as values and as the JSON document that grove stores."""

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from attrs import evolve, frozen
from cattrs.preconf.json import JsonConverter as Converter

from grove_core import GroveError, ToolCall, format_instant, parse_instant

LONGEST_TEXT: Final = 10 * 1024
"""Bytes of a prompt, and of a tool call's input, that are kept."""
MOST_PROMPTS: Final = 10
MOST_ISSUES: Final = 5
MOST_PAST: Final = 50


@frozen(kw_only=True)
class Cut:
    """A text, its beginning if it was long, with what it was as a whole."""

    text: str
    size: int
    sha256: str


@frozen(kw_only=True)
class Attempt:
    """A time that the agent was stopped: with which message, and what came of it.

    ``outcome`` is empty as long as nothing has; else one of ``success``, ``issues``,
    ``not_spawned``, ``no_decision`` and ``bad_session_id``.
    """

    template: str
    at: str
    outcome: str = ""


@frozen(kw_only=True)
class Issues:
    """What a reviewer found."""

    summary: str
    message: str
    by: str
    at: str
    opinions: tuple[str, ...] = ()


@frozen(kw_only=True)
class Grant:
    """The right of a reviewer to decide once, soon after a call that runs the command."""

    agent: str
    at: str


@frozen(kw_only=True)
class Cycle:
    """A review that is owed, from its trigger to its decision."""

    id: str
    trigger: str
    """``prompt``, ``always``, ``tool`` or ``close``."""
    about: str
    opened_at: str
    prompt_ids: tuple[str, ...] = ()
    prompts: tuple[Cut, ...] = ()
    tool: str = ""
    tool_input: Cut | None = None
    digest: str = ""
    blocks: int = 0
    denials: int = 0
    denied: str = ""
    """The latest call that was denied, which two sets of hooks may report."""
    attempts: tuple[Attempt, ...] = ()
    issues: tuple[Issues, ...] = ()
    is_message_due: bool = False
    grant: Grant | None = None
    reminded: tuple[str, ...] = ()
    """Reviewers that were held once since they had not decided."""
    reminded_at: str = ""
    given_up_at: str = ""
    was_resumed: bool = False


@frozen(kw_only=True)
class Approval:
    """A reviewer's word that the work may count as done."""

    cycle: str
    at: str
    by: str
    prompt_ids: tuple[str, ...] = ()
    digest: str = ""
    is_used: bool = False
    use_id: str = ""
    """The call that has used it."""


@frozen(kw_only=True)
class Past:
    """A review that has ended, for the statistics."""

    cycle: str
    outcome: str
    """``approved``, ``ended`` by the user, or ``given_up``."""
    at: str
    by: str = ""
    blocks: int = 0
    issues: int = 0
    attempts: tuple[Attempt, ...] = ()
    learnings: tuple[str, ...] = ()


@frozen(kw_only=True)
class Watch:
    """How the files were when the latest prompt came, for ``mode = "always"``."""

    work: str
    prompt_id: str = ""
    prompt: Cut | None = None


@frozen(kw_only=True)
class State:
    """Everything that the gate keeps."""

    cycle: Cycle | None = None
    given_up: Cycle | None = None
    approval: Approval | None = None
    watch: Watch | None = None
    past: tuple[Past, ...] = ()
    number: int = 0

    def with_past(self, past: Past) -> "State":
        """Add a review that has ended; the oldest are dropped."""
        return evolve(self, past=(*self.past, past)[-MOST_PAST:])


def read(document: Mapping[str, Any]) -> State:
    """Read what grove has stored; fields of another version are left out."""
    try:
        return _converter.structure(document, State)
    except Exception as error:
        raise GroveError("what is kept of a review cannot be read; was it edited?") from error


def write(state: State) -> dict[str, Any]:
    """Write what grove is to store; an empty document where nothing is kept."""
    document: dict[str, Any] = _converter.unstructure(state)
    return document


_converter: Final = Converter(omit_if_default=True, unstruct_collection_overrides={tuple: list})


def cut(text: str) -> Cut:
    """Keep the beginning of a text, up to a whole character, and the digest of all of it."""
    data = text.encode("utf-8", "replace")
    kept = data[:LONGEST_TEXT].decode("utf-8", "ignore")
    return Cut(text=kept, size=len(data), sha256=hashlib.sha256(data).hexdigest())


def input_of(tool: ToolCall) -> str:
    """Return what a call does, as text: a shell's command, or any other tool's whole input."""
    command = tool.input.get("command")
    if isinstance(command, str):
        return command
    return json.dumps(dict(tool.input), ensure_ascii=False, sort_keys=True, default=str)


def digest_of(tool: ToolCall) -> str:
    """Return what tells one call from another; what an agent says of a command is no part of it."""
    return hashlib.sha256(f"{tool.name}\n{input_of(tool)}".encode("utf-8", "replace")).hexdigest()


def seconds_since(at: str, now: datetime) -> float:
    """Return how long ago something was, in seconds; a clock that was set back counts as none."""
    return max((now - parse_instant(at)) / timedelta(seconds=1), 0.0)


def instant(now: datetime) -> str:
    """Write the time as the state holds it."""
    return format_instant(now)
