"""What a server has found, out of whatever it answers.

Nothing here trusts the server: what comes out is bounded in number and length, and no answer makes
it fail. A result that is not grove's keeps its text; the server's own words (an error, "No memories
found", a heading) are no result.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from attrs import frozen

from grove_backend_mcp.mapping import Json, Reading, ScoreKind
from grove_backend_mcp.paths import leads_somewhere, steps_of, values_at
from grove_backend_mcp.success import is_talk
from grove_backend_mcp.texts import clean_text, divided, labelled_id, parsed_json, recover
from grove_backend_mcp.tools import ToolResult
from grove_core import Learning

MOST_RESULTS: Final = 200
LONGEST_TEXT: Final = 16_384

_LONGEST_HANDLE: Final = 500
_MOST_STRINGS: Final = 50
_DEEPEST: Final = 5
_OWN_HANDLE: Final = re.compile(r"cl_\d{8}_[a-z0-9]{3,}")
_LISTS: Final = (
    *("results", "memories", "items", "entities", "notes", "documents", "hits", "matches"),
    *("entries", "records", "data", "facts", "nodes", "learnings", "chunks"),
)
_AROUND: Final = ("result", "results", "data", "response", "output", "memory", "note", "item")
_TEXTS: Final = (
    *("content", "text", "memory", "document", "value", "body", "information", "observations"),
    *("note", "data", "page_content", "chunk", "summary", "description", "fact"),
)
_HANDLES: Final = (
    *("id", "uuid", "memory_id", "content_hash", "hash", "key", "permalink", "name", "title"),
)
_PERCENT: Final = re.compile(r"(\d{1,3}(?:\.\d+)?) ?%")
_NUMBER: Final = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_ENTRY: Final = re.compile(r"^<entry>", re.MULTILINE)
_CONTENT: Final = "<content>"
_BEHIND_CONTENT: Final = "</content>"
_LONGEST_ENTRY: Final = 4 * LONGEST_TEXT
_MOST_ENDS: Final = 20
_METADATA: Final = re.compile(r"\s*<metadata>(.*)</metadata>\s*</entry>\s*\Z", re.DOTALL)


@frozen(kw_only=True)
class Found:
    """One result of a server.

    Attributes:
        learning_id: The id of the learning that it is; ``None`` for what is not grove's.
        learning: The learning, where all of it has come back as it was written.
        project: The project that it says it belongs to; ``None`` where it says none.
        handle: The server's own id of it; empty without.
        text: Its text, clean and bounded, without what only grove reads.
        relevance: The server's score as 0 to 1; ``None`` without a usable one.
    """

    learning_id: str | None
    learning: Learning | None
    project: str | None
    handle: str
    text: str
    relevance: float | None


@frozen(kw_only=True)
class _Item:
    """One result before anything is recovered from it."""

    texts: tuple[str, ...]
    metadata: Json = None
    handle: str = ""
    score: Json = None
    labels: str = ""


def read_results(result: ToolResult, reading: Reading, most: int = MOST_RESULTS) -> Sequence[Found]:
    """Read the results in an answer.

    Args:
        result: The answer of a tool: untrusted.
        reading: Where in it the results are.
        most: Results to read at most.

    Returns:
        What was found, in the server's order; each learning once, whole where one of its results
        is whole.
    """
    if result.is_error:
        return ()
    found: dict[object, Found] = {}
    for item in islice(_items_of(result, reading), most):
        one = _found_in(item, reading)
        if one is None:
            continue
        key = one.learning_id or (one.handle, one.text)
        known = found.get(key)
        if known is None or (known.learning is None and one.learning is not None):
            found[key] = one
    return tuple(found.values())


def read_handle(result: ToolResult, reading: Reading) -> str:
    """Read the server's id of what it has just stored.

    Args:
        result: The answer to a write: untrusted.
        reading: Where in it the id is; without ``items`` the path starts at the top.

    Returns:
        The id; empty without.
    """
    if reading.handle:
        path = reading.items or "$"
        for document in _documents_of(result):
            rows = [row for one in values_at(path, document) for row in _unrolled(one, reading)]
            values = (value for row in rows for value in values_at(reading.handle, row))
            handle = next(filter(None, map(_as_handle, values)), "")
            if handle:
                return handle
    return _handle_in(result.texts, reading)


def _unrolled(value: Json, reading: Reading) -> Sequence[Json]:
    return _rows_of(value, reading.text or reading.handle) if reading.columns else (value,)


def relevance_of(score: Json, kind: ScoreKind) -> float | None:
    """Bring a score between 0 and 1.

    Args:
        score: A number, or a text with one.
        kind: What it means.

    Returns:
        1 for the best; ``None`` where it cannot be told.
    """
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


def _found_in(item: _Item, reading: Reading) -> Found | None:
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
    )


def _own(handle: str) -> str | None:
    """The id of a learning that a server has as its key, even where it shows its text cut."""
    return handle if _OWN_HANDLE.fullmatch(handle) else None


def _handle_in(texts: Iterable[str], reading: Reading) -> str:
    if not reading.handle_pattern:
        return ""
    found = [m for text in texts for m in re.finditer(reading.handle_pattern, text, re.MULTILINE)]
    return _as_handle(found[-1][1] if found and found[-1].re.groups else None)


def _as_handle(value: Json) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    text = str(value)[: _LONGEST_HANDLE + 1]
    return text if len(text) <= _LONGEST_HANDLE else ""


def _items_of(result: ToolResult, reading: Reading) -> Iterator[_Item]:
    documents = [one for one in _documents_of(result) if one is not None]
    if reading.items:
        for document in documents:
            if leads_somewhere(reading.items, document):
                yield from _mapped_items(document, reading)
                return
    for document in documents:
        if isinstance(document, dict | list):
            yield from _items_in(document, reading)
            return
    for text in result.texts:
        yield from _items_in_text(text, reading)


def _documents_of(result: ToolResult) -> Iterator[Json]:
    """Every JSON value of an answer; what FastMCP has put into a ``result`` comes out first."""
    for value in (result.structured, *map(parsed_json, result.texts)):
        inner = value.get("result") if isinstance(value, dict) and len(value) == 1 else None
        yield parsed_json(inner) if isinstance(inner, str) else inner
        if not isinstance(inner, str):
            yield value


def _mapped_items(document: Json, reading: Reading) -> Iterator[_Item]:
    for value in values_at(reading.items, document):
        for row in _unrolled(value, reading):
            if isinstance(row, str):
                yield from _items_in_text(row, reading)
            elif isinstance(row, dict):
                yield _item_from(row, reading)


def _rows_of(columns: Json, told_by: str) -> Sequence[Json]:
    """From parallel arrays to one object a result; arrays in arrays are one for each query.

    Args:
        columns: An object of arrays, of which some may be something else.
        told_by: Path of what every result has; its first step is the array that counts.
    """
    if not isinstance(columns, dict):
        return ()
    arrays = {name: _flattened(value) for name, value in columns.items() if isinstance(value, list)}
    length = len(arrays.get(str(next(iter(steps_of(told_by)), "")), ()))
    return [
        {name: values[index] for name, values in arrays.items() if index < len(values)}
        for index in range(length)
    ]


def _flattened(values: list[Json]) -> list[Json]:
    if values and all(isinstance(one, list) for one in values):
        return [inner for one in values for inner in one]
    return values


def _item_from(value: Mapping[str, Any], reading: Reading) -> _Item:
    texts = _strings(values_at(reading.text, value)) if reading.text else ()
    if not texts:
        texts = _likely_texts(value)
    metadata = values_at(reading.metadata, value) if reading.metadata else ()
    handles = values_at(reading.handle, value) if reading.handle else _likely_handles(value)
    scores = values_at(reading.score, value) if reading.score else ()
    return _Item(
        texts=tuple(text[:LONGEST_TEXT] for text in texts[:_MOST_STRINGS]),
        metadata=[*metadata, value],
        handle=next(filter(None, map(_as_handle, handles)), ""),
        score=next(iter(scores), None),
        labels="\n".join(text for text in _strings([value]) if text not in texts),
    )


def _likely_texts(value: Mapping[str, Any]) -> Sequence[str]:
    known = [text for name in _TEXTS if name in value for text in _strings([value[name]])]
    return known or sorted(_strings([value]), key=len)[-1:]


def _likely_handles(value: Mapping[str, Any]) -> Sequence[Json]:
    return [value[name] for name in _HANDLES if name in value]


def _strings(values: Iterable[Json], depth: int = _DEEPEST) -> Sequence[str]:
    """Every string in JSON values, up to a number and a depth."""
    found: list[str] = []
    for value in values:
        if len(found) >= _MOST_STRINGS:
            break
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict) and depth:
            found.extend(_strings(value.values(), depth - 1))
        elif isinstance(value, list) and depth:
            found.extend(_strings(value, depth - 1))
    return found[:_MOST_STRINGS]


def _items_in(value: Json, reading: Reading, depth: int = _DEEPEST) -> Iterator[_Item]:
    """Find the results in JSON of which nothing is known."""
    if isinstance(value, str):
        inner = parsed_json(value) if depth else None
        if inner is None:
            yield from _items_in_text(value, reading)
        else:
            yield from _items_in(inner, reading, depth - 1)
    elif isinstance(value, list) and depth:
        for one in value:
            yield from _items_in(one, reading, depth - 1)
    elif isinstance(value, dict):
        inner = _inside(value) if depth else None
        if inner is None:
            yield _item_from(value, reading)
        else:
            yield from _items_in(inner, reading, depth - 1)


def _inside(value: Mapping[str, Any]) -> Json:
    """What of an object holds the results; ``None`` where it is one itself."""
    if isinstance(value.get("ids"), list) and isinstance(value.get("documents"), list):
        return list(_rows_of(value, "ids"))
    for name in _LISTS:
        if isinstance(value.get(name), list):
            return value[name]
    lists = [one for one in value.values() if isinstance(one, list) and _holds_objects(one)]
    if lists:
        return max(lists, key=len)
    wrapped = [value[name] for name in _AROUND if isinstance(value.get(name), dict)]
    return wrapped[0] if wrapped else None


def _holds_objects(values: Sequence[Json]) -> bool:
    return bool(values) and all(isinstance(one, dict) for one in values)


def _items_in_text(text: str, reading: Reading) -> Iterator[_Item]:
    starts = [found.start() for found in _ENTRY.finditer(text)]
    if starts and not text[: starts[0]].strip():
        for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
            yield _item_of_entry(text[start:end])
        return
    for part in _parts_of(text, reading):
        if part.strip():
            yield _item_of_text(part, reading)


def _parts_of(text: str, reading: Reading) -> Sequence[str]:
    if reading.separator:
        return re.split(reading.separator, text, flags=re.MULTILINE)
    # The server's id may stand behind the block, where the text would be divided.
    return [text] if reading.handle_pattern else divided(text)


def _item_of_text(part: str, reading: Reading) -> _Item:
    percent = _PERCENT.search(part) if reading.score_kind is ScoreKind.PERCENT else None
    text = part[:LONGEST_TEXT]
    return _Item(texts=(text,), score=percent[1] if percent else None, labels=text)


def _item_of_entry(text: str) -> _Item:
    """Read ``<entry><content>…</content><metadata>{…}</metadata></entry>``.

    What is stored may hold ``</content>`` itself, so the last one counts that JSON stands behind.
    """
    inside = text[:_LONGEST_ENTRY].partition(_CONTENT)[2]
    end = len(inside)
    for _ in range(_MOST_ENDS):
        end = inside.rfind(_BEHIND_CONTENT, 0, end)
        if end < 0:
            break
        found = _METADATA.match(inside, end + len(_BEHIND_CONTENT))
        if found is not None:
            return _Item(texts=(inside[:end][:LONGEST_TEXT],), metadata=found[1])
    return _Item(texts=(inside[:LONGEST_TEXT],))
