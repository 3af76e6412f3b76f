"""``grove backends mcp map``."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import rich_click as click  # noqa: TID253 - imported when the command is called

from grove_backend_mcp.mappings.choice import map_tools
from grove_backend_mcp.mappings.map_document import (
    LARGEST_LIST,
    OPERATIONS,
    ToolList,
    called,
    mapping_document,
    printable,
    read_tool_list,
)
from grove_core import BackendError

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
