"""What a server turned out to be when it was asked: found out again at any time."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from grove_core import format_instant, parse_instant, replace_text

_MOST_BYTES: Final = 256 * 1024
_VERSION: Final = 1


@frozen(kw_only=True)
class Verdict:
    """What a server has said of itself, and what a probe has shown."""

    server_name: str
    version: str
    profile: str | None
    has_write: bool
    has_search: bool
    tools_digest: str
    checked_at: datetime
    facts: Mapping[str, Any] = field(factory=dict)


def load_verdict(home: Path, digest: str) -> Verdict | None:
    """Look up what is known about a server."""
    try:
        with _path(home, digest).open("rb") as file:
            return _from_document(json.loads(file.read(_MOST_BYTES)))
    except (OSError, ValueError, RecursionError, OverflowError):
        return None


def save_verdict(home: Path, digest: str, verdict: Verdict) -> None:
    """Keep what is known about a server, in the place of what was known before."""
    path = _path(home, digest)
    text = f"{json.dumps(_to_document(verdict), indent=2, sort_keys=True)}\n"
    replace_text(path, text)


def _path(home: Path, digest: str) -> Path:
    return home / "cache" / "mcp" / "servers" / f"{digest}.json"


def _to_document(verdict: Verdict) -> dict[str, Any]:
    return {
        "v": _VERSION,
        "server_name": verdict.server_name,
        "version": verdict.version,
        "profile": verdict.profile,
        "has_write": verdict.has_write,
        "has_search": verdict.has_search,
        "tools_digest": verdict.tools_digest,
        "checked_at": format_instant(verdict.checked_at),
        "facts": dict(verdict.facts),
    }


def _from_document(document: object) -> Verdict | None:
    if not isinstance(document, dict) or document.get("v") != _VERSION:
        return None
    texts = [document.get(name) for name in ("server_name", "version", "tools_digest")]
    flags = [document.get(name) for name in ("has_write", "has_search")]
    profile, facts, when = (document.get(name) for name in ("profile", "facts", "checked_at"))
    if not all(isinstance(one, str) for one in (*texts, when)):
        return None
    if not all(isinstance(one, bool) for one in flags) or not isinstance(facts, dict):
        return None
    if profile is not None and not isinstance(profile, str):
        return None
    return Verdict(
        server_name=str(texts[0]),
        version=str(texts[1]),
        profile=profile,
        has_write=flags[0] is True,
        has_search=flags[1] is True,
        tools_digest=str(texts[2]),
        checked_at=parse_instant(str(when)),
        facts=facts,
    )
