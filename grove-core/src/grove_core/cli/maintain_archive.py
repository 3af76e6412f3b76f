"""``grove maintain archive``."""

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.curation_report import curation_result
from grove_core.cli.options import dry_run_option
from grove_core.cli.result import Result
from grove_core.cli.suggestions import active_ids
from grove_core.flow.curation import archive
from grove_core.flow.decaying import archive_stale
from grove_core.services.reflect import refuse_secrets


@click.command("archive")
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=active_ids)
@click.option(
    "--stale", is_flag=True, help="What `grove list --stale` names: due now or within seven days."
)
@click.option("--reason", metavar="TEXT", default="", help="Why, in a few words.")
@dry_run_option
@grove_command
def command(
    invocation: Invocation, *, ids: tuple[str, ...], stale: bool, reason: str, dry_run: bool
) -> Result:
    """Take learnings out of sight: they are shown to no agent until they are restored.

    They stay in their files, and `grove search --status archived` finds them.
    """
    if not ids and not stale:
        raise click.UsageError("say what to archive: ids of learnings, or --stale")
    if ids and stale:
        raise click.UsageError("name ids of learnings or --stale, not both")
    workspace = invocation.workspace
    refuse_secrets(workspace, reason, "--reason")
    curated = (
        archive_stale(workspace, reason, dry_run=dry_run)
        if stale
        else archive(workspace, ids, reason, dry_run=dry_run)
    )
    nothing = "No learning is due now or within seven days."
    return curation_result(curated, "archived", dry_run=dry_run, nothing=nothing)
