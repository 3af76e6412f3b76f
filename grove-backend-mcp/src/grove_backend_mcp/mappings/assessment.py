"""What a server turned out to be able to do when it was asked: found out again at any time."""

import json
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from attrs import asdict, evolve, field, frozen
from attrs.validators import instance_of, optional

from grove_backend_mcp.servers import ServerEntry
from grove_core import BackendContext, StorageError, format_instant, parse_instant, replace_text

if TYPE_CHECKING:
    # Hooks read what is known of a server, and need nothing of its mapping.
    from grove_backend_mcp.client import Connection
    from grove_backend_mcp.mappings.mapping import ServerMapping

_MOST_BYTES: Final = 256 * 1024
_VERSION: Final = 1


class Abilities(NamedTuple):
    """What a server can do besides being written to."""

    updates: bool = False
    lists: bool = False
    searches: bool = True


def abilities_of(mapping: "ServerMapping") -> Abilities:
    """Return what a server can do."""
    return Abilities(
        *(one is not None for one in (mapping.update, mapping.listing, mapping.search))
    )


@frozen(kw_only=True)
class Assessment:
    """What a server has said of itself, and what it can do."""

    server_name: str = field(validator=instance_of(str))
    version: str = field(validator=instance_of(str))
    profile: str | None = field(validator=optional(instance_of(str)))
    has_write: bool = field(validator=instance_of(bool))
    abilities: Abilities
    checked_at: datetime


def load_assessment(home: Path, digest: str) -> Assessment | None:
    """Look up what is known about a server."""
    try:
        with _path(home, digest).open("rb") as file:
            document = json.loads(file.read(_MOST_BYTES))
        can_update, can_list = (
            document["facts"].get(name) is True for name in ("can_update", "can_list")
        )
        return Assessment(
            **{name: document[name] for name in ("server_name", "version", "profile", "has_write")},
            abilities=Abilities(can_update, can_list, document["has_search"] is True),
            checked_at=parse_instant(document["checked_at"]),
        )
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError):
        return None


def save_assessment(home: Path, digest: str, assessment: Assessment) -> None:
    """Store what is known about a server, in the place of what was known before."""
    document = asdict(assessment, filter=lambda one, _: one.name != "abilities")
    updates, lists, searches = assessment.abilities
    document |= {
        "v": _VERSION,
        "has_search": searches,
        "checked_at": format_instant(assessment.checked_at),
        "facts": {"can_update": updates, "can_list": lists},
    }
    replace_text(_path(home, digest), f"{json.dumps(document, indent=2, sort_keys=True)}\n")


def _path(home: Path, digest: str) -> Path:
    return home / "cache" / "mcp" / "servers" / f"{digest}.json"


def expected_of(context: BackendContext, entry: ServerEntry, profile: str | None) -> Abilities:
    """Return what a server can do, as far as that is known before it is connected."""
    assessment = load_assessment(context.home, entry.digest)
    if assessment is not None and assessment.has_write:
        return assessment.abilities
    if profile is None:
        return Abilities()
    from grove_backend_mcp.mappings.choice import profiles

    return next((abilities_of(one.mapping) for one in profiles(profile)), Abilities())


def keep_assessment(
    context: BackendContext,
    entry: ServerEntry,
    connection: "Connection",
    mapping: "ServerMapping",
    now: datetime,
    *,
    is_probe: bool = False,
) -> None:
    """Keep what a server has shown of itself, where that is new; a fault is none."""
    if mapping.write is None and not is_probe:
        return  # it may be so for once; what a person has probed is to be believed
    known = load_assessment(context.home, entry.digest)
    assessment = Assessment(
        server_name=connection.server_name,
        version=connection.server_version,
        profile=mapping.profile,
        has_write=mapping.write is not None,
        abilities=abilities_of(mapping),
        checked_at=now if known is None else known.checked_at,
    )
    if assessment != known:
        with suppress(StorageError):
            save_assessment(context.home, entry.digest, evolve(assessment, checked_at=now))
