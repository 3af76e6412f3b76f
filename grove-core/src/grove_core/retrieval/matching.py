"""What a learning and a query have in common, in words that a person understands."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from grove_core.retrieval.entry import Entry, text_of
from grove_core.retrieval.terms import (
    QueryTerms,
    directory_keys,
    file_keys,
    tag_keys,
    ticket_keys,
    words,
)

# What is written together, its segments and their parts: see ``terms``.
_CHUNK: Final = re.compile(r"[^\W_]+(?:[_\-./:\\]+[^\W_]+)*")
_SEGMENT: Final = re.compile(r"[^./:\\]+")
_PIECE: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")


def in_common(query: QueryTerms, entry: Entry) -> list[str]:
    """Return what a learning and a query have in common, a line for each kind."""
    fields, text, keys = entry.fields(), text_of(entry), query.keys
    spelled = _spellings(fields)
    files, ticket = fields["context_files"], fields["ticket_id"] or ""
    touched = [file for file in files if _any(file_keys([file]), keys)]
    beside = [file for file in files if file not in touched and _any(directory_keys([file]), keys)]
    said = f"{text.summary} {text.tags} {text.detail}".split()
    named: dict[str, Iterable[str]] = {
        "words": _spelled(query.words, said, spelled),
        "tags": [tag for tag in fields["tags"] if _any(tag_keys([tag]), keys)],
        "files": touched,
        "directories": dict.fromkeys(file.rpartition("/")[0] for file in beside),
        "words of paths": ()
        if touched
        else _spelled(query.path_words, text.paths.split(), spelled),
        "ticket": [ticket] if _any(ticket_keys(ticket), keys) else (),
    }
    return [f"{name} {', '.join(values)}" for name, values in named.items() if values]


def _spellings(fields: Mapping[str, Any]) -> dict[str, str]:
    """Map terms to how a learning writes them."""
    found: dict[str, str] = {}
    texts = (fields["summary"], fields["detail"], *fields["tags"], *fields["context_files"])
    for chunk in _CHUNK.findall(" ".join(texts)):
        for part in (chunk, *_SEGMENT.findall(chunk), *_PIECE.findall(chunk)):
            for term in words(part)[:1]:
                found.setdefault(term, part.lower())
    return found


def _spelled(
    wanted: Mapping[str, float], said: Iterable[str], spelled: Mapping[str, str]
) -> Iterable[str]:
    there = set(said)
    terms = sorted((term for term in wanted if term in there), key=lambda term: -wanted[term])
    return dict.fromkeys(spelled.get(term, term) for term in terms)


def _any(keys: Sequence[str], wanted: Mapping[str, float]) -> bool:
    return any(key in wanted for key in keys)
