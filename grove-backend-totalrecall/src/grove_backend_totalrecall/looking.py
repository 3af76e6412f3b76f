"""A look at whether the memory works, for ``grove backends`` and doctor."""

from datetime import date, datetime

from grove_backend_totalrecall.contents import Contents
from grove_backend_totalrecall.health import describe, write_fault
from grove_backend_totalrecall.installation import Installation
from grove_backend_totalrecall.store import Store
from grove_core import Health, StorageError, is_ignored_by_git


def look_at(installation: Installation, store: Store, today: date) -> Health:
    """Look whether the logs can be read and written."""
    places = store.places
    location = str(places.memory)
    fault = write_fault(places.log_of(today), installation.root)
    if fault is not None:
        detail = f"{describe(installation)}: {fault.detail}"
        return Health(ok=False, detail=detail, location=location, fix=fault.fix)
    try:
        contents = store.contents()
    except StorageError as error:
        return Health(ok=False, detail=str(error), location=location)
    detail = f"{describe(installation)}; {_holdings(contents)}"
    # Where git ignores the logs, the record of another clone is about logs that are not here.
    lost = contents.lost()
    if lost and not is_ignored_by_git(places.log_of(today)):
        detail += f"; not in its files any more: {', '.join(lost[:3])}"
        detail += f" and {len(lost) - 3} more" if len(lost) > 3 else ""  # noqa: PLR2004 - as above
    return Health(ok=True, detail=detail, location=location)


def _holdings(contents: Contents) -> str:
    learnings = [one.learning for one in contents.learnings()]
    counts = f"learnings: {len(learnings)}, notes of others: {len(contents.notes)}"
    last = max((one.timestamp for one in learnings), default=None)
    return f"{counts}, daily logs: {contents.logs}, last learning: {_local(last)}"


def _local(instant: datetime | None) -> str:
    if instant is None:
        return "none yet"
    try:
        return f"{instant.astimezone():%Y-%m-%d %H:%M}"
    except (OverflowError, OSError, ValueError):
        return f"{instant:%Y-%m-%d %H:%M} UTC"
