"""From a learning to what templates fill in, and from what a server gives back to the learning."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any, Final

from attrs import frozen

from grove_backend_mcp.mappings.mapping import Json, TextForm
from grove_backend_mcp.protocol.block import (
    LONGEST_BLOCK,
    block_of,
    blocks_in,
    candidates_for,
    compact,
    document_of,
    escaped,
    is_ours,
    learning_of,
    mark_of,
    marks_in,
    plain_text,
    unescaped,
)
from grove_core import Learning

_BETWEEN: Final = "\n\n"
_REMOVED: Final = frozenset({"Cc", "Cf", "Co", "Cs"})
_KEPT: Final = frozenset("\n\t\u200c\u200d")
_LABEL: Final = re.compile(r"[\s\"'\[(]*grove:id:([A-Za-z0-9][A-Za-z0-9_-]{2,127})[\s\"'\])]*")
_LONGEST_LABELS: Final = 5_000
_MOST_TRIED: Final = 40
_MOST_LOOKED_AT: Final = 200
_MOST_CHARACTERS: Final = 1_000_000
_DEEPEST: Final = 7


def values_of(
    learning: Learning,
    project: str,
    handle: str = "",
    *,
    form: TextForm = TextForm.FULL,
    longest: int = 0,
) -> Mapping[str, Json]:
    """Return what the placeholders of a template stand for when a learning is stored."""
    document = document_of(learning, project)
    plain = escaped(plain_text(learning))
    block = block_of(learning, project, longest or LONGEST_BLOCK)
    tail = mark_of(learning.id) if form is TextForm.SHORT else block
    content = plain + _BETWEEN + tail
    if longest and len(content) > longest:
        if form is TextForm.FULL:
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
    """What is grove's own in one result of a server."""

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
    tried = _some_of(islice(_plain_candidates(document, texts), _MOST_TRIED))
    learning = next(filter(None, (learning_of(document, plain) for plain in tried)), None)
    project = document.get("project")
    return Recovered(
        learning_id=document["id"],
        learning=learning,
        project=project if isinstance(project, str) else None,
        text=plain_text(learning) if learning else _for_people(texts),
        is_vouched=is_vouched,
    )


def _some_of(texts: Iterator[str]) -> Iterator[str]:
    """Return texts up to an amount: each is taken apart and counted, however often it is sent."""
    amount = 0
    for text in texts:
        amount += len(text)
        yield text
        if amount > _MOST_CHARACTERS:
            return


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
