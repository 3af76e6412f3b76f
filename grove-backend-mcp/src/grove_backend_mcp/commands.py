"""The commands ``grove backends mcp map`` and ``probe``: write a mapping, and try a server."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from secrets import choice
from typing import Any, BinaryIO, Final

import rich_click as click  # noqa: TID253 - imported when the command is called
from attrs import asdict, evolve, frozen

from grove_backend_mcp.client import Connection, Limits, connect
from grove_backend_mcp.discovery.choose import Candidate, choose, endpoint_of
from grove_backend_mcp.mappings.assessment import keep_assessment
from grove_backend_mcp.mappings.choice import mapping_for
from grove_backend_mcp.mappings.mapping import KINDS, Operation, ServerMapping, Update, tables_of
from grove_backend_mcp.mappings.recogniser import recognise
from grove_backend_mcp.protocol.memory_server import MemoryServer
from grove_backend_mcp.protocol.results import Found
from grove_backend_mcp.servers import FaultKind, ServerFaultError, Tool, tool_from
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, BackendError, Category, Learning, LearningStatus, Query

_LARGEST_LIST: Final = 16 * 1024 * 1024


@click.command("map")
@click.argument("name", required=False)
@click.option(
    "--tools",
    "file",
    type=click.File("rb"),
    metavar="FILE",
    help='A recorded answer to tools/list, in JSON; "-" for standard input.',
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
@click.pass_context
def map_command(
    ctx: click.Context, name: str | None, *, file: BinaryIO | None, as_json: bool
) -> None:
    """Write a mapping for the tools of the server NAME, or of a recorded list.

    A server that grove knows needs none. For another one it is a start, told by the names and
    schemas of its tools: read it, complete it, put it into the configuration, and try it with
    probe.
    """
    if file is not None:
        tools, server_name = read_tool_list(file.read(_LARGEST_LIST))
    else:
        with _connected(*_meant(ctx, name)) as connection:
            tools, server_name = connection.tools(), connection.server_name
    mapping = mapping_for(tools, server_name)
    mapping = mapping if mapping.profile else recognise(tools, server_name)
    if as_json:
        click.echo(json.dumps(mapping_document(mapping), indent=2))
    else:
        _print(_mapping_lines(mapping, tools, name))


def _print(lines: Iterable[str]) -> None:
    """Print what a server says without its power over a terminal."""
    for line in lines:
        click.echo("".join(one if one.isprintable() else "?" for one in line))


def read_tool_list(data: bytes) -> tuple[Sequence[Tool], str]:
    """Read a list of tools, as a server gives it or somebody has recorded it."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BackendError(f"this is no JSON: {error}") from error
    inner = document.get("result", document) if isinstance(document, dict) else document
    entries = inner.get("tools") if isinstance(inner, dict) else inner
    if not isinstance(entries, list):
        raise BackendError(
            'this is no list of tools: give the answer to tools/list, such as {"tools": [...]}'
        )
    tools = [tool for tool in map(tool_from, entries) if tool is not None]
    if entries and not tools:
        raise BackendError(
            "none of the entries is a tool: each needs a name and an inputSchema that is an object"
        )
    found = document
    for step in ("initialize", "serverInfo", "name"):
        found = found.get(step) if isinstance(found, dict) else None
    return tools, found if isinstance(found, str) else ""


def mapping_document(mapping: ServerMapping) -> dict[str, Any]:
    """Describe a mapping."""
    found = {name: _described(getattr(mapping, name)) for name in KINDS}
    return {
        "profile": mapping.profile,
        "list": found.pop("listing"),
        **found,
        "text_form": mapping.write.text_form if mapping.write else "full",
        "query_mode": mapping.search.query_mode if mapping.search else "whole",
    }


def _described(operation: Operation | None) -> dict[str, Any] | None:
    if operation is None:
        return None
    document: dict[str, Any] = {"tool": operation.tool, "arguments": dict(operation.arguments)}
    if isinstance(operation, Update) and operation.then:
        document["then"] = [_described(one) for one in operation.then]
    return document


def _mapping_lines(
    mapping: ServerMapping, tools: Sequence[Tool], name: str | None
) -> Iterator[str]:
    """Write a mapping as a part of a configuration, with what has to be known to complete it."""
    if mapping.profile:
        yield f"# {len(tools)} tools. grove knows this server ({mapping.profile}), and does what"
        yield "# follows without being told. Tables in a configuration would count alone."
    else:
        yield f"# {len(tools)} tools, told by their names and schemas. Read this, complete it,"
        yield "# put it into ~/.grove/config.toml, and try it:"
        yield f"# grove backends mcp probe {name or 'NAME'}"
    if name:
        yield from ("[backends.mcp]", f"server = {_toml(name)}")
    known = {tool.name: tool for tool in tools}
    for role, table in tables_of(mapping).items():
        yield from ("", f"[backends.mcp.{role}]")
        yield from (f"{key} = {_toml(value)}" for key, value in table.items())
        taken = known[table["tool"]].schema.get("properties", {})
        others = [one for one in taken if one not in table.get("arguments", {})]
        if others:
            yield f"# It also takes {', '.join(others)}."
    called = {operation.tool for _, operation in mapping.operations()}
    rest = [one for one in known if one not in called]
    yield ""
    for role in ("write", "search"):
        if getattr(mapping, role) is None:
            yield f"# No tool was recognised for [backends.mcp.{role}]."
    if rest:
        yield f"# Not called: {', '.join(rest)}."


def _toml(value: Any) -> str:  # noqa: ANN401 - any JSON
    if isinstance(value, Mapping):
        keys = {key: key if key.isascii() and key.isidentifier() else _toml(key) for key in value}
        members = (f"{keys[key]} = {_toml(one)}" for key, one in value.items())
        return f"{{ {', '.join(members)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False)


PROJECT: Final = "grove-probe"
"""No project's name: what a probe leaves behind is shown to nobody."""

_TOKEN_LENGTH: Final = 10
_LIMIT: Final = 10
_INDEXING_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.25


@frozen
class Step:
    """One step of a probe; ``ok`` is ``None`` where the server has no tool for it."""

    name: str
    ok: bool | None
    detail: str
    milliseconds: int = 0


def probe(connection: Connection, mapping: ServerMapping, now: datetime) -> Sequence[Step]:
    """Write a learning, find it, change it and remove it again."""
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
    server = MemoryServer(connection, mapping, PROJECT)
    steps: list[Step] = []
    handle = ""

    def attempt(name: str, can: object, act: Callable[[], str]) -> bool:
        """Try something, which says what came of it or raises a fault."""
        if not can:
            steps.append(Step(name, None, "the server has no tool for it"))
            return False
        begun = time.monotonic()
        try:
            ok, detail = True, act()
        except ServerFaultError as fault:
            ok, detail = False, fault.detail
        steps.append(Step(name, ok, detail, round((time.monotonic() - begun) * 1000)))
        return ok

    def prepare() -> str:
        server.prepare()
        return "prepared"

    def store() -> str:
        nonlocal handle
        handle = server.store(canary)
        return _told(server.holds(canary.id, handle), canary, handle)

    def archive() -> str:
        server.update(evolve(canary, status=LearningStatus.ARCHIVED), handle)
        return "archived there"

    def remove() -> str:
        server.delete(canary.id, handle)
        return "removed"

    # A server that needs no preparation has no such step.
    is_ready = mapping.setup is None or attempt("setup", mapping.setup, prepare)
    if is_ready and attempt("write", mapping.write, store):
        found = attempt("search", mapping.search, lambda: _found(server, canary.id, token))
        words = f"{token} value"
        if found:
            attempt("search by two words", found, lambda: _found(server, canary.id, words))
        attempt("update", mapping.update, archive)
        attempt("delete", mapping.delete, remove)
    return steps


def _told(there: object, canary: Learning, handle: str) -> str:
    if not isinstance(there, Found):
        return f"stored as {handle}; whether it is kept whole cannot be told"
    if there.learning == canary:
        return f"stored as {handle}, comes back whole"
    return f"stored as {handle}, comes back with its id; grove's own record counts"


def _found(server: MemoryServer, learning_id: str, words: str) -> str:
    """Look for a learning; some servers index behind their answers."""
    end = time.monotonic() + _INDEXING_SECONDS
    while True:
        ids = [one.learning_id for one in server.search(Query(text=words), _LIMIT)]
        if learning_id in ids:
            return f"found, at place {ids.index(learning_id) + 1} of {len(ids)}"
        if time.monotonic() >= end:
            raise ServerFaultError(FaultKind.UNSUITABLE, f"not among {len(ids)} results")
        time.sleep(_PAUSE_SECONDS)


_MARKS: Final = {True: "ok", False: "FAILED", None: "-"}


@click.command("probe")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def probe_command(ctx: click.Context, name: str | None, *, as_json: bool) -> None:
    """Ask the server NAME what it can do, and try that with a learning of no one's.

    Without NAME, the server that is used is asked. What is found out is kept: afterwards the server
    can be used without being asked. Exit code 1 when something failed.
    """
    context, candidate = _meant(ctx, name)
    if not as_json:
        click.echo(f"asking {candidate.entry.name} ({candidate.entry.source}) …", err=True)
    document = _probed(context, candidate)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        _print(_probe_lines(document))
    if not document["steps"] or any(one["ok"] is False for one in document["steps"]):
        ctx.exit(1)


def _meant(ctx: click.Context, name: str | None) -> tuple[BackendContext, Candidate]:
    """Find the server that is meant, if it may be started."""
    context = ctx.find_object(BackendContext)
    if context is None:
        raise BackendError("there is no project to look for servers in")
    chosen = choose(context)
    named = [one for one in chosen.candidates if name in (None, one.entry.name)]
    used = [one for one in named if one.is_used]
    # Of several that have the name, the one that may be started is meant.
    able = used or [one for one in named if one.may_be_probed] or named
    if not able or not (name or used):
        names = ", ".join(dict.fromkeys(one.entry.name for one in chosen.candidates)) or "none"
        what = f"no server is called {name}" if name else chosen.why_none
        raise BackendError(f"{what} (found: {names}; `grove backends discover` says more)")
    if not able[0].may_be_probed:
        entry = able[0].entry
        raise BackendError(f"{entry.name} ({entry.source}) cannot be asked: {able[0].why}")
    return context, able[0]


def _connected(context: BackendContext, candidate: Candidate) -> AbstractContextManager[Connection]:
    settings: McpSettings = context.settings or McpSettings()
    limits = Limits(connect_seconds=settings.connect_seconds, call_seconds=settings.call_seconds)
    return connect(endpoint_of(context, candidate.entry), limits)


def _probed(context: BackendContext, candidate: Candidate) -> dict[str, Any]:
    now, begun = datetime.now(UTC), time.monotonic()
    with _connected(context, candidate) as connection:
        tools = connection.tools()
        started = round((time.monotonic() - begun) * 1000)
        mapping = mapping_for(tools, connection.server_name, context.settings)
        steps = probe(connection, mapping, now) if mapping.write is not None else ()
        keep_assessment(context, candidate.entry, connection, mapping, now, is_probe=True)
        return {
            "server": {
                "name": candidate.entry.name,
                "source": candidate.entry.source,
                "calls_itself": connection.server_name,
                "version": connection.server_version,
                "protocol": connection.protocol_version,
                "tools": [one.name for one in tools],
                "start_milliseconds": started,
            },
            "mapping": mapping_document(mapping),
            "steps": [asdict(one) for one in steps],
            "warnings": list(connection.warnings),
        }


def _probe_lines(document: Mapping[str, Any]) -> Iterator[str]:
    server, mapping = document["server"], document["mapping"]
    yield (
        f"{server['name']}: {server['calls_itself']} {server['version']}, protocol"
        f" {server['protocol']}, {len(server['tools'])} tools, ready after"
        f" {server['start_milliseconds']} ms"
    )
    yield f"spoken to: {mapping['profile'] or 'as the configuration says'}"
    for role in ("write", "search", "get", "list", "update", "delete", "setup"):
        first = mapping[role]
        calls = [first, *first.get("then", ())] if first else []
        yield f"  {role:<8} {' + '.join(one['tool'] for one in calls) or '-'}"
    if not document["steps"]:
        yield (
            "No tool of it for storing is known: `grove backends mcp map"
            f" {server['name']}` writes a mapping for you to complete."
        )
    for one in document["steps"]:
        took = f" ({one['milliseconds']} ms)" if one["milliseconds"] else ""
        yield f"{_MARKS[one['ok']]:<7} {one['name']}: {one['detail']}{took}"
    yield from (f"warning: {line}" for line in document["warnings"])
