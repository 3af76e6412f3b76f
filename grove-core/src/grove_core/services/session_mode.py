"""Session mode: how much a session has changed since its baseline."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from stat import S_ISLNK, S_ISREG
from typing import TYPE_CHECKING, Final

from attrs import evolve

from grove_core import git
from grove_core.config.schema import SessionGate
from grove_core.environment import fingerprint
from grove_core.gate.stopping import passes_as_small
from grove_core.git import STATUS_SECONDS, seen_from_top, state_key, without
from grove_core.hosts import claude_code
from grove_core.line_hashes import ContentPrint, changed_lines, print_of
from grove_core.model.gate import SessionChange
from grove_core.model.session import Baseline, DirtyFile, Measurement, Session

if TYPE_CHECKING:
    from grove_core.project import Project
    from grove_core.ticketing import TicketSystem

DIFF_SECONDS: Final = 5.0
# Bounds of what is read and kept: beyond them a file counts by its size and time alone, and a file
# that the baseline had no room for counts once it is younger than the baseline.
MOST_FILES: Final = 300
MOST_FILE_BYTES: Final = 512 * 1024
MOST_LINES: Final = 5_000
MOST_LINES_IN_ALL: Final = 50_000


def with_environment(project: "Project", session: Session, *, look: bool = False) -> Session:
    """Note in a session whether its changes count, from a look at the project's ticket systems."""
    root, home = str(project.root), str(project.paths.home)
    if not look and session.environment == fingerprint(root, home, session.ticket_marker):
        return session
    active = project.tickets(Path(session.cwd), session.id).active()
    detection = active.detection if active is not None else None
    marker = detection.marker if detection is not None else ""
    return evolve(
        session,
        session_mode=_applies(project, active),
        ticket_marker=marker,
        observed=project.plugins.observe_the_gate(),
        environment=fingerprint(root, home, marker),
    )


def _applies(project: "Project", active: "TicketSystem | None") -> bool:
    """Return whether no ticket system is active and the configuration allows session mode here."""
    mode = project.config.gate.session
    if mode is SessionGate.NEVER:
        return False
    if mode is SessionGate.INITIALIZED and not project.files.initialised:
        return False
    return active is not None and active.probe.per_session


def ignored_paths(project: "Project") -> tuple[str, ...]:
    """Collect the paths that grove, ticket systems and backends write, which are no work."""
    tickets = project.tickets().own_paths()
    backends = project.library.own_paths()
    return tuple(dict.fromkeys((".grove", *tickets, *backends)))


def take_baseline(
    project: "Project", session: Session, seconds: float = STATUS_SECONDS
) -> Baseline:
    """Record the state of the work, to be measured against later."""
    transcript_offset = _size(Path(session.transcript_path)) if session.transcript_path else 0
    excluded = ignored_paths(project)
    top = git.find_top(project.root)
    tree = git.read_work_tree(top, seconds) if top is not None else None
    if top is not None and tree is None:
        why = "git failed or was late; until it answers, changes are read from the transcript"
        project.diagnostics.log("warning", why, session=session.id)
    if top is None or tree is None:
        return Baseline(
            taken_at=project.now, excluded=excluded, transcript_offset=transcript_offset
        )
    project.work_trees[top] = tree
    paths = without(_prefixes(project.root, top, excluded), (*tree.changed, *tree.untracked))
    return Baseline(
        taken_at=project.now,
        head=tree.head,
        dirty=tuple(
            DirtyFile(path=path, digest=look.digest, line_hashes=look.line_hashes, lines=look.lines)
            for path, look in digests_of(os.fspath(top), paths)
        ),
        excluded=excluded,
        transcript_offset=transcript_offset,
    )


def first_measurement(project: "Project", baseline: Baseline) -> Measurement | None:
    """Return what the next stop would measure if nothing changed, so that it need not measure."""
    top = git.find_top(project.root)
    tree = project.work_trees.get(top) if top is not None else None
    if top is None or tree is None:
        return None
    return Measurement(key=_key(project, top, tree, baseline), lines=0)


def renew_baseline(project: "Project", session: Session) -> Session:
    """Take the baseline anew where a session has one."""
    if session.baseline is None:
        return session
    return begin_from_here(project, session)


def begin_from_here(project: "Project", session: Session) -> Session:
    """Take a session's baseline, and store it."""
    baseline = take_baseline(project, session)
    measurement = first_measurement(project, baseline)
    return project.sessions.update(
        session.id,
        lambda stored: evolve(stored or session, baseline=baseline, measurement=measurement),
    )


def measure(
    project: "Project", session: Session
) -> tuple[SessionChange | None, Measurement | None]:
    """Measure what a session has changed since its baseline."""
    baseline = session.baseline
    if baseline is None:
        return SessionChange(lines=0), None
    top = git.find_top(project.root)
    if top is None or baseline.head is None:
        edited = claude_code.has_edits(
            session.transcript_path,
            baseline.transcript_offset,
            project.root,
            baseline.excluded,
        )
        return SessionChange(lines=None if edited else 0), None
    tree = git.read_work_tree(top, STATUS_SECONDS)
    if tree is None:
        return _not_measured(project, session)
    key = _key(project, top, tree, baseline)
    if session.measurement is not None and session.measurement.key == key:
        lines = session.measurement.lines
    else:
        lines = _count(top, tree, baseline, _prefixes(project.root, top, baseline.excluded))
        if lines is None:
            return _not_measured(project, session)
    small = passes_as_small(lines, project.policy)
    return SessionChange(lines=lines), Measurement(key=key, lines=lines, small=small)


def work_tree_of(project: "Project", session: Session) -> tuple[str, tuple[str, ...]] | None:
    """Tell the top of the work tree that is measured, and the paths in it that never count."""
    top = git.find_top(project.root)
    if top is None or session.baseline is None or session.baseline.head is None:
        return None
    return str(top), _prefixes(project.root, top, session.baseline.excluded)


def _key(project: "Project", top: Path, tree: git.WorkTree, baseline: Baseline) -> str:
    prefixes = _prefixes(project.root, top, baseline.excluded)
    paths = without(prefixes, (*tree.changed, *tree.untracked))
    return state_key(os.fspath(top), tree.head, paths)


def _not_measured(project: "Project", session: Session) -> tuple[None, None]:
    why = "git failed or was late; what this session has changed was not measured"
    project.diagnostics.log("warning", why, session=session.id)
    return None, None


def _count(
    top: Path, tree: git.WorkTree, baseline: Baseline, prefixes: tuple[str, ...]
) -> int | None:
    """Count lines: files that were dirty then by their prints, all others by git."""
    total = sum(
        changed_lines(_print_of(file), digest_of(os.fspath(top), file.path))
        for file in baseline.dirty
    )
    nothing = ContentPrint(digest="", lines=0, line_hashes="")
    for path in _others(top, baseline, without(prefixes, tree.untracked))[:MOST_FILES]:
        look = digest_of(os.fspath(top), path)
        total += changed_lines(nothing, look) if look.lines else 0
    changed = _others(top, baseline, without(prefixes, tree.changed))
    if tree.head == baseline.head and not changed:
        return total
    counts = git.count_changed_lines(top, baseline.head or "", DIFF_SECONDS)
    if counts is None:
        return None
    return total + sum(counts[path] for path in _others(top, baseline, without(prefixes, counts)))


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


def _prefixes(root: Path, top: Path, excluded: Iterable[str]) -> tuple[str, ...]:
    return seen_from_top(os.fspath(root), os.fspath(top), excluded)


def _print_of(file: DirtyFile) -> ContentPrint:
    return ContentPrint(digest=file.digest, lines=file.lines, line_hashes=file.line_hashes)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def digests_of(top: str, paths: Sequence[str]) -> Iterator[tuple[str, ContentPrint]]:
    """Digest files, within bounds."""
    room = MOST_LINES_IN_ALL
    for path in paths[:MOST_FILES]:
        look = digest_of(top, path)
        hashes = look.line_hashes if look.lines <= room else None
        room -= look.lines if hashes is not None else 0
        yield path, look._replace(line_hashes=hashes)


def digest_of(top: str, path: str) -> ContentPrint:
    """Digest a file; one that is gone has no lines, and a link is what it says."""
    full = Path(top, path)
    try:
        status = full.lstat()
        if S_ISLNK(status.st_mode):
            return print_of(os.fsencode(full.readlink()), most_lines=MOST_LINES)
        if not S_ISREG(status.st_mode):
            return ContentPrint(digest="special", lines=0, line_hashes=None)
        with full.open("rb") as file:
            content = file.read(MOST_FILE_BYTES)
    except OSError:
        return ContentPrint(digest="", lines=0, line_hashes="")
    look = print_of(content, most_lines=MOST_LINES)
    if status.st_size <= MOST_FILE_BYTES or look.is_binary:
        return look
    digest = f"{status.st_size}@{status.st_mtime_ns}"
    return look._replace(digest=digest, line_hashes=None)
