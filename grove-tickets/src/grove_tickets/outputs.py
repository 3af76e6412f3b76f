"""What tools print, and whether a close really happened."""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from grove_core import Confirmation, ProjectContext, TicketClose, ToolResult

Printed = Callable[[TicketClose, ToolResult, ProjectContext], bool | None]
"""Whether what a tool printed says that a ticket was closed."""
Stored = Callable[[TicketClose, ProjectContext], bool | None]
"""Whether what a tool keeps says that a ticket is closed."""

_MAX_DEPTH: Final = 20
_MAX_VALUES: Final = 100
_COLOUR: Final = r"\x1b\[[0-9;]*m"
_JSON_START: Final = r"(?m)^[^\S\n]*(?=[\[{])"
_MISUSE: Final = (
    r"(?im)^[^\w\n]*(?:error:? +)?(?:unknown (?:shorthand )?(?:flag|command|option)\b"
    r"|unexpected argument\b|unrecognized (?:argument|option|subcommand)\b|accepts .*\barg\(s\)"
    r"|To get started with GitHub CLI, please run: |The tool needs a Jira API token to function)"
    r"|\b(?:gh|glab|jira|acli|linear): (?:command )?not found$"
    r"|\bcommand not found: (?:gh|glab|jira|acli|linear)$"
)


def output_text(result: ToolResult) -> str:
    """Return all text that a call printed, on either stream, without colours."""
    values = (result.response, result.error)
    return re.sub(_COLOUR, "", "\n".join(part for value in values for part in _texts(value)))


def _says_misuse(text: str) -> bool:
    """Return whether a tool did nothing: it is not there, has no login or was not understood."""
    return re.search(_MISUSE, text) is not None


def json_objects(result: ToolResult) -> Iterator[dict[str, Any]]:
    """Return every JSON object in a call's result, however deep it is wrapped."""
    yield from _objects(result.response)
    for value in _embedded(output_text(result)):
        yield from _objects(value)


def _texts(value: Any, depth: int = 0) -> Iterator[str]:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        yield value
    elif depth < _MAX_DEPTH and isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item, depth + 1)


def _embedded(text: str) -> Iterator[Any]:
    decoder, start = json.JSONDecoder(), re.compile(_JSON_START)
    position = 0
    for _ in range(_MAX_VALUES):
        match = start.search(text, position)
        if match is None:
            break
        try:
            value, position = decoder.raw_decode(text, match.end())
        except (ValueError, RecursionError):
            position = match.end() + 1
        else:
            yield value


def _objects(value: Any, depth: int = 0) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - any JSON
    if depth < _MAX_DEPTH and isinstance(value, list | dict):
        if isinstance(value, dict):
            yield value
        for item in value.values() if isinstance(value, dict) else value:
            yield from _objects(item, depth + 1)


def _says_error(result: ToolResult) -> bool:
    """Return whether the tool of an MCP server says that its call failed."""
    return isinstance(result.response, dict) and result.response.get("isError") is True


def told(
    said: Iterable[bool], ticket_id: str | None, text: str, refused: str = r"(?!)"
) -> bool | None:
    """Return what was said of a ticket last, or of any where none is known, else a refusal."""
    found = list(said)
    if found:
        return any(found) if ticket_id is None else found[-1]
    return False if re.search(refused, text) or _says_misuse(text) else None


def confirmation(
    printed: Printed | None,
    stored: Stored | None,
    close: TicketClose,
    result: ToolResult | None,
    context: ProjectContext,
) -> Confirmation:
    """Ask what the tool printed, then what is stored, until one knows."""
    answer = None
    if printed is not None and result is not None:
        answer = printed(close, result, context)
    if answer is None and stored is not None:
        answer = stored(close, context)
    if answer is not None:
        return Confirmation.YES if answer else Confirmation.NO
    failed = result is not None and (not result.succeeded or _says_error(result))
    return Confirmation.NO if failed else Confirmation.UNKNOWN
