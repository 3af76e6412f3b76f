"""The inbox: what an agent hands in where its shell may not write grove's own directory.

In a sandbox the project is often all that can be written. A submission then waits there, a file
each, for the next hook: hooks run outside.
"""

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from attrs import evolve, field

from grove_core.codec import from_json, plain
from grove_core.environment import INBOX, handed_in
from grove_core.errors import GroveError, ReflectionError, StorageError, TooSoonError
from grove_core.git import find_top, run_git
from grove_core.model.gate import SkipDecider
from grove_core.model.learning import RejectedCandidate, Rejection, Stage
from grove_core.model.session import Session
from grove_core.model.value import Value, frozen
from grove_core.project import Project
from grove_core.services.result import Result
from grove_core.storage import files

MOST_WAITING: Final = 50
_MOST_LOOKED_AT: Final = 200
_MOST_BYTES: Final = 8 * 1024 * 1024
_GIT_SECONDS: Final = 5.0
_FORBIDDEN: Final = (errno.EROFS, errno.EACCES, errno.EPERM)


@frozen(kw_only=True, eq=False, repr=False)
class HandedIn(Value):
    """A command and what it was given; its text is a skip's reason, a note, or how ids helped."""

    command: str
    session_id: str
    submission: Mapping[str, Any] = field(factory=dict)
    text: str = ""
    decider: SkipDecider = SkipDecider.AGENT
    ids: tuple[str, ...] = ()


Do: TypeAlias = Callable[[Project, Session, HandedIn], object]
"""Does what the command would have done; raises ``ReflectionError`` for what is refused whole."""


# --- in the sandbox -------------------------------------------------------------------------------


def is_shut_out(project: Project, session: Session) -> bool:
    """Return whether this process may not write a session's state."""
    try:
        os.close(os.open(project.sessions.path(session.id), os.O_RDWR | os.O_CLOEXEC))
    except OSError as error:
        return error.errno in _FORBIDDEN
    return False


def hand_in(project: Project, session: Session, command: str, **given: Any) -> Result:  # noqa: ANN401 - fields of ``HandedIn``
    """Leave something for the next hook."""
    folder, home = project.root / INBOX, project.paths.home
    one = HandedIn(command=command, session_id=session.id, **given)
    number = len(handed_in(str(project.root)))
    path = folder / f"{project.now:%Y%m%d-%H%M%S}-{number:02}-{os.urandom(4).hex()}.json"
    if number >= MOST_WAITING:
        raise ReflectionError(f"{folder} is full: stop, so that a hook takes in what waits there")
    try:
        files.confined(folder, project.root)
        folder.mkdir(parents=True, exist_ok=True)  # as a learning that is stored makes it
        if not (folder / ".gitignore").exists():
            files.replace(folder / ".gitignore", b"*\n")
        files.replace(path, json.dumps(one, default=plain).encode())
    except (OSError, StorageError) as error:
        raise StorageError(
            f"neither {home} nor {folder} can be written from here ({error}): let the sandbox write"
            f" {home}, such as by the client's --add-dir {home}, or ask to run this outside of it"
        ) from error
    said = (
        f"Handed in: {home} cannot be written from here, so the next hook takes this in. Stop as"
        " usual; if it is refused, you are told then."
    )
    gate, place = session.gate.status, str(path)
    document = {"session_id": session.id, "gate": gate, "queued": True, "location": place}
    return Result(document=document, lines=[said])


# --- outside, in a hook ---------------------------------------------------------------------------


def take_in(project: Project, do: Do) -> None:
    """Do what waits, each once, wherever a hook is ended; what has to stay is named once."""
    note = project.files.state_directory / "inbox"
    try:
        files.make_directory(note.parent)
        with files.locked(note, mode=0o600) as descriptor:
            named = os.fsdecode(os.pread(descriptor, os.fstat(descriptor).st_size, 0)).split("\n")
            stays = dict(_take_in(project, do))
            for name in stays.keys() - named:
                project.diagnostics.log("warning", f"{INBOX}/{name} stays there: {stays[name]}")
            os.ftruncate(descriptor, 0)
            os.write(descriptor, os.fsencode("\n".join(stays)))
            # An empty inbox goes, and what has become a project by it alone is none again.
            folder = project.root / INBOX
            with suppress(OSError):
                if not stays:
                    (folder / ".gitignore").unlink(missing_ok=True)
                folder.rmdir()
                folder.parent.rmdir()
    except Exception as error:  # noqa: BLE001 - whatever it is, the hook goes on
        project.diagnostics.crash(error, hook="inbox")


def _take_in(project: Project, do: Do) -> Iterator[tuple[str, str]]:
    folder = project.root / INBOX
    files.confined(folder, project.root)
    listed = run_git(project.root, _GIT_SECONDS, "ls-files", "-z", "--", INBOX)
    if listed is None and find_top(project.root) is not None:
        raise StorageError("git does not say what of the inbox came with the repository")
    committed = {Path(one).name for one in (listed or "").split("\0")}
    for name in handed_in(str(project.root))[:_MOST_LOOKED_AT]:
        try:
            session, one = _read(project, folder / name, is_committed=name in committed)
            if name not in session.received:
                own = project.elsewhere(project.root)
                own.sessions.taking_in = name
                own.work_deadline = None  # as thorough as the command
                _do_once(own, session, one, do)
            (folder / name).unlink(missing_ok=True)
        except (GroveError, OSError) as error:
            yield name, str(error)


def _read(project: Project, path: Path, *, is_committed: bool) -> tuple[Session, HandedIn]:
    """Read what has been handed in for a session of this project since it began."""
    status = path.lstat()
    is_own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and not is_committed
    if not is_own or status.st_size > _MOST_BYTES:
        raise StorageError("no session has written it here, or it is too large")
    one = from_json(HandedIn, files.read_bytes(path) or b"")
    session = project.session(one.session_id)
    written = datetime.fromtimestamp(int(status.st_mtime) + 1, UTC)
    is_here = session is not None and session.project_root == str(project.root)
    # A later session may know what one has taught that has ended.
    if session is not None and is_here and session.created_at <= written:
        return session, one
    raise StorageError("it names no session of this project that had begun when it was written")


def _do_once(own: Project, session: Session, one: HandedIn, do: Do) -> None:
    change: dict[str, Any] = {}
    try:
        do(own, session, one)
    except TooSoonError:
        raise  # a later hook takes it in
    except ReflectionError as error:
        what, why = f"grove {one.command}", Rejection(reason=str(error))
        whole = RejectedCandidate(
            position=0, summary=what, tags=(), stage=Stage.SCHEMA, rejection=why
        )
        change = {"last_rejections": (whole,)}
    own.sessions.update(session.id, lambda stored: evolve(stored or session, **change))
    own.index_what_was_written()
