"""Markdown files that begin with fields in YAML between two lines of dashes."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from grove_tickets.places import files_in, read_file

_MAX_BYTES: Final = 262_144
_FENCE: Final = "---"
_PLAIN_FIELD: Final = re.compile(r"([A-Za-z][\w-]*):[ \t]*(.*)")


@frozen
class Document:
    """A Markdown file with fields."""

    fields: dict[str, Any]
    body: str


def read_document(path: Path) -> Document | None:
    """Read a Markdown file with fields."""
    content = read_file(path, _MAX_BYTES)
    return None if content is None else _parse(content)


def read_fields(path: Path) -> dict[str, Any]:
    """Read a file that holds nothing but fields in YAML; none when it cannot be read."""
    content = read_file(path, _MAX_BYTES)
    fields = None if content is None else _fields(_lines(content))
    return fields if isinstance(fields, dict) else {}


def documents(directory: Path, word: str) -> Iterator[tuple[Path, Document]]:
    """Read the Markdown files of a directory that hold a word."""
    wanted = word.lower().encode()
    for path in files_in(directory, ".md"):
        content = read_file(path, _MAX_BYTES)
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
