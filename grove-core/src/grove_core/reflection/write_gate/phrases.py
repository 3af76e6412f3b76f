"""The words and pairs of words that the learnt part of the write gate goes by."""

from typing import Final

from grove_core.reflection.write_gate.reading import Reading, Sentence
from grove_core.reflection.write_gate.vocabulary import FUNCTION_WORDS, stem

_START: Final = "^"


def phrases(reading: Reading) -> frozenset[str]:
    """Collect the words of a text and the pairs of words that follow each other."""
    return frozenset[str]().union(*(_phrases_of(sentence) for sentence in reading.sentences))


def _phrases_of(sentence: Sentence) -> set[str]:
    tokens = [_base(token) for token in sentence.tokens]
    pairs = zip([_START, *tokens], tokens, strict=False)
    return {*tokens, *(f"{first} {second}" for first, second in pairs)}


def _base(token: str) -> str:
    return token if token in FUNCTION_WORDS or token.startswith("<") else stem(token)
