"""The commands of ``grove backends``: grove's own, and those that the backends offer."""

from collections.abc import Mapping
from typing import Final

import rich_click as click

from grove_core.cli.app import name_problems
from grove_core.cli.groups import LazyGroup, load_offered, workspace_of
from grove_core.errors import GroveError
from grove_core.plugins.descriptors import Area, BackendSpec
from grove_core.plugins.facade import Provided

# Help lines stand here so that `grove backends --help` imports no command.
SUBCOMMANDS: Final = {
    "discover": "List the stores that backends could use here, and why each is usable or not.",
}


class BackendsGroup(LazyGroup):
    """grove's own commands, and a group for each backend that has some."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name grove's commands and the backends that have some."""
        own = super().list_commands(ctx)
        names = {name for name, one in _backends_or_none(ctx).items() if one.value.commands}
        return [*own, *sorted(names.difference(own))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return one of grove's commands, or the group of a backend."""
        if (own := super().get_command(ctx, cmd_name)) is not None:
            return own
        offered = _backends_or_none(ctx).get(cmd_name)
        return BackendCommands(offered) if offered and offered.value.commands else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that is called; where there is none, say so of the backend."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            if args[0] in _backends(ctx):
                words = f"The backend {args[0]} has no commands."
                raise click.UsageError(words, ctx) from error
            name_problems(workspace_of(ctx).problems)
            raise


class BackendCommands(LazyGroup):
    """The commands of one backend; they find the ``BackendContext`` of the project."""

    def __init__(self, backend: Provided[BackendSpec]) -> None:
        spec = backend.value
        self._backend = backend
        self._specs = {one.name: one for one in spec.commands}
        line = f"Commands of the backend {spec.name}: {', '.join(self._specs)}."
        lines = {one.name: one.help for one in spec.commands}
        super().__init__(spec.name, lines, help=line, short_help=line)

    def load(self, ctx: click.Context, name: str) -> click.Command:
        """Import a command, and tell it where to work."""
        library = workspace_of(ctx).library
        ctx.obj = library.context_for(self._backend.value.name, Area.PROJECT)
        return load_offered(ctx, Provided(value=self._specs[name], source=self._backend.source))


def _backends(ctx: click.Context) -> Mapping[str, Provided[BackendSpec]]:
    return {one.value.name: one for one in workspace_of(ctx).plugins.memory_backends()}


def _backends_or_none(ctx: click.Context) -> Mapping[str, Provided[BackendSpec]]:
    """Load the backends for help and completion, which tell of no faults."""
    try:
        return _backends(ctx)
    except (GroveError, OSError):
        return {}
