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


class Assessment(NamedTuple):
    """How a server is spoken to, and what it can do."""

    profile: str | None
    has_write: bool
    can_update: bool


def load_assessment(home: Path, digest: str) -> Assessment | None:
    """Look up what is known about a server."""
    try:
        with _path(home, digest).open("rb") as file:
            document = json.loads(file.read(_MOST_BYTES))
        facts, profile = document["facts"], document["profile"]
        can = (document["has_write"] is True, facts["can_update"] is True)
        is_profile = profile is None or isinstance(profile, str)
        return Assessment(profile, *can) if is_profile else None
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None


def keep_assessment(home: Path, digest: str, assessment: Assessment) -> None:
    """Keep what a server has shown of itself, where that is new; a fault is none."""
    if assessment == load_assessment(home, digest):
        return
    document = {
        "v": 1,
        "profile": assessment.profile,
        "has_write": assessment.has_write,
        "facts": {"can_update": assessment.can_update},
    }
    with suppress(StorageError):
        replace_text(_path(home, digest), f"{json.dumps(document, indent=2)}\n")


def _path(home: Path, digest: str) -> Path:
    return home / "cache" / "mcp" / "servers" / f"{digest}.json"


def assessment_of(mapping: "ServerMapping") -> Assessment:
    """Return what a server can do."""
    return Assessment(mapping.profile, mapping.write is not None, mapping.update is not None)


def can_update(context: BackendContext, entry: ServerEntry, profile: str | None) -> bool:
    """Return whether a server can be told a status, as far as that is known without asking it."""
    assessment = load_assessment(context.home, entry.digest)
    if assessment is not None and assessment.has_write:
        return assessment.can_update
    if profile is None:
        return False
    from grove_backend_mcp.mappings.choice import profiles

    return any(one.mapping.update is not None for one in profiles() if one.name == profile)
