"""``grove debug``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.result import Result
from grove_core.cli.session_argument import debt_document, find_named, session_argument
from grove_core.cli.session_report import Section, report
from grove_core.cli.why import retrieval_document
from grove_core.errors import SessionNotFoundError
from grove_core.flow.session_debts import debts_of, life_of
from grove_core.flow.session_files import FastFile, SessionFiles, files_of, read_fast_file
from grove_core.model.gate import Forced, GateStatus
from grove_core.model.session import Session
from grove_core.services.explain import retrievals_of
from grove_core.services.sessions import SessionUpdate, update_session
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console


@click.command("debug")
@session_argument
@click.option(
    "--set-gate",
    type=click.Choice([status.value for status in GateStatus], case_sensitive=False),
    help="Force the gate into this state, past every rule; for tests.",
)
@grove_command
def command(
    invocation: Invocation, *, session: str | None, session_id: str | None, set_gate: str | None
) -> Result:
    """Show everything grove knows of a session, or force its gate.

    Without SESSION it is the one that runs this command, else the only live one of this project.
    """
    invocation, found = find_named(invocation, session, session_id)
    workspace = invocation.workspace
    if set_gate is not None:
        return _force(workspace, found, GateStatus(set_gate))
    files, fast = files_of(workspace, found.id), read_fast_file(workspace, found.id)
    retrievals = retrievals_of(workspace.paths.cache, found.id)
    return Result(
        document={
            **_document(workspace, found, files, fast),
            "retrievals": [retrieval_document(one) for one in retrievals],
        },
        human=lambda console: _human(report(found, files, fast, retrievals, workspace), console),
        ids=[found.id],
    )


def _force(workspace: Workspace, session: Session, status: GateStatus) -> Result:
    def gone() -> Session:
        raise SessionNotFoundError(f"session {session.id} was deleted meanwhile")

    after, _ = update_session(
        workspace,
        session.id,
        lambda stored: SessionUpdate(session=stored, events=[Forced(status=status)]),
        absent=gone,
        cause="forced",
    )
    before = session.gate.status
    return Result(
        document={"session_id": session.id, "before": before, "gate": after.gate.status},
        human=lambda console: console.print(
            f"The gate of session {session.id} was {before.value} and is {after.gate.status.value}."
        ),
        ids=[session.id],
    )


def _document(
    workspace: Workspace, session: Session, files: SessionFiles, fast: FastFile | None
) -> dict[str, Any]:
    return {
        "state": life_of(session, workspace),
        "debts": [debt_document(one) for one in debts_of(session)],
        "max_blocks": workspace.policy.max_blocks,
        "cooldown_seconds": workspace.policy.cooldown_seconds,
        "fast_path": fast,
        "file": files.state,
        "set_aside": files.set_aside,
        "derived": files.derived,
        "session": session,
    }


def _human(sections: Sequence[Section], console: "Console") -> None:
    for number, (title, lines) in enumerate(sections):
        if number:
            console.print()
        console.print(title, style="bold")
        for line in lines:
            console.print(f"  {line}")
