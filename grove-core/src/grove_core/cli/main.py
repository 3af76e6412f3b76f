"""The ``grove`` command: a group whose commands are imported when they are called."""

import os
import sys
from difflib import get_close_matches
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Final

import rich_click as click

from grove_core.cli.invocation import (
    PLUGINS_KEY,
    name_problems,
    note_project,
    project_option,
)
from grove_core.clock import now_utc
from grove_core.errors import GroveError, PluginError
from grove_core.plugins.report import describe_error
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from grove_core.plugins.descriptors import CommandSpec
    from grove_core.plugins.facade import Provided

_WORKSPACE_KEY: Final = "grove_core.workspace_of_commands"
_STDOUT_CLOSED: Final = "standard output is closed; send it to /dev/null to see nothing"

# Help lines stand here so that `grove --help` imports no command.
COMMANDS: Final = {
    "init": "Set up grove in this project.",
    "status": "Show the project, the gate, the backends and what waits.",
    "reflect": "Write down what a ticket has taught (JSON on standard input).",
    "skip": "Say why there is nothing to write down.",
    "observe": "Leave a one-line note for the agent that will reflect.",
    "ref": "Record that learnings were used.",
    "search": "Search the learnings of this project and your own.",
    "list": "List learnings, with how they have fared.",
    "show": "Show one learning in full.",
    "tickets": "Show the ticket systems, or what a command would close.",
    "backends": "Show the memory backends and their health.",
    "plugins": "Show the installed plugins and what became of them.",
    "hook": "Answer a hook of the coding agent (run by the agent).",
}


class _StoredHelp(click.RichCommand):
    """A command of which only name and help line are known yet."""


class LazyGroup(click.RichGroup):
    """Imports a command's module when the command is called, not before."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name grove's commands and the plugins' ones."""
        return [*COMMANDS, *sorted(_plugin_commands(ctx))]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Give what help and completion need of a command: its name and its help line."""
        if cmd_name in COMMANDS:
            return self._stored(cmd_name, COMMANDS[cmd_name])
        offered = _plugin_commands(ctx).get(cmd_name)
        return self._stored(cmd_name, offered.value.help) if offered else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Import the command that is called; of an unknown one say what is like it."""
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            # The command may be one of a plugin that could not be loaded.
            name_problems(_workspace(ctx).problems)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise click.UsageError(f"{error.message}{hint}", ctx) from error
        if name in COMMANDS:
            return name, _load(f"grove_core.cli.{name}:command"), rest
        if name is not None and command is not None:
            return name, _load_offered(_plugin_commands(ctx)[name]), rest
        return name, command, rest

    @staticmethod
    def _stored(name: str, help_line: str) -> click.Command:
        return _StoredHelp(name=name, help=help_line, short_help=help_line)


def _load(target: str) -> click.Command:
    module, _, attribute = target.partition(":")
    command = getattr(import_module(module), attribute)
    if not isinstance(command, click.Command):
        raise PluginError(f"{target} is no click command")
    return command


def _load_offered(offered: "Provided[CommandSpec]") -> click.Command:
    try:
        return _load(offered.value.target)
    except Exception as error:
        raise click.ClickException(
            f"{offered.source} cannot be loaded: {describe_error(error)}"
        ) from error


def _workspace(ctx: click.Context) -> Workspace:
    """The project whose plugins may offer commands; made once."""
    if _WORKSPACE_KEY not in ctx.meta:
        start = (ctx.params.get("project") or Path.cwd()).absolute()
        enabled = ctx.params.get("plugins", True)
        made = Workspace(start, os.environ, now_utc(), load_plugins=enabled)
        ctx.meta[_WORKSPACE_KEY] = made
    workspace: Workspace = ctx.meta[_WORKSPACE_KEY]
    return workspace


def _plugin_commands(ctx: click.Context) -> "dict[str, Provided[CommandSpec]]":
    """Commands of plugins by name."""
    try:
        offered = _workspace(ctx).plugins.commands()
    except (GroveError, OSError):
        return {}
    return {one.value.name: one for one in offered if one.value.name not in COMMANDS}


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--plugins/--no-plugins",
    default=True,
    is_eager=True,  # --help lists the plugins' commands
    help="Load plugins (the default) or none.",
)
@project_option
@click.version_option(package_name="grove-core", prog_name="grove")
@click.pass_context
def grove(ctx: click.Context, *, plugins: bool, project: Path | None) -> None:
    """A compound-learning gate for coding agents.

    When a ticket closes, the agent is stopped once until it has written down what it learned; the
    next session starts with the few learnings that fit its work.
    """
    ctx.meta[PLUGINS_KEY] = plugins
    note_project(ctx, project)


def run_command_line() -> int:
    """Run the command line.

    Returns:
        The exit code: 0 done, 1 could not, 2 usage.
    """
    if sys.stdout is None:
        return _cannot_print(_STDOUT_CLOSED)
    if isinstance(sys.stdout, TextIOWrapper):
        # What an encoding lacks is written as its code; learnings may hold any character.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        return _run()
    except BrokenPipeError:
        # The reader has seen enough (`grove list | head`).
        _forget_output()
    except OSError as error:
        # Commands turn the faults of their own work into results; what is left is the printing.
        _forget_output()
        return _cannot_print(f"cannot write to standard output: {error.strerror or error}")
    return 0


def _run() -> int:
    try:
        grove(prog_name="grove", standalone_mode=True)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 1
    finally:
        sys.stdout.flush()
    return 0


def _forget_output() -> None:
    """Throw away what is not printed yet, lest Python complain about it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _cannot_print(reason: str) -> int:
    click.echo(f"grove: {reason}", err=True)
    return 1
