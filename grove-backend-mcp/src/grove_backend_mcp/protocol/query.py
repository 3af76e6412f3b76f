"""What a server is asked for: words of the work at hand, or of one learning."""

import re
from collections.abc import Sequence
from typing import Final

from grove_backend_mcp.mappings.words import TOOLS
from grove_core import Query

_LONGEST_QUERY: Final = 400
_MOST_WORDS: Final = 32
_MOST_ALONE: Final = 6
_SHORTEST: Final = 3
_LONGEST_WORD: Final = 60
_MOST_READ: Final = 4_000
_WORD: Final = re.compile(r"\w+(?:-\w+)*")
_PART: Final = re.compile(r"\w+")
_OPERATORS: Final = frozenset({"AND", "OR", "NOT", "NEAR"})
_COMMON: Final = TOOLS["common_words"]


def whole_query(query: Query, longest: int = 0) -> str:
    """Put everything known of the work at hand into one query."""
    room = min(longest or _LONGEST_QUERY, _LONGEST_QUERY)
    text = ""
    for word in _words_of(query)[:_MOST_WORDS]:
        longer = f"{text} {word}" if text else word
        text = longer if len(longer) <= room else text
    return text


def single_words(query: Query, longest: int = 0) -> Sequence[str]:
    """Choose words to ask for by themselves, of a server that finds only what holds them all."""
    words = [one for one in _words_of(query) if not longest or len(one) <= longest]
    return sorted(words, key=lambda word: -len(word))[:_MOST_ALONE]


def plain_query(text: str, longest: int = 0) -> str:
    """Make a query of a text without leaving any word out, such as of an id or a summary."""
    room = min(longest or _LONGEST_QUERY, _LONGEST_QUERY)
    return " ".join(map(_harmless, _WORD.findall(text[:_MOST_READ])))[:room].rstrip()


def _words_of(query: Query) -> Sequence[str]:
    """Every word worth asking for, once, the telling ones first."""
    names = (path.rsplit("/", 1)[-1].rsplit(".", 1)[0] for path in query.files)
    parts = (query.ticket_title, query.error_signature, query.text, query.ticket_id)
    words = (
        word
        for part in (*parts, query.ticket_description, *query.tags, *names)
        for word in _PART.findall(part[:_MOST_READ])
    )
    found: dict[str, str] = {}
    for word in words:
        # Scripts without blanks say much in one or two characters.
        enough = len(word) >= _SHORTEST or not word.isascii() or word.isdigit()
        if enough and len(word) <= _LONGEST_WORD and word.casefold() not in _COMMON:
            found.setdefault(word.casefold(), _harmless(word))
    return list(found.values())


def _harmless(word: str) -> str:
    return word.lower() if word in _OPERATORS else word
