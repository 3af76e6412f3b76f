"""What every command has in common: options, the project, how results and errors are printed."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import rich_click as click
from attrs import evolve, field, frozen

from grove_core.cli.options import PLUGINS_KEY, PROJECT_KEY, note_project, project_option
from grove_core.cli.suggestions import session_ids
from grove_core.clock import now_utc
from grove_core.errors import GroveError
from grove_core.plugins.report import PluginProblem
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

    from grove_core.flow.agent_requests import Outcome
    from grove_core.model.session import Session

_PIPED_WIDTH: Final = 200


@frozen(kw_only=True)
class Result:
    """What a command has found or done."""

    document: Mapping[str, Any] | None
    human: "Callable[[Console], None]"
    ids: Sequence[str] = ()
    exit_code: int = 0
    warnings: Sequence[str] = field(factory=tuple)
    names_problems: bool = False

    @classmethod
    def printed(cls, wrong: Sequence[str]) -> "Result":
        """Tell that the command has printed its answers itself, as it went."""
        return cls(document=None, human=lambda _: None, warnings=wrong, exit_code=1 if wrong else 0)

    @classmethod
    def of(cls, outcome: "Outcome") -> "Result":
        """Return what became of an agent's request."""

        def human(console: "Console") -> None:
            for line in outcome.lines:
                console.print(line)

        return cls(
            document=outcome.document,
            human=human,
            ids=outcome.ids,
            exit_code=0 if outcome.succeeded else 1,
            warnings=outcome.warnings,
        )


@frozen(kw_only=True)
class Invocation:
    """How a command was called."""

    workspace: Workspace
    project_given: bool = False


def grove_command(
    function: "Callable[..., Result]",
) -> Callable[..., None]:
    """Turn a function that returns a result into the callback of a command."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
    @click.option("-q", "--quiet", is_flag=True, help="Print ids only, or nothing.")
    @project_option
    @click.pass_context
    def callback(
        ctx: click.Context,
        /,
        *,
        as_json: bool,
        quiet: bool,
        project: Path | None,
        **parameters: Any,  # noqa: ANN401 - each command has its own
    ) -> None:
        note_project(ctx, project)
        if ctx.invoked_subcommand is not None:
            return
        problems: Sequence[PluginProblem] = ()
        lost: Sequence[str] = ()
        invocation: Invocation | None = None
        try:
            invocation = _invocation(ctx)
            problems, lost = invocation.workspace.problems, invocation.workspace.lost_events
            result = function(invocation, **parameters)
        except BrokenPipeError:
            raise  # the reader has seen enough of what was printed as it went
        except (GroveError, OSError) as error:
            result = _failure(str(error))
        if lost:
            result = _with_lost(result, lost)
        _print(result, as_json=as_json, quiet=quiet)
        if not result.names_problems:
            name_problems(problems)
        if invocation is not None:
            _index_what_was_written(invocation.workspace)
        ctx.exit(result.exit_code)

    return update_wrapper(callback, function)


def _index_what_was_written(workspace: Workspace) -> None:
    try:
        workspace.index_what_was_written()
    except Exception as error:  # noqa: BLE001 - the command is done, and a hook tries it again
        workspace.diagnostics.log("error", f"the index could not be brought up to date: {error}")


def counted(number: int, noun: str) -> str:
    """Say a number of things, such as ``1 session`` or ``2 sessions``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def session_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add ``--session-id`` to a command."""
    return click.option(
        "--session-id",
        metavar="ID",
        shell_complete=session_ids,
        help="The client's session; by default the one that runs this command.",
    )(function)


def find_session(invocation: Invocation, session_id: str | None) -> tuple[Invocation, "Session"]:
    """Find the session that a command is about, and look at its project."""
    from grove_core.flow import finding_session

    workspace, session = finding_session.find_session(invocation.workspace, session_id)
    if invocation.project_given:
        return invocation, session
    return evolve(invocation, workspace=workspace), session


def _invocation(ctx: click.Context) -> Invocation:
    load_plugins = ctx.meta.get(PLUGINS_KEY, True)
    project: Path | None = ctx.meta.get(PROJECT_KEY)
    start = project if project is not None else Path(_working_directory())
    workspace = Workspace(start.absolute(), os.environ, now_utc(), load_plugins=load_plugins)
    return Invocation(workspace=workspace, project_given=project is not None)


def _working_directory() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - may fail, and is only a string here
    except OSError as error:
        raise GroveError("the current directory does not exist any more; cd elsewhere") from error


def print_failure(error: Exception, *, as_json: bool) -> None:
    """Tell why a command of a plugin could not do what it was asked, as grove's own commands do."""
    _print(_failure(str(error)), as_json=as_json, quiet=False)


def name_problems(problems: Sequence[PluginProblem]) -> None:
    """Print what plugins did wrong, a line each on stderr."""
    for problem in dict.fromkeys(problems):
        click.echo(f"grove: plugin {problem}", err=True)


def _failure(message: str) -> Result:
    return Result(
        document={"error": message}, human=lambda _: None, exit_code=1, warnings=[message]
    )


def _with_lost(result: Result, lost: Sequence[str]) -> Result:
    """Tell that the event log could not be written: what was done is done, and counts nowhere."""
    causes = "; ".join(dict.fromkeys(lost))
    warning = f"the event log cannot be written, so this counts in no numbers: {causes}"
    document = result.document
    if document is not None:
        document = {**document, "warnings": [*document.get("warnings", ()), warning]}
    return evolve(result, document=document, warnings=(*result.warnings, warning))


def _print(result: Result, *, as_json: bool, quiet: bool) -> None:
    for warning in result.warnings:
        click.echo(f"grove: {warning}", err=True)
    if result.document is None:
        pass
    elif as_json:
        _write_json(result.document)
    elif quiet:
        sys.stdout.write("".join(f"{line}\n" for line in result.ids))
    else:
        result.human(_console())
    sys.stdout.flush()


def _write_json(document: Mapping[str, Any]) -> None:
    from grove_core.codec.converter import to_jsonable

    text = json.dumps(to_jsonable(document), ensure_ascii=True, indent=2)
    sys.stdout.write(text + "\n")


def _console() -> "Console":
    from rich.console import Console

    width = None if sys.stdout.isatty() else _PIPED_WIDTH
    return Console(highlight=False, markup=False, emoji=False, width=width, soft_wrap=True)
