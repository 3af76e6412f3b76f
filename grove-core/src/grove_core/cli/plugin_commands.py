"""The commands that plugins offer."""

import os
from importlib import import_module
from pathlib import Path
from typing import Final

import rich_click as click

from grove_core.cli.invocation import name_problems
from grove_core.clock import now_utc
from grove_core.errors import GroveError, PluginError
from grove_core.plugins.descriptors import CommandSpec
from grove_core.plugins.environment import look
from grove_core.plugins.facade import Provided
from grove_core.plugins.offered_commands import remember_that_none_is_offered
from grove_core.plugins.report import PluginState, describe_error
from grove_core.workspace import Workspace

_WORKSPACE_KEY: Final = "grove_core.workspace_of_commands"


def offered_commands(ctx: click.Context) -> dict[str, Provided[CommandSpec]]:
    """Load the plugins and ask for their commands.

    Args:
        ctx: The context of the group.

    Returns:
        The commands by name.
    """
    environment = look()
    try:
        workspace = _workspace(ctx)
        offered = workspace.plugins.commands()
    except (GroveError, OSError):
        return {}
    if not offered and _all_were_asked(workspace):
        remember_that_none_is_offered(workspace.paths.home, environment)
    return {one.value.name: one for one in offered}


def load(offered: Provided[CommandSpec]) -> click.Command:
    """Import a command of a plugin.

    Args:
        offered: What the plugin offers.

    Returns:
        The command.

    Raises:
        ClickException: It cannot be imported, or is no command.
    """
    try:
        return load_target(offered.value.target)
    except Exception as error:
        raise click.ClickException(
            f"{offered.source} cannot be loaded: {describe_error(error)}"
        ) from error


def load_target(target: str) -> click.Command:
    """Import a command.

    Args:
        target: ``module:attribute``.

    Returns:
        The command.

    Raises:
        PluginError: It is something else.
    """
    module, _, attribute = target.partition(":")
    command = getattr(import_module(module), attribute)
    if not isinstance(command, click.Command):
        raise PluginError(f"{target} is no click command")
    return command


def name_plugin_problems(ctx: click.Context) -> None:
    """Print what plugins did wrong: an unknown command may be one of theirs.

    Args:
        ctx: The context of the group.
    """
    name_problems(_workspace(ctx).problems)


def _workspace(ctx: click.Context) -> Workspace:
    """The project whose plugins may offer commands; made once."""
    if _WORKSPACE_KEY not in ctx.meta:
        start = (ctx.params.get("project") or Path.cwd()).absolute()
        enabled = ctx.params.get("plugins", True)
        made = Workspace(start, os.environ, now_utc(), load_plugins=enabled)
        ctx.meta[_WORKSPACE_KEY] = made
    workspace: Workspace = ctx.meta[_WORKSPACE_KEY]
    return workspace


def _all_were_asked(workspace: Workspace) -> bool:
    """Tell whether no plugin was left out, blocked or broken: what it offers is not known then."""
    report = workspace.plugins.report()
    states = {plugin.state for plugin in report.plugins}
    return not report.problems and states == {PluginState.ACTIVE}
