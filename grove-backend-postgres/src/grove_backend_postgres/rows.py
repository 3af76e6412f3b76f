"""Learnings as rows of a table, and rows as learnings."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

from attrs import evolve

from grove_core import CodecError, Learning, LearningStatus, learning_from_dict, learning_to_dict

_CAMEL: Final = re.compile(r"[a-z0-9](?=[A-Z])|[A-Z](?=[A-Z][a-z])")
_NAME: Final = re.compile(r"[\w./:#-]+")
_PART: Final = re.compile(r"[^\W_]+")
# Scripts that put no blanks between words.
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]+")


def row_of(learning: Learning) -> dict[str, object]:
    """Turn a learning into the values of a row."""
    summary, detail = clean(learning.summary), clean(learning.detail)
    names = " ".join(learning.context_files)
    return {
        "id": learning.id,
        "status": learning.status.value,
        "scope": learning.scope.value,
        "category": learning.category.value,
        "created_at": learning.timestamp,
        "ticket": None if learning.ticket_id is None else clean(learning.ticket_id),
        "tags": [clean(tag) for tag in learning.tags],
        "file_names": sorted(file_names(learning.context_files)),
        "summary": summary,
        "detail": detail,
        "tag_words": clean(" ".join([*learning.tags, *parts(" ".join(learning.tags))])),
        "part_words": " ".join(parts(f"{summary} {detail} {clean(names)}")),
        # ASCII throughout, so that it takes what a column of text does not.
        "document": json.dumps(learning_to_dict(learning), separators=(",", ":")),
    }


def learning_of(document: str, status: str) -> Learning | None:
    """Read a learning from a row."""
    try:
        learning = learning_from_dict(json.loads(document))
        return evolve(learning, status=LearningStatus(status))
    except (CodecError, ValueError, RecursionError):
        return None


def read_all(rows: Iterable[Mapping[str, object]]) -> dict[str, Learning]:
    """Read learnings from rows with the columns ``id``, ``document`` and ``status``."""
    read = ((str(row["id"]), learning_of(str(row["document"]), str(row["status"]))) for row in rows)
    return {id_: learning for id_, learning in read if learning is not None and learning.id == id_}


def file_names(paths: Iterable[str]) -> set[str]:
    """Return the last parts of paths, by which the same file is recognised."""
    return {clean(path.rstrip("/").rpartition("/")[2]) for path in paths}


def parts(text: str) -> list[str]:
    """Take names in a text to pieces, which a database's parser leaves whole or takes for hosts."""
    found: dict[str, None] = {}
    for name in _NAME.findall(text):
        pieces = _PART.findall(_CAMEL.sub(r"\g<0> ", name))
        if len(pieces) > 1:
            found.update((piece.lower(), None) for piece in pieces)
    for run in _UNSPACED.findall(text):
        found.update((run[place : place + 2], None) for place in range(max(1, len(run) - 1)))
    return list(found)


def clean(text: str) -> str:
    """Replace what no database takes: the character NUL, and halves of characters."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
