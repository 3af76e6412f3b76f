"""Sessions: whether hooks run here, what they have left behind, and what waits."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from grove_core.clock import format_instant
from grove_core.doctor.check import CheckResult, Examination, broken, ok, warning
from grove_core.services import overview
from grove_core.services.overview import Liveness, PendingKind, liveness_of
from grove_core.services.sessions import IDLE_LIMIT

_SILENT: Final = timedelta(days=30)
"""A project may rest for a while; a month without any hook is worth a look."""


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
