"""What a server turned out to be when it was asked: found out again at any time."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from attrs import asdict, field, frozen
from attrs.validators import instance_of, optional

from grove_core import format_instant, parse_instant, replace_text

_MOST_BYTES: Final = 256 * 1024
_VERSION: Final = 1


@frozen(kw_only=True)
class Assessment:
    """What a server has said of itself, and what a probe has shown."""

    server_name: str = field(validator=instance_of(str))
    version: str = field(validator=instance_of(str))
    profile: str | None = field(validator=optional(instance_of(str)))
    has_write: bool = field(validator=instance_of(bool))
    has_search: bool = field(validator=instance_of(bool))
    tools_digest: str = field(validator=instance_of(str))
    checked_at: datetime
    facts: Mapping[str, Any] = field(factory=dict, validator=instance_of(dict))


def load_assessment(home: Path, digest: str) -> Assessment | None:
    """Look up what is known about a server."""
    try:
        with _path(home, digest).open("rb") as file:
            document = json.loads(file.read(_MOST_BYTES))
        if document.pop("v") != _VERSION:
            return None
        at = parse_instant(document.pop("checked_at"))
        return Assessment(**document, checked_at=at)
    except (
        *(OSError, ValueError, TypeError, KeyError, AttributeError),
        *(RecursionError, OverflowError),
    ):
        return None


def save_assessment(home: Path, digest: str, assessment: Assessment) -> None:
    """Store what is known about a server, in the place of what was known before."""
    document = {"v": _VERSION, **asdict(assessment)}
    document["checked_at"] = format_instant(assessment.checked_at)
    replace_text(_path(home, digest), f"{json.dumps(document, indent=2, sort_keys=True)}\n")


def _path(home: Path, digest: str) -> Path:
    return home / "cache" / "mcp" / "servers" / f"{digest}.json"
