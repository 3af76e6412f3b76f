"""``grove maintain supersede``."""

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.curation_report import curation_result
from grove_core.cli.options import dry_run_option
from grove_core.cli.result import Result
from grove_core.cli.suggestions import active_ids, standing_ids
from grove_core.flow.curation import supersede
from grove_core.hosts.claude_code import SESSION_ID_VARIABLE
from grove_core.identifiers import is_session_id
from grove_core.services.overview import OWN_VARIABLE


@click.command("supersede")
@click.argument("old", metavar="OLD", shell_complete=standing_ids)
@click.option(
    "--by",
    "new",
    metavar="NEW",
    required=True,
    shell_complete=active_ids,
    help="The learning that takes its place.",
)
@dry_run_option
@grove_command
def command(invocation: Invocation, *, old: str, new: str, dry_run: bool) -> Result:
    """Put one learning in another one's place, for good.

    Sessions that start within seven days after the old one was shown are told of it.
    """
    environment = invocation.workspace.environment
    session_id = environment.get(SESSION_ID_VARIABLE) or environment.get(OWN_VARIABLE) or ""
    if not is_session_id(session_id):
        session_id = ""
    curated = supersede(invocation.workspace, old, new, session_id, dry_run=dry_run)
    return curation_result([curated], "superseded", dry_run=dry_run, nothing="")
