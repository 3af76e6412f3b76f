"""``grove maintain``: a group whose commands are imported when they are called."""

from typing import Final

import rich_click as click

from grove_core.cli.invocation import Invocation, Result, grove_command

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


class _StoredHelp(click.RichCommand):
    """A command of which only name and help line are known yet."""


class LazyMaintenance(click.RichGroup):
    """Imports a command's module when the command is called, not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        del ctx
        return list(SUBCOMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Give what help and completion need of a command: its name and its help line."""
        del ctx
        line = SUBCOMMANDS.get(cmd_name)
        return _StoredHelp(name=cmd_name, help=line, short_help=line) if line else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Import the command that is called."""
        name, command, rest = super().resolve_command(ctx, args)
        if name not in SUBCOMMANDS:
            return name, command, rest
        from grove_core.cli.plugin_commands import load_target

        return name, load_target(f"grove_core.cli.maintain_{name}:command"), rest


@click.group("maintain", cls=LazyMaintenance, invoke_without_command=True)
@grove_command
def command(invocation: Invocation) -> Result:
    """Look after the learnings: archive, restore, supersede, and what else keeps them useful.

    Alone it does what `grove maintain list` does. Nothing is archived without being named, but by
    `--stale` and by decay.
    """
    from grove_core.cli.maintain_list import overview_result

    return overview_result(invocation.workspace, explain=False)
