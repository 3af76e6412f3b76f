"""What waits in the folders of other addresses."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from grove_backend_postgres.outbox import Outbox
from grove_backend_postgres.team import LOCK, OUTBOX, PLACE, Paths
from grove_core import BackendError, StorageError, locked, read_text

_TOLD: Final = ("database", "project", "schema")
_SHOWN: Final = 8
"""Letters of a folder's name that people are shown; any that begin only one name will do."""


class Elsewhere(NamedTuple):
    """What waits in a folder."""

    folder: Path
    database: str
    project: str
    schema: str
    waiting: tuple[str, ...]

    @property
    def name(self) -> str:
        """What people call the folder."""
        return self.folder.name[:_SHOWN]

    @property
    def source(self) -> str:
        """What it waits for, for people."""
        if not self.database:
            return f"a database that {self.folder / PLACE} does not tell"
        return f"{self.project} in the database {self.database}, schema {self.schema}"

    def told(self) -> str:
        """Say in a line that it waits, and how to send it on."""
        return (
            f"what waits for {self.source} ({len(self.waiting)}) stays there until"
            f" `grove backends postgres bring {self.name}` has it sent to the present one"
        )


def waiting_elsewhere(paths: Paths) -> list[Elsewhere]:
    """Find what waits for the same project at another address, and what no one knows more of."""
    own = {"", paths.project}
    return [one for one in _others(paths) if one.waiting and one.project in own]


def bring(paths: Paths, beginning: str) -> Elsewhere:
    """Have what waits in another folder wait in one's own."""
    found = [one for one in _others(paths) if one.folder.name.startswith(beginning)]
    if len(found) != 1 or not beginning:
        raise BackendError(
            f"{len(found)} other folders of {paths.folder.parent} have a name that begins with"
            f" {beginning!a}; `grove backends postgres bring` lists them"
        )
    other = found[0]
    if other.project not in ("", paths.project):
        raise BackendError(
            f"what waits in {other.folder} is of the project {other.project}, and"
            f" backends.postgres.project is {paths.project}: name that project to deliver it"
        )
    # No one is to deliver meanwhile what is taken away.
    with locked(other.folder / LOCK):
        paths.introduce()
        outbox = Outbox(other.folder / OUTBOX)
        entries = outbox.all().entries
        # In this order: what is in both files is delivered once, what is in neither is lost.
        Outbox(paths.outbox).add_entries(entries)
        outbox.remove(entries)
    return other


def _others(paths: Paths) -> list[Elsewhere]:
    """Look into the folders beside one's own."""
    found: list[Elsewhere] = []
    for outbox in sorted(paths.folder.parent.glob(f"*/{OUTBOX}")):
        # One that cannot be read is told by the one that has that address.
        with suppress(StorageError):
            if outbox.parent != paths.folder:
                found.append(_look_into(outbox.parent))
    return found


def _look_into(folder: Path) -> Elsewhere:
    try:
        told: dict[str, Any] = json.loads(read_text(folder / PLACE) or "{}")
        database, project, schema = (str(told.get(name, "")) for name in _TOLD)
    except (StorageError, ValueError, AttributeError):
        database = project = schema = ""
    return Elsewhere(folder, database, project, schema, Outbox(folder / OUTBOX).all().ids)
