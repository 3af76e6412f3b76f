"""``grove maintain decay``."""

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.curation_report import curation_result
from grove_core.cli.options import dry_run_option
from grove_core.cli.result import Result
from grove_core.flow.decaying import decay


@click.command("decay")
@dry_run_option
@grove_command
def command(invocation: Invocation, *, dry_run: bool) -> Result:
    """Archive what nobody was shown or used for a long time.

    The start of a session hides the same once a day, on this machine only; `grove reflect` archives
    some of it with a stored learning. A learning is due `decay.passive_duration_days`
    days after it was last written, shown, used or restored; `grove maintain list --explain` says
    how each one stands.
    """
    curated = decay(invocation.workspace, dry_run=dry_run)
    return curation_result(curated, "archived", dry_run=dry_run, nothing="No learning is due.")
