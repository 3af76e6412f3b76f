"""What grove puts beside a learning's text, so that the learning comes back whole."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final

from attrs import frozen

from grove_core import CodecError, Learning, is_learning_id, learning_from_dict, learning_to_dict

VERSION: Final = 1
LONGEST_BLOCK: Final = 8192
"""Most code points of a block, which is ASCII: a longer one is not read."""

_MARKER: Final = f"grove-meta:v{VERSION} "
_HASH_LENGTH: Final = 12
# In one text; a server that sends more wants to be slow to read.
_MOST_TRIED: Final = 200
_BLOCK_START: Final = re.compile(r"^[ \t]*grove-meta:v\d+ ?(?=\{)", re.MULTILINE)
_MARK: Final = re.compile(
    r"^[ \t]*\[grove:([A-Za-z0-9][A-Za-z0-9_-]{2,127})\][ \t\r]*$", re.MULTILINE
)
_LOOKS_LIKE_OURS: Final = re.compile(
    r"^(?=[ \t]*\\*(?:grove-meta:v|\[grove:))([ \t]*)", re.MULTILINE
)
_ESCAPED: Final = re.compile(r"^([ \t]*)\\(?=\\*(?:grove-meta:v|\[grove:))", re.MULTILINE)
_TEXTS: Final = ("summary", "detail")
_BETWEEN: Final = "\n\n"
# What makes a learning besides its text. A field of a later version is not among them, so that an
# older grove still knows the learning as whole.
_FIELDS: Final = (
    *("id", "category", "session_id", "timestamp", "scope", "confidence", "criteria_met", "tags"),
    *("context_files", "ticket_id", "supersedes"),
)


@frozen(kw_only=True)
class Block:
    """A block or a mark that was found in a text."""

    document: Mapping[str, Any]
    start: int
    end: int


def plain_text(learning: Learning) -> str:
    """Write a learning for people: its summary, a blank line, its detail."""
    return f"{learning.summary}{_BETWEEN}{learning.detail}" if learning.detail else learning.summary


def fingerprint(plain: str) -> str:
    """Make what a text is known by, however a server keeps its ends of lines and its accents."""
    unified = unicodedata.normalize("NFC", with_plain_ends(plain))
    digest = hashlib.sha256(unified.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:_HASH_LENGTH]


def escaped(text: str) -> str:
    """Put a backslash before what looks like a block or a mark."""
    return _LOOKS_LIKE_OURS.sub(r"\1\\", text) if "grove" in text else text


def unescaped(text: str) -> str:
    """Undo ``escaped``."""
    return _ESCAPED.sub(r"\1", text) if "grove" in text else text


def document_of(learning: Learning, project: str) -> Mapping[str, Any]:
    """Put together everything that makes a learning whole, besides its text."""
    plain = plain_text(learning)
    stored = with_plain_ends(plain)
    gives_back = _parts_of(stored) == (learning.summary, learning.detail)
    document = {
        name: value
        for name, value in learning_to_dict(learning).items()
        if value is not None and not (gives_back and name in _TEXTS)
    }
    return document | {
        "v": VERSION,
        "project": project,
        "h": fingerprint(plain),
        "m": _fingerprint_of_fields(learning),
        "n": len(escaped(stored)),
    }


def block_of(learning: Learning, project: str, longest: int = LONGEST_BLOCK) -> str:
    """Write a learning's block."""
    document = document_of(learning, project)
    whole = _MARKER + compact(document)
    if len(whole) <= min(longest, LONGEST_BLOCK):
        return whole
    return _MARKER + compact({name: document[name] for name in ("v", "id", "project", "h", "n")})


def mark_of(learning_id: str) -> str:
    """Write the mark that says which learning a text is."""
    return f"[grove:{learning_id}]"


def compact(document: Mapping[str, Any]) -> str:
    """Write JSON in its shortest form, sorted, in ASCII."""
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def blocks_in(text: str) -> Iterator[Block]:
    """Find blocks in a text; what cannot be used as one is passed over."""
    behind = 0
    for found in islice(_BLOCK_START.finditer(text), _MOST_TRIED):
        if found.start() < behind:
            continue
        try:
            part = text[found.end() : found.end() + LONGEST_BLOCK]
            document, length = json.JSONDecoder().raw_decode(part)
        except (ValueError, RecursionError):
            continue
        if is_ours(document):
            behind = found.end() + length
            yield Block(document=document, start=found.start(), end=behind)


def marks_in(text: str) -> Iterator[Block]:
    """Find marks in a text, each alone in its line."""
    for found in islice(_MARK.finditer(text), _MOST_TRIED):
        yield Block(document={"id": found[1]}, start=found.start(), end=found.end())


def is_ours(document: object) -> bool:
    """Return whether a JSON value is what ``document_of`` makes."""
    if not isinstance(document, dict) or type(document.get("v")) is not int:
        return False
    learning_id = document.get("id")
    return document["v"] == VERSION and isinstance(learning_id, str) and is_learning_id(learning_id)


def learning_of(document: Mapping[str, Any], plain: str) -> Learning | None:
    """Put a learning together again."""
    text = unescaped(with_plain_ends(plain))
    summary, detail = _parts_of(text)
    values = {"summary": summary, "detail": detail, **document}
    try:
        learning = learning_from_dict(values)
    except (CodecError, OverflowError, RecursionError):
        return None
    whole = fingerprint(plain_text(learning)) == document.get("h")
    unchanged = _fingerprint_of_fields(learning) == document.get("m")
    return learning if whole and unchanged else None


def candidates_for(document: Mapping[str, Any], before: str, after: str) -> Iterator[str]:
    """Return which parts around a block or a mark may be its text."""
    length = document.get("n")
    yield before
    if type(length) is int and length > 0:
        yield with_plain_ends(before)[-length:]
        yield with_plain_ends(after)[:length]
    yield after


def _fingerprint_of_fields(learning: Learning) -> str:
    document = learning_to_dict(learning)
    return fingerprint(compact({name: document[name] for name in _FIELDS}))


def _parts_of(text: str) -> tuple[str, str]:
    summary, _, detail = text.partition(_BETWEEN)
    return summary, detail


def with_plain_ends(text: str) -> str:
    r"""Bring ends of lines to ``\n``, and take away blanks around the text."""
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()
