"""Sessions: whether hooks run here, what cannot be read, what is owed."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.clock import format_instant
from grove_core.flow.session_debts import DebtKind, Life, debts_of, life_of
from grove_core.flow.session_files import survey
from grove_core.health.check import Check, ok, warning
from grove_core.model.session import Session
from grove_core.services.sessions import IDLE_LIMIT
from grove_core.session_server import ServerRecords
from grove_core.workspace import Workspace

_LATELY: Final = timedelta(days=7)
_SILENT: Final = timedelta(days=30)
"""A project may rest for a while; a month without any hook is worth a look."""


@frozen(kw_only=True)
class SessionDebt:
    """A reflection that nobody is held for any more."""

    session_id: str
    text: str


@frozen(kw_only=True)
class UnreadableState:
    """A session's state that cannot be read."""

    path: Path
    fault: str
    written_at: datetime
    is_plain: bool = True


@frozen(kw_only=True)
class SessionFacts:
    """The sessions that grove knows."""

    here: tuple[Session, ...]
    elsewhere: int = 0
    unreadable: tuple[UnreadableState, ...] = ()
    set_aside: tuple[Path, ...] = ()
    debts: tuple[SessionDebt, ...] = ()


def gather_sessions(workspace: Workspace) -> SessionFacts:
    """Read everything that is kept of sessions."""
    kept = survey(workspace)
    known = [one.session for one in kept if one.session is not None]
    here = [one for one in known if one.project_root == str(workspace.root)]
    return SessionFacts(
        here=tuple(here),
        elsewhere=len(known) - len(here),
        unreadable=tuple(
            UnreadableState(
                path=one.state, fault=one.fault, written_at=one.written_at, is_plain=one.is_plain
            )
            for one in kept
            if one.fault and one.state is not None
        ),
        set_aside=tuple(path for one in kept for path in one.set_aside),
        debts=tuple(debt for one in here for debt in _debts_of(one, workspace)),
    )


def _debts_of(session: Session, workspace: Workspace) -> Iterator[SessionDebt]:
    is_live = life_of(session, workspace) is Life.LIVE
    for debt in debts_of(session):
        is_held = debt.kind is DebtKind.OPEN and is_live
        # States that were set aside are named by themselves.
        if not is_held and debt.kind is not DebtKind.UNREADABLE:
            yield SessionDebt(session_id=session.id, text=str(debt))


def ran_lately(facts: SessionFacts, now: datetime) -> datetime | None:
    """Tell when a hook last ran in the project, if that was within a week."""
    newest = max((one.updated_at for one in facts.here), default=None)
    return newest if newest is not None and now - newest <= _LATELY else None


def judge_sessions(facts: SessionFacts, now: datetime) -> Sequence[Check]:
    """Return whether hooks run here, and what sessions have left behind."""
    return [_activity(facts, now), *_states(facts, now), *_debts(facts)]


def _activity(facts: SessionFacts, now: datetime) -> Check:
    name = "hooks running"
    mend = "Start a session of the client here, then look again; the client's /hooks lists hooks"
    if not facts.here:
        elsewhere = f" (sessions of other projects: {facts.elsewhere})" if facts.elsewhere else ""
        return warning(name, f"no hook has run in this project yet{elsewhere}", mend)
    newest = max(facts.here, key=lambda one: one.updated_at)
    detail = f"last at {format_instant(newest.updated_at)}, in session {newest.id}"
    silence = now - newest.updated_at
    if silence > _LATELY:
        detail = f"{detail}; nothing since, for {silence.days} days"
    if silence > _SILENT:
        return warning(name, detail, f"If you have worked here with the client since: {mend}")
    return ok(name, detail)


def _states(facts: SessionFacts, now: datetime) -> Sequence[Check]:
    name = "session state"
    checks = [
        warning(name, f"{state.path}: {state.fault}", _mend_of_state(state, now))
        for state in facts.unreadable
    ]
    for path in facts.set_aside:
        mend = "See whether a reflection is owed there, then delete the file"
        checks.append(warning(name, f"{path} could not be read and was set aside", mend))
    return checks or [ok(name, "all of it can be read")]


def _mend_of_state(state: UnreadableState, now: datetime) -> str:
    debt = "a ticket closed there may still owe a reflection"
    if not state.is_plain:
        return f"Look at {state.path} and move it away: grove touches plain files only; {debt}"
    if now - state.written_at > IDLE_LIMIT:
        return f"grove clean --orphans deletes it; {debt}"
    return (
        "If it goes on, its next hook sets it aside; if it is over, grove clean --orphans deletes"
        " it 24 hours after it was written, from"
        f" {format_instant(state.written_at + IDLE_LIMIT)} on; {debt}"
    )


def _debts(facts: SessionFacts) -> Sequence[Check]:
    checks = []
    for debt in facts.debts:
        option = f"--session-id {debt.session_id}"
        mend = (
            f"If you know what it taught: grove reflect {option}; else: grove skip REASON {option}"
        )
        checks.append(warning("debts", f"session {debt.session_id} {debt.text}", mend))
    return checks or [ok("debts", "no session of this project that is over owes a reflection")]


def judge_servers(facts: SessionFacts, workspace: Workspace, version: str) -> Sequence[Check]:
    """Return whether the servers of live sessions live, and are of this version."""
    name = "session servers"
    records = ServerRecords(workspace.paths.cache)
    live = [one for one in facts.here if life_of(one, workspace) is Life.LIVE]
    found = [(one.id, server) for one in live if (server := records.read(one.id)) is not None]
    checks = []
    for session_id, server in found:
        if not server.alive:
            detail = f"the server of session {session_id} has ended, and no hook has come since"
            fix = "The client starts it for the next hook; if it does not, /mcp there says why"
            checks.append(warning(name, detail, fix))
        elif server.version != version:
            detail = f"the server of session {session_id} runs {server.version}, not {version}"
            checks.append(warning(name, detail, "It ends by itself after its next hook"))
    if found and not checks:
        checks.append(ok(name, f"{len(found)} of {len(live)} live sessions have one"))
    return checks
