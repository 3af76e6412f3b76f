"""A learning as text on a server, and back from what the server makes of it."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, Final

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


_REMOVED: Final = frozenset({"Cc", "Cf", "Co", "Cs"})
_KEPT: Final = frozenset("\n\t\u200c\u200d")
_LABEL: Final = re.compile(r"[\s\"'\[(]*grove:id:([A-Za-z0-9][A-Za-z0-9_-]{2,127})[\s\"'\])]*")
_LONGEST_LABELS: Final = 5_000
_MOST_PARTS_TRIED: Final = 40
_MOST_LOOKED_AT: Final = 200
_DEEPEST: Final = 7


def values_of(
    learning: Learning,
    project: str,
    handle: str = "",
    *,
    form: str = "full",
    longest: int = 0,
) -> Mapping[str, Json]:
    """Return what the placeholders of a template stand for when a learning is stored."""
    document = document_of(learning, project)
    plain = escaped(plain_text(learning))
    block = block_of(learning, project, longest or LONGEST_BLOCK)
    tail = mark_of(learning.id) if form == "short" else block
    content = plain + _BETWEEN + tail
    if longest and len(content) > longest:
        if form == "full":
            # What else makes the learning stays, as long as there is room for some text.
            tail = block_of(learning, project, longest * 3 // 4)
        content = _cut(plain, max(1, longest - len(tail) - len(_BETWEEN))) + _BETWEEN + tail
    return {
        "id": learning.id,
        "summary": escaped(learning.summary),
        "detail": escaped(learning.detail),
        "plain": _cut(plain, longest),
        "content": content,
        "block": block,
        "tags": list(learning.tags),
        "labels": ["grove", f"grove:id:{learning.id}", f"grove:project:{project}", *learning.tags],
        "metadata": dict(document),
        "flat_metadata": _flat(learning, project, document),
        "category": learning.category.value,
        "status": learning.status.value,
        "project": project,
        "handle": handle or learning.id,
    }


def _flat(learning: Learning, project: str, document: Mapping[str, Any]) -> Mapping[str, str]:
    return {
        "grove": compact(document),
        "grove_id": learning.id,
        "grove_project": project,
        "status": learning.status.value,
    }


def _cut(text: str, longest: int) -> str:
    return text if not longest or len(text) <= longest else text[: max(0, longest - 1)] + "…"


@frozen(kw_only=True)
class Recovered:
    """The learning in one result of a server."""

    learning_id: str | None
    learning: Learning | None
    project: str | None
    text: str
    is_vouched: bool = False


def recover(texts: Sequence[str], metadata: Json = None) -> Recovered:
    """Find the learning in one result: in its metadata, else in its texts."""
    document = next(_documents_in(metadata), None)
    is_vouched = document is not None
    if document is None:
        document = next((one.document for text in texts for one in blocks_in(text)), None)
    if document is not None:
        return _put_together(document, texts, is_vouched=is_vouched)
    learning_id = next((mark.document["id"] for text in texts for mark in marks_in(text)), None)
    return Recovered(learning_id=learning_id, learning=None, project=None, text=_for_people(texts))


def divided(text: str) -> Sequence[str]:
    """Divide a text with several learnings, each with its block or its mark at its end."""
    found = sorted((*blocks_in(text), *marks_in(text)), key=lambda one: one.start)
    ends = [0, *(one.end for one in found)]
    parts = [text[start:end] for start, end in pairwise(ends)]
    return parts or [text]


def labelled_id(labels: Sequence[str]) -> str | None:
    """Find the id of a learning among the labels that a server shows with a result."""
    parts = (part for one in labels for part in one[:_LONGEST_LABELS].split(","))
    return next((found[1] for found in map(_LABEL.fullmatch, parts) if found is not None), None)


def clean_text(text: str, longest: int) -> str:
    r"""Take away what nobody sees: control, format and private characters; bound the length."""
    unified = text[: 2 * longest].replace("\r\n", "\n").replace("\r", "\n")
    if not unified.replace("\n", "").isprintable():
        unified = "".join(one for one in unified if one in _KEPT or not _is_removed(one))
    clean = unified.strip()
    return clean if len(clean) <= longest else clean[: longest - 1] + "…"


def _is_removed(character: str) -> bool:
    return unicodedata.category(character) in _REMOVED


def _documents_in(metadata: Json) -> Iterator[Mapping[str, Any]]:
    """Look for what ``document_of`` has made: as it is, or under any name, or as JSON text."""
    level = [metadata]
    for _ in range(_DEEPEST):
        yield from filter(is_ours, level)
        level = [inner for value in level for inner in _inner(value)][:_MOST_LOOKED_AT]


def _inner(value: Json) -> Sequence[Json]:
    if isinstance(value, str):
        return (parsed_json(value),)
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else ()


def parsed_json(text: str) -> Json:
    """Read a text that may be JSON."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _put_together(
    document: Mapping[str, Any], texts: Sequence[str], *, is_vouched: bool
) -> Recovered:
    tried = islice(_plain_candidates(document, texts), _MOST_PARTS_TRIED)
    learning = next(filter(None, (learning_of(document, plain) for plain in tried)), None)
    project = document.get("project")
    return Recovered(
        learning_id=document["id"],
        learning=learning,
        project=project if isinstance(project, str) else None,
        text=plain_text(learning) if learning else _for_people(texts),
        is_vouched=is_vouched,
    )


def _plain_candidates(document: Mapping[str, Any], texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        for one in (*blocks_in(text), *marks_in(text)):
            yield from candidates_for(document, text[: one.start], text[one.end :])
        yield from candidates_for(document, text, "")


def _for_people(texts: Sequence[str]) -> str:
    """Leave out blocks and marks."""
    return "\n".join(filter(None, (_without_ours(text).strip() for text in texts)))


def _without_ours(text: str) -> str:
    kept, behind = [], 0
    for one in sorted((*blocks_in(text), *marks_in(text)), key=lambda found: found.start):
        if one.start >= behind:
            kept.append(text[behind : one.start])
            behind = one.end
    return unescaped("".join((*kept, text[behind:])))
