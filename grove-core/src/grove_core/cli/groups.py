"""Groups whose commands are imported when they are called, and the commands that plugins offer."""

import os
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.environment import fingerprint
from grove_core.errors import GroveError, PluginError
from grove_core.storage.installation import look, read_cached, write_cached

if TYPE_CHECKING:
    from grove_core.plugins.descriptors import CommandSpec
    from grove_core.plugins.discovery import PluginProblem
    from grove_core.plugins.manager import Contribution
    from grove_core.project import Project

_PROJECTS_KEY: Final = "grove_core.projects_of_commands"
_LINES_KEY: Final = "grove_core.help_lines_of_commands"
_CACHE_FORMAT: Final = 2
_HELP: Final = frozenset({"-h", "--help"})


class LazyGroup(click.RichGroup):
    """Imports the command that is called; of the others it knows names and help lines."""

    def help_lines(self, ctx: click.Context) -> Mapping[str, str]:
        """Return the help lines of commands that are not imported, by name."""
        del ctx
        return {}

    def load(self, ctx: click.Context, name: str) -> click.Command:
        """Import one of these commands."""
        raise NotImplementedError

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        return [*super().list_commands(ctx), *self.help_lines(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return what help and completion need of a command: its name and its help line."""
        if line := self.help_lines(ctx).get(cmd_name):
            return StoredHelp(cmd_name, line)
        return super().get_command(ctx, cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Import the command that is called; of an unknown one say what is like it."""
        if not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            # It may be one of a plugin that has failed.
            name_problems(project_of(ctx).problems)
            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise click.UsageError(f"No such command '{args[0]}'.{hint}", ctx)
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, StoredHelp) and name is not None:
            command = self.load(ctx, name)
        if command is not None and not _HELP.isdisjoint(rest):
            command.epilog = _epilog(f"{ctx.command_path} {name}") or command.epilog
        return name, command, rest


def _epilog(path: str) -> str | None:
    """Return what ends the help of a command of grove's own: an example, and where to read on."""
    from importlib.metadata import metadata

    import tomli

    text = Path(__file__).with_name("examples.toml").read_text(encoding="utf-8")
    found: list[str] | None = tomli.loads(text).get(path.removeprefix("grove "))
    if found is None:
        return None
    example, page = found
    urls = metadata("grove-core").get_all("Project-URL") or []
    address = dict(one.split(", ", 1) for one in urls).get("Documentation")
    where = f"{address}/{page}" if address else f"docs/{page} in grove's repository"
    return f"Example: {example}\n\nRead on: {where}"


class StoredHelp(click.RichCommand):
    """A command of which only name and help line are known yet."""

    def __init__(self, name: str, line: str, *, hidden: bool = False) -> None:
        super().__init__(name=name, help=line, short_help=line, hidden=hidden)


def load_target(target: str) -> click.Command:
    """Import a command."""
    module, _, attribute = target.partition(":")
    command = getattr(import_module(module), attribute)
    if not isinstance(command, click.Command):
        raise PluginError(f"{target} is no click command")
    return command


def load_offered(ctx: click.Context, offered: "Contribution[CommandSpec]") -> click.Command:
    """Import a command of a plugin."""
    try:
        return load_target(offered.value.target)
    except Exception as error:
        if ctx.resilient_parsing:
            return click.Command(offered.value.name)
        from grove_core.plugins.discovery import describe_error

        name, cause = offered.value.name, describe_error(error)
        raise PluginError(f"{name} of {offered.source} cannot be loaded: {cause}") from error


def offered_commands(ctx: click.Context) -> "dict[str, Contribution[CommandSpec]]":
    """Load the plugins and ask for their commands."""
    try:
        return {one.value.name: one for one in project_of(ctx).plugins.commands()}
    except (GroveError, OSError):
        return {}


def offered_help_lines(ctx: click.Context, *, fresh: bool = False) -> Mapping[str, str]:
    """Return the help lines of the plugins' commands, from a file while nothing has changed."""
    if _LINES_KEY in ctx.meta and not fresh:
        known: Mapping[str, str] = ctx.meta[_LINES_KEY]
        return known
    from grove_core.hooks.fast import home
    from grove_core.storage.paths import project_root

    environment, root = look(), project_root(_start(ctx), Path(home()))
    state = [_CACHE_FORMAT, environment, fingerprint(str(root), home(), "")]
    lines: dict[str, str] | None = None if fresh else read_cached(home(), "commands", state)
    if lines is None:
        lines = {name: one.value.help for name, one in offered_commands(ctx).items()}
        if not project_of(ctx).problems:
            write_cached(home(), "commands", state, environment, lines)
    ctx.meta[_LINES_KEY] = lines
    return lines


def project_of(ctx: click.Context) -> "Project":
    """Return the project that a command works in, and whose plugins offer commands; made once."""
    from grove_core.clock import now_utc
    from grove_core.project import Project

    start = _start(ctx)
    made: dict[Path, Project] = ctx.meta.setdefault(_PROJECTS_KEY, {})
    if start not in made:
        enabled = given(ctx, "plugins") is not False
        made[start] = Project(start, os.environ, now_utc(), plugins=enabled)
    return made[start]


def name_problems(problems: "Iterable[PluginProblem]") -> None:
    """Print what plugins did wrong, a line each on stderr."""
    for problem in dict.fromkeys(problems):
        click.echo(f"grove: plugin {problem}", err=True)


def _start(ctx: click.Context) -> Path:
    try:
        start: Path = given(ctx, "project") or Path.cwd()
    except OSError as error:
        raise GroveError("the current directory does not exist any more; cd elsewhere") from error
    return start.absolute()


def given(ctx: click.Context, name: str) -> Any:  # noqa: ANN401 - a parameter of any type
    """Return a parameter of the nearest group that has it: in completion no group has run yet."""
    around: click.Context | None = ctx
    while around is not None:
        if (value := around.params.get(name)) is not None:
            return value
        around = around.parent
    return None
