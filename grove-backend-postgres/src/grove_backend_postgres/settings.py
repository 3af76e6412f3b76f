"""The section ``[backends.postgres]`` of the configuration."""

import re
from typing import Any, Final

from attrs import Attribute, field, frozen

from grove_core import TRUSTED_ALONE, USER_ONLY

_PROJECT: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,99}")
_SCHEMA: Final = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_FUNCTION: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")


def _check_url(_: object, attribute: "Attribute[Any]", value: str) -> None:
    if value and "=" not in value and not value.startswith(("postgresql://", "postgres://")):
        # It is not quoted: a password may be in it.
        raise ValueError(
            f"{attribute.name} must be a URL such as postgresql://grove@db.example.org/team, or"
            " keywords such as host=db.example.org dbname=team user=grove"
        )


def _check_project(_: object, attribute: "Attribute[Any]", value: str) -> None:
    if value and (not _PROJECT.fullmatch(value) or ".." in value):
        raise ValueError(
            f'{attribute.name} must be letters, digits, ".", "_", "-" and "/", at most 100 of them,'
            f' without "..", not {value[:60]!r}'
        )


def _check_schema(_: object, attribute: "Attribute[Any]", value: str) -> None:
    if not _SCHEMA.fullmatch(value):
        raise ValueError(
            f'{attribute.name} must be lower-case letters, digits and "_", at most 63 of them and'
            f" no digit first, not {value[:60]!r}"
        )


def _check_embedding(_: object, attribute: "Attribute[Any]", value: str) -> None:
    if value and not _FUNCTION.fullmatch(value):
        raise ValueError(f"{attribute.name} must be written module:function, not {value[:60]!r}")


# Nothing compares or shows them: the address may hold a password.
@frozen(kw_only=True, eq=False, repr=False)
class PostgresSettings:
    """What can be configured."""

    url: str = field(default="", metadata=USER_ONLY, validator=_check_url)
    project: str = field(default="", metadata=TRUSTED_ALONE, validator=_check_project)
    schema: str = field(default="grove", metadata=USER_ONLY, validator=_check_schema)
    embedding: str = field(default="", metadata=USER_ONLY, validator=_check_embedding)
