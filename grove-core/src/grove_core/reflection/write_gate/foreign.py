"""The judgement of texts whose language is not English: by structure, and in doubt for them."""

from typing import Final

from grove_core.reflection.write_gate.evidence import names
from grove_core.reflection.write_gate.other_languages import (
    CHANGES,
    CHANGES_IN_TEXT,
    EVALUATIONS,
    EVALUATIONS_IN_TEXT,
    PASSING,
    PASSING_IN_TEXT,
    REASONS,
    REASONS_IN_TEXT,
)
from grove_core.reflection.write_gate.reading import Reading

_LONG: Final = 40


def is_worth_keeping(reading: Reading) -> bool:
    """Return whether a text in an unknown language says something specific."""
    words = [word for sentence in reading.sentences for word in sentence.words]
    text = "".join(sentence.text for sentence in reading.sentences)
    # German writes all nouns with a capital: only what is no plain word counts as a name.
    named = sum(1 for name in names(reading.sentences) if not name.isalpha())
    reasons = _count(words, text, REASONS, REASONS_IN_TEXT)
    praise = _count(words, text, EVALUATIONS, EVALUATIONS_IN_TEXT)
    passing = _count(words, text, PASSING, PASSING_IN_TEXT)
    changed = _count(words, text, CHANGES, CHANGES_IN_TEXT)
    # In doubt for it: a text of some length is taken to say something.
    trust = int(len(text) >= _LONG)
    return trust + min(named, 3) + min(reasons, 2) > praise + 2 * (passing + changed)


def _count(words: list[str], text: str, listed: frozenset[str], parts: tuple[str, ...]) -> int:
    found = {word for word in words if word in listed}
    return len(found) + sum(1 for part in parts if part in text)
