"""A look at how the backend and its database do, for ``grove backends`` and doctor."""

import os
from typing import Final

from grove_backend_postgres.about import ServerAbout
from grove_backend_postgres.faults import DatabaseRefusedError
from grove_backend_postgres.record import Record
from grove_backend_postgres.sync import Sync
from grove_backend_postgres.team import Paths, Team
from grove_core import BackendError, Health, StorageError

_PING_SECONDS: Final = 20.0
_LATER: Final = "`grove maintain flush` tries again"
_MIGRATE: Final = "grove backends postgres migrate"
_OTHER_ROLE: Final = (
    "connect as a role that is no superuser and has no BYPASSRLS, so that the database keeps"
    " projects apart as well"
)


def look_at(team: Team, record: Record, sync: Sync) -> Health:
    """Look whether learnings can be kept here, and whether the database answers."""
    try:
        held = _held_here(team.paths, record)
    except (BackendError, StorageError) as error:
        return Health(ok=False, detail=str(error), location=str(team.paths.folder))
    try:
        with team.store(_PING_SECONDS) as store, sync.noting_faults():
            about = store.about()
    except DatabaseRefusedError as error:
        return Health(ok=False, detail=f"{held}; {error}", location=team.label)
    except (BackendError, StorageError) as error:
        return Health(ok=True, detail=f"{held}; {error}", location=team.label, fix=_LATER)
    detail = f"{held}; {about.described()}"
    return Health(ok=True, detail=detail, location=team.label, fix=_fix_of(about, team))


def _held_here(paths: Paths, record: Record) -> str:
    existing = next(one for one in (paths.outbox, *paths.outbox.parents) if one.exists())
    if not os.access(existing, os.W_OK):
        raise StorageError(f"{paths.outbox} cannot be written")
    tail = record.outbox.all()
    held = f"learnings: {len(record.learnings())}"
    if tail.ids:
        held += f", waiting: {len(tail.ids)}"
    if tail.unreadable:
        held += f"; lines of {paths.outbox} that cannot be read: {tail.unreadable}"
    return "; ".join([held, *paths.waiting_elsewhere()])


def _fix_of(about: ServerAbout, team: Team) -> str:
    if not about.is_current:
        return _MIGRATE
    if about.row_level_security and not about.row_level_security_applies:
        return _OTHER_ROLE
    return team.complaint()
