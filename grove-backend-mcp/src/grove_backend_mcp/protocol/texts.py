"""A learning as text on a server, and back from what the server makes of it.

A block stands behind a text, and makes it whole again: JSON behind a marker. Where a server keeps
metadata, that holds the same, and only a mark with the id stands behind the text.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, Final, NamedTuple

from attrs import frozen

from grove_backend_mcp.mappings.mapping import Json
from grove_core import CodecError, Learning, is_learning_id, learning_from_dict, learning_to_dict

VERSION: Final = 1
LONGEST_BLOCK: Final = 8192
"""Most code points of a block, which is ASCII: a longer one is not read."""

_MARKER: Final = f"grove-meta:v{VERSION} "
_HASH_LENGTH: Final = 12
# In one text; a server that sends more wants to be slow to read.
_MOST_TRIED: Final = 200
_MOST_PARTS_TRIED: Final = 40
_MOST_LOOKED_AT: Final = 200
_DEEPEST: Final = 7
_LONGEST_LABELS: Final = 5_000
_BLOCK_START: Final = re.compile(r"^[ \t]*grove-meta:v\d+ ?(?=\{)", re.MULTILINE)
_MARK: Final = re.compile(
    r"^[ \t]*\[grove:([A-Za-z0-9][A-Za-z0-9_-]{2,127})\][ \t\r]*$", re.MULTILINE
)
_LOOKS_LIKE_OURS: Final = re.compile(
    r"^(?=[ \t]*\\*(?:grove-meta:v|\[grove:))([ \t]*)", re.MULTILINE
)
_ESCAPED: Final = re.compile(r"^([ \t]*)\\(?=\\*(?:grove-meta:v|\[grove:))", re.MULTILINE)
_LABEL: Final = re.compile(r"[\s\"'\[(]*grove:id:([A-Za-z0-9][A-Za-z0-9_-]{2,127})[\s\"'\])]*")
_BETWEEN: Final = "\n\n"
# What makes a learning besides its text. A field of a later version is not among them, so that an
# older grove still knows the learning as whole.
_FIELDS: Final = (
    *("id", "category", "session_id", "timestamp", "scope", "confidence", "criteria_met", "tags"),
    *("context_files", "ticket_id", "supersedes"),
)


def document_of(learning: Learning, project: str) -> dict[str, Any]:
    """Put together everything that makes a learning whole, besides its text."""
    stored = _with_plain_ends(_plain_text(learning))
    document = {
        name: value for name, value in learning_to_dict(learning).items() if value is not None
    }
    if stored.partition(_BETWEEN)[::2] == (learning.summary, learning.detail):
        del document["summary"], document["detail"]
    return document | {
        "v": VERSION,
        "project": project,
        "h": _fingerprint(stored),
        "m": _fingerprint_of_fields(learning),
        "n": len(escaped(stored)),
    }


def values_of(
    learning: Learning, project: str, handle: str = "", *, form: str = "full", longest: int = 0
) -> Mapping[str, Json]:
    """Return what the placeholders of a template stand for when a learning is stored."""
    document = document_of(learning, project)
    plain = escaped(_plain_text(learning))
    block = _block_of(document, longest or LONGEST_BLOCK)
    tail = f"[grove:{learning.id}]" if form == "short" else block
    content = plain + _BETWEEN + tail
    if longest and len(content) > longest:
        if form == "full":
            # What else makes the learning stays, as long as there is room for some text.
            tail = _block_of(document, longest * 3 // 4)
        content = _cut(plain, max(1, longest - len(tail) - len(_BETWEEN))) + _BETWEEN + tail
    flat = {
        "grove": _compact(document),
        "grove_id": learning.id,
        "grove_project": project,
        "status": learning.status.value,
    }
    return {
        "id": learning.id,
        "summary": escaped(learning.summary),
        "detail": escaped(learning.detail),
        "plain": _cut(plain, longest) if longest else plain,
        "content": content,
        "block": block,
        "tags": list(learning.tags),
        "labels": ["grove", f"grove:id:{learning.id}", f"grove:project:{project}", *learning.tags],
        "metadata": document,
        "flat_metadata": flat,
        "category": learning.category.value,
        "status": learning.status.value,
        "project": project,
        "handle": handle or learning.id,
    }


def _block_of(document: Mapping[str, Any], longest: int) -> str:
    whole = _MARKER + _compact(document)
    if len(whole) <= min(longest, LONGEST_BLOCK):
        return whole
    return _MARKER + _compact({name: document[name] for name in ("v", "id", "project", "h", "n")})


def escaped(text: str) -> str:
    """Put a backslash before what looks like a block or a mark."""
    return _LOOKS_LIKE_OURS.sub(r"\1\\", text) if "grove" in text else text


def unescaped(text: str) -> str:
    """Undo ``escaped``."""
    return _ESCAPED.sub(r"\1", text) if "grove" in text else text


def _plain_text(learning: Learning) -> str:
    """Write a learning for people: its summary, a blank line, its detail."""
    return f"{learning.summary}{_BETWEEN}{learning.detail}" if learning.detail else learning.summary


def _fingerprint(text: str) -> str:
    """Make what a text is known by, however a server keeps its ends of lines and its accents."""
    unified = unicodedata.normalize("NFC", _with_plain_ends(text))
    return hashlib.sha256(unified.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH_LENGTH]


def _fingerprint_of_fields(learning: Learning) -> str:
    document = learning_to_dict(learning)
    return _fingerprint(_compact({name: document[name] for name in _FIELDS}))


def _compact(document: Mapping[str, Any]) -> str:
    return json.dumps(document, sort_keys=True, separators=(",", ":"))


def _with_plain_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n").strip()


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: max(0, longest - 1)] + "…"


class Block(NamedTuple):
    """A block or a mark that was found in a text."""

    start: int
    end: int
    document: Mapping[str, Any]


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
        if _is_ours(document):
            behind = found.end() + length
            yield Block(found.start(), behind, document)


def marks_in(text: str) -> Iterator[Block]:
    """Find marks in a text, each alone in its line."""
    for found in islice(_MARK.finditer(text), _MOST_TRIED):
        yield Block(found.start(), found.end(), {"id": found[1]})


def _ours_in(text: str) -> list[Block]:
    return sorted((*blocks_in(text), *marks_in(text)), key=lambda one: one.start)


def _is_ours(document: object) -> bool:
    """Return whether a JSON value is what ``document_of`` makes."""
    if not isinstance(document, dict) or type(document.get("v")) is not int:
        return False
    learning_id = document.get("id")
    return document["v"] == VERSION and isinstance(learning_id, str) and is_learning_id(learning_id)


@frozen(kw_only=True)
class Recovered:
    """The learning in one result of a server."""

    learning_id: str | None
    learning: Learning | None = None
    project: str | None = None
    is_vouched: bool = False


def recover(texts: Sequence[str], metadata: Json = None) -> Recovered:
    """Find the learning in one result: in its metadata, else in its texts."""
    vouched = next(_documents_in(metadata), None)
    in_texts = (one.document for text in texts for one in blocks_in(text))
    document = vouched or next(in_texts, None)
    if document is None:
        learning_id = next((mark.document["id"] for text in texts for mark in marks_in(text)), None)
        return Recovered(learning_id=learning_id)
    tried = islice(_parts_around(document, texts), _MOST_PARTS_TRIED)
    learning = next(filter(None, (_learning_of(document, part) for part in tried)), None)
    project = document.get("project")
    return Recovered(
        learning_id=document["id"],
        learning=learning,
        project=project if isinstance(project, str) else None,
        is_vouched=vouched is not None,
    )


def _documents_in(metadata: Json) -> Iterator[Mapping[str, Any]]:
    """Look for what ``document_of`` has made: as it is, or under any name, or as JSON text."""
    level = [metadata]
    for _ in range(_DEEPEST):
        yield from filter(_is_ours, level)
        parsed = (parsed_json(one) if isinstance(one, str) else one for one in level)
        level = [inner for value in parsed for inner in _inner(value)][:_MOST_LOOKED_AT]


def _inner(value: Json) -> Sequence[Json]:
    if isinstance(value, dict):
        return [value] if _is_ours(value) else list(value.values())
    return value if isinstance(value, list) else ()


def parsed_json(text: str) -> Json:
    """Read a text that may be JSON."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _parts_around(document: Mapping[str, Any], texts: Sequence[str]) -> Iterator[str]:
    """Return which parts around a block or a mark may be its text."""
    length = document.get("n")
    for text in texts:
        places = [(one.start, one.end) for one in (*blocks_in(text), *marks_in(text))]
        for start, end in (*places, (len(text), len(text))):
            before, after = text[:start], text[end:]
            yield before
            if type(length) is int and length > 0:
                yield _with_plain_ends(before)[-length:]
                yield _with_plain_ends(after)[:length]
            yield after


def _learning_of(document: Mapping[str, Any], part: str) -> Learning | None:
    """Put a learning together again; one that was changed on its way is none."""
    summary, _, detail = unescaped(_with_plain_ends(part)).partition(_BETWEEN)
    try:
        learning = learning_from_dict({"summary": summary, "detail": detail, **document})
    except (CodecError, OverflowError, RecursionError):
        return None
    found = _fingerprint(_plain_text(learning)), _fingerprint_of_fields(learning)
    return learning if found == (document.get("h"), document.get("m")) else None


def divided(text: str) -> Sequence[str]:
    """Divide a text with several learnings, each with its block or its mark at its end."""
    ends = [0, *(one.end for one in _ours_in(text))]
    return [text[start:end] for start, end in pairwise(ends)] or [text]


def labelled_id(labels: Sequence[str]) -> str | None:
    """Find the id of a learning among the labels that a server shows with a result."""
    parts = (part for one in labels for part in one[:_LONGEST_LABELS].split(","))
    return next((found[1] for found in map(_LABEL.fullmatch, parts) if found is not None), None)
