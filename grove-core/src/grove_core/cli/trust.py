"""``grove trust``."""

import sys
from collections.abc import Iterator, Sequence
from shutil import get_terminal_size
from typing import Any, Final

import rich_click as click
from attrs import asdict

from grove_core.cli.app import grove_command, is_interactive
from grove_core.cli.result import Result, plain_console
from grove_core.errors import GroveError
from grove_core.project import Project
from grove_core.services.result import Line
from grove_core.services.trust import (
    TrustState,
    TrustStatus,
    agree,
    examine_trust,
    revoke,
)
from grove_core.storage.trust import Agreement, TrustRequest
from grove_core.text import counted, escape_invisible

_STATUSES: Final = {
    TrustStatus.TRUSTED: ("trusted", "green"),
    TrustStatus.CHANGED: ("not trusted: changed since you agreed", "red"),
    TrustStatus.NEW: ("not trusted", "yellow"),
}
_MARGIN: Final = "  | "
_PIPED_WIDTH: Final = 100
_NARROWEST: Final = 20


@click.command("trust")
@click.option("--yes", is_flag=True, help="Agree to everything that is listed, without asking.")
@click.option("--revoke", "revoking", is_flag=True, help="Take back all that you have agreed to.")
@grove_command
def command(project: Project, *, yes: bool, revoking: bool) -> Result:
    """Show which programs, URLs and files this project asks for, and agree to them.

    What a project's files name is neither run nor reached until you have agreed to it, here and
    word by word: what changes later has to be agreed to again. On a terminal it asks; elsewhere it
    lists. An agent does not agree for you by accident.

    Exit code 1 when something is not trusted and was not asked about.
    """
    if yes and revoking:
        raise click.UsageError("--yes and --revoke exclude each other")
    if revoking:
        agreements = revoke(project)
        gone = [f"no longer trusted: {_named(one)}" for one in agreements.values()]
        return Result(
            document=_document(examine_trust(project), revoked=[*agreements]),
            lines=gone or ["Nothing was trusted in this project."],
            ids=[*agreements],
        )
    state = examine_trust(project)
    by_agent = project.is_run_by_agent
    if yes and by_agent:
        raise GroveError(
            "an agent cannot agree for its user, and --yes was given in an agent's shell; please "
            f"ask the user to run `grove trust` in {project.root}, in a terminal of their own"
        )
    asked, hint = state.untrusted, ""
    said = "All of it is trusted." if state.asked else "Nothing in this project asks for trust."
    if asked and yes:
        state = agree(project, state)
        said = f"Agreed to {counted(len(asked), 'request')}."
    elif asked and is_interactive() and not by_agent:
        return _ask(project, state)
    elif asked:
        how = "you agree: run `grove trust` in a terminal, or `grove trust --yes`"
        if by_agent:
            how = "the user agrees: ask for `grove trust` in a terminal of the user's own"
        said = ""
        hint = f"{counted(len(asked), 'request')} not trusted, without effect until {how}"
    return Result(
        document=_document(state, agreed=[one.request.digest for one in asked if yes]),
        lines=[*_lines(state), *([said] if said else [])],
        ids=[one.request.digest for one in state.asked],
        exit_code=1 if state.untrusted or state.silent else 0,
        warnings=[*_warnings(state), *([hint] if hint else [])],
    )


def _ask(project: Project, state: TrustState) -> Result:
    """Show everything, and ask once."""
    console = plain_console()
    for line in Result(document={}, lines=[*_lines(state)]).texts:
        console.print(line)
    # Named once more: what is long has scrolled away.
    names = ", ".join(_named(one.request) for one in state.untrusted)
    text = "Nothing was changed."
    if click.confirm(f"Trust all of these: {names}?", default=False):
        state = agree(project, state)
        text = "Trusted. `grove trust --revoke` takes it back."
    return Result(document={}, lines=[text], warnings=_warnings(state))


def _warnings(state: TrustState) -> list[str]:
    silent = [f"the backend {one} could not say what the project asks for" for one in state.silent]
    return [*([state.fault] if state.fault else []), *silent]


def _document(
    state: TrustState, *, agreed: Sequence[str] = (), revoked: Sequence[str] = ()
) -> dict[str, Any]:
    requests = [
        {"digest": one.request.digest, **asdict(one.request), "status": one.status}
        for one in state.asked
    ]
    return {"requests": requests, "agreed": agreed, "revoked": revoked}


def _lines(state: TrustState) -> Iterator[Line]:
    """Write each request in full, and so that none of a stranger's text looks like ours."""
    from rich.cells import chop_cells

    width = get_terminal_size().columns if sys.stdout.isatty() else _PIPED_WIDTH
    room = max(width - len(_MARGIN), _NARROWEST)
    for one in state.asked:
        yield [f"{_named(one.request)}  ", _STATUSES[one.status]]
        for line in one.request.content.split("\n"):
            for piece in chop_cells(escape_invisible(line), room) or [""]:
                yield f"{_MARGIN}{piece}"
        yield ""


def _named(one: Agreement | TrustRequest) -> str:
    return f"{escape_invisible(one.subject)} ({escape_invisible(one.source)})"
