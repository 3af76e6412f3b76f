"""What other programs write: JSON, JSON Lines, and Markdown that begins with fields in YAML."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from grove_core import Ticket
from grove_tickets.places import files_in, read_file, read_last_lines

_MAX_BYTES: Final = 16 * 1024 * 1024
_MAX_DOCUMENT_BYTES: Final = 262_144
_FENCE: Final = "---"
_PLAIN_FIELD: Final = re.compile(r"([A-Za-z][\w-]*):[ \t]*(.*)")


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


@frozen(eq=False, repr=False)
class Document:
    """A Markdown file with fields."""

    fields: dict[str, Any]
    body: str


def read_document(path: Path) -> Document | None:
    """Read a Markdown file with fields."""
    content = read_file(path, _MAX_DOCUMENT_BYTES)
    return None if content is None else _parse(content)


def read_fields(path: Path) -> dict[str, Any]:
    """Read a file that holds nothing but fields in YAML; none when it cannot be read."""
    content = read_file(path, _MAX_DOCUMENT_BYTES)
    fields = None if content is None else _fields(_lines(content))
    return fields if isinstance(fields, dict) else {}


def documents(directory: Path, word: str) -> Iterator[tuple[Path, Document]]:
    """Read the Markdown files of a directory that hold a word."""
    wanted = word.lower().encode()
    for path in files_in(directory, ".md"):
        content = read_file(path, _MAX_DOCUMENT_BYTES)
        if content is not None and wanted in content.lower():
            document = _parse(content)
            if document is not None:
                yield path, document


def _parse(content: bytes) -> Document | None:
    lines = _lines(content)
    if not lines or lines[0].rstrip() != _FENCE:
        return None
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        return None
    fields = _fields(lines[1:end])
    return Document(fields, "\n".join(lines[end + 1 :])) if isinstance(fields, dict) else None


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8-sig", "replace").splitlines()


def _fields(lines: Sequence[str]) -> object:
    import yaml

    try:
        # Every value stays text: an id such as 12 or 1e3 is no number.
        return yaml.load("\n".join(lines), Loader=yaml.BaseLoader)  # noqa: S506 - makes only texts
    except (yaml.YAMLError, RecursionError):
        return _plain_fields(lines)


def _plain_fields(lines: Sequence[str]) -> dict[str, Any]:
    """Read fields that a program wrote without care for YAML, such as ``assignee: @me``."""
    fields: dict[str, Any] = {}
    for line in lines:
        match = _PLAIN_FIELD.fullmatch(line.rstrip())
        if match is not None:
            name, text = match.groups()
            is_list = text.startswith("[") and text.endswith("]")
            fields[name] = [one.strip() for one in text[1:-1].split(",")] if is_list else text
    return fields
