"""From an agent's JSON to accepted learnings: the stages of the pipeline, in pure functions.

The word lists, rules and weights in `data/` are read once each, when they are needed.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

_FOLDER: Final = Path(__file__).with_name("data")


@cache
def load_toml(name: str) -> dict[str, Any]:
    """Read one of the TOML files."""
    import tomli

    return tomli.loads((_FOLDER / name).read_text(encoding="utf-8"))


@cache
def load_json(name: str) -> dict[str, Any]:
    """Read one of the JSON files."""
    content: dict[str, Any] = json.loads((_FOLDER / name).read_text(encoding="utf-8"))
    return content
