"""What every command has in common: the project, ``--json``, errors, what plugins did wrong."""

import os
import sys
from collections.abc import Callable
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Final

import rich_click as click
from attrs import evolve

from grove_core.cli.groups import given, name_problems, project_of
from grove_core.cli.options import project_option
from grove_core.cli.result import Result, print_result
from grove_core.environment import ended_sessions
from grove_core.errors import GroveError
from grove_core.project import Project

if TYPE_CHECKING:
    from grove_core.model.session import Session


_IDS: Final = ("learning_id", "ids", "old", "new")


def grove_command(function: "Callable[..., Result]") -> Callable[..., None]:
    """Turn a function that returns a result into the callback of a command."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")
    @click.option("-q", "--quiet", is_flag=True, help="Print ids, names or paths only.")
    @project_option
    @click.pass_context
    def callback(
        ctx: click.Context,
        /,
        *,
        as_json: bool,
        quiet: bool,
        **parameters: Any,  # noqa: ANN401 - each command has its own
    ) -> None:
        if ctx.invoked_subcommand is not None:
            return
        del parameters["project"]  # project_of has it
        project: Project | None = None
        try:
            project = project_of(ctx)
            if foreign := project.foreign_notice:
                click.echo(f"grove: {foreign}", err=True)
            if ended_sessions(os.fspath(project.paths.home)):
                from grove_core.services.sessions import finish_ends

                finish_ends(project)
            result = function(project, **_with_full_ids(project, parameters))
        except BrokenPipeError:
            raise  # the reader has seen enough of what was printed as it went
        except (GroveError, OSError) as error:
            result = Result.failed(str(error))
        if project is not None and not result.names_problems:
            result = _with_warnings(result, project)
        print_result(result, as_json=as_json, quiet=quiet)
        if project is not None:
            if not result.names_problems:
                name_problems(project.problems)
            _update_index(project)
        ctx.exit(result.exit_code)

    return update_wrapper(callback, function)


def _with_full_ids(project: Project, parameters: dict[str, Any]) -> dict[str, Any]:
    """Complete ids of learnings of which a person has typed a piece."""
    named = {name for name in _IDS if parameters.get(name)}
    if not named:
        return parameters
    from grove_core.services.learnings import full_id

    return parameters | {
        name: full_id(project, value)
        if isinstance(value := parameters[name], str)
        else tuple(full_id(project, one) for one in value)
        for name in named
    }


def find_session(
    project: Project, session_id: str | None, *, newest: bool = False
) -> "tuple[Project, Session]":
    """Find the session that a command is about, and its project unless another one was given."""
    from grove_core.services import overview

    found, session = overview.find_session(project, session_id, newest=newest)
    if not overview.named_session(project, session_id):
        live = overview.live_sessions(project)
        if len(live) > 1 or not (live or newest):
            click.echo(f"grove: this is session {session.id}, the newest", err=True)
    context = click.get_current_context()
    is_given = context is not None and given(context, "project") is not None
    return (project if is_given else found), session


def is_interactive() -> bool:
    """Return whether a person sits at a terminal, and wants to read rather than process."""
    context = click.get_current_context()
    parameters = context.params if context else {}
    plain = parameters.get("as_json") or parameters.get("quiet")
    return not plain and sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def _with_warnings(result: Result, project: Project) -> Result:
    """Say that what was done counts nowhere, and fail where what was found is not all."""
    causes = "; ".join(dict.fromkeys(project.lost_events))
    lost = f"the event log cannot be written, so this counts in no numbers: {causes}"
    unread = f"what {', '.join(sorted(project.unread))} holds could not be read, or not all of it"
    warnings = [*([lost] if causes else ()), *([unread] if project.unread else ())]
    if not warnings:
        return result
    failed = bool(project.unread) and not (project.library.has_written or project.has_logged)
    document = result.document
    if document is not None:
        error = {"error": unread} if failed and not result.exit_code else {}
        document = {**document, **error, "warnings": [*document.get("warnings", ()), *warnings]}
    return evolve(
        result,
        document=document,
        warnings=(*result.warnings, *warnings),
        exit_code=result.exit_code or int(failed),
    )


def _update_index(project: Project) -> None:
    try:
        project.index_what_was_written()
    except Exception as error:  # noqa: BLE001 - the command is done, and a hook tries it again
        project.diagnostics.log("error", f"the index could not be brought up to date: {error}")
