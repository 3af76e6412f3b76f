"""What grove learns from this plugin; everything else is imported when it is used."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final

from attrs import Attribute, field, frozen

from grove_core import (
    TRUSTED_ALONE,
    USER_ONLY,
    BackendContext,
    BackendSpec,
    CommandSpec,
    ConfigError,
    Detection,
    MemoryBackend,
    hookimpl,
)

_Check = Callable[[object, "Attribute[Any]", str], None]


def _check_url(_: object, attribute: "Attribute[Any]", value: str) -> None:
    if value and "=" not in value and not value.startswith(("postgresql://", "postgres://")):
        # It is not quoted: a password may be in it.
        raise ValueError(
            f"{attribute.name} must be a URL such as postgresql://grove@db.example.org/team, or"
            " keywords such as host=db.example.org dbname=team user=grove"
        )


def _check_form(pattern: str, words: str) -> _Check:
    def check(_: object, attribute: "Attribute[Any]", value: str) -> None:
        if value != attribute.default and not re.fullmatch(pattern, value):
            raise ValueError(f"{attribute.name} must be {words}, not {value[:60]!r}")

    return check


_check_project: Final = _check_form(
    r"(?!.*\.\.)[A-Za-z0-9][A-Za-z0-9._/-]{0,99}",
    'letters, digits, ".", "_", "-" and "/", at most 100 of them, without ".."',
)
_check_schema: Final = _check_form(
    "[a-z_][a-z0-9_]{0,62}",
    'lower-case letters, digits and "_", at most 63 of them and no digit first',
)
_check_embedding: Final = _check_form(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", "written module:function")


# Nothing compares or shows them: the address may hold a password.
@frozen(kw_only=True, eq=False, repr=False)
class PostgresSettings:
    """What can be configured."""

    url: str = field(default="", metadata=USER_ONLY, validator=_check_url)
    project: str = field(default="", metadata=TRUSTED_ALONE, validator=_check_project)
    schema: str = field(default="grove", metadata=USER_ONLY, validator=_check_schema)
    embedding: str = field(default="", metadata=USER_ONLY, validator=_check_embedding)


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
                    name="migrate",
                    target="grove_backend_postgres.commands:migrate_command",
                    help="Make grove's tables in the database, or bring them up to date.",
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
