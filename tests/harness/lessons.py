"""The labelled candidates of `tests/data/lessons`, with made-up secrets filled in.

The files hold `{{secret:KIND}}` where a secret stands, because code hosts refuse a push that holds
one. `load` puts a value there that looks valid and opens nothing. It is derived from the candidate's
id, so that it is the same in every run.
"""

import json
import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from attrs import frozen
from planted import FORMS, made

FOLDER: Final = Path(__file__).parents[1] / "data" / "lessons"
PLACEHOLDER: Final = re.compile(r"\{\{secret:(?P<kind>[a-z0-9-]+)\}\}")
SECRETS: Final[Mapping[str, str]] = FORMS["labelled"]
Part = Literal["development", "test", "training", "blind", "short", "authors", "orders"]


@frozen(kw_only=True)
class Labelled:
    """One candidate with what a person said about it."""

    id: str
    label: str
    kind: str
    why: str
    author: str
    candidate: dict[str, Any]
    secrets: tuple[str, ...]


def load(part: Part) -> list[Labelled]:
    """Read one part of the set."""
    return [_filled(line) for line in lines(part)]


def lines(part: Part) -> list[dict[str, Any]]:
    """Read one part as it is stored, placeholders and all."""
    text = (FOLDER / f"{part}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _filled(item: Mapping[str, Any]) -> Labelled:
    secrets: list[str] = []

    def fill(found: re.Match[str]) -> str:
        chance = random.Random(f"{item['id']}/{len(secrets)}")
        secrets.append(made(SECRETS[found["kind"]], chance))
        return secrets[-1]

    def walk(value: Any) -> Any:
        if isinstance(value, str):
            return PLACEHOLDER.sub(fill, value)
        return [walk(entry) for entry in value]

    candidate = {name: walk(value) for name, value in item["candidate"].items()}
    return Labelled(
        id=item["id"],
        label=item["label"],
        kind=item["kind"],
        why=item.get("why", ""),
        author=item.get("author", ""),
        candidate=candidate,
        secrets=tuple(secrets),
    )
