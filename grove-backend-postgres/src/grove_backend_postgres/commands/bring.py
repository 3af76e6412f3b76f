"""``grove backends postgres bring``."""

import json
from collections.abc import Sequence

import rich_click as click  # noqa: TID253 - imported when the command is called

from grove_backend_postgres.elsewhere import Elsewhere, bring, waiting_elsewhere
from grove_backend_postgres.places import Places
from grove_backend_postgres.team import Team, team_of
from grove_core import BackendContext


@click.command("bring")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(ctx: click.Context, *, name: str | None, as_json: bool) -> None:
    """Bring here what still waits for another address of the same project.

    Without a name, list what waits at other addresses, each with a name. With one, have that wait
    for the present database: `grove maintain flush` delivers it. Make sure that it is the same
    team's.
    """
    context = ctx.find_object(BackendContext)
    team = team_of(context)
    assert context is not None, "there is a team only where there is a context"
    places = Places(context.home, team.address, team.settings.project, team.settings.schema)
    brought = None if name is None else bring(places, name)
    found = waiting_elsewhere(places)
    if as_json:
        click.echo(json.dumps(bring_document(brought, found), indent=2))
        return
    if brought is not None:
        click.echo(f"{len(brought.waiting)} brought from {brought.source}")
        click.echo(f"They wait for {team.label} now: `grove maintain flush` delivers them.")
    _list(found, team, is_all=brought is None)


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


def _list(found: Sequence[Elsewhere], team: Team, *, is_all: bool) -> None:
    for one in found:
        click.echo(f"{one.name}  waiting: {len(one.waiting)}, for {one.source}")
    if is_all and not found:
        click.echo(f"nothing waits for {team.settings.project} at any other address")
