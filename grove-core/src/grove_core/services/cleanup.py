"""The files that grove keeps of sessions, and deleting those of old ones."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from stat import S_ISREG
from typing import Final

from attrs import evolve, frozen

from grove_core.errors import CodecError, StorageError
from grove_core.identifiers import is_session_id
from grove_core.model.gate import GateStatus
from grove_core.model.session import Session
from grove_core.services.overview import (
    Liveness,
    PendingReflection,
    liveness_of,
    pending_reflections,
)
from grove_core.services.sessions import IDLE_LIMIT
from grove_core.storage import files
from grove_core.text import clean_line
from grove_core.workspace import Workspace

_LOCK_SECONDS: Final = 1.0
_LONGEST_PATH: Final = 300
_UNFINISHED: Final = (GateStatus.ACTIVE, GateStatus.PENDING, GateStatus.BLOCKED)
_STATE: Final = re.compile(r"([A-Za-z0-9_-]{1,128})\.json")
_SET_ASIDE: Final = re.compile(r"([A-Za-z0-9_-]{1,128})\.json\.corrupt-[0-9]+")
# A new file until it is complete. All of these are written under the session's lock.
_TEMPORARY: Final = re.compile(
    r"\.([A-Za-z0-9_-]{1,128})(?:\.json(?:\.corrupt-[0-9]+)?|\.files|\.idle|\.server|\.jsonl)?\.[0-9]+\.[0-9]+\.tmp"
)
_FAST_FILES: Final = re.compile(r"([A-Za-z0-9_-]{1,128})\.(?:files|idle|late|stop|server)")
_LOG: Final = re.compile(r"([A-Za-z0-9_-]{1,128})\.jsonl")
_MOST_FAST_BYTES: Final = 1024 * 1024
_LONGEST_ID: Final = 128


@frozen(kw_only=True)
class SessionFiles:
    """What is kept of one session."""

    session_id: str
    written_at: datetime
    session: Session | None = None
    fault: str = ""
    state: Path | None = None
    is_plain: bool = True
    set_aside: tuple[Path, ...] = ()
    derived: tuple[Path, ...] = ()


@frozen(kw_only=True)
class FastFile:
    """What a hook looks at before it imports anything."""

    path: Path
    close_waits: bool
    words: tuple[str, ...]


def survey(workspace: Workspace) -> list[SessionFiles]:
    """Look at everything that is kept of sessions, of all projects."""
    found = [_describe(workspace, owner, paths) for owner, paths in _by_owner(workspace).items()]
    return sorted(found, key=_written, reverse=True)


def files_of(workspace: Workspace, session_id: str) -> SessionFiles:
    """Look at what is kept of one session."""
    return _describe(workspace, session_id, _by_owner(workspace).get(session_id, []))


def read_again(workspace: Workspace, known: SessionFiles) -> SessionFiles:
    """Read a session's state once more; to be called under its lock."""
    session, fault = _read_state(workspace, known.session_id)
    written_at = session.updated_at if session is not None else known.written_at
    return evolve(known, session=session, fault=fault, written_at=written_at)


def read_fast_file(workspace: Workspace, session_id: str) -> FastFile | None:
    """Read the file of the fast path."""
    path = _fast_directory(workspace) / session_id
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_FAST_BYTES)
    except OSError:
        return None
    flag, *words = content.decode("utf-8", "replace").split("\n")
    return FastFile(path=path, close_waits=flag == "1", words=tuple(filter(None, words)))


def modified_at(path: Path) -> datetime | None:
    """Tell when a file was last written."""
    try:
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC).replace(microsecond=0)
    except (OSError, OverflowError, ValueError):
        return None


def _by_owner(workspace: Workspace) -> dict[str, list[Path]]:
    """All files of all sessions, by session id."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in _entries(workspace.paths.sessions):
        match = _STATE.fullmatch(path.name) or _SET_ASIDE.fullmatch(path.name)
        if match := match or _TEMPORARY.fullmatch(path.name):
            found[match[1]].append(path)
    for path in (*_entries(_fast_directory(workspace)), *_open_sessions(workspace)):
        if is_session_id(path.name):
            found[path.name].append(path)
        elif match := _FAST_FILES.fullmatch(path.name) or _TEMPORARY.fullmatch(path.name):
            found[match[1]].append(path)
    for path in _entries(workspace.paths.cache / "retrievals"):
        if match := _LOG.fullmatch(path.name) or _TEMPORARY.fullmatch(path.name):
            found[match[1]].append(path)
    return found


def _entries(directory: Path) -> list[Path]:
    try:
        return [directory / name for name in os.listdir(directory)]  # noqa: PTH208 - as it is
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StorageError(f"cannot read {directory}: {error.strerror or error}") from error


def _fast_directory(workspace: Workspace) -> Path:
    return workspace.paths.cache / "fast"


def _open_sessions(workspace: Workspace) -> Iterator[Path]:
    """The entries of open sessions, of all projects: a project may have moved since."""
    for project in _entries(workspace.paths.cache):
        with suppress(StorageError):
            yield from _entries(project / "open-sessions")


def _describe(workspace: Workspace, session_id: str, paths: list[Path]) -> SessionFiles:
    state = next((path for path in paths if _STATE.fullmatch(path.name)), None)
    set_aside = tuple(sorted(path for path in paths if _SET_ASIDE.fullmatch(path.name)))
    # What has no time counts as new, so that nothing is thrown away because of it.
    newest = max((modified_at(path) or workspace.now for path in paths), default=workspace.now)
    found = SessionFiles(
        session_id=session_id,
        written_at=newest,
        state=state,
        set_aside=set_aside,
        derived=tuple(sorted(path for path in paths if path != state and path not in set_aside)),
    )
    if state is None:
        return found
    if not _is_plain(state):
        return evolve(found, fault="it is no plain file", is_plain=False)
    return read_again(workspace, evolve(found, written_at=modified_at(state) or workspace.now))


def _is_plain(path: Path) -> bool:
    try:
        return S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def _written(one: SessionFiles) -> tuple[datetime, int]:
    """Times are whole seconds; within one, the file system knows better."""
    try:
        return one.written_at, one.state.lstat().st_mtime_ns if one.state is not None else 0
    except OSError:
        return one.written_at, 0


def _read_state(workspace: Workspace, session_id: str) -> tuple[Session | None, str]:
    try:
        session = workspace.sessions.get(session_id)
    except (CodecError, StorageError) as error:
        return None, str(error)
    if session is not None and session.id != session_id:
        return None, f"it holds the state of session {session.id[:_LONGEST_ID]!a}"
    return session, ""


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
    PENDING = "pending"
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
    pending: tuple[PendingReflection, ...] = ()
    removed: tuple[Path, ...] = ()


def choose(
    found: SessionFiles, state: Liveness | None, limits: CleaningLimits, now: datetime
) -> Choice:
    """Decide what becomes of a session's files."""
    pending = pending_reflections(found.session) if found.session is not None else ()
    reason, detail = _reason(found, state, limits, now)
    return Choice(found=found, reason=reason, detail=detail, pending=pending)


def _reason(
    found: SessionFiles, state: Liveness | None, limits: CleaningLimits, now: datetime
) -> tuple[Reason, str]:
    if found.fault:
        return _reason_of_unreadable(found, limits, now)
    if found.session is None:
        if limits.reaches(found.written_at, now):
            return Reason.LEFTOVER, "files without a session"
        return Reason.RECENT, "too new"
    if state is Liveness.LIVE:
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
        return Reason.PENDING, f"it {pending_reflections(session)[0]}; {hint}"
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
    detail = f"its state cannot be read ({found.fault}) and may hold a pending reflection"
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
        life = (
            Liveness.LIVE if _client_runs(found.session) else liveness_of(found.session, workspace)
        )
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
    """Say that an unfinished session goes, or one with a pending reflection."""
    if choice.reason is not Reason.ORPHAN and not (choice.reason.deletes and choice.pending):
        return ""
    session = choice.found.session
    where = f" of {clean_line(session.project_root, _LONGEST_PATH)}" if session is not None else ""
    said = " and ".join(f"it {one}" for one in choice.pending) or choice.detail
    verb = "would be deleted" if dry_run else "is deleted"
    return f"session {choice.found.session_id}{where} {verb} though {said}"
