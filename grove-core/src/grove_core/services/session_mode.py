"""Session mode: how much a session has changed since its baseline."""

import binascii
import os
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from stat import S_ISLNK, S_ISREG
from typing import TYPE_CHECKING, Final

from attrs import evolve

from grove_core import git
from grove_core.config.schema import SessionGate
from grove_core.environment import fingerprint
from grove_core.git import STATUS_SECONDS
from grove_core.model.gate import Measurement
from grove_core.model.session import Baseline, DirtyFile, Session
from grove_core.plugins.descriptors import EnabledWhen

if TYPE_CHECKING:
    from grove_core.plugins.descriptors import TicketProbe
    from grove_core.project import Project

DIFF_SECONDS: Final = 5.0
# Bounds of what is read and kept: beyond them a file counts by its size and time alone, and a file
# that the baseline had no room for counts once it is younger than the baseline.
MOST_FILES: Final = 300
MOST_FILE_BYTES: Final = 512 * 1024
MOST_LINES: Final = 50_000
_TEXT_PROBE_BYTES: Final = 8000
# Binary files have no lines, whatever changes in them.
_BINARY: Final = "binary"


def with_environment(project: "Project", session: Session, *, look: bool = False) -> Session:
    """Note in a session whether its changes count, from a look at the project's ticket systems."""
    root, home = str(project.root), str(project.paths.home)
    if not look and session.environment == fingerprint(root, home, session.ticket_marker):
        return session
    active = project.tickets(session.cwd, session.id).active()
    detection = active.detection if active is not None else None
    marker = detection.marker if detection is not None else ""
    mode = project.config.gate.session
    applies = mode is SessionGate.ALWAYS or (
        mode is SessionGate.INITIALIZED and project.files.initialised
    )
    return evolve(
        session,
        session_mode=applies and active is not None and _has_no_tickets(project, active.probe),
        ticket_marker=marker,
        environment=fingerprint(root, home, marker),
    )


def _has_no_tickets(project: "Project", probe: "TicketProbe") -> bool:
    """Return whether the active system leaves changes to session mode: to-dos are no tickets."""
    is_on = project.config.ticketing.overrides.get(probe.name) is True
    return probe.per_session or (probe.enabled_when is EnabledWhen.ACTIVE and not is_on)


def ignored_paths(project: "Project") -> tuple[str, ...]:
    """Collect the paths that grove, ticket systems and backends write, which are no work."""
    tickets = project.tickets().own_paths()
    backends = project.library.own_paths()
    return tuple(dict.fromkeys((".grove", *tickets, *backends)))


def take_baseline(
    project: "Project", session: Session, seconds: float = STATUS_SECONDS
) -> Baseline:
    """Record the state of the work, to be measured against later."""
    transcript_offset = 0
    with suppress(OSError):
        transcript_offset = os.path.getsize(session.transcript_path)  # noqa: PTH202 - may be empty
    excluded = ignored_paths(project)
    tree = git.read_work_tree(project.root, seconds, excluded)
    if tree is None and git.find_top(project.root) is not None:
        why = "git failed or was late; until it answers, changes are read from the transcript"
        project.diagnostics.log("warning", why, session=session.id)
    if tree is None:
        return Baseline(
            taken_at=project.now, excluded=excluded, transcript_offset=transcript_offset
        )
    project.work_tree, paths = tree, (*tree.changed, *tree.untracked)[:MOST_FILES]
    return Baseline(
        taken_at=project.now,
        head=tree.head,
        dirty=tuple(_within_bounds(look_at(tree.top, path) for path in paths)),
        excluded=excluded,
        transcript_offset=transcript_offset,
    )


def renew_baseline(project: "Project", session: Session) -> Session:
    """Take a session's baseline from here on, and store it."""
    baseline = take_baseline(project, session)
    return project.sessions.update(
        session.id, lambda stored: evolve(stored or session, baseline=baseline, measurement=None)
    )


def measure(project: "Project", session: Session) -> Measurement | None:
    """Measure what a session has changed since its baseline; ``None`` where git fails."""
    baseline = session.baseline
    if baseline is None:
        return Measurement(lines=0)
    if git.find_top(project.root) is None or baseline.head is None:
        edited = _has_edits(project, session, baseline)
        return Measurement(lines=None if edited else 0)
    known, key, lines = session.measurement, "", None
    tree = git.read_work_tree(project.root, STATUS_SECONDS, baseline.excluded)
    if tree is not None:
        key = tree.key()
        is_same = known is not None and known.key == key
        lines = known.lines if known and is_same else _count(project.root, tree, baseline)
    if lines is None:
        why = "git failed or was late; what this session has changed was not measured"
        project.diagnostics.log("warning", why, session=session.id)
        return None
    return Measurement(lines=lines, key=key)


def _has_edits(project: "Project", session: Session, baseline: Baseline) -> bool:
    """Return whether the agent has edited files of a project that git does not know."""
    host = project.plugins.host(session.host)
    if host is None or host.value.edited_files is None:
        return False
    top = os.path.realpath(project.root)
    excluded = tuple(f"{path.rstrip('/')}/" for path in baseline.excluded)
    look, place = host.value.edited_files, (session.transcript_path, baseline.transcript_offset)
    paths = project.plugins.call(
        host, "edited_files", lambda: [*look(*place)], seconds=STATUS_SECONDS, default=()
    )
    return any(is_work(path, top, excluded) for path in paths)


def is_work(path: str, top: str, excluded: tuple[str, ...]) -> bool:
    """Return whether an edited file is work in a project; one without a name may be."""
    if not path:
        return True
    relative = os.path.relpath(os.path.realpath(Path(top, path)), top)
    return relative.split("/")[0] != ".." and not f"{relative}/".startswith(excluded)


def _count(root: Path, tree: git.WorkTree, baseline: Baseline) -> int | None:
    """Count lines: files that were dirty then by their prints, all others by git."""
    top = tree.top
    total = sum(changed_lines(file, look_at(top, file.path)) for file in baseline.dirty)
    new = _others(top, baseline, tree.untracked)[:MOST_FILES]
    moved = _moved(top, tree.deleted, new)
    total += sum(look_at(top, path).lines for path in new if path not in moved)
    changed = {*_others(top, baseline, tree.changed)}.difference(moved.values())
    if tree.head == baseline.head and not changed:
        return total
    counts = _own_counts(root, tree.head, baseline)
    if counts is None:
        return None
    kept = {*_others(top, baseline, counts)}.difference(moved.values())
    return total + sum(counts[path] for path in kept)


def _moved(top: Path, gone: Mapping[str, str], new: Iterable[str]) -> Mapping[str, str]:
    """Find the new files that are files of other names as they were, which is no change."""
    if not gone:
        return {}
    from hashlib import sha1  # seldom needed, and slow to import

    left = {name: path for path, name in gone.items()}
    found = {}
    for path in new:
        with suppress(OSError), (top / path).open("rb") as file:
            content = file.read(MOST_FILE_BYTES)
            name = sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()
            if source := left.pop(name, None):
                found[path] = source
    return found


def _own_counts(root: Path, head: str, baseline: Baseline) -> "Mapping[str, int] | None":
    """Count the lines of files between then and now that were changed here."""
    base, excluded = baseline.head or "", baseline.excluded
    counts = git.count_changed_lines(root, base, DIFF_SECONDS, excluded)
    if counts is None or head == base:
        return counts
    own = git.count_own_lines(root, base, DIFF_SECONDS, excluded)
    if own is None:
        return counts
    open_ = git.count_changed_lines(root, head, DIFF_SECONDS, excluded)
    if open_ is None:
        return None
    # A change that was made and taken back is none.
    return {path: min(n, own.get(path, 0) + open_.get(path, 0)) for path, n in counts.items()}


def _others(top: Path, baseline: Baseline, paths: Iterable[str]) -> list[str]:
    """Leave out the files that were dirty at the baseline, whether or not it had room for them."""
    known = {file.path for file in baseline.dirty}
    others = [path for path in paths if path not in known]
    if len(known) < MOST_FILES:
        return others
    return [path for path in others if _modified(top / path) >= baseline.taken_at.timestamp()]


def _modified(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return 0.0


def work_key(project: "Project") -> str:
    """Sum up the project's files as git sees them; empty where it does not."""
    tree = git.read_work_tree(project.root, STATUS_SECONDS, ignored_paths(project))
    return "" if tree is None else tree.key()


def _within_bounds(looks: Iterable[DirtyFile]) -> Iterator[DirtyFile]:
    """Leave out the hashes of lines for which there is no room."""
    room = MOST_LINES
    for look in looks:
        if look.lines > room:
            yield evolve(look, line_hashes=None)
        else:
            room -= look.lines
            yield look


def look_at(top: Path, path: str) -> DirtyFile:
    """Sum up a file; one that is gone has no lines, and a link is what it says."""
    full = top / path
    try:
        status = full.lstat()
        if S_ISLNK(status.st_mode):
            return sum_up(path, os.fsencode(full.readlink()))
        if not S_ISREG(status.st_mode):
            return DirtyFile(path=path, digest="special")
        with full.open("rb") as file:
            content = file.read(MOST_FILE_BYTES)
    except OSError:
        return DirtyFile(path=path, digest="", line_hashes="")
    look = sum_up(path, content)
    if status.st_size <= MOST_FILE_BYTES or look.digest == _BINARY:
        return look
    return evolve(look, digest=f"{status.st_size}@{status.st_mtime_ns}", line_hashes=None)


def sum_up(path: str, content: bytes) -> DirtyFile:
    """Keep of a content what tells how many lines of it have changed."""
    if b"\0" in content[:_TEXT_PROBE_BYTES]:  # as git sees it
        return DirtyFile(path=path, digest=_BINARY)
    hashes = [zlib.crc32(line) for line in content.splitlines()]
    packed = binascii.b2a_base64(struct.pack(f"<{len(hashes)}I", *hashes), newline=False).decode()
    digest = f"{len(content)}-{zlib.crc32(content):08x}"
    return DirtyFile(path=path, digest=digest, line_hashes=packed, lines=len(hashes))


def changed_lines(before: DirtyFile, after: DirtyFile) -> int:
    """Count added plus deleted lines between two contents of a file; moved lines do not count."""
    if before.digest == after.digest or _BINARY in (before.digest, after.digest):
        return 0
    if before.line_hashes is None or after.line_hashes is None:
        return max(1, abs(after.lines - before.lines))
    old, new = _unpack(before.line_hashes), _unpack(after.line_hashes)
    return max(1, (old - new).total() + (new - old).total())


def _unpack(line_hashes: str) -> Counter[int]:
    packed = binascii.a2b_base64(line_hashes)
    return Counter(struct.unpack(f"<{len(packed) // 4}I", packed))
