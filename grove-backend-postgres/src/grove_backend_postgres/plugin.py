"""What grove learns from this plugin; everything else is imported when it is used."""

from collections.abc import Sequence

from grove_backend_postgres.settings import PostgresSettings
from grove_core import (
    BackendContext,
    BackendSpec,
    CommandSpec,
    ConfigError,
    Detection,
    MemoryBackend,
    hookimpl,
)

grove_api = 2


@hookimpl
def grove_memory_backends() -> Sequence[BackendSpec]:
    """Offer the backend ``postgres``."""
    return [
        BackendSpec(
            name="postgres",
            detect=_detect,
            open=_open,
            settings=PostgresSettings,
            # It is configured, and nothing else gives it away.
            paths=(".grove/config.toml",),
            commands=(
                CommandSpec(
                    name="status",
                    target="grove_backend_postgres.commands.status:command",
                    help="Ask the database what it is and has, and say what waits for it.",
                ),
                CommandSpec(
                    name="migrate",
                    target="grove_backend_postgres.commands.migrate:command",
                    help="Make grove's tables in the database, or bring them up to date.",
                ),
                CommandSpec(
                    name="bring",
                    target="grove_backend_postgres.commands.bring:command",
                    help="Bring here what still waits for another address of the same project.",
                ),
            ),
        )
    ]


def _detect(context: BackendContext) -> Detection | None:
    """Return whether a database and a project are configured."""
    settings: PostgresSettings | None = context.settings
    if settings is None or not (settings.url or settings.project):
        return None
    if not settings.url:
        note = "where is the database? set backends.postgres.url in your own configuration"
        return Detection(marker="backends.postgres.project", usable=False, note=note)
    if not settings.project:
        note = "which project is this? set backends.postgres.project"
        return Detection(marker="backends.postgres.url", usable=False, note=note)
    from grove_backend_postgres.address import parse_address

    try:
        label = parse_address(settings.url).label
    except ConfigError as error:
        return Detection(marker="backends.postgres.url", usable=False, note=str(error))
    note = f"the project {settings.project} in the database {label}"
    return Detection(marker="backends.postgres.url", note=note)


def _open(context: BackendContext) -> MemoryBackend:
    from grove_backend_postgres.backend import PostgresBackend

    return PostgresBackend(context)
