"""The files that grove keeps of sessions, and deleting those of old ones."""

import os
from collections import defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

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

    @property
    def all(self) -> tuple[Path, ...]:
        """Every file; the state comes last, so that after a fault the rest is still found by it."""
        return (*self.set_aside, *self.derived, *((self.state,) if self.state else ()))


def survey(project: Project) -> list[SessionFiles]:
    """Look at everything that is kept of sessions, of all projects."""
    found = [_describe(project, owner, paths) for owner, paths in _by_owner(project).items()]
    return sorted(found, key=lambda one: one.written_at, reverse=True)


def files_of(project: Project, session_id: str) -> SessionFiles:
    """Look at what is kept of one session."""
    return _describe(project, session_id, _by_owner(project).get(session_id, []))


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
    written_at = session.updated_at if session else found.written_at
    return evolve(found, session=session, written_at=written_at)


_DELETING: Final = ("old", "orphan", "leftover")
"""The reasons to delete; others are reasons to keep."""


@frozen(kw_only=True)
class Choice:
    """Whether a session's files are deleted, and why."""

    found: SessionFiles
    reason: str
    detail: str

    @property
    def deletes(self) -> bool:
        """Whether they are."""
        return self.reason in _DELETING

    @property
    def pending(self) -> tuple[PendingReflection, ...]:
        """The reflections that the session has not given."""
        return pending_reflections(self.found.session) if self.found.session else ()

    def warning(self, *, dry_run: bool) -> str:
        """Say that an unfinished session goes, or one with a pending reflection."""
        if self.reason != "orphan" and not (self.deletes and self.pending):
            return ""
        session = self.found.session
        where = f" of {clean_line(session.project_root, _LONGEST_PATH)}" if session else ""
        said = " and ".join(f"it {one}" for one in self.pending) or self.detail
        verb = "would be deleted" if dry_run else "is deleted"
        return f"session {self.found.session_id}{where} {verb} though {said}"


def clean(
    project: Project, before: datetime | None, *, orphans: bool, dry_run: bool
) -> list[Choice]:
    """Delete the state of sessions of all projects, and what belongs to it in the cache."""

    def choice(found: SessionFiles) -> Choice:
        reason, detail = _choose(project, found, before, orphans=orphans)
        return Choice(found=found, reason=reason, detail=detail)

    choices = []
    for found in survey(project):
        chosen = choice(found)
        if chosen.deletes and not dry_run:
            path = project.sessions.path(found.session_id)
            try:
                # The lock makes the file where there is none; it goes with the others.
                with files.locked(path, mode=0o600, timeout=_LOCK_SECONDS):
                    # Another process may have written meanwhile.
                    chosen = choice(_read(project, found))
                    for one in (*found.all, path) if chosen.deletes else ():
                        one.unlink(missing_ok=True)
            except (OSError, StorageError) as error:
                chosen = evolve(chosen, reason="failed", detail=str(error))
        choices.append(chosen)
    return choices


def _choose(
    project: Project, found: SessionFiles, before: datetime | None, *, orphans: bool
) -> tuple[str, str]:
    """Decide what becomes of a session's files: a word for it, and a sentence."""
    session, left = found.session, project.now - found.written_at > IDLE_LIMIT
    is_old, is_orphan = before is not None and found.written_at < before, orphans and left
    if session is None:
        return _choose_without_state(found, is_old=is_old, is_orphan=is_orphan)
    status, process = session.gate.status, session.process_id
    # It may go on even though it has been idle for days.
    runs = session.ended_at is None and process is not None and files.is_running(process)
    if runs or liveness_of(session, project) is Liveness.LIVE:
        chosen = "live", "it is live"
    elif is_orphan and status in _UNFINISHED:
        chosen = "orphan", f"it was left {status.value}"
    elif status.reflection_pending and (is_old or orphans):
        hint = "only --orphans deletes it, after 24 hours"
        chosen = "pending", f"it {pending_reflections(session)[0]}; {hint}"
    elif is_old:
        chosen = "old", "it is over"
    else:
        chosen = ("finished", "it is no orphan") if before is None else ("recent", "too new")
    return chosen


def _choose_without_state(found: SessionFiles, *, is_old: bool, is_orphan: bool) -> tuple[str, str]:
    if not is_old and not is_orphan:
        return "recent", "too new"
    if not found.fault:
        return "leftover", "files without a session"
    detail = f"its state cannot be read ({found.fault}) and may hold a pending reflection"
    return ("orphan", detail) if is_orphan else ("unreadable", f"{detail}; only --orphans deletes")
