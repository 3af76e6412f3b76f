"""The ``grove`` command: a group whose commands are imported when they are called."""

import os
import sys
from collections.abc import Mapping
from io import TextIOWrapper
from typing import Final

import rich_click as click

from grove_core.cli.groups import (
    LazyGroup,
    StoredHelp,
    load_offered,
    load_target,
    offered_commands,
    offered_help_lines,
)
from grove_core.cli.options import project_option
from grove_core.errors import GroveError

_STDOUT_CLOSED: Final = "standard output is closed; send it to /dev/null to see nothing"

# Help lines stand here so that `grove --help` imports no command.
GROUPS: Final = {
    "Every day": {
        "status": "Show the project, the gate, the backends and what waits.",
        "add": "Write a learning down yourself.",
        "edit": "Open a learning in your editor.",
        "rm": "Archive learnings that do not hold any more.",
        "search": "Search the learnings of this project and your own.",
        "list": "List learnings, with how they have fared.",
        "show": "Show one learning in full.",
        "stats": "Show whether learnings help, what the gates do, and what to look at.",
        "cost": "Show what grove costs: text and tokens, stops, refusals and hooks' time.",
        "digest": "Write what was learned and used lately, or on a branch, as Markdown.",
        "page": "Write a page to read, search and filter all learnings in a browser.",
        "review": "Rate learnings useful or not.",
        "maintain": "Look after the learnings: archive, restore, supersede, decay and more.",
    },
    "Agents call these": {
        "reflect": "Write down what a ticket has taught.",
        "skip": "Say why there is nothing to write down.",
        "ref": "Record that learnings were used.",
        "observe": "Leave a one-line note for the agent that will reflect.",
    },
    "Set up": {
        "init": "Set up grove in this project.",
        "pause": "Have hooks do nothing here for a while.",
        "resume": "End a pause.",
        "doctor": "Check everything that can silently go wrong.",
        "config": "Show the settings, where each comes from, and what is wrong.",
        "trust": "Show what this project asks to run or reach, and agree to it.",
        "import": "Bring learnings of other programs and projects here.",
        "export": "Write learnings as JSON Lines or as a page for people.",
    },
    "Look inside": {
        "sessions": "List the sessions grove knows.",
        "trace": "Show what happened in a session.",
        "why": "Say why learnings were shown in a session, or were not.",
        "debug": "Show everything grove knows of a session, or set its gate.",
        "clean": "Delete the state of old sessions.",
    },
    "Extend": {
        "backends": "Show the memory backends, their health, and what they could use.",
        "tickets": "Show the ticket systems, or what a command would close.",
        "plugins": "Show the installed plugins and what became of them.",
        "schema": "Show the keys of a command's JSON document.",
    },
}
PLUMBING: Final = {
    "hook": "Answer a hook of the coding agent (run by the agent).",
    "serve": "Answer a session's hooks and offer tools (run by the agent).",
    "statusline": "Print a session's line for the client's status line (run by the client).",
}
COMMANDS: Final = {
    name: line for group in (*GROUPS.values(), PLUMBING) for name, line in group.items()
}
_PANELS: Final = [{"name": name, "commands": [*lines]} for name, lines in GROUPS.items()]
# Of commands whose module has another name.
_TARGETS: Final = {
    "add": "by_hand:command",
    "edit": "by_hand:edit_command",
    "import": "exchange:import_command",
    "export": "exchange:export_command",
    "rm": "by_hand:rm_command",
    "clean": "sessions:clean_command",
    "debug": "inspect:debug_command",
    "observe": "reflect:observe_command",
    "resume": "pause:resume_command",
    "cost": "stats:cost_command",
    "digest": "stats:digest_command",
    "page": "stats:page_command",
    "ref": "reflect:ref_command",
    "review": "maintain:review_command",
    "skip": "reflect:skip_command",
    "trace": "inspect:trace_command",
    "list": "learnings:list_",
    "search": "learnings:search",
    "serve": "hook:serve",
    "statusline": "hook:statusline",
    "show": "learnings:show",
}


def command_named(name: str) -> click.Command:
    """Import one of grove's own commands."""
    target = _TARGETS.get(name) or f"{name.replace('-', '_')}:command"
    return load_target(f"grove_core.cli.{target}")


class GroveGroup(LazyGroup):
    """grove's own commands and those of plugins."""

    def help_lines(self, ctx: click.Context) -> Mapping[str, str]:
        """Return the help lines of all commands, grove's own first."""
        if not ctx.params.get("plugins", True):
            return COMMANDS
        offered = offered_help_lines(ctx)
        return {**COMMANDS, **{name: offered[name] for name in sorted(offered.keys() - COMMANDS)}}

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return what help needs of a command; what only the agent runs is not listed."""
        if (line := COMMANDS.get(cmd_name)) is None:
            return super().get_command(ctx, cmd_name)
        return StoredHelp(cmd_name, line, hidden=cmd_name in PLUMBING)

    def load(self, ctx: click.Context, name: str) -> click.Command:
        """Import a command, of grove or of a plugin."""
        if name in COMMANDS:
            return command_named(name)
        return load_offered(ctx, offered_commands(ctx)[name])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Import the command that is called; of an unknown one say what is like it."""
        if args[0] == "help" and not ctx.resilient_parsing:
            # As ``grove COMMAND --help`` does.
            if not args[1:]:
                click.echo(ctx.get_help())
                ctx.exit()
            return self.resolve_command(ctx, [*args[1:], "--help"])
        if args[0] not in COMMANDS and ctx.params.get("plugins", True):
            offered_help_lines(ctx, fresh=True)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; what a plugin's raises on purpose ends it with words."""
        as_json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except (GroveError, OSError) as error:
            if isinstance(error, OSError) and error.filename is None:
                raise  # it is about no file: what was printed did not get through
            from grove_core.cli.result import Result, print_result

            print_result(Result.failed(str(error)), as_json=as_json, quiet=False)
            ctx.exit(1)


@click.group(
    cls=GroveGroup,
    context_settings={
        "help_option_names": ["-h", "--help"],
        "rich_help_config": {"command_groups": {"grove": _PANELS}},
    },
)
@click.option(
    "--plugins/--no-plugins",
    default=True,
    is_eager=True,  # --help lists the plugins' commands
    help="Load plugins (the default) or none.",
)
@project_option
@click.version_option(None, "-V", "--version", package_name="grove-core", prog_name="grove")
def grove(**_: object) -> None:
    """A compound-learning gate for coding agents.

    When a ticket closes, the agent is stopped once until it has written down what it learned; the
    next session starts with the few learnings that fit its work.
    """


def run_command_line() -> int:
    """Run the command line."""
    if sys.stdout is None:
        return _cannot_print(_STDOUT_CLOSED)
    if isinstance(sys.stdout, TextIOWrapper):
        # What an encoding lacks is written as its code; learnings may hold any character.
        sys.stdout.reconfigure(errors="backslashreplace")
    code = 0
    try:
        try:
            grove(prog_name="grove")
        except SystemExit as leaving:
            if isinstance(leaving.__context__, BrokenPipeError):
                # click and rich make a fault of it.
                raise leaving.__context__ from None
            code = leaving.code if isinstance(leaving.code, int) else 1
        finally:
            sys.stdout.flush()
    except GroveError as error:  # of help, which no command gives
        return _cannot_print(str(error))
    except OSError as error:
        # What is not printed yet is thrown away, lest Python complain about it at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        # The reader may have seen enough (`grove list | head`). Commands turn the faults of their
        # own work into results; what is left is the printing.
        if not isinstance(error, BrokenPipeError):
            return _cannot_print(f"cannot write to standard output: {error.strerror or error}")
    return code


def _cannot_print(reason: str) -> int:
    click.echo(f"grove: {reason}", err=True)
    return 1
