"""What grove has on disk: directories, sessions, what waits, logs, and secrets in learnings."""

import os
import re
import shlex
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from grove_core import git
from grove_core.clock import format_instant, parse_instant
from grove_core.doctor.check import Examination
from grove_core.event_log import event_files
from grove_core.install.clone import swallowed
from grove_core.model.check import CheckResult, broken, ok, warning
from grove_core.services import overview
from grove_core.services.overview import Liveness, PendingKind, liveness_of
from grove_core.services.sessions import IDLE_LIMIT
from grove_core.storage.files import is_readable
from grove_core.text import remove_invisible

_SILENT: Final = timedelta(days=30)
"""A project may rest for a while; a month without any hook is worth a look."""
_CRASH: Final = re.compile(r"(?P<time>\S+) session=\S+ hook=(?P<text>\S+ .*)")
_ERROR: Final = re.compile(r"(?P<time>\S+) ERROR (?P<text>.*)")

_SECRETS_SECONDS: Final = 20.0
_MOST_NAMED: Final = 20
_REPLACE: Final = (
    "Replace the secret where it is used, for it counts as known; then delete it in that line."
    ' A false alarm: add "{}" to secrets.allow'
)
_QUOTE: Final = re.compile(r"^>+ ?")
_MOST_BYTES: Final = 4 * 1024 * 1024
_LINES_AT_ONCE: Final = 400
_LINES_OF_A_KEY: Final = 10


def home(examination: Examination) -> Iterator[CheckResult]:
    """Check that sessions, logs and what waits can be written."""
    paths = examination.paths
    places = (paths.home, paths.sessions, paths.outbox, paths.cache)
    there = [one for one in places if os.path.lexists(one)]
    for path in there or [next(one for one in paths.home.parents if os.path.lexists(one))]:
        if not os.path.isdir(path) or not os.access(path, os.W_OK | os.X_OK):  # noqa: PTH112 - never raises
            quoted = shlex.quote(str(path))
            fix = f"chmod u+rwx {quoted}, move away what is no directory, or set GROVE_HOME to a"
            yield broken(f"nothing can be written in {path}", f"{fix} directory that you may write")
    yield ok(str(paths.home))


def project(examination: Examination) -> Iterator[CheckResult]:
    """Check that there is a project; whether learnings can be kept in it, backends say."""
    paths = examination.files
    directory = paths.grove_directory
    if not paths.initialised:
        detail = f"{paths.root} has no .grove; it is gated only where it has a ticket system"
        yield warning(detail, "If it is to use grove: grove init")
        return
    real = Path(os.path.realpath(directory))
    if not real.is_relative_to(os.path.realpath(paths.root)):
        detail = f"{directory} leads out of the project, to {real}"
        yield broken(detail, "Replace the link by a directory; grove writes to no other")
    yield ok(str(directory))


def ignored(examination: Examination) -> Iterator[CheckResult]:
    """Check that git does not leave learnings out."""
    paths = examination.files
    if not paths.initialised or git.find_top(paths.root) is None:
        return
    for line in swallowed(paths.root):
        detail, _, fix = line.rpartition(": ")
        yield warning(f"{detail}: no one else gets it", f"To share learnings, {fix}")
    yield ok("git ignores nothing of .grove")


def hooks_running(examination: Examination) -> Iterator[CheckResult]:
    """Tell when a hook last ran in the project."""
    fix = "Start a session of the client here, then look again; the client's /hooks lists hooks"
    newest = max(examination.here, key=lambda one: one.updated_at, default=None)
    if newest is None:
        yield warning("no hook has run in this project yet", fix)
        return
    detail = f"last at {format_instant(newest.updated_at)}, in session {newest.id}"
    if examination.now - newest.updated_at > _SILENT:
        yield warning(detail, f"If you have worked here with the client since: {fix}")
    yield ok(detail)


def session_state(examination: Examination) -> Iterator[CheckResult]:
    """Name the sessions whose state cannot be read."""
    lost = "a ticket closed there may still want a reflection"
    for one in examination.sessions:
        if one.fault and one.state is not None:
            at = format_instant(one.written_at + IDLE_LIMIT)
            fix = f"Its next hook sets it aside; grove clean --orphans deletes it from {at} on"
            yield warning(f"{one.state}: {one.fault}", f"{fix}; {lost}")
        for path in one.set_aside:
            detail = f"{path} could not be read and was set aside"
            yield warning(detail, f"See what it holds, then delete the file; {lost}")
    yield ok("all of it can be read")


def pending_reflections(examination: Examination) -> Iterator[CheckResult]:
    """Name the reflections that no session is held for any more."""
    for session in examination.here:
        is_live = liveness_of(session, examination.project) is Liveness.LIVE
        for one in overview.pending_reflections(session):
            # What could not be read is named by `session state`.
            if one.kind is PendingKind.UNREADABLE or (is_live and one.kind is PendingKind.OPEN):
                continue
            option = f"--session-id {session.id}"
            fix = f"If you know what it taught: grove reflect {option}; else: grove skip REASON"
            yield warning(f"session {session.id} {one}", f"{fix} {option}")
    yield ok("no session of this project that is over has one")


def outbox(examination: Examination) -> Iterator[CheckResult]:
    """Name the learnings that have not reached their backend."""
    project, waiting = examination.project, examination.project.outbox
    for path in waiting.unreadable():
        fix = "Look into it and correct it by hand; it holds a learning that was accepted"
        yield broken(f"{path} cannot be read", fix)
    for entry in (one for one in waiting.entries() if one.is_stranded):
        fix = 'Write the folder that the project has moved to as "root" there; or delete the file'
        yield warning(f"{entry.path} waits for {entry.root}, which is gone", fix)
    for one in project.library.freshness():
        if one.waiting:
            source = one.source or "a memory server, of which none is used"
            fix = "`grove maintain flush` tries now and says what is wrong"
            yield warning(f"learnings that wait for {source}: {len(one.waiting)}", fix)
    if here := waiting.entries(project.root):
        homes = project.library.destinations(one.learning.scope for one in here)
        named = f" ({', '.join(homes)})" if homes else ""
        detail = f"learnings of this project that wait for their backend: {len(here)}{named}"
        fix = "`grove backends` says what it lacks; the next reflection after that delivers them"
        yield warning(detail, fix)
    yield ok(f"nothing of this project waits; of other projects: {len(waiting.entries())}")


def event_log(examination: Examination) -> Iterator[CheckResult]:
    """Check that every line of the project's log and of the user's own counts."""
    for path in (*event_files(examination.files), examination.paths.personal_events):
        if path.exists() and not is_readable(path):
            yield broken(f"cannot read {path}", f"chmod u+r {shlex.quote(str(path))}")
    log = examination.project.statistics().log
    for one in log.faults:
        if one.unreadable_count:
            # So an editor finds the first one.
            where = f"{one.path}:{', '.join(map(str, one.unreadable))}"
            fix = "Delete what is no event, such as a conflict marker; each event has its own line"
            yield warning(f"{where}: lines that are no event: {one.unreadable_count}", fix)
        if one.unknown:
            detail = f"{one.path} has lines that only a newer grove understands: {one.unknown}"
            yield warning(detail, "Upgrade grove-core, which then counts them")
    yield ok(f"files: {log.files}, events: {log.events}")


def crashes(examination: Examination) -> Iterator[CheckResult]:
    """Tell of hooks that have crashed within a week."""
    path = examination.paths.crash_log
    for text in _latest(path, _CRASH, examination.now - timedelta(days=7)):
        fix = f"Report it with its traceback from {path}; this goes away a week after it"
        yield warning(text, fix)
    yield ok("none within a week")


def errors(examination: Examination) -> Iterator[CheckResult]:
    """Tell of errors of the last day, in whatever project."""
    path = examination.paths.log_file
    for text in _latest(path, _ERROR, examination.now - timedelta(days=1)):
        yield warning(text, f"Read {path}; this goes away a day after the last one")
    yield ok(f"none in {path} within a day")


def _latest(path: Path, pattern: re.Pattern[str], since: datetime) -> Iterator[str]:
    """Describe the last fault in a log, if it is young enough; tracebacks are indented."""
    logs = [one for one in (path.with_name(f"{path.name}.1"), path) if one.is_file()]
    text = "\n".join(one.read_text(encoding="utf-8", errors="replace") for one in logs)
    for line in reversed(text.splitlines()):
        found = pattern.fullmatch(line)
        if found is not None:
            with suppress(ValueError):
                if parse_instant(found["time"]) >= since:
                    yield f"in all projects, the last at {found['time']}: {found['text']}"
                return


# --- Secrets in what is shared: they came in by hand, or before grove looked for them -------------


def secrets(examination: Examination, seconds: float = _SECRETS_SECONDS) -> Iterator[CheckResult]:
    """Look through learnings and event logs, the project's and the user's own."""
    files = _files(examination)
    # Parts overlap, so a secret may be found twice.
    found = list(
        dict.fromkeys(
            _search(files, examination.project.config.secrets.allow, time.monotonic() + seconds)
        )
    )
    yield from found[:_MOST_NAMED]
    if len(found) > _MOST_NAMED:
        more = f"and {len(found) - _MOST_NAMED} more"
        yield broken(more, "Remove those above, then look again")
    yield ok(f"none in learnings and logs, files: {len(files)}")


def _files(examination: Examination) -> Sequence[Path]:
    """Name what is looked through, wherever backends keep learnings."""
    own, paths = examination.files, examination.paths
    files = [own.learnings_file, *sorted(own.learnings_folder.glob("*.md"))]
    files += [paths.personal_learnings, *event_files(examination.files), paths.personal_events]
    for source in examination.project.library.sources() or ():
        files += sorted(source.iterdir()) if source.is_dir() else [source]
    wanted = (".md", ".jsonl", ".log")
    return [one for one in dict.fromkeys(files) if one.suffix in wanted and one.is_file()]


def _search(files: Sequence[Path], allowed: Sequence[str], until: float) -> Iterator[CheckResult]:
    from grove_core.reflection.secrets import find_secrets

    for path in files:
        try:
            lines = list(_lines_of(path))
            if path.stat().st_size > _MOST_BYTES:
                detail = f"of {path} only the first 4 MiB were searched"
                yield warning(detail, "Look there with a scanner such as detect-secrets")
        except OSError:
            yield warning(f"{path} cannot be read", f"chmod u+r {path}")
            continue
        for start in range(0, len(lines), _LINES_AT_ONCE):
            if time.monotonic() > until:
                detail = f"there was no time to look at everything: {path}:{start + 1} and on"
                yield warning(detail, "Look there with a scanner such as detect-secrets")
                return
            text = "\n".join(lines[start : start + _LINES_AT_ONCE + _LINES_OF_A_KEY])
            for one in find_secrets(text):
                if one.digest not in allowed:
                    number = start + 1 + text.count("\n", 0, max(text.find(one.value), 0))
                    detail = f"{path}:{number}: {one.kind} {one.masked}"
                    yield broken(detail, _REPLACE.format(one.digest))


def _lines_of(path: Path) -> Iterator[str]:
    """Read what people or agents have said, line by line."""
    with path.open("rb") as file:
        start = file.read(_MOST_BYTES)
    for content in start.splitlines():
        line = _QUOTE.sub("", content.decode("utf-8", "replace"))
        if path.suffix != ".md":
            line = line.replace(r"\"", '"').replace(r"\n", " ")  # as JSON has them
        yield remove_invisible(line).replace("\n", " ")
