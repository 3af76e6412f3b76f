"""What the names of tools and arguments say: the vocabulary beside this module."""

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

TOOLS: Final[Mapping[str, frozenset[str]]] = {
    name: frozenset(words) for name, words in _VOCABULARY["tools"].items()
}
ARGUMENTS: Final[Mapping[str, tuple[str, ...]]] = {
    name: tuple(words) for name, words in _VOCABULARY["arguments"].items()
}
FILLED_BY: Final[Mapping[str, Mapping[str, str]]] = _VOCABULARY["filled_by"]
WRITE_VERBS: Final = {
    word: weight for weight in (4, 3, 2) for word in TOOLS[f"write_verbs_{weight}"]
}
SEARCH_VERBS: Final = {
    word: weight for weight in (4, 3, 1) for word in TOOLS[f"search_verbs_{weight}"]
}
CHANGING: Final = TOOLS["overwriting"] | TOOLS["changing"]


def words_of(name: str) -> tuple[str, ...]:
    """Take a name apart."""
    return tuple(word.lower() for word in _WORD.findall(name[:_LONGEST_NAME]))


def is_of_memory(word: str) -> bool:
    """Return whether a word is a noun of memory."""
    return word in TOOLS["memory_nouns"] or "memor" in word


def speak_of_memory(words: Collection[str]) -> bool:
    """Return whether a name shows that its whole server is a memory."""
    telling = TOOLS["stores"] | TOOLS["memory_verbs"]
    common = TOOLS["common_nouns"]
    return TOOLS["other_nouns"].isdisjoint(words) and any(
        word in telling or (is_of_memory(word) and word not in common) for word in words
    )
