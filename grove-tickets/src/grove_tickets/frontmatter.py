"""Markdown files that begin with fields in YAML between two lines of dashes."""

from pathlib import Path
from typing import Any, Final

from attrs import frozen

_MAX_BYTES: Final = 262_144
_FENCE: Final = "---"


@frozen
class Document:
    """A Markdown file with fields.

    Attributes:
        fields: Its fields: texts, lists and tables of texts; a date or a number is its text.
        body: The text below them.
    """

    fields: dict[str, Any]
    body: str


def read_document(path: Path) -> Document | None:
    """Read a Markdown file with fields.

    Args:
        path: The file.

    Returns:
        The document, or ``None`` when there is none: it cannot be read, is over 256 KiB, or has
        no fields.
    """
    import yaml

    try:
        with path.open("rb") as stream:
            content = stream.read(_MAX_BYTES + 1)
    except (OSError, ValueError):
        return None
    lines = content.decode("utf-8-sig", "replace").splitlines()
    if len(content) > _MAX_BYTES or not lines or lines[0].rstrip() != _FENCE:
        return None
    end = next((at for at, line in enumerate(lines[1:], 1) if line.rstrip() == _FENCE), None)
    if end is None:
        return None
    try:
        # Every value stays text: an id such as 12 or 1e3 is no number.
        fields = yaml.load("\n".join(lines[1:end]), Loader=yaml.BaseLoader)
    except (yaml.YAMLError, RecursionError):
        return None
    return Document(fields, "\n".join(lines[end + 1 :])) if isinstance(fields, dict) else None
