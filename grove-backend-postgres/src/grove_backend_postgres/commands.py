"""The commands ``grove backends postgres …``."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import rich_click as click  # noqa: TID253 - imported when a command is called

from grove_backend_postgres.about import ServerAbout
from grove_backend_postgres.backend import PostgresBackend
from grove_backend_postgres.elsewhere import Elsewhere, bring, waiting_elsewhere
from grove_backend_postgres.faults import DatabaseRefusedError, DatabaseUnreachableError
from grove_backend_postgres.health import described
from grove_backend_postgres.paths import Paths
from grove_backend_postgres.team import Team, team_of
from grove_core import BackendContext

_SECONDS: Final = 20.0


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def status_command(ctx: click.Context, *, as_json: bool) -> None:
    """Ask the database what it is and has, and say what waits for it.

    Nothing is changed there. Exit code 1 when it cannot be used.
    """
    context = ctx.find_object(BackendContext)
    team = team_of(context)
    assert context is not None, "there is a team only where there is a context"
    about, fault = _asked(team)
    document = status_document(team, context, about, fault)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        for line in _lines(document, about):
            click.echo(line)
    if fault:
        ctx.exit(1)


def _asked(team: Team) -> tuple[ServerAbout | None, str]:
    try:
        with team.store(_SECONDS) as store:
            return store.about(), ""
    except (DatabaseUnreachableError, DatabaseRefusedError) as error:
        return None, str(error)


def status_document(
    team: Team, context: BackendContext, about: ServerAbout | None, fault: str
) -> dict[str, Any]:
    """Return how a database and this machine do, as ``--json`` has it."""
    fresh = PostgresBackend(context).freshness()
    return {
        "database": team.address.label,
        "project": team.settings.project,
        "schema": team.settings.schema,
        "fault": fault or None,
        "server": None
        if about is None
        else {
            "engine": about.engine,
            "version": about.version,
            "user": about.user,
            "tables": about.schema_number,
            "tables_wanted": about.wanted_number,
            "pending_migrations": list(about.pending),
            "full_text_search": about.has_text_search,
            "row_level_security": about.has_rls,
            "row_level_security_applies": about.rls_applies,
            "vectors": about.has_vector,
            "learnings": about.learnings,
            "with_vectors": about.embedded,
        },
        "here": {
            "files": str(fresh.mark.parent),
            "learnings": len(PostgresBackend(context).iterate()),
            "waiting": list(fresh.waiting),
        },
        "warnings": [*([team.complaint()] if team.complaint() else []), *_elsewhere(team, context)],
    }


def _elsewhere(team: Team, context: BackendContext) -> list[str]:
    settings = team.settings
    paths = Paths(context.home, team.address, settings.project, settings.schema)
    return [one.told() for one in waiting_elsewhere(paths)]


def _lines(document: Mapping[str, Any], about: ServerAbout | None) -> Iterator[str]:
    here = document["here"]
    yield f"database  {document['database']}, schema {document['schema']}"
    yield f"project   {document['project']}"
    if about is None:
        yield f"FAILS     {document['fault']}"
    else:
        yield f"works     {described(about)}"
        yield f"there     learnings: {about.learnings}, with a vector: {about.embedded}"
        if about.schema_number and about.pending:
            pending = ", ".join(about.pending)
            yield f"left out  {pending}: grove backends postgres migrate tries again"
        if about.has_rls and not about.rls_applies:
            yield f"projects  policies do not bind {about.user}; use a role that is no superuser"
    waiting = len(here["waiting"])
    yield f"here      learnings: {here['learnings']}, waiting: {waiting} ({here['files']})"
    for warning in document["warnings"]:
        yield f"warning   {warning}"


_MIGRATE_SECONDS: Final = 600.0


@click.command("migrate")
@click.option("--dry-run", is_flag=True, help="Say what would be applied, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def migrate_command(ctx: click.Context, *, dry_run: bool, as_json: bool) -> None:
    """Make grove's tables in the database, or bring them up to date.

    That happens by itself where the role may create tables. Where it may not, whoever owns them
    runs this once.
    """
    team = team_of(ctx.find_object(BackendContext))
    with team.store(_MIGRATE_SECONDS) as store:
        migrations = store.migrate(dry_run=dry_run)
    if as_json:
        click.echo(json.dumps(migrate_document(migrations, dry_run=dry_run), indent=2))
        return
    for one in migrations:
        click.echo(f"{_verb(one, dry_run=dry_run)} {one}")
    if not migrations:
        click.echo(f"the tables of {team.address.label} are up to date")


def migrate_document(migrations: Sequence[str], *, dry_run: bool) -> dict[str, object]:
    """Return what was applied, as ``--json`` has it."""
    return {"dry_run": dry_run, "migrations": list(migrations)}


def _verb(line: str, *, dry_run: bool) -> str:
    if dry_run:
        return "would apply"
    return "left out" if ": not here: " in line else "applied"


@click.command("bring")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def bring_command(ctx: click.Context, *, name: str | None, as_json: bool) -> None:
    """Bring here what still waits for another address of the same project.

    Without a name, list what waits at other addresses, each with a name. With one, have that wait
    for the present database: `grove maintain flush` delivers it. Make sure that it is the same
    team's.
    """
    context = ctx.find_object(BackendContext)
    team = team_of(context)
    assert context is not None, "there is a team only where there is a context"
    paths = Paths(context.home, team.address, team.settings.project, team.settings.schema)
    brought = None if name is None else bring(paths, name)
    found = waiting_elsewhere(paths)
    if as_json:
        click.echo(json.dumps(bring_document(brought, found), indent=2))
        return
    if brought is not None:
        click.echo(f"{len(brought.waiting)} brought from {brought.source}")
        click.echo(f"They wait for {team.label} now: `grove maintain flush` delivers them.")
    _list_waiting(found, team, is_all=brought is None)


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


def _list_waiting(found: Sequence[Elsewhere], team: Team, *, is_all: bool) -> None:
    for one in found:
        click.echo(f"{one.name}  waiting: {len(one.waiting)}, for {one.source}")
    if is_all and not found:
        click.echo(f"nothing waits for {team.settings.project} at any other address")
