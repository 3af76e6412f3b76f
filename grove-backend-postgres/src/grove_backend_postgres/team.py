"""The database as a project uses it."""

import time

from attrs import frozen

from grove_backend_postgres.address import Address, parse_address
from grove_backend_postgres.embedding import Embed, load_embedding
from grove_backend_postgres.plugin import PostgresSettings
from grove_backend_postgres.store import Store
from grove_core import BackendContext, BackendError, ConfigError


@frozen(kw_only=True, repr=False)
class Team:
    """A project in a database."""

    address: Address
    settings: PostgresSettings

    @property
    def label(self) -> str:
        """What the database is called, for people."""
        return f"the database {self.address.label}"

    def store(self, seconds: float, *, with_vectors: bool = False) -> Store:
        """Prepare a connection."""
        settings = self.settings
        return Store(
            self.address,
            settings.project,
            deadline=time.monotonic() + seconds,
            schema=settings.schema,
            embed=self._embed() if with_vectors else None,
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

    def _embed(self) -> Embed | None:
        settings = self.settings
        return (
            load_embedding(settings.embedding)
            if settings.embedding and not self.complaint()
            else None
        )


def team_of(context: BackendContext | None) -> Team:
    """Read from the configuration where the database is, and which project this is."""
    settings: PostgresSettings = (context and context.settings) or PostgresSettings()
    for name in ("url", "project"):
        if not getattr(settings, name):
            raise BackendError(
                f"backends.postgres.{name} is not set; see `grove backends` and `grove trust`"
            )
    return Team(address=parse_address(settings.url), settings=settings)
