"""``grove backends mcp probe``."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

import rich_click as click  # noqa: TID253 - imported when the command is called

from grove_backend_mcp.client import Limits, connect
from grove_backend_mcp.discovery.choosing import Judged, choose, endpoint_of
from grove_backend_mcp.mappings.agreeing import keep_verdict, mapping_for
from grove_backend_mcp.mappings.map_document import OPERATIONS, called, mapping_document, printable
from grove_backend_mcp.probing import Step, probe
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, BackendError

_MARKS: Final = {True: "ok", False: "FAILED", None: "-"}


@click.command("probe")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, name: str | None, *, as_json: bool) -> None:
    """Ask the server NAME what it can do, and try that with a learning of no one's.

    Without NAME, the server that is used is asked. What is found out is kept: afterwards the server
    can be used without being asked. Exit code 1 when something failed.
    """
    context = ctx.find_object(BackendContext)
    if context is None:
        raise BackendError("there is no project to look for servers in")
    judged = _judged(context, name)
    if not as_json:
        click.echo(f"asking {judged.entry.name} ({judged.entry.source}) …", err=True)
    document, steps = _ask(context, judged)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        _print(document, steps)
    if not steps or any(one.ok is False for one in steps):
        ctx.exit(1)


def _judged(context: BackendContext, name: str | None) -> Judged:
    """Find the server that is meant, if it may be started."""
    choice = choose(context)
    named = [one for one in choice.candidates if name is None or one.entry.name == name]
    used = [one for one in named if one.is_used]
    # Of several that have the name, the one that may be started is meant.
    able = used or [one for one in named if one.may_be_probed] or named
    found = able[:1] if name or used else []
    if not found:
        names = ", ".join(dict.fromkeys(one.entry.name for one in choice.candidates)) or "none"
        what = f"no server is called {name}" if name else choice.why_none
        raise BackendError(f"{what} (found: {names}; `grove backends discover` says more)")
    judged = found[0]
    if not judged.may_be_probed and not judged.usable:
        raise BackendError(
            f"{judged.entry.name} ({judged.entry.source}) cannot be asked: {judged.why}"
        )
    return judged


def _ask(context: BackendContext, judged: Judged) -> tuple[dict[str, Any], Sequence[Step]]:
    settings: McpSettings = context.settings or McpSettings()
    limits = Limits(connect_seconds=settings.connect_seconds, call_seconds=settings.call_seconds)
    now = datetime.now(UTC)
    begun = now.timestamp()
    with connect(endpoint_of(context, judged.entry), limits) as connection:
        tools = connection.tools()
        started = round((datetime.now(UTC).timestamp() - begun) * 1000)
        mapping = mapping_for(tools, connection.server_name, settings)
        steps: Sequence[Step] = ()
        facts: Mapping[str, Any] = {}
        if mapping.write is not None:
            steps, facts = probe(connection, mapping, now)
        facts = {**facts, "start_milliseconds": started}
        keep_verdict(context, judged.entry, connection, tools, mapping, now, facts=facts)
        document = {
            "server": {
                "name": judged.entry.name,
                "source": judged.entry.source,
                "calls_itself": connection.server_name,
                "version": connection.server_version,
                "protocol": connection.protocol_version,
                "tools": [one.name for one in tools],
                "start_milliseconds": started,
            },
            "mapping": mapping_document(mapping),
            "steps": [
                {
                    "name": one.name,
                    "ok": one.ok,
                    "detail": one.detail,
                    "milliseconds": one.milliseconds,
                }
                for one in steps
            ],
            "warnings": list(connection.warnings),
        }
    return document, steps


def _print(document: Mapping[str, Any], steps: Sequence[Step]) -> None:
    for line in _lines(document, steps):
        click.echo(printable(line))


def _lines(document: Mapping[str, Any], steps: Sequence[Step]) -> Iterator[str]:
    server, mapping = document["server"], document["mapping"]
    yield (
        f"{server['name']}: {server['calls_itself']} {server['version']}, protocol"
        f" {server['protocol']}, {len(server['tools'])} tools, ready after"
        f" {server['start_milliseconds']} ms"
    )
    yield f"spoken to: {mapping['profile'] or 'as its tools or the configuration say'}"
    for role in OPERATIONS:
        names = " + ".join(one["tool"] for one in called(mapping[role])) or "-"
        yield f"  {role:<8} {names}"
    if not steps:
        yield "It has no tool for storing that is known: say in [backends.mcp.write] which."
    for one in steps:
        took = f" ({one.milliseconds} ms)" if one.milliseconds else ""
        yield f"{_MARKS[one.ok]:<7} {one.name}: {one.detail}{took}"
    for line in document["warnings"]:
        yield f"warning: {line}"
