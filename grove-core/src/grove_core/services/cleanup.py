"""The files that grove keeps of sessions, and deleting those of old ones."""

import os
from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen

from grove_core.errors import CodecError, StorageError
from grove_core.identifiers import is_session_id
from grove_core.model.gate import GateStatus
from grove_core.model.session import Session
from grove_core.project import Project
from grove_core.services.overview import (
    Liveness,
    PendingReflection,
    liveness_of,
    pending_reflections,
)
from grove_core.services.sessions import IDLE_LIMIT
from grove_core.storage import files
from grove_core.text import clean_line

_LOCK_SECONDS: Final = 1.0
_LONGEST_PATH: Final = 300
_UNFINISHED: Final = (GateStatus.ACTIVE, GateStatus.PENDING, GateStatus.BLOCKED)


@frozen(kw_only=True)
class SessionFiles:
    """The files of one session."""

    session_id: str
    written_at: datetime
    session: Session | None = None
    fault: str = ""
    state: Path | None = None
    set_aside: tuple[Path, ...] = ()
    derived: tuple[Path, ...] = ()


def survey(project: Project) -> list[SessionFiles]:
    """Look at everything that is kept of sessions, of all projects."""
    found = [_describe(project, owner, paths) for owner, paths in _by_owner(project).items()]
    return sorted(found, key=lambda one: one.written_at, reverse=True)


def files_of(project: Project, session_id: str) -> SessionFiles:
    """Look at what is kept of one session."""
    return _describe(project, session_id, _by_owner(project).get(session_id, []))


def read_fast_file(project: Project, session_id: str) -> Mapping[str, Any] | None:
    """Read what a hook looks at before it imports anything."""
    path = project.paths.cache / "fast" / session_id
    try:
        flag, *words = path.read_text("utf-8", "replace").split("\n")
    except OSError:
        return None
    return {"path": path, "close_waits": flag == "1", "words": [*filter(None, words)]}


def modified_at(path: Path) -> datetime | None:
    """Return when a file was last written."""
    try:
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC).replace(microsecond=0)
    except (OSError, OverflowError, ValueError):
        return None


def _by_owner(project: Project) -> dict[str, list[Path]]:
    """Find all files of all sessions, by session id."""
    cache = project.paths.cache
    kept_in = (project.paths.sessions, cache / "fast", cache / "retrievals")
    found: dict[str, list[Path]] = defaultdict(list)
    # A project may have moved since, so the entries of open sessions are looked for in all.
    for directory in (*kept_in, *cache.glob("*/open-sessions")):
        for name in os.listdir(directory) if directory.is_dir() else ():  # noqa: PTH208 - as it is
            # A file that is not complete yet has a dot in front.
            owner = name.removeprefix(".").partition(".")[0]
            if is_session_id(owner):
                found[owner].append(directory / name)
    return found


def _describe(project: Project, session_id: str, paths: list[Path]) -> SessionFiles:
    state = next((path for path in paths if path.name == f"{session_id}.json"), None)
    set_aside = [path for path in paths if path.name.startswith(f"{session_id}.json.corrupt-")]
    newest = state or max(paths, key=lambda path: modified_at(path) or project.now, default=None)
    found = SessionFiles(
        session_id=session_id,
        # What has no time counts as new, so that nothing is thrown away because of it.
        written_at=(modified_at(newest) if newest else None) or project.now,
        state=state,
        set_aside=tuple(sorted(set_aside)),
        derived=tuple(sorted({*paths} - {state, *set_aside})),
    )
    return found if state is None else _read(project, found)


def _read(project: Project, found: SessionFiles) -> SessionFiles:
    try:
        session = project.sessions.get(found.session_id)
    except (CodecError, StorageError) as error:
        return evolve(found, session=None, fault=str(error))
    if session is None:
        return evolve(found, session=None)
    return evolve(found, session=session, written_at=session.updated_at)


@frozen(kw_only=True)
class CleaningLimits:
    """Which sessions to delete."""

    before: datetime | None = None
    orphans: bool = False

    def is_old(self, at: datetime) -> bool:
        """Return whether something was written before the given date."""
        return self.before is not None and at < self.before

    def is_orphan(self, at: datetime, now: datetime) -> bool:
        """Return whether orphans go, and something has been left for long enough to be one."""
        return self.orphans and now - at > IDLE_LIMIT


class Reason(Enum):
    """Why something is deleted or kept."""

    OLD = "old"
    ORPHAN = "orphan"
    LEFTOVER = "leftover"
    LIVE = "live"
    RECENT = "recent"
    FINISHED = "finished"
    PENDING = "pending"
    UNREADABLE = "unreadable"
    FAILED = "failed"

    @property
    def deletes(self) -> bool:
        """Whether it is a reason to delete."""
        return self in (Reason.OLD, Reason.ORPHAN, Reason.LEFTOVER)


@frozen(kw_only=True)
class Choice:
    """Whether a session's files are deleted, and why."""

    found: SessionFiles
    reason: Reason
    detail: str
    removed: tuple[Path, ...] = ()

    @property
    def pending(self) -> tuple[PendingReflection, ...]:
        """The reflections that the session has not given."""
        return pending_reflections(self.found.session) if self.found.session else ()

    def warning(self, *, dry_run: bool) -> str:
        """Say that an unfinished session goes, or one with a pending reflection."""
        if self.reason is not Reason.ORPHAN and not (self.reason.deletes and self.pending):
            return ""
        session = self.found.session
        where = f" of {clean_line(session.project_root, _LONGEST_PATH)}" if session else ""
        said = " and ".join(f"it {one}" for one in self.pending) or self.detail
        verb = "would be deleted" if dry_run else "is deleted"
        return f"session {self.found.session_id}{where} {verb} though {said}"


def choose(
    found: SessionFiles, limits: CleaningLimits, now: datetime, *, is_live: bool = False
) -> Choice:
    """Decide what becomes of a session's files."""
    if is_live:
        reason, detail = Reason.LIVE, "it is live"
    elif found.session is not None:
        reason, detail = _reason_of_finished(found.session, limits, now)
    elif not limits.is_old(found.written_at) and not limits.is_orphan(found.written_at, now):
        reason, detail = Reason.RECENT, "too new"
    elif not found.fault:
        reason, detail = Reason.LEFTOVER, "files without a session"
    else:
        reason = Reason.ORPHAN if limits.is_orphan(found.written_at, now) else Reason.UNREADABLE
        end = "" if reason.deletes else "; only --orphans deletes it"
        detail = f"its state cannot be read ({found.fault}) and may hold a pending reflection{end}"
    return Choice(found=found, reason=reason, detail=detail)


def _reason_of_finished(
    session: Session, limits: CleaningLimits, now: datetime
) -> tuple[Reason, str]:
    status, is_old = session.gate.status, limits.is_old(session.updated_at)
    if limits.is_orphan(session.updated_at, now) and status in _UNFINISHED:
        return Reason.ORPHAN, f"it was left {status.value}"
    if status.reflection_pending and (is_old or limits.orphans):
        hint = "an orphan only after 24 hours" if limits.orphans else "only --orphans deletes it"
        return Reason.PENDING, f"it {pending_reflections(session)[0]}; {hint}"
    if is_old:
        return Reason.OLD, "it is over"
    if limits.before is None:
        return Reason.FINISHED, "it is no orphan"
    return Reason.RECENT, "too new"


def clean(project: Project, limits: CleaningLimits, *, dry_run: bool) -> list[Choice]:
    """Delete the state of sessions of all projects, and what belongs to it in the cache."""
    return [_clean(project, found, limits, dry_run=dry_run) for found in survey(project)]


def _clean(
    project: Project, found: SessionFiles, limits: CleaningLimits, *, dry_run: bool
) -> Choice:
    choice = _choose_now(project, found, limits)
    if not choice.reason.deletes:
        return choice
    if dry_run:
        return evolve(choice, removed=_doomed(project, found, limits))
    path = project.sessions.path(found.session_id)
    try:
        # The lock makes the file where there is none; it goes with the others.
        with files.locked(path, mode=0o600, timeout=_LOCK_SECONDS):
            # Another process may have written meanwhile.
            latest = _choose_now(project, _read(project, found), limits)
            if not latest.reason.deletes:
                return latest
            doomed = _doomed(project, found, limits)
            # The state goes last: what is left after a fault is still found by its session.
            for one in (*(one for one in doomed if one != path), path):
                one.unlink(missing_ok=True)
    except (OSError, StorageError) as error:
        return evolve(choice, reason=Reason.FAILED, detail=str(error))
    return evolve(latest, removed=doomed)


def _choose_now(project: Project, found: SessionFiles, limits: CleaningLimits) -> Choice:
    session = found.session
    is_live = session is not None and liveness_of(session, project) is Liveness.LIVE
    if session is not None and session.ended_at is None and session.process_id is not None:
        # It may go on even though it has been idle for days.
        is_live = is_live or files.is_running(session.process_id)
    return choose(found, limits, project.now, is_live=is_live)


def _doomed(project: Project, found: SessionFiles, limits: CleaningLimits) -> tuple[Path, ...]:
    """List the files that go: of what was set aside, only what is old enough itself."""
    now = project.now
    written = {one: modified_at(one) or now for one in found.set_aside}
    old = [one for one, at in written.items() if limits.is_old(at) or limits.is_orphan(at, now)]
    return (*(() if found.state is None else (found.state,)), *old, *found.derived)
