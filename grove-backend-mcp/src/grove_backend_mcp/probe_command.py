"""The command ``grove backends mcp probe``: ask a server, and try what it can do."""

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from secrets import choice
from typing import Any, Final

import rich_click as click  # noqa: TID253 - imported when the command is called
from attrs import evolve, frozen

from grove_backend_mcp.client import Connection, Limits, connect
from grove_backend_mcp.discovery.choose import Assessed, choose, endpoint_of
from grove_backend_mcp.faults import ServerFaultError
from grove_backend_mcp.mappings.agreeing import keep_assessment, mapping_for
from grove_backend_mcp.mappings.map_command import OPERATIONS, called, mapping_document, printable
from grove_backend_mcp.mappings.mapping import ServerMapping
from grove_backend_mcp.protocol.memory_server import Found, MemoryServer
from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext, BackendError, Category, Learning, LearningStatus, Query

PROJECT: Final = "grove-probe"
"""No project's name: what a probe leaves behind is shown to nobody."""

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_TOKEN_LENGTH: Final = 10
_LIMIT: Final = 10
_INDEXING_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.25


@frozen(kw_only=True)
class Step:
    """One step of a probe."""

    name: str
    ok: bool | None
    detail: str = ""
    milliseconds: int = 0


def probe(
    connection: Connection, mapping: ServerMapping, now: datetime
) -> tuple[list[Step], Mapping[str, Any]]:
    """Write a learning, find it, change it and remove it again."""
    token = "".join(choice(_LETTERS) for _ in range(_TOKEN_LENGTH))
    canary = Learning(
        id=f"cl_{now:%Y%m%d}_probe-{token}",
        category=Category.PROCESS,
        summary=f"A probe of grove writes the word {token} and nothing of value",
        detail=f"It can be removed at any time.\n\nQuotes \"'`, a bracket ], and the end: {token}.",
        session_id="probe",
        timestamp=now.replace(microsecond=0),
        tags=("grove-probe",),
    )
    return _Probe(MemoryServer(connection, mapping, PROJECT), mapping, canary, token).run()


class _Probe:
    """One round trip."""

    def __init__(
        self, server: MemoryServer, mapping: ServerMapping, canary: Learning, token: str
    ) -> None:
        self._server = server
        self._mapping = mapping
        self._canary = canary
        self._token = token
        self._steps: list[Step] = []
        self._handle = ""

    def run(self) -> tuple[list[Step], Mapping[str, Any]]:
        # A server that needs no preparation has no such step.
        ready = self._mapping.setup is None or self._try("setup", self._mapping.setup, self._setup)
        stored = ready and self._try("write", self._mapping.write, self._store)
        if stored:
            found = self._try("search", self._mapping.search, self._find)
            words = found and self._try("search by two words", found, self._find_by_words)
            self._try("update", self._mapping.update, self._update)
            self._try("delete", self._mapping.delete, self._delete)
            facts = {"finds_token": bool(found), "finds_words": bool(words)}
        else:
            facts = {}
        times = {one.name: one.milliseconds for one in self._steps if one.milliseconds}
        return self._steps, {**facts, "milliseconds": times}

    def _try(self, name: str, can: object, step: Callable[[], tuple[bool, str]]) -> bool:
        if not can:
            self._steps.append(Step(name=name, ok=None, detail="the server has no tool for it"))
            return False
        begun = time.monotonic()
        try:
            ok, detail = step()
        except ServerFaultError as fault:
            ok, detail = False, fault.detail
        taken = round((time.monotonic() - begun) * 1000)
        self._steps.append(Step(name=name, ok=ok, detail=detail, milliseconds=taken))
        return ok

    def _setup(self) -> tuple[bool, str]:
        self._server.prepare()
        return True, "prepared"

    def _store(self) -> tuple[bool, str]:
        self._handle = self._server.store(self._canary)
        there = self._server.holds(self._canary.id, self._handle)
        if not isinstance(there, Found):
            return True, f"stored as {self._handle}; whether it is kept whole cannot be told"
        whole = there.learning == self._canary
        kept = "comes back whole" if whole else "comes back with its id; grove's own record counts"
        return True, f"stored as {self._handle}, {kept}"

    def _find(self) -> tuple[bool, str]:
        return self._look(self._token)

    def _find_by_words(self) -> tuple[bool, str]:
        return self._look(f"{self._token} value")

    def _look(self, words: str) -> tuple[bool, str]:
        end = time.monotonic() + _INDEXING_SECONDS
        ids = self._ids_for(words)
        # Some servers index behind their answers.
        while self._canary.id not in ids and time.monotonic() < end:
            time.sleep(_PAUSE_SECONDS)
            ids = self._ids_for(words)
        if self._canary.id not in ids:
            return False, f"not among {len(ids)} results"
        return True, f"found, at place {ids.index(self._canary.id) + 1} of {len(ids)}"

    def _ids_for(self, words: str) -> list[str | None]:
        found = self._server.search(Query(text=words), _LIMIT)
        return [one.learning_id for one in found]

    def _update(self) -> tuple[bool, str]:
        archived = evolve(self._canary, status=LearningStatus.ARCHIVED)
        return self._server.update(archived, self._handle), "archived there"

    def _delete(self) -> tuple[bool, str]:
        return self._server.delete(self._canary.id, self._handle), "removed"


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
    assessed = _assessd(context, name)
    if not as_json:
        click.echo(f"asking {assessed.entry.name} ({assessed.entry.source}) …", err=True)
    document, steps = _ask(context, assessed)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        _print(document, steps)
    if not steps or any(one.ok is False for one in steps):
        ctx.exit(1)


def _assessd(context: BackendContext, name: str | None) -> Assessed:
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
    assessed = found[0]
    if not assessed.may_be_probed and not assessed.usable:
        raise BackendError(
            f"{assessed.entry.name} ({assessed.entry.source}) cannot be asked: {assessed.why}"
        )
    return assessed


def _ask(context: BackendContext, assessed: Assessed) -> tuple[dict[str, Any], Sequence[Step]]:
    settings: McpSettings = context.settings or McpSettings()
    limits = Limits(connect_seconds=settings.connect_seconds, call_seconds=settings.call_seconds)
    now = datetime.now(UTC)
    begun = now.timestamp()
    with connect(endpoint_of(context, assessed.entry), limits) as connection:
        tools = connection.tools()
        started = round((datetime.now(UTC).timestamp() - begun) * 1000)
        mapping = mapping_for(tools, connection.server_name, settings)
        steps: Sequence[Step] = ()
        facts: Mapping[str, Any] = {}
        if mapping.write is not None:
            steps, facts = probe(connection, mapping, now)
        facts = {**facts, "start_milliseconds": started}
        keep_assessment(context, assessed.entry, connection, tools, mapping, now, facts=facts)
        document = {
            "server": {
                "name": assessed.entry.name,
                "source": assessed.entry.source,
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
