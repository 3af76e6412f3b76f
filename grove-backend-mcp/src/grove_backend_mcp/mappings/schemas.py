"""Read the JSON schemas of a server's tools, whatever nonsense stands in them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from attrs import frozen

from grove_backend_mcp.mappings.mapping import Json
from grove_backend_mcp.tools import Tool

Schema: TypeAlias = Mapping[str, Any]

_DEEPEST: Final = 6
_MOST_BRANCHES: Final = 64
_LARGEST_BOUND: Final = 1e15
_ALTERNATIVES: Final = ("anyOf", "oneOf", "allOf")
_TYPES_OF_VALUES: Final[tuple[tuple[type, str], ...]] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (str, "string"),
    (list, "array"),
    (tuple, "array"),
    (dict, "object"),
)


@frozen(kw_only=True)
class Property:
    """An argument of a tool, or a member of one that is an object."""

    name: str
    schema: Schema
    is_required: bool
    types: frozenset[str]

    def takes(self, *types: str) -> bool:
        """Whether it may have one of these JSON types."""
        return not self.types or bool(self.types.intersection(types))


def properties_of(schema: object, root: Schema) -> tuple[Property, ...]:
    """List the properties of a schema of an object."""
    resolved = _resolved(schema, root, 0)
    found = resolved.get("properties")
    required = resolved.get("required")
    names = required if isinstance(required, list) else []
    if not isinstance(found, dict):
        return ()
    return tuple(
        Property(
            name=name,
            schema=_resolved(one, root, 0),
            is_required=name in names,
            types=_types(one, root, 0),
        )
        for name, one in found.items()
        if isinstance(name, str)
    )


def arguments_of(tool: Tool) -> tuple[Property, ...]:
    """List the arguments of a tool."""
    return properties_of(tool.schema, tool.schema)


def items_of(property_: Property, root: Schema) -> Schema:
    """Return the schema of the elements of an argument that is an array."""
    for schema in _branches(property_.schema, root, 0):
        if "items" in schema:
            return _resolved(schema["items"], root, 0)
    return {}


def types_of(schema: object, root: Schema) -> frozenset[str]:
    """Name the JSON types that a schema allows."""
    return _types(schema, root, 0)


def choices_of(property_: Property, root: Schema) -> tuple[Json, ...]:
    """List the values that an argument may have, where the schema lists them."""
    for schema in _branches(property_.schema, root, 0):
        if "const" in schema:
            return (schema["const"],)
        choices = schema.get("enum")
        if isinstance(choices, list):
            return tuple(choices)
    return ()


def bound_of(property_: Property, keyword: str, root: Schema) -> float | None:
    """Look up a bound such as ``maximum``."""
    for schema in _branches(property_.schema, root, 0):
        bound = schema.get(keyword)
        if not isinstance(bound, int | float) or isinstance(bound, bool):
            continue
        # Not a number, and the infinite, fail this, too.
        if abs(bound) <= _LARGEST_BOUND:
            return bound
    return None


def type_of_value(value: Json) -> str:
    """Name the JSON type of a value."""
    return next((name for kind, name in _TYPES_OF_VALUES if isinstance(value, kind)), "null")


def _resolved(schema: object, root: Schema, depth: int) -> Schema:
    """Follow a reference within the same document."""
    if not isinstance(schema, dict):
        return {}
    reference = schema.get("$ref")
    if not isinstance(reference, str) or depth > _DEEPEST:
        return schema
    target: object = root
    for step in reference.removeprefix("#").strip("/").split("/"):
        target = target.get(step) if isinstance(target, dict) else None
    return _resolved(target, root, depth + 1) if isinstance(target, dict) else {}


def _branches(schema: object, root: Schema, depth: int) -> Iterator[Schema]:
    """Return a schema and its alternatives, as many as anybody writes by hand."""
    waiting = [(schema, depth)]
    for _ in range(_MOST_BRANCHES):
        if not waiting:
            return
        one, level = waiting.pop(0)
        resolved = _resolved(one, root, 0)
        yield resolved
        if level <= _DEEPEST:
            listed = [resolved.get(keyword) for keyword in _ALTERNATIVES]
            parts = [part for found in listed if isinstance(found, list) for part in found]
            waiting += [(part, level + 1) for part in parts[:_MOST_BRANCHES]]


def _types(schema: object, root: Schema, depth: int) -> frozenset[str]:
    """Gather the types of a schema and its alternatives."""
    found: set[str] = set()
    for branch in _branches(schema, root, depth):
        said = branch.get("type")
        found.update(
            one for one in (said if isinstance(said, list) else [said]) if isinstance(one, str)
        )
        if said is None and isinstance(branch.get("properties"), dict):
            found.add("object")
        if said is None and "enum" in branch and isinstance(branch["enum"], list):
            found.update(type_of_value(one) for one in branch["enum"])
    return frozenset(found)
