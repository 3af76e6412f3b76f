"""Deleting the state of sessions: what may go, and how it goes."""

import os
from contextlib import suppress
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from grove_core.errors import StorageError
from grove_core.flow.session_debts import Debt, Life, debts_of, life_of
from grove_core.flow.session_files import SessionFiles, modified_at, read_again, survey
from grove_core.model.gate import GateStatus
from grove_core.model.session import Session
from grove_core.services.sessions import IDLE_LIMIT
from grove_core.storage import files
from grove_core.text import clean_line
from grove_core.workspace import Workspace

_LOCK_SECONDS: Final = 1.0
_LONGEST_PATH: Final = 300
_UNFINISHED: Final = (GateStatus.ACTIVE, GateStatus.PENDING, GateStatus.BLOCKED)


@frozen(kw_only=True)
class CleaningLimits:
    """What is to be deleted."""

    before: datetime | None = None
    orphans: bool = False

    def reaches(self, moment: datetime, now: datetime) -> bool:
        """Return whether a file without a session is old enough to go."""
        is_old = self.before is not None and moment < self.before
        return is_old or (self.orphans and now - moment > IDLE_LIMIT)


class Reason(Enum):
    """Why something is deleted or kept."""

    OLD = "old"
    ORPHAN = "orphan"
    LEFTOVER = "leftover"
    LIVE = "live"
    RECENT = "recent"
    FINISHED = "finished"
    OWES = "owes"
    UNREADABLE = "unreadable"
    FAILED = "failed"

    @property
    def deletes(self) -> bool:
        """Whether it is a reason to delete."""
        return self in (Reason.OLD, Reason.ORPHAN, Reason.LEFTOVER)


@frozen(kw_only=True)
class Choice:
    """What is to become of a session's files, or became of them."""

    found: SessionFiles
    reason: Reason
    detail: str
    debts: tuple[Debt, ...] = ()
    removed: tuple[Path, ...] = ()


def choose(found: SessionFiles, life: Life | None, limits: CleaningLimits, now: datetime) -> Choice:
    """Decide what becomes of a session's files."""
    debts = debts_of(found.session) if found.session is not None else ()
    reason, detail = _reason(found, life, limits, now)
    return Choice(found=found, reason=reason, detail=detail, debts=debts)


def _reason(
    found: SessionFiles, life: Life | None, limits: CleaningLimits, now: datetime
) -> tuple[Reason, str]:
    if found.fault:
        return _reason_of_unreadable(found, limits, now)
    if found.session is None:
        if limits.reaches(found.written_at, now):
            return Reason.LEFTOVER, "files without a session"
        return Reason.RECENT, "too new"
    if life is Life.LIVE:
        return Reason.LIVE, "it is live"
    return _reason_of_finished(found.session, limits, now)


def _reason_of_finished(
    session: Session, limits: CleaningLimits, now: datetime
) -> tuple[Reason, str]:
    status = session.gate.status
    is_idle = now - session.updated_at > IDLE_LIMIT
    is_old = limits.before is not None and session.updated_at < limits.before
    if limits.orphans and is_idle and status in _UNFINISHED:
        return Reason.ORPHAN, f"it was left {status.value}"
    if status.owes_reflection and (is_old or limits.orphans):
        hint = "an orphan only after 24 hours" if limits.orphans else "only --orphans deletes it"
        return Reason.OWES, f"it {debts_of(session)[0]}; {hint}"
    if is_old:
        return Reason.OLD, "it is over"
    if limits.before is None:
        return Reason.FINISHED, "it is no orphan"
    return Reason.RECENT, "too new"


def _reason_of_unreadable(
    found: SessionFiles, limits: CleaningLimits, now: datetime
) -> tuple[Reason, str]:
    if not found.is_plain:
        return Reason.UNREADABLE, f"{found.state} is no plain file; grove leaves it alone"
    detail = f"its state cannot be read ({found.fault}) and may hold a debt"
    if limits.orphans and now - found.written_at > IDLE_LIMIT:
        return Reason.ORPHAN, detail
    if limits.reaches(found.written_at, now):
        return Reason.UNREADABLE, f"{detail}; only --orphans deletes it"
    return Reason.RECENT, "too new"


def clean(workspace: Workspace, limits: CleaningLimits, *, dry_run: bool) -> list[Choice]:
    """Delete the state of sessions of all projects, and what belongs to it in the cache."""
    if not _is_own(workspace, workspace.paths.sessions):
        raise StorageError(
            f"{workspace.paths.sessions} leads out of {workspace.paths.home}; nothing was deleted:"
            " replace the symbolic link by a directory of its own"
        )
    chosen = [_choose_now(workspace, found, limits) for found in survey(workspace)]
    return [
        _carry_out(workspace, choice, limits, dry_run=dry_run) if choice.reason.deletes else choice
        for choice in chosen
    ]


def _choose_now(workspace: Workspace, found: SessionFiles, limits: CleaningLimits) -> Choice:
    life = None
    if found.session is not None:
        life = Life.LIVE if _client_runs(found.session) else life_of(found.session, workspace)
    return choose(found, life, limits, workspace.now)


def _client_runs(session: Session) -> bool:
    """Return whether a session that has been idle for days may still go on."""
    known = session.ended_at is None and session.process_id is not None
    return known and files.is_running(session.process_id or 0)


def _carry_out(
    workspace: Workspace, choice: Choice, limits: CleaningLimits, *, dry_run: bool
) -> Choice:
    if dry_run:
        return evolve(choice, removed=_doomed(workspace, choice.found, limits))
    path = workspace.sessions.path(choice.found.session_id)
    try:
        # The lock makes the file where there is none; it goes with the others.
        with files.locked(path, mode=0o600, timeout=_LOCK_SECONDS):
            return _delete_locked(workspace, choice, limits)
    except StorageError as error:
        return evolve(choice, reason=Reason.FAILED, detail=str(error))


def _delete_locked(workspace: Workspace, choice: Choice, limits: CleaningLimits) -> Choice:
    """Look again, since another process may have written meanwhile, and delete."""
    latest = _choose_now(workspace, read_again(workspace, choice.found), limits)
    if not latest.reason.deletes:
        return latest
    doomed = _doomed(workspace, latest.found, limits)
    state = workspace.sessions.path(latest.found.session_id)
    try:
        # The state goes last: what is left after a fault is still found by its session.
        for path in (*(one for one in doomed if one != state), state):
            path.unlink(missing_ok=True)
    except OSError as error:
        if latest.found.state is None:
            with suppress(OSError):
                state.unlink(missing_ok=True)
        raise StorageError(f"cannot remove {path}: {error.strerror or error}") from error
    return evolve(latest, removed=doomed)


def _doomed(workspace: Workspace, found: SessionFiles, limits: CleaningLimits) -> tuple[Path, ...]:
    """The files that go: of what was set aside, only what is old enough itself."""
    now = workspace.now
    old = [one for one in found.set_aside if limits.reaches(modified_at(one) or now, now)]
    state = () if found.state is None else (found.state,)
    return tuple(one for one in (*state, *old, *found.derived) if _is_own(workspace, one.parent))


def _is_own(workspace: Workspace, directory: Path) -> bool:
    """Return whether a directory is inside of grove's own one, links resolved."""
    home = os.path.realpath(workspace.paths.home)
    return Path(os.path.realpath(directory)).is_relative_to(home)


def warning_of(choice: Choice, *, dry_run: bool) -> str:
    """Say that a session goes though it was left in the middle of something, or owes."""
    if choice.reason is not Reason.ORPHAN and not (choice.reason.deletes and choice.debts):
        return ""
    session = choice.found.session
    where = f" of {clean_line(session.project_root, _LONGEST_PATH)}" if session is not None else ""
    said = " and ".join(f"it {debt}" for debt in choice.debts) or choice.detail
    verb = "would be deleted" if dry_run else "is deleted"
    return f"session {choice.found.session_id}{where} {verb} though {said}"
