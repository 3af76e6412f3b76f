"""``grove maintain``: a group whose commands are imported when they are called."""

from typing import Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.groups import LazyGroup
from grove_core.cli.result import Result

# Help lines stand here so that `grove maintain --help` imports no command.
SUBCOMMANDS: Final = {
    "list": "Show what curation would look at (what `grove maintain` alone does).",
    "archive": "Take learnings out of sight.",
    "restore": "Take learnings back from the archive.",
    "supersede": "Put one learning in another one's place, for good.",
    "decay": "Archive what nobody was shown or used for a long time.",
    "flush": "Deliver the learnings that wait for their backend.",
    "index": "Bring what searches rest on up to date, or make it anew.",
    "migrate": "Move learnings and events to another layout.",
    "repair": "Mend files that git's merging has spoiled.",
}


@click.group("maintain", cls=LazyGroup, lines=SUBCOMMANDS, invoke_without_command=True)
@grove_command
def command(invocation: Invocation) -> Result:
    """Look after the learnings: archive, restore, supersede, and what else keeps them useful.

    Alone it does what `grove maintain list` does. Nothing is archived without being named, but by
    `--stale` and by decay.
    """
    from grove_core.cli.maintain_list import overview_result

    return overview_result(invocation.workspace, explain=False)
