"""The commands ``grove backends postgres …``."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import rich_click as click  # noqa: TID253 - imported when a command is called
from attrs import asdict

from grove_backend_postgres.about import ServerAbout
from grove_backend_postgres.elsewhere import Elsewhere, bring, waiting_elsewhere
from grove_backend_postgres.faults import DatabaseRefusedError, DatabaseUnreachableError
from grove_backend_postgres.record import Record
from grove_backend_postgres.team import Team
from grove_core import BackendContext

_SECONDS: Final = 20.0
_MIGRATE_SECONDS: Final = 600.0

_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def _team(ctx: click.Context) -> Team:
    context = ctx.find_object(BackendContext)
    assert context is not None, "grove gives it to commands of a backend"
    return Team(context)


def _print(document: Mapping[str, object], lines: Iterator[str], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        for line in lines:
            click.echo(line)


@click.command("status")
@_json_option
@click.pass_context
def status_command(ctx: click.Context, *, as_json: bool) -> None:
    """Ask the database what it is and has, and say what waits for it.

    Nothing is changed there. Exit code 1 when it cannot be used.
    """
    team = _team(ctx)
    about, fault = None, ""
    try:
        with team.store(_SECONDS) as store:
            about = store.about()
    except (DatabaseUnreachableError, DatabaseRefusedError) as error:
        fault = str(error)
    document = status_document(team, about, fault)
    _print(document, _status_lines(document, about), as_json=as_json)
    if fault:
        ctx.exit(1)


def status_document(team: Team, about: ServerAbout | None, fault: str) -> dict[str, Any]:
    """Return how a database and this machine do, as ``--json`` has it."""
    record = Record(team.paths)
    warnings = [team.complaint(), *(one.told() for one in waiting_elsewhere(team.paths))]
    return {
        "database": team.address.label,
        "project": team.settings.project,
        "schema": team.settings.schema,
        "fault": fault or None,
        "server": asdict(about) if about else None,
        "here": {
            "files": str(team.paths.folder),
            "learnings": len(record.learnings()),
            "waiting": list(record.outbox.all().ids),
        },
        "warnings": [one for one in warnings if one],
    }


def _status_lines(document: Mapping[str, Any], about: ServerAbout | None) -> Iterator[str]:
    here = document["here"]
    yield f"database  {document['database']}, schema {document['schema']}"
    yield f"project   {document['project']}"
    if about is None:
        yield f"FAILS     {document['fault']}"
    else:
        yield f"works     {about.described()}"
        yield f"there     learnings: {about.learnings}, with a vector: {about.with_vectors}"
        if about.tables and about.pending_migrations:
            pending = ", ".join(about.pending_migrations)
            yield f"left out  {pending}: grove backends postgres migrate tries again"
        if about.row_level_security and not about.row_level_security_applies:
            yield f"projects  policies do not bind {about.user}; use a role that is no superuser"
    waiting = len(here["waiting"])
    yield f"here      learnings: {here['learnings']}, waiting: {waiting} ({here['files']})"
    for warning in document["warnings"]:
        yield f"warning   {warning}"


@click.command("migrate")
@click.option("--dry-run", is_flag=True, help="Say what would be applied, and change nothing.")
@_json_option
@click.pass_context
def migrate_command(ctx: click.Context, *, dry_run: bool, as_json: bool) -> None:
    """Make grove's tables in the database, or bring them up to date.

    That happens by itself where the role may create tables. Where it may not, their owner runs
    this once.
    """
    team = _team(ctx)
    with team.store(_MIGRATE_SECONDS) as store:
        migrations = store.migrate(dry_run=dry_run)
    document = migrate_document(migrations, dry_run=dry_run)
    _print(document, _migrate_lines(migrations, team, dry_run=dry_run), as_json=as_json)


def migrate_document(migrations: Sequence[str], *, dry_run: bool) -> dict[str, object]:
    """Return what was applied, as ``--json`` has it."""
    return {"dry_run": dry_run, "migrations": list(migrations)}


def _migrate_lines(migrations: Sequence[str], team: Team, *, dry_run: bool) -> Iterator[str]:
    for one in migrations:
        verb = "left out" if ": not here: " in one else "applied"
        yield f"{'would apply' if dry_run else verb} {one}"
    if not migrations:
        yield f"the tables of {team.address.label} are up to date"


@click.command("bring")
@click.argument("name", required=False)
@_json_option
@click.pass_context
def bring_command(ctx: click.Context, *, name: str | None, as_json: bool) -> None:
    """Bring here what still waits for another address of the same project.

    Without a name, list what waits at other addresses, each with a name. With one, have that wait
    for the present database: `grove maintain flush` delivers it. Make sure that it is the same
    team's.
    """
    team = _team(ctx)
    brought = None if name is None else bring(team.paths, name)
    found = waiting_elsewhere(team.paths)
    _print(bring_document(brought, found), _bring_lines(brought, found, team), as_json=as_json)


def bring_document(brought: Elsewhere | None, found: Sequence[Elsewhere]) -> dict[str, object]:
    """Return what was brought and what still waits elsewhere, as ``--json`` has it."""
    return {
        "brought": list(brought.waiting) if brought else [],
        "elsewhere": [
            {
                "name": one.name,
                "folder": str(one.folder),
                "database": one.database or None,
                "project": one.project or None,
                "schema": one.schema or None,
                "waiting": list(one.waiting),
            }
            for one in found
        ],
    }


def _bring_lines(
    brought: Elsewhere | None, found: Sequence[Elsewhere], team: Team
) -> Iterator[str]:
    if brought is not None:
        yield f"{len(brought.waiting)} brought from {brought.source}"
        yield f"They wait for {team.label} now: `grove maintain flush` delivers them."
    for one in found:
        yield f"{one.name}  waiting: {len(one.waiting)}, for {one.source}"
    if brought is None and not found:
        yield f"nothing waits for {team.settings.project} at any other address"
