"""Where the files of this backend lie."""

import json
from pathlib import Path
from typing import Final

from grove_backend_postgres.address import Address
from grove_core import replace_text

PLACE: Final = "place.json"
OUTBOX: Final = "outbox.jsonl"
LOCK: Final = "delivery.lock"


class Places:
    """The files of one project in one database; clones on one machine share them.

    Attributes:
        project: The project's name.
        folder: Where they lie.
        place: What the folder's name stands for, in words: the name itself is a digest.
        outbox: What waits for the database.
        replica: What the database had when it was asked last, and what waits.
        lock: Held by whoever delivers or pulls.
        breaker: Since when the database fails.
        synchronised: Written last when both were in line.
    """

    def __init__(self, home: Path, address: Address, project: str, schema: str) -> None:
        """Work out the paths; nothing is read or created.

        Args:
            home: grove's own directory of the user.
            address: Where the database is.
            project: The project's name there.
            schema: The schema of the tables.
        """
        self.project = project
        self.folder: Path = home / "postgres" / address.key(project, schema)
        self.place: Path = self.folder / PLACE
        self.outbox: Path = self.folder / OUTBOX
        self.replica: Path = self.folder / "replica.sqlite3"
        self.lock: Path = self.folder / LOCK
        self.breaker: Path = self.folder / "breaker.json"
        self.synchronised: Path = self.folder / "synchronised"
        self._told = {"database": address.label, "project": project, "schema": schema}

    def introduce(self) -> None:
        """Write down what the folder is about, unless it says so.

        Raises:
            StorageError: It could not be written.
        """
        if not self.place.exists():
            replace_text(self.place, f"{json.dumps(self._told)}\n")
