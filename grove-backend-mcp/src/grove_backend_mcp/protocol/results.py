"""What the answers of a server mean: success, results, and the handle of what was stored."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

from attrs import frozen

from grove_backend_mcp.mappings.mapping import Answered, Json
from grove_backend_mcp.protocol.items import (
    Item,
    as_handle,
    documents_of,
    items_of,
    rows_in,
    values_at,
)
from grove_backend_mcp.protocol.texts import labelled_id, recover
from grove_backend_mcp.servers import ToolResult
from grove_core import Learning

MOST_RESULTS: Final = 200
LONGEST_TEXT: Final = 16_384
"""Most code points of a text that is compared."""

_LONGEST_SAID: Final = 300
_LONGEST_PROSE: Final = 400
_RANK_OFFSET: Final = 60
_SIGNS: Final = r"^[\s#*>\-!✗✘❌⚠\ufe0f\"'`\[(]*"
_ERROR: Final = re.compile(
    _SIGNS + r"(?:(?:mcp |internal |unexpected |runtime |value |type |server |api |http )?error\b"
    r"|errors?:|failed\b|failure\b|search failed|exception\b|traceback\b|unable to |could not |"
    r"cannot |unauthori[sz]ed\b|forbidden\b|rate limit|invalid (?:arguments?|input|params?|request)"
    r"|input validation|\d+ validation errors?|unknown tool|tool \S+ not found|not found\b"
    r"|\w+(?:error|exception):)",
    re.IGNORECASE,
)
_SAYS_YES: Final = ("error", "errors", "isError", "is_error", "failed")
_SAYS_NO: Final = ("success", "ok", "succeeded", "stored", "saved", "created")
_BAD_STATES: Final = ("error", "failed", "failure", "conflict")
_OWN_HANDLE: Final = re.compile(r"cl_\d{8}_[a-z0-9]{3,}")


def failure_in(result: ToolResult) -> str:
    """Look for signs that a tool has not done what it was to do."""
    first = result.said or next((text for text in result.texts if text.strip()), "")
    said = " ".join(first[:_LONGEST_SAID].split())
    if result.is_error:
        return said or "the tool failed, and does not say why"
    if any(_says_failure(one) for one in documents_of(result) if isinstance(one, dict)):
        return said or "the answer names an error"
    return said if any(_ERROR.match(text[:_LONGEST_PROSE]) for text in result.texts[:1]) else ""


def _says_failure(document: Mapping[str, Json]) -> bool:
    states = (document.get("status"), document.get("action"))
    return (
        any(document.get(key) not in (None, False, 0, "", [], {}) for key in _SAYS_YES)
        or any(document.get(key) is False for key in _SAYS_NO)
        or any(isinstance(one, str) and one.lower() in _BAD_STATES for one in states)
    )


@frozen(kw_only=True)
class Found:
    """One result of a server."""

    learning_id: str | None
    learning: Learning | None
    project: str | None
    handle: str
    text: str
    is_vouched: bool = False


def read_results(
    result: ToolResult, reading: Answered, most: int = MOST_RESULTS
) -> Sequence[Found]:
    """Read the results in an answer, each once, and whole where it is there whole."""
    found: dict[object, Found] = {}
    items = () if result.is_error else islice(items_of(result, reading), most)
    for one in filter(None, (_found_in(item, reading) for item in items)):
        key = one.learning_id or (one.handle, one.text)
        if key not in found or (found[key].learning is None and one.learning is not None):
            found[key] = one
    return tuple(found.values())


def _found_in(item: Item, reading: Answered) -> Found | None:
    recovered = recover(item.texts, item.metadata)
    handle = item.handle or _handle_in(item.texts, reading)
    # A server may have grove's id as its key, even where it shows the text cut.
    own = handle if _OWN_HANDLE.fullmatch(handle) else None
    learning_id = recovered.learning_id or labelled_id(item.labels) or own
    if learning_id is None and not handle:
        return None
    return Found(
        learning_id=learning_id,
        learning=recovered.learning,
        project=recovered.project,
        handle=handle,
        text="\n".join(item.texts)[:LONGEST_TEXT],
        is_vouched=recovered.is_vouched,
    )


def read_handle(result: ToolResult, reading: Answered) -> str:
    """Read the server's id of what it has just stored."""
    documents = documents_of(result) if reading.handle else ()
    rows = (row for document in documents for row in rows_in(document, reading))
    values = (value for row in rows for value in values_at(reading.handle, row))
    return next(filter(None, map(as_handle, values)), "") or _handle_in(result.texts, reading)


def _handle_in(texts: Iterable[str], reading: Answered) -> str:
    if not reading.handle_pattern:
        return ""
    found = [m for text in texts for m in re.finditer(reading.handle_pattern, text, re.MULTILINE)]
    return as_handle(found[-1][1]) if found else ""


def merged(answers: Iterable[Sequence[Found]]) -> Sequence[Found]:
    """Merge the answers to several words: what is in most of them, and high there, comes first."""
    best: dict[object, Found] = {}
    ranks: dict[object, list[float]] = defaultdict(list)
    for found in answers:
        for rank, one in enumerate(found, start=1):
            key = one.learning_id or (one.handle, one.text)
            if key not in best or best[key].learning is None:
                best[key] = one
            ranks[key].append(1 / (_RANK_OFFSET + rank))
    return [best[key] for key in sorted(best, key=lambda key: (-len(ranks[key]), -sum(ranks[key])))]
