"""A configured mapping held against the tools that a server has."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from grove_backend_mcp.mappings.mapping import Json, Operation, ServerMapping
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
