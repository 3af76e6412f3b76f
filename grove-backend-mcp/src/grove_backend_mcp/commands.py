"""The commands ``grove backends mcp map`` and ``probe``: write a mapping, and try a server."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from secrets import choice
from typing import Any, Final

import rich_click as click  # noqa: TID253 - imported when the command is called
from attrs import evolve

from grove_backend_mcp.client import Connection, Limits, connect
from grove_backend_mcp.discovery.choose import choose
from grove_backend_mcp.discovery.references import resolve
from grove_backend_mcp.mappings.assessment import assessment_of, keep_assessment
from grove_backend_mcp.mappings.choice import mapping_for
from grove_backend_mcp.mappings.mapping import KINDS, ServerMapping, tables_of
from grove_backend_mcp.mappings.recogniser import recognise
from grove_backend_mcp.protocol.memory_server import MemoryServer
from grove_backend_mcp.servers import FaultKind, ServerEntry, ServerFaultError, Tool
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, BackendError, Category, Learning, LearningStatus, Query

PROJECT: Final = "grove-probe"
"""No project's name: what a probe leaves behind is shown to no one."""

_TOKEN_LENGTH: Final = 10
_LIMIT: Final = 10
_INDEXING_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.25
_MARKS: Final = {True: "ok", False: "FAILED", None: "-"}


@click.command("map")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@click.pass_context
def map_command(ctx: click.Context, name: str | None, *, as_json: bool) -> None:
    """Write a mapping for the tools of the server NAME.

    A server that grove knows needs none. For another one it is a start, told by the names and
    schemas of its tools: read it, complete it, put it into the configuration, and try it with
    probe.
    """
    with _connected(*_meant(ctx, name)) as connection:
        tools, server_name = connection.tools(), connection.server_name
    mapping = mapping_for(tools, server_name)
    mapping = mapping if mapping.profile else recognise(tools, server_name)
    lines = mapping_lines(mapping, tools, name)
    document = {"profile": mapping.profile, "mapping": tables_of(mapping)}
    _print(document, lines, as_json=as_json)


@click.command("probe")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def probe_command(ctx: click.Context, name: str | None, *, as_json: bool) -> None:
    """Ask the server NAME what it can do, and try that with a learning of no one's.

    Without NAME, the server that is used is asked. What is found out is kept: afterwards the server
    can be used without being asked. Exit code 1 when something failed.
    """
    context, entry = _meant(ctx, name)
    if not as_json:
        click.echo(f"asking {entry.name} ({entry.source}) …", err=True)
    now = datetime.now(UTC)
    with _connected(context, entry) as connection:
        tools = connection.tools()
        mapping = mapping_for(tools, connection.server_name, context.settings)
        steps = probe(connection, mapping, now) if mapping.write is not None else []
        keep_assessment(context.home, entry.digest, assessment_of(mapping))
        server = {
            "name": entry.name,
            "source": entry.source,
            "calls_itself": connection.server_name,
            "version": connection.server_version,
            "protocol": connection.protocol_version,
            "tools": [one.name for one in tools],
        }
    document = {
        "server": server,
        "profile": mapping.profile,
        "mapping": tables_of(mapping),
        "steps": steps,
    }
    _print(document, _probe_lines(document), as_json=as_json)
    if not steps or any(one["ok"] is False for one in steps):
        ctx.exit(1)


def _print(document: Mapping[str, Any], lines: Iterable[str], *, as_json: bool) -> None:
    """Print what a server says without its power over a terminal."""
    for line in [json.dumps(document, indent=2)] if as_json else lines:
        click.echo("".join(one if one.isprintable() or one == "\n" else "?" for one in line))


def _meant(ctx: click.Context, name: str | None) -> tuple[BackendContext, ServerEntry]:
    """Find the server that is meant, if it may be started."""
    context = ctx.find_object(BackendContext)
    if context is None:
        raise BackendError("there is no project to look for servers in")
    chosen = choose(context)
    named = [one for one in chosen.candidates if (one.entry.name == name if name else one.is_used)]
    # Of several that have the name, the one that may be started is meant.
    for one in sorted(named, key=lambda one: (not one.is_used, not one.may_be_probed)):
        if one.may_be_probed:
            return context, one.entry
        raise BackendError(f"{one.entry.name} ({one.entry.source}) cannot be asked: {one.why}")
    names = ", ".join(dict.fromkeys(one.entry.name for one in chosen.candidates)) or "none"
    what = f"no server is called {name}" if name else chosen.why_none
    raise BackendError(f"{what} (found: {names}; `grove backends discover` says more)")


@contextmanager
def _connected(context: BackendContext, entry: ServerEntry) -> Iterator[Connection]:
    settings: McpSettings = context.settings or McpSettings()
    limits = Limits(connect_seconds=settings.connect_seconds, call_seconds=settings.call_seconds)
    with connect(resolve(entry, context), limits) as connection:
        yield connection


def mapping_lines(mapping: ServerMapping, tools: Sequence[Tool], name: str | None) -> Iterator[str]:
    """Write a mapping as a part of a configuration, with what has to be known to complete it."""
    if mapping.profile:
        yield f"# {len(tools)} tools. grove knows this server ({mapping.profile}), and does what"
        yield "# follows without being told. Tables in a configuration would count alone."
    else:
        yield f"# {len(tools)} tools, told by their names and schemas. Read this, complete it,"
        yield "# put it into ~/.grove/config.toml, and try it:"
        yield f"# grove backends mcp probe {name or 'NAME'}"
    yield from ("[backends.mcp]", f"server = {_toml(name)}") if name else ()
    schemas = {tool.name: tool.schema.get("properties", {}) for tool in tools}
    for role, table in tables_of(mapping).items():
        yield from ("", f"[backends.mcp.{role}]")
        yield from (f"{key} = {_toml(value)}" for key, value in table.items())
        others = [one for one in schemas[table["tool"]] if one not in table.get("arguments", {})]
        yield from [f"# It also takes {', '.join(others)}."] if others else []
    yield ""
    for role in ("write", "search"):
        if getattr(mapping, role) is None:
            yield f"# No tool was recognised for [backends.mcp.{role}]."
    called = {operation.tool for _, operation in mapping.operations()}
    if rest := [one for one in schemas if one not in called]:
        yield f"# Not called: {', '.join(rest)}."


def _toml(value: Any) -> str:  # noqa: ANN401 - any JSON
    if isinstance(value, Mapping):
        keys = {key: key if key.isascii() and key.isidentifier() else _toml(key) for key in value}
        members = (f"{keys[key]} = {_toml(one)}" for key, one in value.items())
        return f"{{ {', '.join(members)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


def _probe_lines(document: Mapping[str, Any]) -> Iterator[str]:
    server, mapping = document["server"], document["mapping"]
    yield (
        f"{server['name']}: {server['calls_itself']} {server['version']}, protocol"
        f" {server['protocol']}, {len(server['tools'])} tools"
    )
    yield f"spoken to: {document['profile'] or 'as the configuration says'}"
    for role in KINDS:
        first = mapping.get(role)
        calls = [first, *first.get("then", ())] if first else []
        yield f"  {role:<8} {' + '.join(one['tool'] for one in calls) or '-'}"
    if not document["steps"]:
        yield (
            "No tool of it for storing is known: `grove backends mcp map"
            f" {server['name']}` writes a mapping for you to complete."
        )
    for one in document["steps"]:
        yield f"{_MARKS[one['ok']]:<7} {one['name']}: {one['detail']}"


def probe(connection: Connection, mapping: ServerMapping, now: datetime) -> list[dict[str, Any]]:
    """Write a learning, find it, change it and remove it again; tell each step."""
    token = "".join(choice("abcdefghijklmnopqrstuvwxyz") for _ in range(_TOKEN_LENGTH))
    canary = Learning(
        id=f"cl_{now:%Y%m%d}_probe-{token}",
        category=Category.PROCESS,
        summary=f"A probe of grove writes the word {token} and nothing of value",
        detail=f"It can be removed at any time.\n\nQuotes \"'`, a bracket ], and the end: {token}.",
        session_id="probe",
        timestamp=now.replace(microsecond=0),
        tags=("grove-probe",),
    )
    server, handles, steps = MemoryServer(connection, mapping, PROJECT), [""], []
    archived = evolve(canary, status=LearningStatus.ARCHIVED)

    def store() -> str:
        handles.append(server.store(canary))
        return f"stored as {handles[-1]}"

    tried: Sequence[tuple[str, object, Callable[[], str | None]]] = (
        # A server that needs no preparation has no such step.
        *([("setup", mapping.setup, server.prepare)] if mapping.setup is not None else []),
        ("write", mapping.write, store),
        ("search", mapping.search, lambda: _found(server, canary.id, token)),
        ("update", mapping.update, lambda: server.update(archived, handles[-1])),
        ("delete", mapping.delete, lambda: server.delete(canary.id, handles[-1])),
    )
    for name, tool, act in tried:
        step: dict[str, Any] = {"name": name, "ok": None, "detail": "the server has no tool for it"}
        if tool is not None:
            try:
                step |= {"ok": True, "detail": act() or "done"}
            except ServerFaultError as fault:
                step |= {"ok": False, "detail": fault.detail}
        steps.append(step)
        if name in ("setup", "write") and not step["ok"]:
            break
    return steps


def _found(server: MemoryServer, learning_id: str, word: str) -> str:
    """Look for a learning; some servers index behind their answers."""
    end = time.monotonic() + _INDEXING_SECONDS
    while True:
        ids = [one.learning_id for one in server.search(Query(text=word), _LIMIT)]
        if learning_id in ids:
            return f"found, at place {ids.index(learning_id) + 1} of {len(ids)}"
        if time.monotonic() >= end:
            raise ServerFaultError(FaultKind.UNSUITABLE, f"not among {len(ids)} results")
        time.sleep(_PAUSE_SECONDS)
