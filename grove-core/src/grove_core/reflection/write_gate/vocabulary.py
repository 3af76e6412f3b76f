"""What the write gate goes by: words and patterns from `data/write_gate.toml`."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from grove_core.reflection.data_files import load_toml

_DATA: Final[dict[str, Any]] = load_toml("write_gate.toml")
_SUFFIXES: Final = (
    *("ations", "ation", "ments", "ment", "ities", "ity", "ings", "ing", "edly", "ies", "ied"),
    *("ers", "ness", "ions", "ion", "ed", "es", "er", "ly", "or", "s", "e", "y"),
)
_STEM_LENGTH_MIN: Final = 3


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Cut off suffixes: the learnt weights are of these stems, and of no other."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _STEM_LENGTH_MIN:
            word = word[: -len(suffix)]
            break
    if len(word) > _STEM_LENGTH_MIN and word[-1] == word[-2]:
        return word[:-1]
    return word


def _pattern(alternatives: Sequence[str]) -> re.Pattern[str]:
    text = "|".join(alternatives)
    for name, fragment in _DATA["fragments"].items():
        text = text.replace(f"<<{name}>>", "|".join(fragment))
    return re.compile(text)


WORDS: Final = {name: frozenset(text.split()) for name, text in _DATA["words"].items()}
OTHER_LANGUAGES: Final[dict[str, frozenset[str]]] = {
    name: frozenset(text.split()) for name, text in _DATA["other_languages"].items()
}
PATTERNS: Final = {name: _pattern(texts) for name, texts in _DATA["patterns"].items()} | {
    name: re.compile(rf"\b(?:{'|'.join(texts)})\b") for name, texts in _DATA["phrases"].items()
}
MESSAGES: Final[dict[str, str]] = _DATA["messages"]
GENERIC_STEMS: Final = frozenset(map(stem, WORDS["generic"]))
