"""What lies in grove's own directory for each session: its state, and what is derived from it."""

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import Final

from attrs import evolve, frozen

from grove_core.errors import CodecError, StorageError
from grove_core.identifiers import is_session_id
from grove_core.model.session import Session
from grove_core.workspace import Workspace

_STATE: Final = re.compile(r"([A-Za-z0-9_-]{1,128})\.json")
_SET_ASIDE: Final = re.compile(r"([A-Za-z0-9_-]{1,128})\.json\.corrupt-[0-9]+")
# A new file until it is complete. All of these are written under the session's lock.
_TEMPORARY: Final = re.compile(
    r"\.([A-Za-z0-9_-]{1,128})(?:\.json(?:\.corrupt-[0-9]+)?|\.files|\.idle|\.server|\.jsonl)?\.[0-9]+\.[0-9]+\.tmp"
)
_FAST_FILES: Final = re.compile(r"([A-Za-z0-9_-]{1,128})\.(?:files|idle|late|stop|server)")
_CONSIDERED: Final = re.compile(r"([A-Za-z0-9_-]{1,128})\.jsonl")
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
        if match := _CONSIDERED.fullmatch(path.name) or _TEMPORARY.fullmatch(path.name):
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
    # What has no time is taken for new: nothing is thrown away because of it.
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
