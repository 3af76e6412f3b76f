"""The command ``grove backends mcp map``: what grove would do with the tools of a list."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import rich_click as click  # noqa: TID253 - imported when the command is called
from attrs import frozen

from grove_backend_mcp.mappings.choice import map_tools
from grove_backend_mcp.mappings.mapping import Operation, ServerMapping
from grove_backend_mcp.tools import Tool, tool_from
from grove_core import BackendError

LARGEST_LIST: Final = 16 * 1024 * 1024
"""Bytes that a list may have."""
OPERATIONS: Final = ("write", "search", "get", "list", "update", "delete", "setup")
"""The operations as people and programs read of them."""


@frozen(kw_only=True)
class ToolList:
    """A list of tools."""

    tools: tuple[Tool, ...]
    server_name: str
    unusable: int


def read_tool_list(text: str) -> ToolList:
    """Read a list of tools, as a server gives it or somebody has recorded it."""
    try:
        document = json.loads(text)
    except RecursionError as error:
        raise BackendError("this is no list of tools: it is nested too deeply") from error
    except ValueError as error:
        raise BackendError(f"this is no JSON: {error}") from error
    entries = _entries_of(document)
    if entries is None:
        raise BackendError(
            'this is no list of tools: give the answer to tools/list, such as {"tools": [...]}'
        )
    tools = tuple(tool for tool in map(tool_from, entries) if tool is not None)
    if entries and not tools:
        raise BackendError(
            "none of the entries is a tool: each needs a name and an inputSchema that is an object"
        )
    return ToolList(
        tools=tools, server_name=_server_name(document), unusable=len(entries) - len(tools)
    )


def mapping_document(mapping: ServerMapping) -> Mapping[str, Any]:
    """Describe a mapping."""
    return {
        "profile": mapping.profile,
        "write": _described(mapping.write),
        "search": _described(mapping.search),
        "get": _described(mapping.get),
        "list": _described(mapping.listing),
        "update": _described(*mapping.update),
        "delete": _described(mapping.delete),
        "setup": _described(mapping.setup),
        "text_form": mapping.text_form.value,
        "query_mode": mapping.query_mode.value,
    }


def called(operation: Mapping[str, Any] | None) -> Sequence[Mapping[str, Any]]:
    """List the calls of an operation that ``mapping_document`` describes."""
    return [operation, *operation.get("then", ())] if operation is not None else []


def printable(text: str) -> str:
    """Take the power over a terminal from a text of a server."""
    return "".join(one if one.isprintable() else "?" for one in text)


def _described(first: Operation | None = None, *later: Operation) -> Mapping[str, Any] | None:
    if first is None:
        return None
    document = {"tool": first.tool, "arguments": dict(first.arguments)}
    if later:
        return document | {"then": [_described(one) for one in later]}
    return document


def _entries_of(document: object) -> Sequence[object] | None:
    """Find the list."""
    if isinstance(document, list):
        return document
    if not isinstance(document, dict):
        return None
    for holder in (document, document.get("result")):
        entries = holder.get("tools") if isinstance(holder, dict) else None
        if isinstance(entries, list):
            return entries
    return None


def _server_name(document: object) -> str:
    """Find the name that the server gives itself."""
    found = document
    for step in ("initialize", "serverInfo", "name"):
        found = found.get(step) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


_NOTHING: Final = "-"


@click.command("map")
@click.option(
    "--tools",
    "path",
    required=True,
    metavar="FILE",
    help='A recorded answer to tools/list, in JSON; "-" for standard input.',
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
def command(*, path: str, as_json: bool) -> None:
    """Show what grove would do with the tools of a server, without asking the server."""
    listed = _read(path)
    document = mapping_document(map_tools(listed.tools, server_name=listed.server_name))
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        _print(document, listed)


def _read(path: str) -> ToolList:
    """Read the list; what is wrong with it is said with its name."""
    name = "standard input" if path == "-" else path
    try:
        return read_tool_list(_bytes_of(path).decode("utf-8-sig"))
    except OSError as error:
        raise BackendError(f"{name} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise BackendError(f"{name}: this is not UTF-8: {error.reason}") from error
    except BackendError as error:
        raise BackendError(f"{name}: {error}") from error


def _bytes_of(path: str) -> bytes:
    """Read a file, or standard input."""
    if path == "-":
        data = sys.stdin.buffer.read(LARGEST_LIST + 1)
    else:
        with Path(path).open("rb") as file:
            data = file.read(LARGEST_LIST + 1)
    if len(data) > LARGEST_LIST:
        raise BackendError("it is larger than any list of tools")
    return data


def _print(document: Mapping[str, Any], listed: ToolList) -> None:
    profile = document["profile"]
    by = f"by the profile {profile}" if profile else "recognised by names and schemas"
    click.echo(f"{len(listed.tools)} tools, {by}")
    if listed.unusable:
        click.echo(f"{listed.unusable} entries are no tools")
    for name in OPERATIONS:
        click.echo(f"{name:8} {_called(document[name])}")
    if document["write"] is None and document["search"] is None:
        click.echo("this server is of no use as a memory, unless a mapping is configured")


def _called(operation: Mapping[str, Any] | None) -> str:
    """Name the tools of an operation, and their arguments."""
    calls = (
        f"{step['tool']} {json.dumps(step['arguments'], ensure_ascii=False)}"
        for step in called(operation)
    )
    return ", then ".join(map(printable, calls)) or _NOTHING
