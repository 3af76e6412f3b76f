"""The commands of ``grove backends``: grove's own, and those that the backends offer."""

from typing import Final

import rich_click as click

from grove_core.cli.lazy_group import stored_help
from grove_core.cli.plugin_commands import load, load_target, name_plugin_problems, workspace_of
from grove_core.errors import GroveError
from grove_core.plugins.descriptors import Area, BackendSpec, CommandSpec
from grove_core.plugins.facade import Provided

# Help lines stand here so that `grove backends --help` imports no command.
SUBCOMMANDS: Final = {
    "discover": "List the stores that backends could use here, and why each is usable or not.",
}


class LazyBackends(click.RichGroup):
    """grove's own commands, and a group for each backend that has some."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name grove's commands and the backends that have some."""
        backends = _backends_or_none(ctx).values()
        names = {one.value.name for one in backends if one.value.commands}
        return [*SUBCOMMANDS, *sorted(names - SUBCOMMANDS.keys())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one of grove's commands by its help line alone, or the group of a backend."""
        if cmd_name in SUBCOMMANDS:
            return stored_help(cmd_name, SUBCOMMANDS[cmd_name])
        offered = _backends_or_none(ctx).get(cmd_name)
        return BackendCommands(offered) if offered and offered.value.commands else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Import the command that is called; where there is none, say so of the backend."""
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.UsageError as error:
            if args[0] in _backends(ctx):
                words = f"The backend {args[0]} has no commands."
                raise click.UsageError(words, ctx) from error
            name_plugin_problems(ctx)
            raise
        if name not in SUBCOMMANDS:
            return name, command, rest
        return name, load_target(f"grove_core.cli.backends_{name}:command"), rest


class BackendCommands(click.RichGroup):
    """The commands of one backend; they find the ``BackendContext`` of the project."""

    def __init__(self, backend: Provided[BackendSpec]) -> None:
        """Import nothing yet."""
        spec = backend.value
        self._backend = backend
        self._specs = {one.name: one for one in spec.commands}
        line = f"Commands of the backend {spec.name}: {', '.join(self._specs)}."
        super().__init__(name=spec.name, help=line, short_help=line)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands, in the order in which the backend does."""
        del ctx
        return list(self._specs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return what help and completion need of a command: its name and its help line."""
        del ctx
        spec = self._specs.get(cmd_name)
        return stored_help(spec.name, spec.help) if spec else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Import the command that is called, and tell it where to work."""
        name, command, rest = super().resolve_command(ctx, args)
        if name not in self._specs:
            return name, command, rest
        library = workspace_of(ctx).library
        ctx.obj = library.context_for(self._backend.value.name, Area.PROJECT)
        offered: Provided[CommandSpec] = Provided(
            value=self._specs[name], source=self._backend.source
        )
        return name, load(ctx, offered), rest


def _backends(ctx: click.Context) -> dict[str, Provided[BackendSpec]]:
    return {one.value.name: one for one in workspace_of(ctx).plugins.memory_backends()}


def _backends_or_none(ctx: click.Context) -> dict[str, Provided[BackendSpec]]:
    """Load the backends for help and completion, which tell of no faults."""
    try:
        return _backends(ctx)
    except (GroveError, OSError):
        return {}
