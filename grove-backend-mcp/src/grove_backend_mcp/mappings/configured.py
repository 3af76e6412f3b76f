"""The mapping that a user has configured, with words for everything that is wrong in it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import Enum
from typing import Any, Final

from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.mappings.mapping import (
    Json,
    Operation,
    QueryMode,
    Reading,
    ScoreKind,
    ServerMapping,
    Success,
    TextForm,
)
from grove_backend_mcp.mappings.schemas import (
    Property,
    Schema,
    arguments_of,
    choices_of,
    items_of,
    properties_of,
    type_of_value,
)
from grove_backend_mcp.mappings.templates import (
    FETCH_PLACEHOLDERS,
    LEARNING_PLACEHOLDERS,
    LISTING_PLACEHOLDERS,
    QUERY_PLACEHOLDERS,
    check_template,
    placeholders,
)
from grove_backend_mcp.mappings.words import DESTROYING, SWEEPING, WRITE_VERBS, words_of
from grove_backend_mcp.protocol.items import steps_of
from grove_backend_mcp.tools import Tool

_KNOWN: Final[Mapping[str, frozenset[str]]] = {
    "setup": frozenset({"project"}),
    "write": LEARNING_PLACEHOLDERS,
    "search": QUERY_PLACEHOLDERS,
    "get": FETCH_PLACEHOLDERS,
    "listing": LISTING_PLACEHOLDERS,
    "update": LEARNING_PLACEHOLDERS,
    "delete": FETCH_PLACEHOLDERS,
}
_NEEDED: Final[Mapping[str, frozenset[str]]] = {
    "write": frozenset({"content", "plain", "summary", "detail"}),
    "search": frozenset({"query"}),
    "get": frozenset({"id", "handle"}),
    "delete": frozenset({"id", "handle"}),
}
_TYPES: Final[Mapping[str, str]] = {
    "limit": "integer",
    "tags": "array",
    "labels": "array",
    "metadata": "object",
    "flat_metadata": "object",
}
_CHANGING: Final = ("update", "delete")
_MOST_NAMED: Final = 20
_DEEPEST: Final = 10


def faults_against(mapping: ServerMapping, tools: Sequence[Tool]) -> list[str]:
    """Return what of a mapping a server cannot do, or must not be asked to."""
    operations = (
        ("setup", mapping.setup),
        ("write", mapping.write),
        ("search", mapping.search),
        ("get", mapping.get),
        ("listing", mapping.listing),
        *(("update", step) for step in mapping.update),
        ("delete", mapping.delete),
    )
    known = {tool.name: tool for tool in tools}
    return [
        f"{name}: {fault}"
        for name, operation in operations
        if operation is not None
        for fault in (
            *faults_of_template(name, operation.arguments),
            *_faults_of(name, operation, known),
        )
    ]


def faults_of_template(name: str, arguments: Mapping[str, Json]) -> list[str]:
    """Return what is wrong with the template of an operation, whatever server it is for."""
    wrong = check_template(dict(arguments), _KNOWN[name])
    needed = _NEEDED.get(name)
    if not wrong and needed is not None and needed.isdisjoint(placeholders(dict(arguments))):
        listed = " or ".join(f"{{{one}}}" for one in sorted(needed))
        return [f"no argument holds {listed}"]
    return wrong


def _faults_of(name: str, operation: Operation, tools: Mapping[str, Tool]) -> Iterator[str]:
    """Find what is wrong with one operation."""
    tool = tools.get(operation.tool)
    if tool is None:
        near = get_close_matches(operation.tool, tools, n=3, cutoff=0.5)
        names = ", ".join(near or sorted(tools)[:_MOST_NAMED]) or "none"
        said = "did you mean" if near else "it has"
        yield f"the server has no tool {operation.tool!r}; {said} {names}"
        return
    arguments = dict(operation.arguments)
    if check_template(arguments, _KNOWN[name]):
        return
    yield from _faults_of_members(arguments, arguments_of(tool), tool.schema, operation.tool)
    yield from _dangers(name, operation, tool)


def _faults_of_members(
    values: Mapping[str, Json], known: Sequence[Property], root: Schema, where: str, depth: int = 0
) -> Iterator[str]:
    """Hold arguments, or the members of an object among them, against their schemas."""
    by_name = {one.name: one for one in known}
    for name, value in values.items():
        if name in by_name:
            yield from _faults_of_value(value, by_name[name], root, f"{where}.{name}", depth)
        elif known:
            near = get_close_matches(name, by_name, n=1)
            said = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(by_name)}"
            yield f"{where} takes no argument {name!r} ({said})"
    missing = [one.name for one in known if one.is_required and one.name not in values]
    if missing:
        yield f"{where} needs {', '.join(missing)}"


def _faults_of_value(
    value: Json, property_: Property, root: Schema, where: str, depth: int
) -> Iterator[str]:
    """Hold one argument against its schema."""
    kind, is_literal = _type_of(value)
    if not property_.takes(kind) and not (kind == "integer" and property_.takes("number")):
        yield f"{where} takes {' or '.join(sorted(property_.types))}, not {kind}"
        return
    choices = choices_of(property_, root)
    if is_literal and choices and kind == "string" and value not in choices:
        listed = ", ".join(str(one) for one in choices[:_MOST_NAMED])
        yield f"{where} takes one of {listed}, not {value!r}"
    if depth > _DEEPEST:
        return
    if isinstance(value, Mapping):
        inner = properties_of(property_.schema, root)
        yield from _faults_of_members(value, inner, root, where, depth + 1)
    elif isinstance(value, list | tuple):
        inner = properties_of(items_of(property_, root), root)
        for one in value:
            if isinstance(one, Mapping):
                yield from _faults_of_members(one, inner, root, f"{where}[]", depth + 1)


def _type_of(value: Json) -> tuple[str, bool]:
    """Tell the JSON type that a template will have, and whether it is as it stands."""
    if isinstance(value, str):
        named = placeholders(value)
        if named:
            whole = next((one for one in named if value == f"{{{one}}}"), "")
            return _TYPES.get(whole, "string"), False
    return type_of_value(value), True


def _dangers(name: str, operation: Operation, tool: Tool) -> Iterator[str]:
    """Find what would make an operation destroy more than one learning."""
    words = words_of(tool.name)
    destroys = not DESTROYING.isdisjoint(words)
    if name not in _CHANGING:
        hinted = tool.annotations.get("destructiveHint") is True
        is_writer = name == "write" and not WRITE_VERBS.keys().isdisjoint(words)
        is_harmless = is_writer or tool.annotations.get("readOnlyHint") is True
        if destroys or (hinted and not is_harmless):
            yield f"{tool.name} destroys what is stored, so it is not called for this"
        return
    sweeping = [one for one in tool.properties if not SWEEPING.isdisjoint(words_of(one))]
    if sweeping or not SWEEPING.isdisjoint(words):
        yield f"{tool.name} can reach more than one thing ({', '.join(sweeping) or 'by its name'})"
    if name == "delete" and not _names_one(operation, tool):
        yield f"{tool.name} does not require an argument that says which one ({{id}} or {{handle}})"


def _names_one(operation: Operation, tool: Tool) -> bool:
    """Return whether a required argument says which one is meant."""
    wanted = {"id", "handle"}
    return any(
        wanted.intersection(placeholders(operation.arguments.get(name))) for name in tool.required
    )


_OPERATION: Final = ("tool", "arguments")
_READING: Final = (
    *("items", "columns", "separator", "text", "metadata", "handle", "handle_pattern"),
    *("score", "score_kind"),
)
_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "setup": _OPERATION,
    "write": (
        *_OPERATION,
        *("items", "handle", "handle_pattern", "text_matches", "text_refuses", "json_absent"),
        *("text_form", "longest_text", "single_writer"),
    ),
    "search": (*_OPERATION, *_READING, "query_mode", "longest_query"),
    "get": (*_OPERATION, *_READING),
    "listing": (*_OPERATION, *_READING),
    "update": (*_OPERATION, "then"),
    "delete": _OPERATION,
}
_PATHS: Final = frozenset({"items", "text", "metadata", "handle", "score"})
_PATTERNS: Final = frozenset({"separator", "handle_pattern", "text_matches", "text_refuses"})
_NUMBERS: Final = frozenset({"longest_text", "longest_query"})
_FLAGS: Final = frozenset({"columns", "single_writer"})
_CHOICES: Final[Mapping[str, type[Enum]]] = {
    "score_kind": ScoreKind,
    "query_mode": QueryMode,
    "text_form": TextForm,
}
_LONGEST_PATTERN: Final = 500


def configured_mapping(tables: Mapping[str, Any], tools: Sequence[Tool]) -> ServerMapping:
    """Read a configured mapping and hold it against the tools of the server."""
    faults = [fault for name, table in tables.items() for fault in _faults_of_table(name, table)]
    if not faults:
        mapping = mapping_of(tables)
        faults = faults_against(mapping, tools)
        if not faults:
            return mapping
    raise ServerFaultError(
        FaultKind.UNSUITABLE, "the configured mapping does not fit: " + "; ".join(faults)
    )


def faults_of_table(name: str, table: object) -> list[str]:
    """Return what is wrong in the table of an operation, whatever server it is for."""
    faults = list(_faults_of_table(name, table))
    if faults or not isinstance(table, Mapping):
        return faults
    calls = (table, *table.get("then", ()))
    wrong = (faults_of_template(name, call.get("arguments", {})) for call in calls)
    return [f"{name}: {fault}" for one in wrong for fault in one]


def mapping_of(tables: Mapping[str, Any]) -> ServerMapping:
    """Put a mapping together from tables without faults."""
    write, search = tables.get("write", {}), tables.get("search", {})
    update = tables.get("update", {})
    return ServerMapping(
        setup=_operation(tables.get("setup")),
        write=_operation(write),
        search=_operation(search),
        get=_operation(tables.get("get")),
        listing=_operation(tables.get("listing")),
        update=tuple(
            step
            for table in (update, *update.get("then", ()))
            if (step := _operation(table)) is not None
        ),
        delete=_operation(tables.get("delete")),
        query_mode=QueryMode(search.get("query_mode", QueryMode.WHOLE.value)),
        text_form=TextForm(write.get("text_form", TextForm.FULL.value)),
        written=Success(
            text_matches=write.get("text_matches", ""),
            text_refuses=write.get("text_refuses", ""),
            json_absent=tuple(write.get("json_absent", ())),
        ),
        handle=_reading(write),
        found=_reading(search) or Reading(),
        got=_reading(tables.get("get")),
        listed=_reading(tables.get("listing")),
        longest_text=write.get("longest_text", 0),
        longest_query=search.get("longest_query", 0),
        single_writer=write.get("single_writer", False),
    )


def _operation(table: Mapping[str, Any] | None) -> Operation | None:
    """Read the call of a table."""
    return Operation(tool=table["tool"], arguments=table.get("arguments", {})) if table else None


def _reading(table: Mapping[str, Any] | None) -> Reading | None:
    """Read how an answer is read; ``None`` where a table does not say."""
    said = {key: value for key, value in (table or {}).items() if key in _READING}
    if not said:
        return None
    kind = ScoreKind(said.pop("score_kind", ScoreKind.NONE.value))
    return Reading(**said, score_kind=kind)


def _faults_of_table(name: str, table: object) -> Iterator[str]:
    """Find what is wrong in a table, whatever server it is for."""
    if name not in _KEYS:
        yield f"{name}: no such operation{_near(name, _KEYS)}"
    elif not isinstance(table, Mapping):
        yield f"{name} must be a table"
    else:
        yield from _faults_of_call(name, table)
        for key, value in table.items():
            if key not in _KEYS[name]:
                yield f"{name}: unknown key {key!r}{_near(key, _KEYS[name])}"
            elif key == "then":
                yield from _faults_of_steps(f"{name}.then", value)
            elif (wrong := _wrong_in(key, value)) is not None:
                yield f"{name}.{key} {wrong}"


def _faults_of_call(name: str, table: Mapping[str, Any]) -> Iterator[str]:
    if not isinstance(table.get("tool"), str) or not table["tool"]:
        yield f"{name}.tool must be the name of a tool"
    if not isinstance(table.get("arguments", {}), Mapping):
        yield f"{name}.arguments must be a table"


def _faults_of_steps(name: str, steps: object) -> Iterator[str]:
    """Find what is wrong in a list of calls."""
    if not isinstance(steps, list | tuple):
        yield f"{name} must be a list of tables"
        return
    for step in steps:
        if not isinstance(step, Mapping):
            yield f"{name} must be a list of tables"
        else:
            yield from _faults_of_call(name, step)
            yield from (f"{name}: unknown key {key!r}" for key in step if key not in _OPERATION)


def _wrong_in(key: str, value: object) -> str | None:
    if key in _OPERATION:
        return None
    if key in _FLAGS:
        return None if isinstance(value, bool) else "must be true or false"
    if key in _NUMBERS:
        is_number = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return None if is_number else "must be a whole number, 0 or more"
    if key == "json_absent":
        is_list = isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
        return None if is_list else "must be a list of names"
    if not isinstance(value, str):
        return "must be a text"
    return _wrong_in_text(key, value)


def _wrong_in_text(key: str, value: str) -> str | None:
    """Return what is wrong with a path, a pattern or a choice."""
    if key in _CHOICES:
        known = [str(one.value) for one in _CHOICES[key]]
        return None if value in known else f"must be one of {', '.join(known)}, not {value!r}"
    if key in _PATTERNS:
        return _wrong_in_pattern(key, value)
    if key in _PATHS:
        try:
            steps_of(value)
        except ValueError as error:
            return f"is wrong: {error}"
    return None


def _wrong_in_pattern(key: str, pattern: str) -> str | None:
    if len(pattern) > _LONGEST_PATTERN:
        return f"is longer than {_LONGEST_PATTERN} characters"
    try:
        groups = re.compile(pattern).groups
    except (re.error, OverflowError, RecursionError) as error:
        return f"is no pattern: {error}"
    if key == "handle_pattern" and not groups:
        return "must have a group, such as id=([0-9a-f]+)"
    return None


def _near(name: object, known: "Mapping[str, Any] | Sequence[str]") -> str:
    """Suggest a name."""
    near = get_close_matches(str(name), known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f" (known: {', '.join(known)})"
