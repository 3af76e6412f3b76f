"""The command ``grove backends postgres migrate``."""

import json
from collections.abc import Sequence
from typing import Final

import rich_click as click  # noqa: TID253 - imported when the command is called

from grove_backend_postgres.team import Team
from grove_core import BackendContext

_SECONDS: Final = 600.0


@click.command("migrate")
@click.option("--dry-run", is_flag=True, help="Say what would be applied, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def migrate_command(ctx: click.Context, *, dry_run: bool, as_json: bool) -> None:
    """Make grove's tables in the database, or bring them up to date.

    That happens by itself where the role may create tables. Where it may not, their owner runs
    this once.
    """
    context = ctx.find_object(BackendContext)
    assert context is not None, "grove gives it to commands of a backend"
    team = Team(context)
    with team.store(_SECONDS) as store:
        migrations = store.migrate(dry_run=dry_run)
    if as_json:
        click.echo(json.dumps(migrate_document(migrations, dry_run=dry_run), indent=2))
        return
    for one in migrations:
        verb = "left out" if ": not here: " in one else "applied"
        click.echo(f"{'would apply' if dry_run else verb} {one}")
    if not migrations:
        click.echo(f"the tables of {team.address.label} are up to date")


def migrate_document(migrations: Sequence[str], *, dry_run: bool) -> dict[str, object]:
    """Return what was applied, as ``--json`` has it."""
    return {"dry_run": dry_run, "migrations": list(migrations)}
