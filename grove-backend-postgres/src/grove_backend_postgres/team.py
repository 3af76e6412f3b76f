"""A project in a database, as it is configured, and the files about it on this machine."""

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from grove_backend_postgres.address import Address, parse_address
from grove_backend_postgres.outbox import Outbox
from grove_backend_postgres.plugin import PostgresSettings
from grove_backend_postgres.store import Store, load_embedding
from grove_core import (
    BackendContext,
    BackendError,
    Backoff,
    ConfigError,
    StorageError,
    read_text,
    replace_text,
)

_PLACE: Final = "place.json"
_LONGEST_PAUSE: Final = timedelta(minutes=10)


class Paths:
    """The files of one project in one database; clones on one machine share them."""

    def __init__(self, home: Path, address: Address, project: str, schema: str) -> None:
        self.project = project
        self.folder: Path = home / "postgres" / address.key(project, schema)
        self.place: Path = self.folder / _PLACE
        self.outbox: Path = self.folder / "outbox.jsonl"
        self.replica: Path = self.folder / "replica.jsonl"
        self.lock: Path = self.folder / "delivery.lock"
        self.write_lock: Path = self.folder / "writing.lock"
        self.breaker: Path = self.folder / "breaker.json"
        self.pulled: Path = self.folder / "pulled"
        self._told = {"database": address.label, "project": project, "schema": schema}

    def backoff(self) -> Backoff:
        """Read how the database has failed lately."""
        return Backoff.read(self.breaker, longest=_LONGEST_PAUSE)

    def introduce(self) -> None:
        """Write down what the folder is about, unless it says so."""
        if not self.place.exists():
            replace_text(self.place, f"{json.dumps(self._told)}\n")

    def waiting_elsewhere(self) -> Iterator[str]:
        """Say what waits for the same project at another address, and how to have it sent."""
        for path in sorted(self.folder.parent.glob(f"*/{self.outbox.name}")):
            # One that cannot be read is told by whoever has that address.
            with suppress(StorageError, ValueError, AttributeError):
                told = json.loads(read_text(path.parent / _PLACE) or "{}")
                count = 0 if path == self.outbox else len(Outbox(path).all().ids)
                if count and told.get("project", self.project) == self.project:
                    where = f"the database {told['database']}" if "database" in told else "another"
                    yield (
                        f"learnings waiting for {where}: {count}, in {path}; set"
                        f" backends.postgres.url back, or append that file to {self.outbox} and"
                        " remove it"
                    )


class Team:
    """A project in a database."""

    def __init__(self, context: BackendContext) -> None:
        settings = self.settings = context.settings or PostgresSettings()
        for name in ("url", "project"):
            if not getattr(settings, name):
                raise BackendError(
                    f"backends.postgres.{name} is not set; see `grove backends` and `grove trust`"
                )
        self.address = parse_address(settings.url)
        self.paths = Paths(context.home, self.address, settings.project, settings.schema)

    @property
    def label(self) -> str:
        """What the database is called, for people."""
        return f"the database {self.address.label}"

    def store(self, seconds: float, *, with_vectors: bool = False) -> Store:
        """Prepare a connection."""
        settings = self.settings
        has_vectors = with_vectors and settings.embedding and not self.complaint()
        return Store(
            self.address,
            settings.project,
            deadline=time.monotonic() + seconds,
            schema=settings.schema,
            embed=load_embedding(settings.embedding) if has_vectors else None,
            model=settings.embedding,
        )

    def complaint(self) -> str:
        """Return what is wrong with the function that makes vectors."""
        try:
            if self.settings.embedding:
                load_embedding(self.settings.embedding)
        except ConfigError as error:
            return str(error)
        return ""
