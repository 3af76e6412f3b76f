"""Where in an answer the results are: paths, rows and documents."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from grove_backend_mcp.mappings.mapping import EVERY, Answered, Json, steps_of
from grove_backend_mcp.protocol.texts import divided, parsed_json
from grove_backend_mcp.servers import ToolResult

LONGEST_READ: Final = 262_144
"""Most code points of one text that are looked through for what is grove's."""

_MOST_VALUES: Final = 10_000
_LONGEST_HANDLE: Final = 500
_LONGEST_NUMBER: Final = 10**30
_MOST_STRINGS: Final = 50
_DEEPEST: Final = 5
# What is stored may hold such marks: the last end of a content before the metadata counts.
_ENTRY: Final = re.compile(
    r"\s*<entry>\s*<content>(.*)</content>\s*<metadata>(.*)</metadata>\s*</entry>\s*", re.DOTALL
)


@frozen(kw_only=True)
class Item:
    """One result before anything is recovered from it."""

    texts: tuple[str, ...]
    metadata: Json = None
    handle: str = ""
    labels: Sequence[str] = ()


def values_at(path: str, document: Json) -> Sequence[Json]:
    """Collect what a path leads to."""
    values = [document]
    for step in steps_of(path):
        values = [found for value in values for found in _step_into(value, step)][:_MOST_VALUES]
    return values


def _step_into(value: Json, step: str | int) -> Sequence[Json]:
    if isinstance(value, list):
        if isinstance(step, int):
            return value[step : step + 1]
        return value if step == EVERY else ()
    return (value[step],) if isinstance(value, dict) and step in value else ()


def items_of(result: ToolResult, reading: Answered) -> Iterator[Item]:
    """Find the results in an answer."""
    documents = [one for one in documents_of(result) if one is not None]
    shaped = [one for one in documents if reading.items and _leads_somewhere(reading.items, one)]
    if shaped:
        rows = rows_in(shaped[0], reading)
    else:
        inner = next((one for one in documents if isinstance(one, dict | list)), None)
        rows = _rows(inner) if inner is not None else iter(result.texts)
    yield from (item for row in rows for item in _items_in_row(row, reading))


def documents_of(result: ToolResult) -> Iterator[Json]:
    """Collect the JSON values of an answer, structured ones first, out of a ``result`` around."""
    for value in (result.structured, *map(parsed_json, result.texts)):
        inner = value.get("result") if isinstance(value, dict) else None
        yield parsed_json(inner) if isinstance(inner, str) else inner
        if not isinstance(inner, str) or len(value) > 1:
            yield value


def _leads_somewhere(path: str, document: Json) -> bool:
    """Return whether a document has the shape that a path expects, were it with nothing in it."""
    around = path.rstrip().removesuffix(EVERY)
    found = values_at(around or "$", document)
    is_list = around != path.rstrip()
    return any(isinstance(value, list) for value in found) if is_list else bool(found)


def rows_in(document: Json, reading: Answered) -> Iterator[Json]:
    """Return the single results that a path leads to."""
    for value in values_at(reading.items or "$", document):
        if reading.columns:
            yield from _from_columns(value, reading.text or reading.handle)
        else:
            yield value


def _from_columns(columns: Json, told_by: str) -> Sequence[Json]:
    """From parallel arrays to one object a result; arrays in arrays are one for each query."""
    found = columns.items() if isinstance(columns, dict) else ()
    arrays = {name: _flattened(value) for name, value in found if isinstance(value, list)}
    length = len(arrays.get(str(next(iter(steps_of(told_by)), "")), ()))
    return [
        {name: values[index] for name, values in arrays.items() if index < len(values)}
        for index in range(length)
    ]


def _flattened(values: list[Json]) -> list[Json]:
    if values and all(isinstance(one, list) for one in values):
        return [inner for one in values for inner in one]
    return values


def _items_in_row(row: Json, reading: Answered) -> Iterator[Item]:
    if isinstance(row, str):
        yield from _items_in_text(row, reading)
    elif isinstance(row, dict):
        yield _item_from(row, reading)


def _item_from(value: Mapping[str, Any], reading: Answered) -> Item:
    every = _strings([value])
    texts = _strings(values_at(reading.text, value)) if reading.text else every
    metadata = values_at(reading.metadata, value) if reading.metadata else ()
    handles = values_at(reading.handle, value) if reading.handle else ()
    return Item(
        texts=tuple(text[:LONGEST_READ] for text in texts),
        metadata=[*metadata, value],
        handle=next(filter(None, map(as_handle, handles)), ""),
        labels=every,
    )


def _strings(values: Iterable[Json], depth: int = _DEEPEST) -> Sequence[str]:
    """Every string in JSON values, up to a number and a depth."""
    found: list[str] = []
    for value in values:
        if len(found) >= _MOST_STRINGS:
            break
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict | list) and depth:
            inner = value.values() if isinstance(value, dict) else value
            found.extend(_strings(inner, depth - 1))
    return found[:_MOST_STRINGS]


def _rows(value: Json, depth: int = _DEEPEST) -> Iterator[Json]:
    """Find what may be results in JSON of which nothing is known: objects that hold no others."""
    value = (parsed_json(value) or value) if isinstance(value, str) else value
    inside = value
    if isinstance(value, dict):
        lists = (one for one in value.values() if one and isinstance(one, list))
        rows = (one for one in lists if all(isinstance(each, dict) for each in one))
        around = [*value.values()] if len(value) == 1 else None
        inside = next(rows, around)
    if depth and isinstance(inside, list):
        for one in inside:
            yield from _rows(one, depth - 1)
    else:
        yield value


def _items_in_text(text: str, reading: Answered) -> Iterator[Item]:
    # One text is one entry, since what is stored may look like the start of another.
    entry = _ENTRY.fullmatch(text[: 2 * LONGEST_READ])
    if entry is not None:
        yield Item(texts=(entry[1][:LONGEST_READ],), metadata=entry[2])
        return
    parts: Sequence[str] = [text]
    if reading.separator:
        parts = re.split(reading.separator, text, flags=re.MULTILINE)
    elif not reading.handle_pattern:
        # The server's id may stand behind the block, where the text would be divided.
        parts = divided(text)
    for part in filter(str.strip, parts):
        yield Item(texts=(part[:LONGEST_READ],))


def as_handle(value: Json) -> str:
    """Read a server's own id."""
    is_number = isinstance(value, int) and not isinstance(value, bool)
    if not isinstance(value, str) and not (is_number and abs(value) <= _LONGEST_NUMBER):
        return ""
    text = str(value)
    return text if len(text) <= _LONGEST_HANDLE else ""
