"""What the names of tools and arguments say, for the recogniser."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

import tomli

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_LONGEST_NAME: Final = 200


_VOCABULARY: Final = tomli.loads(
    Path(__file__).with_name("vocabulary.toml").read_text(encoding="utf-8")
)
_TOOLS: Final = {name: frozenset(words) for name, words in _VOCABULARY["tools"].items()}

ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(words) for name, words in _VOCABULARY["arguments"].items()
}
WRITE_VERBS: Final = {
    word: weight for weight in (4, 3, 2) for word in _TOOLS[f"write_verbs_{weight}"]
}
SEARCH_VERBS: Final = {
    word: weight for weight in (4, 3, 1) for word in _TOOLS[f"search_verbs_{weight}"]
}
OTHER_VERBS: Final = _TOOLS["other_verbs"]
DESTROYING: Final = _TOOLS["destroying"]
SWEEPING: Final = _TOOLS["sweeping"]
OVERWRITING: Final = _TOOLS["overwriting"]
CHANGING: Final = OVERWRITING | _TOOLS["changing"]
MEMORY_VERBS: Final = _TOOLS["memory_verbs"]
MEMORY_NOUNS: Final = _TOOLS["memory_nouns"]
PLAIN_NOUNS: Final = _TOOLS["plain_nouns"]
STORES: Final = _TOOLS["stores"]
QUALIFIERS: Final = _TOOLS["qualifiers"]
MANY: Final = _TOOLS["many"]
MODIFIERS: Final = _TOOLS["modifiers"]
OTHER_NOUNS: Final = MODIFIERS | _TOOLS["other_nouns"]


def words_of(name: str) -> tuple[str, ...]:
    """Take a name apart."""
    return tuple(word.lower() for word in _WORD.findall(name[:_LONGEST_NAME]))


def is_of_memory(word: str) -> bool:
    """Return whether a word is a noun of memory."""
    return word in MEMORY_NOUNS or "memor" in word


def speak_of_memory(words: Collection[str]) -> bool:
    """Return whether a name shows that its whole server is a memory."""
    if not OTHER_NOUNS.difference(MODIFIERS).isdisjoint(words):
        return False
    return any(
        word in STORES
        or word in MEMORY_VERBS
        or (is_of_memory(word) and word not in _TOOLS["common_nouns"])
        for word in words
    )
