"""The tools of a server, as far as they are told apart here."""

from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

_LONGEST_NAME: Final = 128
"""Code points: the protocol allows no more."""


@frozen(kw_only=True)
class Tool:
    """A tool of a server."""

    name: str
    schema: Mapping[str, Any]
    annotations: Mapping[str, Any]

    @property
    def properties(self) -> Mapping[str, Any]:
        """The schemas of its arguments by name."""
        found = self.schema.get("properties")
        return found if isinstance(found, dict) else {}

    @property
    def required(self) -> frozenset[str]:
        """The arguments that it cannot be called without."""
        found = self.schema.get("required")
        return (
            frozenset(one for one in found if isinstance(one, str))
            if isinstance(found, list)
            else frozenset()
        )


@frozen(kw_only=True)
class ToolResult:
    """What a tool has answered: untrusted."""

    structured: Any
    texts: tuple[str, ...]
    is_error: bool
    said: str = ""


def tool_from(document: object) -> Tool | None:
    """Read one entry of a list of tools."""
    if not isinstance(document, dict):
        return None
    name, schema = document.get("name"), document.get("inputSchema")
    annotations = document.get("annotations")
    if not isinstance(name, str) or not isinstance(schema, dict):
        return None
    # A name gets into messages; one that cannot be shown is nobody's that means well.
    if not 0 < len(name) <= _LONGEST_NAME or not name.isprintable():
        return None
    if not isinstance(schema.get("properties", {}), dict):
        return None
    return Tool(
        name=name, schema=schema, annotations=annotations if isinstance(annotations, dict) else {}
    )
