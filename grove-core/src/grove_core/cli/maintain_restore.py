"""``grove maintain restore``."""

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.curation_report import curation_result
from grove_core.cli.options import dry_run_option
from grove_core.cli.result import Result
from grove_core.cli.suggestions import archived_ids
from grove_core.flow.curation import restore
from grove_core.services.reflect import refuse_secrets


@click.command("restore")
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=archived_ids)
@click.option("--reason", metavar="TEXT", default="", help="Why, in a few words.")
@dry_run_option
@grove_command
def command(invocation: Invocation, *, ids: tuple[str, ...], reason: str, dry_run: bool) -> Result:
    """Take learnings back from the archive.

    Their time starts again: decay leaves them alone as if they had just been used. A superseded
    learning cannot be restored.
    """
    refuse_secrets(invocation.workspace, reason, "--reason")
    curated = restore(invocation.workspace, ids, reason, dry_run=dry_run)
    return curation_result(curated, "restored", dry_run=dry_run, nothing="")
