"""Where the files of this backend lie."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Final

from grove_backend_postgres.address import Address
from grove_core import Backoff, replace_text

PLACE: Final = "place.json"
OUTBOX: Final = "outbox.jsonl"
LOCK: Final = "delivery.lock"
_LONGEST_PAUSE: Final = timedelta(minutes=10)


class Paths:
    """The files of one project in one database; clones on one machine share them."""

    def __init__(self, home: Path, address: Address, project: str, schema: str) -> None:
        self.project = project
        self.folder: Path = home / "postgres" / address.key(project, schema)
        self.place: Path = self.folder / PLACE
        self.outbox: Path = self.folder / OUTBOX
        self.replica: Path = self.folder / "replica.jsonl"
        self.lock: Path = self.folder / LOCK
        self.breaker: Path = self.folder / "breaker.json"
        self.write_lock: Path = self.folder / "writing.lock"
        self.pulled: Path = self.folder / "pulled"
        self._told = {"database": address.label, "project": project, "schema": schema}

    def backoff(self) -> Backoff:
        """Read how the database has failed lately."""
        return Backoff.read(self.breaker, longest=_LONGEST_PAUSE)

    def introduce(self) -> None:
        """Write down what the folder is about, unless it says so."""
        if not self.place.exists():
            replace_text(self.place, f"{json.dumps(self._told)}\n")
