"""A look at how the backend and its server do, for ``grove backends`` and doctor."""

import os
from typing import TYPE_CHECKING, Final

from grove_backend_mcp.servers import FaultKind, ServerFaultError
from grove_backend_mcp.sync.journal import Journal
from grove_backend_mcp.sync.record import Contents, Paths
from grove_core import Health, StorageError, confined

if TYPE_CHECKING:
    from grove_backend_mcp.sync.server import RemoteServer

_PING_SECONDS: Final = 25.0
_LOCAL_FLUSH: Final = "`grove maintain flush` tries again"
_NO_SERVER: Final = "fix or name one: `grove backends discover` says what is wrong with each"
_FIXES: Final = {
    FaultKind.NOT_STARTED: "look at how it is written down: `grove backends discover`",
    FaultKind.EXITED: "start it by hand to see why; a package that a newer one broke is often"
    " fixed by pinning it, such as 'mcp<2'",
    FaultKind.UNSUITABLE: "say in [backends.mcp] which tools to call, or name another server",
    FaultKind.TIMED_OUT: "raise backends.mcp.connect_seconds or call_seconds, or run it as an HTTP"
    " server that stays up",
    FaultKind.REFUSED: "start the server, or fix its address",
}


def look_at(
    paths: Paths, contents: Contents, journal: Journal, remote: "RemoteServer | None", why_none: str
) -> Health:
    """Look whether learnings can be recorded, and whether the server answers."""
    location, record = str(paths.record), paths.record
    try:
        learnings = sum(1 for _ in contents.learnings())
        waiting = len(list(remote.waiting() if remote else journal.undelivered()))
        unreadable = contents.record.since("").unreadable
        confined(record, paths.root)
    except StorageError as error:
        return Health(ok=False, detail=str(error), location=location)
    place = next(one for one in (record, *record.parents) if one.exists())
    if not os.access(place, os.W_OK):
        return Health(ok=False, detail=f"{record} cannot be written", location=location)
    held = f"learnings: {learnings}" + (f", waiting: {waiting}" if waiting else "")
    held += f"; lines of {record.name} that cannot be read: {unreadable}" if unreadable else ""
    if remote is None:
        return Health(ok=True, detail=f"{held}; {why_none}", location=location, fix=_NO_SERVER)
    detail, fix = _asked(remote)
    return Health(ok=True, detail=f"{held}; {detail}", location=location, fix=fix)


def _asked(remote: "RemoteServer") -> tuple[str, str]:
    """Ask the server for a sign of life; tell what came of it, and what helps."""
    try:
        with remote.connection.server(_PING_SECONDS, asked=True):
            spoken = remote.connection.described
    except ServerFaultError as fault:
        fix = _FIXES.get(fault.kind, _LOCAL_FLUSH)
        said = fault.detail.removeprefix(f"{remote.connection.entry.name}: ")
        kind = fault.kind.value
        return f"{remote.name} {said if said.startswith(kind) else f'{kind}: {said}'}", fix
    remote.connection.has_worked()
    return f"{remote.name} works ({spoken})", ""
