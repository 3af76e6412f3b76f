"""Read the JSON schemas of a server's tools, whatever nonsense stands in them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeAlias

from attrs import frozen

from grove_backend_mcp.servers import Tool

Schema: TypeAlias = Mapping[str, Any]

_DEEPEST: Final = 6
_MOST_BRANCHES: Final = 64
_ALTERNATIVES: Final = ("anyOf", "oneOf", "allOf")


@frozen(kw_only=True)
class Property:
    """An argument of a tool, or a member of one that is an object."""

    name: str
    schemas: tuple[Schema, ...]
    """Its schema and the alternatives in it."""
    root: Schema
    is_required: bool

    @property
    def types(self) -> frozenset[str]:
        """The JSON types that it may have; none where the schema does not say."""
        return frozenset(one for schema in self.schemas for one in _types(schema))

    def takes(self, *types: str) -> bool:
        """Whether it may have one of these JSON types."""
        return not self.types or bool(self.types.intersection(types))

    def said(self, keyword: str) -> Any:  # noqa: ANN401 - any JSON
        """Look up a keyword."""
        return next((schema[keyword] for schema in self.schemas if keyword in schema), None)

    def choices(self) -> list[Any]:
        """List the values that it may have, where the schema lists them."""
        constant, listed = self.said("const"), self.said("enum")
        return [constant] if constant is not None else listed if isinstance(listed, list) else []

    def items(self) -> "Property":
        """Return what the elements are, where it is a list."""
        schemas = tuple(_branches(self.said("items"), self.root))
        return Property(name=self.name, schemas=schemas, root=self.root, is_required=True)

    def members(self) -> tuple["Property", ...]:
        """List its members, where it is an object."""
        return _properties_of(self.schemas[0] if self.schemas else {}, self.root)


def arguments_of(tool: Tool) -> tuple[Property, ...]:
    """List the arguments of a tool."""
    return _properties_of(tool.schema, tool.schema)


def required_of(tool: Tool) -> frozenset[str]:
    """Name what a tool requires, one level into lists of objects."""
    required = [one for one in arguments_of(tool) if one.is_required]
    inner = [(outer.name, one) for outer in required for one in outer.items().members()]
    names = (f"{outer}.{one.name}" for outer, one in inner if one.is_required)
    return frozenset([*(one.name for one in required), *names])


def _properties_of(schema: Schema, root: Schema) -> tuple[Property, ...]:
    found, required = schema.get("properties"), schema.get("required")
    names = required if isinstance(required, list) else []
    return tuple(
        Property(
            name=name,
            schemas=tuple(_branches(one, root)),
            root=root,
            is_required=name in names,
        )
        for name, one in (found.items() if isinstance(found, dict) else ())
    )


def _resolved(schema: object, root: Schema) -> Schema:
    """Follow references within the same document."""
    for _ in range(_DEEPEST):
        reference = schema.get("$ref") if isinstance(schema, dict) else None
        if not isinstance(reference, str):
            break
        schema = root
        for step in reference.removeprefix("#").strip("/").split("/"):
            schema = schema.get(step) if isinstance(schema, dict) else None
    return schema if isinstance(schema, dict) else {}


def _branches(schema: object, root: Schema) -> Iterator[Schema]:
    """Return a schema and its alternatives, as many as anybody writes by hand."""
    waiting = [schema]
    for _ in range(_MOST_BRANCHES):
        if not waiting:
            return
        resolved = _resolved(waiting.pop(0), root)
        yield resolved
        listed = [resolved.get(keyword) for keyword in _ALTERNATIVES]
        waiting += [part for found in listed if isinstance(found, list) for part in found]


def _types(schema: Schema) -> Iterator[str]:
    said, listed = schema.get("type"), schema.get("enum")
    if said is None and isinstance(schema.get("properties"), dict):
        yield "object"
    elif said is None and isinstance(listed, list) and all(isinstance(one, str) for one in listed):
        yield "string"
    yield from (one for one in (said if isinstance(said, list) else [said]) if isinstance(one, str))
