"""What is to be checked, as it was asked for."""

import json
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from grove_core.plugins.discovery import FoundPlugin

REQUEST_FILE: Final = "request.json"


@frozen(kw_only=True)
class Request:
    """What is to be checked."""

    plugins: tuple[FoundPlugin, ...]
    like: Path | None


def read_request() -> Request:
    """Read what is to be checked from the current folder."""
    document: dict[str, Any] = json.loads(Path(REQUEST_FILE).read_text(encoding="utf-8"))
    like = document["like"]
    return Request(
        plugins=tuple(FoundPlugin(*row) for row in document["plugins"]),
        like=Path(like) if like else None,
    )
