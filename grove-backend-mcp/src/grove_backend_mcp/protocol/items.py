"""Where in an answer the results are: paths, rows and documents."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

from attrs import frozen

from grove_backend_mcp.mappings.mapping import Json, Reading, ScoreKind
from grove_backend_mcp.protocol.texts import divided, parsed_json
from grove_backend_mcp.tools import ToolResult

_STEP: Final = re.compile(r"\.?(?P<name>[^.\[\]$*\s]+)|\[(?P<index>\d{1,4}|\*)\]")
_EVERY: Final = "[*]"
_MOST_VALUES: Final = 10_000


@lru_cache(maxsize=128)
def steps_of(path: str) -> tuple[str | int, ...]:
    """Read a path."""
    rest = path.strip().removeprefix("$")
    steps: list[str | int] = []
    while rest:
        found = _STEP.match(rest)
        if found is None:
            raise ValueError(f"{path!r} is no path at {rest!r}: write $, .name, [*] and [0] only")
        index = found["index"]
        steps.append(found["name"] if index is None else _EVERY if index == "*" else int(index))
        rest = rest[found.end() :]
    return tuple(steps)


def values_at(path: str, document: Json) -> Sequence[Json]:
    """Collect what a path leads to."""
    values = [document]
    for step in steps_of(path):
        values = [found for value in values for found in _step_into(value, step)][:_MOST_VALUES]
    return values


def leads_somewhere(path: str, document: Json) -> bool:
    """Return whether a document has the shape that a path expects, were it with nothing in it."""
    if not path.rstrip().endswith(_EVERY):
        return bool(values_at(path, document))
    around = values_at(path.rstrip().removesuffix(_EVERY) or "$", document)
    return any(isinstance(value, list) for value in around)


def _step_into(value: Json, step: str | int) -> Sequence[Json]:
    if step == _EVERY:
        return value if isinstance(value, list) else ()
    if isinstance(step, int):
        return value[step : step + 1] if isinstance(value, list) else ()
    return (value[step],) if isinstance(value, dict) and step in value else ()


LONGEST_READ: Final = 262_144
"""Most code points of one text that are looked through for what is grove's."""

_LONGEST_HANDLE: Final = 500
_LONGEST_NUMBER: Final = 10**30
_MOST_STRINGS: Final = 50
_DEEPEST: Final = 5
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
_ENTRY: Final = "<entry>"
_CONTENT: Final = "<content>"
_BEHIND_CONTENT: Final = "</content>"
_LONGEST_ENTRY: Final = 2 * LONGEST_READ
_MOST_ENDS: Final = 20
_METADATA: Final = re.compile(r"\s*<metadata>(.*)</metadata>\s*</entry>\s*\Z", re.DOTALL)


@frozen(kw_only=True)
class Item:
    """One result before anything is recovered from it."""

    texts: tuple[str, ...]
    metadata: Json = None
    handle: str = ""
    score: Json = None
    labels: tuple[str, ...] = ()


def items_of(result: ToolResult, reading: Reading) -> Iterator[Item]:
    """Find the results in an answer."""
    documents = [one for one in documents_of(result) if one is not None]
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


def documents_of(result: ToolResult) -> Iterator[Json]:
    """Collect the JSON values of an answer, structured ones first."""
    for value in (result.structured, *map(parsed_json, result.texts)):
        inner = value.get("result") if isinstance(value, dict) and len(value) == 1 else None
        yield parsed_json(inner) if isinstance(inner, str) else inner
        if not isinstance(inner, str):
            yield value


def _mapped_items(document: Json, reading: Reading) -> Iterator[Item]:
    for value in values_at(reading.items, document):
        for row in rows_of(value, reading):
            if isinstance(row, str):
                yield from _items_in_text(row, reading)
            elif isinstance(row, dict):
                yield _item_from(row, reading)


def rows_of(value: Json, reading: Reading) -> Sequence[Json]:
    """Make single results of what ``items`` leads to."""
    return _from_columns(value, reading.text or reading.handle) if reading.columns else (value,)


def _from_columns(columns: Json, told_by: str) -> Sequence[Json]:
    """From parallel arrays to one object a result; arrays in arrays are one for each query."""
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


def _item_from(value: Mapping[str, Any], reading: Reading) -> Item:
    texts = _strings(values_at(reading.text, value)) if reading.text else ()
    if not texts:
        texts = _likely_texts(value)
    metadata = values_at(reading.metadata, value) if reading.metadata else ()
    handles = values_at(reading.handle, value) if reading.handle else _likely_handles(value)
    scores = values_at(reading.score, value) if reading.score else ()
    return Item(
        texts=tuple(text[:LONGEST_READ] for text in texts[:_MOST_STRINGS]),
        metadata=[*metadata, value],
        handle=next(filter(None, map(as_handle, handles)), ""),
        score=next(iter(scores), None),
        labels=tuple(text for text in _strings([value]) if text not in texts),
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


def _items_in(value: Json, reading: Reading, depth: int = _DEEPEST) -> Iterator[Item]:
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
        return list(_from_columns(value, "ids"))
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


def _items_in_text(text: str, reading: Reading) -> Iterator[Item]:
    # One text is one entry, since what is stored may look like the start of another.
    if text.lstrip().startswith(_ENTRY):
        yield _item_of_entry(text)
        return
    for part in _parts_of(text, reading):
        if part.strip():
            yield _item_of_text(part, reading)


def _parts_of(text: str, reading: Reading) -> Sequence[str]:
    if reading.separator:
        return re.split(reading.separator, text, flags=re.MULTILINE)
    # The server's id may stand behind the block, where the text would be divided.
    return [text] if reading.handle_pattern else divided(text)


def _item_of_text(part: str, reading: Reading) -> Item:
    percent = _PERCENT.search(part) if reading.score_kind is ScoreKind.PERCENT else None
    return Item(texts=(part[:LONGEST_READ],), score=percent[1] if percent else None)


def _item_of_entry(text: str) -> Item:
    """Read ``<entry><content>…</content><metadata>{…}</metadata></entry>``."""
    inside = text[:_LONGEST_ENTRY].partition(_CONTENT)[2]
    end = len(inside)
    for _ in range(_MOST_ENDS):
        end = inside.rfind(_BEHIND_CONTENT, 0, end)
        if end < 0:
            break
        found = _METADATA.match(inside, end + len(_BEHIND_CONTENT))
        if found is not None:
            return Item(texts=(inside[:end][:LONGEST_READ],), metadata=found[1])
    return Item(texts=(inside[:LONGEST_READ],))


def as_handle(value: Json) -> str:
    """Read a server's own id."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return ""
    if isinstance(value, int) and abs(value) > _LONGEST_NUMBER:
        return ""
    text = str(value)
    return text if len(text) <= _LONGEST_HANDLE else ""
