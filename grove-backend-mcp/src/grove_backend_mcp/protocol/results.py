"""What a server has found, out of whatever it answers."""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from attrs import frozen

from grove_backend_mcp.mappings.mapping import Json, Reading, ScoreKind
from grove_backend_mcp.protocol.items import Item, as_handle, documents_of, items_of, rows_of
from grove_backend_mcp.protocol.paths import values_at
from grove_backend_mcp.protocol.success import is_talk
from grove_backend_mcp.protocol.texts import clean_text, labelled_id, recover
from grove_backend_mcp.tools import ToolResult
from grove_core import Learning

MOST_RESULTS: Final = 200
LONGEST_TEXT: Final = 16_384
"""Most code points of a text that is kept, cut after what is grove's has been found in it."""

_OWN_HANDLE: Final = re.compile(r"cl_\d{8}_[a-z0-9]{3,}")
_NUMBER: Final = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


@frozen(kw_only=True)
class Found:
    """One result of a server."""

    learning_id: str | None
    learning: Learning | None
    project: str | None
    handle: str
    text: str
    relevance: float | None
    is_vouched: bool = False


def read_results(result: ToolResult, reading: Reading, most: int = MOST_RESULTS) -> Sequence[Found]:
    """Read the results in an answer."""
    if result.is_error:
        return ()
    found: dict[object, Found] = {}
    for item in islice(items_of(result, reading), most):
        one = _found_in(item, reading)
        if one is None:
            continue
        key = one.learning_id or (one.handle, one.text)
        known = found.get(key)
        if known is None or (known.learning is None and one.learning is not None):
            found[key] = one
    return tuple(found.values())


def read_handle(result: ToolResult, reading: Reading) -> str:
    """Read the server's id of what it has just stored."""
    if reading.handle:
        path = reading.items or "$"
        for document in documents_of(result):
            rows = [row for one in values_at(path, document) for row in rows_of(one, reading)]
            values = (value for row in rows for value in values_at(reading.handle, row))
            handle = next(filter(None, map(as_handle, values)), "")
            if handle:
                return handle
    return _handle_in(result.texts, reading)


def relevance_of(score: Json, kind: ScoreKind) -> float | None:
    """Bring a score between 0 and 1."""
    number = _number_in(score)
    if number is None or kind is ScoreKind.NONE:
        return None
    if kind is ScoreKind.DISTANCE:
        return 1 / (1 + max(0.0, number))
    return min(1.0, max(0.0, number / 100 if kind is ScoreKind.PERCENT else number))


def _number_in(score: Json) -> float | None:
    if isinstance(score, str):
        found = _NUMBER.search(score[:50])
        score = float(found[0]) if found else None
    if isinstance(score, bool) or not isinstance(score, int | float):
        return None
    try:
        number = float(score)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _found_in(item: Item, reading: Reading) -> Found | None:
    recovered = recover(item.texts, item.metadata)
    text = clean_text(recovered.text, LONGEST_TEXT)
    handle = item.handle or _handle_in(item.texts, reading)
    learning_id = recovered.learning_id
    if learning_id is None:
        if not text or is_talk(text):
            return None
        learning_id = labelled_id(item.labels) or _own(handle)
    return Found(
        learning_id=learning_id,
        learning=recovered.learning,
        project=recovered.project,
        handle=handle,
        text=text,
        relevance=relevance_of(item.score, reading.score_kind),
        is_vouched=recovered.is_vouched,
    )


def _own(handle: str) -> str | None:
    """The id of a learning that a server has as its key, even where it shows its text cut."""
    return handle if _OWN_HANDLE.fullmatch(handle) else None


def _handle_in(texts: Iterable[str], reading: Reading) -> str:
    if not reading.handle_pattern:
        return ""
    found = [m for text in texts for m in re.finditer(reading.handle_pattern, text, re.MULTILINE)]
    return as_handle(found[-1][1] if found and found[-1].re.groups else None)
