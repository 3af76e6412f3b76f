"""``grove backends postgres status``."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import rich_click as click  # noqa: TID253 - imported when the command is called

from grove_backend_postgres.about import ServerAbout
from grove_backend_postgres.backend import PostgresBackend
from grove_backend_postgres.elsewhere import waiting_elsewhere
from grove_backend_postgres.faults import DatabaseRefusedError, DatabaseUnreachableError
from grove_backend_postgres.health import described
from grove_backend_postgres.places import Places
from grove_backend_postgres.team import Team, team_of
from grove_core import BackendContext

_SECONDS: Final = 20.0


@click.command("status")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, *, as_json: bool) -> None:
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
    places = Places(context.home, team.address, settings.project, settings.schema)
    return [one.told() for one in waiting_elsewhere(places)]


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
