"""A look at how the backend and its database do, for ``grove backends`` and doctor."""

import os
from pathlib import Path
from typing import Final

from grove_backend_postgres.about import ServerAbout
from grove_backend_postgres.elsewhere import waiting_elsewhere
from grove_backend_postgres.faults import DatabaseRefusedError
from grove_backend_postgres.paths import Paths
from grove_backend_postgres.record import Record
from grove_backend_postgres.sync import Line
from grove_backend_postgres.team import Team
from grove_core import BackendError, Health, StorageError

_PING_SECONDS: Final = 20.0
_LATER: Final = "`grove maintain flush` tries again"
_BRING: Final = "grove backends postgres bring"
_MIGRATE: Final = "grove backends postgres migrate"
_OTHER_ROLE: Final = (
    "connect as a role that is no superuser and has no BYPASSRLS, so that the database keeps"
    " projects apart as well"
)


def look_at(team: Team, paths: Paths, record: Record, line: Line) -> Health:
    """Look whether learnings can be kept here, and whether the database answers."""
    location = team.label
    try:
        held, complaint = _kept_here(paths, record)
    except (BackendError, StorageError) as error:
        return Health(ok=False, detail=str(error), location=str(paths.outbox.parent))
    if complaint:
        return Health(ok=False, detail=complaint, location=str(paths.outbox.parent))
    try:
        with team.store(_PING_SECONDS) as store, line.noting_faults():
            about = store.about()
    except DatabaseRefusedError as error:
        return Health(ok=False, detail=f"{held}; {error}", location=location)
    except (BackendError, StorageError) as error:
        return Health(ok=True, detail=f"{held}; {error}", location=location, fix=_LATER)
    detail = f"{held}; {described(about)}"
    fix = _mend_of(about, team) or (_BRING if waiting_elsewhere(paths) else "")
    return Health(ok=True, detail=detail, location=location, fix=fix)


def described(about: ServerAbout) -> str:
    """Say in a line what a server is and can do."""
    server = f"{about.engine} {about.version} as {about.user}"
    if not about.schema_number:
        return f"{server}: no tables yet, they are made when something is first delivered"
    abilities = {
        "full-text search": about.has_text_search,
        "row-level security": about.rls_applies,
        "vectors": about.has_vector,
    }
    having = ", ".join(name for name, holds in abilities.items() if holds) or "nothing besides"
    missing = ", ".join(name for name, holds in abilities.items() if not holds)
    without = f"; without {missing}" if missing else ""
    return f"{server}: {having}{without}"


def _kept_here(paths: Paths, record: Record) -> tuple[str, str]:
    tail = record.outbox.all()
    learnings = len(record.learnings())
    waiting = len({one.learning_id for one in tail.entries})
    held = f"learnings: {learnings}" + (f", waiting: {waiting}" if waiting else "")
    if tail.unreadable:
        held += f"; lines of {paths.outbox} that cannot be read: {tail.unreadable}"
    held = "; ".join([held, *(one.told() for one in waiting_elsewhere(paths))])
    if not _is_writable(paths.outbox):
        return held, f"{paths.outbox} cannot be written"
    return held, ""


def _mend_of(about: ServerAbout, team: Team) -> str:
    if about.schema_number < about.wanted_number:
        return _MIGRATE
    if about.has_rls and not about.rls_applies:
        return _OTHER_ROLE
    return team.complaint()


def _is_writable(path: Path) -> bool:
    """Return whether a file could be appended to, or made."""
    if path.exists():
        return path.is_file() and os.access(path, os.W_OK)
    folder = next(one for one in path.parents if one.exists())
    return folder.is_dir() and os.access(folder, os.W_OK)
