"""``grove trust``."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command, is_interactive
from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.errors import GroveError
from grove_core.flow.trusting import Asked, Standing, TrustState, agree, look_at_trust, revoke
from grove_core.storage.trust import Agreement
from grove_core.text import escape_invisible

if TYPE_CHECKING:
    from rich.console import Console

_WORDS: Final = {
    Standing.TRUSTED: "trusted",
    Standing.CHANGED: "not trusted: changed since you agreed",
    Standing.NEW: "not trusted",
}
_STYLES: Final = {Standing.TRUSTED: "green", Standing.CHANGED: "red", Standing.NEW: "yellow"}
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

    Exit code 1 when something is not trusted and nobody was asked.
    """
    if yes and revoking:
        raise click.UsageError("--yes and --revoke exclude each other")
    workspace = invocation.workspace
    if revoking:
        agreements = revoke(workspace)
        return _revoked(agreements, look_at_trust(workspace))
    state = look_at_trust(workspace)
    by_agent = bool(workspace.environment.get("CLAUDECODE"))
    if yes and by_agent:
        raise GroveError(
            "an agent cannot agree for its user, and --yes was given in an agent's shell; please "
            f"ask the user to run `grove trust` in {workspace.root}, in a terminal of their own"
        )
    if not state.untrusted:
        return _result(state)
    if yes:
        return _result(agree(workspace, state), agreed=state.untrusted)
    if is_interactive() and not by_agent:
        return _asked(invocation, state)
    return _result(state, hint=_hint(len(state.untrusted), by_agent=by_agent))


def _hint(untrusted: int, *, by_agent: bool) -> str:
    start = f"{counted(untrusted, 'request')} not trusted, without effect until"
    if by_agent:
        return f"{start} the user agrees: ask for `grove trust` in a terminal of the user's own"
    return f"{start} you agree: run `grove trust` in a terminal, or `grove trust --yes`"


def _asked(invocation: Invocation, state: TrustState) -> Result:
    """Show everything, and ask once."""
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    for each in state.asked:
        _print(each, console)
    # Named once more: what is long has scrolled away.
    names = ", ".join(_named(one.request.subject, one.request.source) for one in state.untrusted)
    question = f"Trust {names}?" if len(state.untrusted) == 1 else f"Trust all of these: {names}?"
    if not click.confirm(question, default=False):
        return Result(
            document={},
            human=lambda console: console.print("Nothing was changed."),
            warnings=_warnings(state),
        )
    state = agree(invocation.workspace, state)
    words = "Trusted. `grove trust --revoke` takes it back."
    return Result(
        document={}, human=lambda console: console.print(words), warnings=_warnings(state)
    )


def _result(state: TrustState, *, agreed: Sequence[Asked] = (), hint: str = "") -> Result:
    return Result(
        document=_document(state, agreed=[one.request.digest for one in agreed]),
        human=lambda console: _human(state, len(agreed), console),
        ids=[one.request.digest for one in state.asked],
        exit_code=1 if state.untrusted or state.silent else 0,
        warnings=(*_warnings(state), *([hint] if hint else [])),
    )


def _warnings(state: TrustState) -> list[str]:
    silent = [f"the backend {one} could not say what the project asks for" for one in state.silent]
    return [*([state.fault] if state.fault else []), *silent]


def _document(
    state: TrustState, *, agreed: Sequence[str] = (), revoked: Sequence[str] = ()
) -> Mapping[str, Any]:
    requests = [_described(one) for one in state.asked]
    return {"requests": requests, "agreed": agreed, "revoked": revoked}


def _described(asked: Asked) -> Mapping[str, Any]:
    request = asked.request
    return {
        "digest": request.digest,
        "subject": request.subject,
        "source": request.source,
        "content": request.content,
        "status": asked.standing,
    }


def _human(state: TrustState, agreed: int, console: "Console") -> None:
    for each in state.asked:
        _print(each, console)
    if not state.asked:
        console.print("Nothing in this project asks for trust.")
    elif agreed:
        console.print(f"Agreed to {counted(agreed, 'request')}.")
    elif not state.untrusted:
        console.print("All of it is trusted.", style="dim")


def _print(asked: Asked, console: "Console") -> None:
    from rich.text import Text

    request = asked.request
    head = Text(f"{_named(request.subject, request.source)}  ")
    console.print(head + Text(_WORDS[asked.standing], style=_STYLES[asked.standing]))
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


def _revoked(agreements: Sequence[Agreement], state: TrustState) -> Result:
    revoked = [one.digest for one in agreements]
    return Result(
        document=_document(state, revoked=revoked),
        human=lambda console: _human_revoked(agreements, console),
        ids=revoked,
    )


def _human_revoked(agreements: Sequence[Agreement], console: "Console") -> None:
    for one in agreements:
        console.print(f"no longer trusted: {_named(one.subject, one.source)}")
    if not agreements:
        console.print("Nothing was trusted in this project.")
