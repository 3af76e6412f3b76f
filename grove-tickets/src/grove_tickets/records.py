"""Records in JSON Lines files that other programs write."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from grove_core import Ticket
from grove_tickets.places import read_file, read_last_lines

_MAX_BYTES: Final = 16 * 1024 * 1024


def from_json(
    text: str | bytes | None, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None
) -> Any:  # noqa: ANN401 - any JSON
    """Read JSON that other programs write; ``None`` where it is none."""
    try:
        return json.loads(text or b"", object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return None


def read_json(path: Path) -> Any:  # noqa: ANN401 - any JSON
    """Read a JSON file."""
    return from_json(read_file(path, _MAX_BYTES))


def records(path: Path, word: str = "") -> Iterator[dict[str, Any]]:
    """Read the objects of a JSON Lines file."""
    content = read_last_lines(path, _MAX_BYTES) or b""
    wanted = word.lower().encode("utf-8", "replace")
    for line in content.splitlines():
        record = from_json(line) if wanted in line.lower() else None
        if isinstance(record, dict):
            yield record


def text_field(record: Mapping[str, Any], name: str) -> str:
    """Return a field's text; empty when it is missing or no text."""
    value = record.get(name)
    return value if isinstance(value, str) else ""


def list_field(record: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a field's texts; empty when it is missing or no list."""
    value = record.get(name)
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list) else ()


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list; none of what is no list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def ticket_of(
    issue: dict[str, Any] | None,
    system: str,
    *,
    description: str = "description",
    labels: str = "labels",
) -> Ticket | None:
    """Return the ticket that a record describes, if there is one."""
    if issue is None:
        return None
    number = issue.get("id")
    return Ticket(
        ticket_id=str(number) if isinstance(number, int) else text_field(issue, "id"),
        source=system,
        title=text_field(issue, "title"),
        description=text_field(issue, description),
        labels=list_field(issue, labels),
    )
