"""What a server turned out to be able to do when it was asked: found out again at any time."""

import json
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from grove_backend_mcp.servers import ServerEntry
from grove_core import BackendContext, StorageError, replace_text

if TYPE_CHECKING:
    # Hooks read what is known of a server, and need nothing of its mapping.
    from grove_backend_mcp.mappings.mapping import ServerMapping

_MOST_BYTES: Final = 256 * 1024


class Abilities(NamedTuple):
    """What a server can do besides being written to."""

    updates: bool = False
    lists: bool = False


class Assessment(NamedTuple):
    """How a server is spoken to, and what it can do."""

    profile: str | None
    has_write: bool
    abilities: Abilities


def load_assessment(home: Path, digest: str) -> Assessment | None:
    """Look up what is known about a server."""
    try:
        with _path(home, digest).open("rb") as file:
            document = json.loads(file.read(_MOST_BYTES))
        facts, profile = document["facts"], document["profile"]
        abilities = Abilities(facts["can_update"] is True, facts["can_list"] is True)
        is_profile = profile is None or isinstance(profile, str)
        return Assessment(profile, document["has_write"] is True, abilities) if is_profile else None
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None


def keep_assessment(home: Path, digest: str, assessment: Assessment) -> None:
    """Keep what a server has shown of itself, where that is new; a fault is none."""
    if assessment == load_assessment(home, digest):
        return
    updates, lists = assessment.abilities
    document = {
        "v": 1,
        "profile": assessment.profile,
        "has_write": assessment.has_write,
        "facts": {"can_update": updates, "can_list": lists},
    }
    with suppress(StorageError):
        replace_text(_path(home, digest), f"{json.dumps(document, indent=2)}\n")


def _path(home: Path, digest: str) -> Path:
    return home / "cache" / "mcp" / "servers" / f"{digest}.json"


def assessment_of(mapping: "ServerMapping") -> Assessment:
    """Return what a server can do."""
    abilities = Abilities(mapping.update is not None, mapping.listing is not None)
    return Assessment(mapping.profile, mapping.write is not None, abilities)


def expected_of(context: BackendContext, entry: ServerEntry, profile: str | None) -> Abilities:
    """Return what a server can do, as far as that is known before it is connected."""
    assessment = load_assessment(context.home, entry.digest)
    if assessment is not None and assessment.has_write:
        return assessment.abilities
    if profile is None:
        return Abilities()
    from grove_backend_mcp.mappings.choice import profiles

    every = (one for one in profiles() if one.name == profile)
    return next((assessment_of(one.mapping).abilities for one in every), Abilities())
