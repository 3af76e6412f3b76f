"""The commands that plugins offer."""

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import rich_click as click

from grove_core.cli.invocation import name_problems
from grove_core.clock import now_utc
from grove_core.errors import GroveError, PluginError
from grove_core.plugins.descriptors import CommandSpec
from grove_core.plugins.facade import Provided
from grove_core.plugins.report import describe_error
from grove_core.workspace import Workspace

_WORKSPACES_KEY: Final = "grove_core.workspaces_of_commands"


def offered_commands(ctx: click.Context) -> dict[str, Provided[CommandSpec]]:
    """Load the plugins and ask for their commands."""
    try:
        offered = workspace_of(ctx).plugins.commands()
    except (GroveError, OSError):
        return {}
    return {one.value.name: one for one in offered}


def load(ctx: click.Context, offered: Provided[CommandSpec]) -> click.Command:
    """Import a command of a plugin."""
    try:
        return load_target(offered.value.target)
    except Exception as error:
        if ctx.resilient_parsing:
            return click.Command(offered.value.name)
        name, cause = offered.value.name, describe_error(error)
        raise PluginError(f"{name} of {offered.source} cannot be loaded: {cause}") from error


def load_target(target: str) -> click.Command:
    """Import a command."""
    module, _, attribute = target.partition(":")
    command = getattr(import_module(module), attribute)
    if not isinstance(command, click.Command):
        raise PluginError(f"{target} is no click command")
    return command


def name_plugin_problems(ctx: click.Context) -> None:
    """Print what plugins did wrong: an unknown command may be one of theirs."""
    name_problems(workspace_of(ctx).problems)


def workspace_of(ctx: click.Context) -> Workspace:
    """Return the project whose plugins may offer commands; it is made once."""
    start = (_given(ctx, "project") or Path.cwd()).absolute()
    made: dict[Path, Workspace] = ctx.meta.setdefault(_WORKSPACES_KEY, {})
    if start not in made:
        enabled = _given(ctx, "plugins") is not False
        made[start] = Workspace(start, os.environ, now_utc(), load_plugins=enabled)
    return made[start]


def _given(ctx: click.Context, name: str) -> Any:  # noqa: ANN401 - a parameter of any type
    """Return a parameter of the nearest group that has it: in completion no group has run yet."""
    around: click.Context | None = ctx
    while around is not None:
        if (value := around.params.get(name)) is not None:
            return value
        around = around.parent
    return None
