"""Whether a server has done what it was asked: no error flag does not mean that it has."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from grove_backend_mcp.mappings.mapping import Json, Success
from grove_backend_mcp.protocol.texts import clean_text, parsed_json
from grove_backend_mcp.tools import ToolResult

_ANY: Final = Success()
_LONGEST_SAID: Final = 300
_LONGEST_PROSE: Final = 400
_SIGNS: Final = r"^[\s#*>\-!✗✘❌⚠\ufe0f\"'`\[(]*"
_ERROR: Final = re.compile(
    _SIGNS + r"(?:(?:mcp |internal |unexpected |runtime |value |type |server |api |http )?error\b"
    r"|errors?:|failed\b|failure\b|search failed|exception\b|traceback\b|unable to |could not |"
    r"cannot |unauthori[sz]ed\b|forbidden\b|rate limit|invalid (?:arguments?|input|params?|request)"
    r"|input validation|\d+ validation errors?|unknown tool|tool \S+ not found|not found\b"
    r"|\w+(?:error|exception):)",
    re.IGNORECASE,
)
_NOTHING: Final = re.compile(
    _SIGNS + r"(?:(?:no|0|zero)\b[\w ,-]{0,60}?\b(?:found|match(?:es|ing)?|results?|memories|"
    r"entries|notes|items|hits|entities|context|criteria|documents|observations|learnings)\b"
    r"|nothing (?:was )?found|(?:found|returned|retrieved) (?:0|no|nothing)\b)",
    re.IGNORECASE,
)
_HEADING: Final = re.compile(
    _SIGNS + r"(?:found|showing|results? (?:for|of)|search results|here (?:are|is)|retrieved|"
    r"returned|contents of|page \d|total:?|matches for)\b",
    re.IGNORECASE,
)
_SAYS_YES: Final = ("error", "errors", "isError", "is_error", "failed")
_SAYS_NO: Final = ("success", "ok", "succeeded", "stored", "saved", "created")
_BAD_STATES: Final = frozenset({"error", "failed", "failure", "conflict"})


def failure_in(result: ToolResult, success: Success = _ANY) -> str:
    """Look for signs that a tool has not done what it was to do."""
    said = _said(result)
    if result.is_error:
        return said or "the tool failed, and does not say why"
    if success.text_refuses and _any_matches(success.text_refuses, result):
        return said
    if success.text_matches and not _any_matches(success.text_matches, result):
        return f"the answer is not that of a success: {said}" if said else "the answer is empty"
    for document in _objects_of(result):
        if any(document.get(key) for key in success.json_absent) or _says_failure(document):
            return said or "the answer names an error"
    return said if any(_ERROR.match(text[:_LONGEST_PROSE]) for text in result.texts[:1]) else ""


def refuses_deletion(result: ToolResult) -> bool:
    """Return whether an answer to a deletion says that there was nothing to delete."""
    return any(document.get("deleted", True) in (False, 0) for document in _objects_of(result))


def is_talk(text: str) -> bool:
    """Return whether a text is the server's own words instead of something that it stores."""
    start = text[:_LONGEST_PROSE]
    if _ERROR.match(start) or _NOTHING.match(start):
        return True
    only_line = "\n" not in text.strip()
    return only_line and len(text) < _LONGEST_PROSE and _HEADING.match(start) is not None


def _said(result: ToolResult) -> str:
    first = result.said or next((text for text in result.texts if text.strip()), "")
    return " ".join(clean_text(first, _LONGEST_SAID).split())


def _any_matches(pattern: str, result: ToolResult) -> bool:
    return any(re.search(pattern, text, re.MULTILINE) for text in result.texts)


def _objects_of(result: ToolResult) -> Iterator[Mapping[str, Any]]:
    """The objects at the top of an answer, out of a ``result`` around them, too."""
    for value in (result.structured, *map(parsed_json, result.texts)):
        inner = value.get("result") if isinstance(value, dict) else None
        for one in (value, parsed_json(inner) if isinstance(inner, str) else inner):
            if isinstance(one, dict):
                yield one


def _says_failure(document: Mapping[str, Json]) -> bool:
    if any(document.get(key) not in (None, False, 0, "", [], {}) for key in _SAYS_YES):
        return True
    if any(document.get(key) is False for key in _SAYS_NO):
        return True
    states = (document.get("status"), document.get("action"))
    return any(isinstance(one, str) and one.lower() in _BAD_STATES for one in states)
