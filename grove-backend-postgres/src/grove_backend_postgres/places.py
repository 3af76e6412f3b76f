"""Where the files of this backend lie."""

from pathlib import Path

from grove_backend_postgres.address import Address


class Places:
    """The files of one project in one database; clones on one machine share them.

    Attributes:
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
        folder = home / "postgres" / address.key(project, schema)
        self.outbox: Path = folder / "outbox.jsonl"
        self.replica: Path = folder / "replica.sqlite3"
        self.lock: Path = folder / "delivery.lock"
        self.breaker: Path = folder / "breaker.json"
        self.synchronised: Path = folder / "synchronised"
