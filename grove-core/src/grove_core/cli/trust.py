"""``grove trust``."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

import rich_click as click
from attrs import asdict

from grove_core.cli.app import Invocation, grove_command, is_interactive
from grove_core.cli.result import Result
from grove_core.errors import GroveError
from grove_core.services.trust import (
    Asked,
    TrustState,
    TrustStatus,
    agree,
    examine_trust,
    revoke,
)
from grove_core.storage.trust import Agreements
from grove_core.text import counted, escape_invisible

if TYPE_CHECKING:
    from rich.console import Console

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
def command(invocation: Invocation, *, yes: bool, revoking: bool) -> Result:
    """Show which programs, URLs and files this project asks for, and agree to them.

    What a project's files name is neither run nor reached until you have agreed to it, here and
    word by word: what changes later has to be agreed to again. On a terminal it asks; elsewhere it
    lists. An agent does not agree for you by accident.

    Exit code 1 when something is not trusted and was not asked about.
    """
    if yes and revoking:
        raise click.UsageError("--yes and --revoke exclude each other")
    project = invocation.project
    if revoking:
        agreements = revoke(project)
        return _revoked(agreements, examine_trust(project))
    state = examine_trust(project)
    by_agent = bool(project.environment.get("CLAUDECODE"))
    if yes and by_agent:
        raise GroveError(
            "an agent cannot agree for its user, and --yes was given in an agent's shell; please "
            f"ask the user to run `grove trust` in {project.root}, in a terminal of their own"
        )
    if not state.untrusted:
        return _result(state)
    if yes:
        return _result(agree(project, state), agreed=state.untrusted)
    if is_interactive() and not by_agent:
        return _asked(invocation, state)
    start = f"{counted(len(state.untrusted), 'request')} not trusted, without effect until"
    how = "you agree: run `grove trust` in a terminal, or `grove trust --yes`"
    if by_agent:
        how = "the user agrees: ask for `grove trust` in a terminal of the user's own"
    return _result(state, hint=f"{start} {how}")


def _asked(invocation: Invocation, state: TrustState) -> Result:
    """Show everything, and ask once."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    for each in state.asked:
        _print(each, console)
    # Named once more: what is long has scrolled away.
    names = ", ".join(_named(one.request.subject, one.request.source) for one in state.untrusted)
    question = f"Trust {names}?" if len(state.untrusted) == 1 else f"Trust all of these: {names}?"
    text = "Nothing was changed."
    if click.confirm(question, default=False):
        state = agree(invocation.project, state)
        text = "Trusted. `grove trust --revoke` takes it back."
    return Result(document={}, human=lambda console: console.print(text), warnings=_warnings(state))


def _result(state: TrustState, *, agreed: Sequence[Asked] = (), hint: str = "") -> Result:
    def human(console: "Console") -> None:
        for each in state.asked:
            _print(each, console)
        if not state.asked:
            console.print("Nothing in this project asks for trust.")
        elif agreed:
            console.print(f"Agreed to {counted(len(agreed), 'request')}.")
        elif not state.untrusted:
            console.print("All of it is trusted.", style="dim")

    return Result(
        document=_document(state, agreed=[one.request.digest for one in agreed]),
        human=human,
        ids=[one.request.digest for one in state.asked],
        exit_code=1 if state.untrusted or state.silent else 0,
        warnings=(*_warnings(state), *([hint] if hint else [])),
    )


def _revoked(agreements: Agreements, state: TrustState) -> Result:
    revoked = [*agreements]

    def human(console: "Console") -> None:
        for one in agreements.values():
            console.print(f"no longer trusted: {_named(one.subject, one.source)}")
        if not agreements:
            console.print("Nothing was trusted in this project.")

    return Result(document=_document(state, revoked=revoked), human=human, ids=revoked)


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


def _print(asked: Asked, console: "Console") -> None:
    from rich.text import Text

    request = asked.request
    head = Text(f"{_named(request.subject, request.source)}  ")
    console.print(head + Text(*_STATUSES[asked.status]))
    for line in _framed(request.content, console):
        console.print(line)
    console.print()


def _named(subject: str, source: str) -> str:
    return f"{escape_invisible(subject)} ({escape_invisible(source)})"


def _framed(content: str, console: "Console") -> Iterator[str]:
    """Write a stranger's text in full, and so that none of it looks like ours."""
    from rich.cells import chop_cells

    width = console.width if sys.stdout.isatty() else _PIPED_WIDTH
    room = max(width - len(_MARGIN), _NARROWEST)
    for line in content.split("\n"):
        for piece in chop_cells(escape_invisible(line), room) or [""]:
            yield f"{_MARGIN}{piece}"
