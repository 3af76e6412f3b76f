"""A group whose commands are imported when they are called."""

from collections.abc import Mapping
from typing import Any

import rich_click as click


class _StoredHelp(click.RichCommand):
    """A command of which only name and help line are known yet."""


def stored_help(name: str, line: str) -> click.Command:
    """Stand in for a command whose module is not imported, in help and completion."""
    return _StoredHelp(name=name, help=line, short_help=line)


class LazySubcommands(click.RichGroup):
    """Knows the help lines of its commands, and imports the module of the one that is called."""

    def __init__(
        self,
        name: str,
        lines: Mapping[str, str],
        **attributes: Any,  # noqa: ANN401 - what click gives to a group
    ) -> None:
        """Import nothing yet."""
        super().__init__(name=name, **attributes)
        self._lines = lines

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        del ctx
        return list(self._lines)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return what help and completion need of a command: its name and its help line."""
        del ctx
        line = self._lines.get(cmd_name)
        return stored_help(cmd_name, line) if line else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Import the command that is called."""
        name, command, rest = super().resolve_command(ctx, args)
        if name not in self._lines:
            return name, command, rest
        from grove_core.cli.plugin_commands import load_target

        return name, load_target(f"grove_core.cli.{self.name}_{name}:command"), rest
