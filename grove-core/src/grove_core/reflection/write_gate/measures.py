"""The measures of a candidate's text, each from 0 to 1: what speaks for it and what against."""

from collections.abc import Callable, Sequence
from typing import Final

from grove_core.reflection.write_gate.text import PATTERNS, WORDS, Sentence, Text, is_topic, stem

_RELATIONS: Final = ("cause", "condition", "limit", "contrast")
# The relations that make a lesson of a change.
_REASONS: Final = frozenset({"cause", "contrast"})
_NEW_WORDS_MIN: Final = 3

_Sentences = Sequence[Sentence]


def measure(text: Text) -> dict[str, float]:
    """Measure a text; the names are those of the page about the write gate."""
    lasting, reasoned = _lasting(text.sentences)
    lessons = lasting + reasoned
    passing = sum(len(PATTERNS["passing"].findall(one.text)) for one in text.sentences)
    vague = sum(word in WORDS["vague"] for word in text.words)
    return {
        "topics": _up_to(6, _with_half(lasting, reasoned, "topics")),
        "known": _up_to(4, _definite_topics(lasting)),
        "names": _up_to(4, _with_half(lasting, reasoned, "names")),
        "relations": _up_to(4, len(relations(lessons))),
        "effects": _up_to(3, count_words("effects", lessons)),
        "exact": _up_to(4, count_words("exact", lessons)),
        "pinned": _up_to(3, sum(map(_is_pinned, lasting))),
        "claims": _up_to(4, sum(bool(one.topics) and not _is("urged", one) for one in lasting)),
        "density": _up_to(0.5, sum(map(is_topic, text.words)) / _length(text.sentences)),
        "retold": _retold(text),
        "passing": _up_to(2, passing),
        "told": _share(_is_told, text.sentences),
        "urged": _share(lambda one: _is("urged", one), text.sentences),
        "taught": _share(lambda one: _is("taught", one), text.sentences),
        "vague": _up_to(0.3, vague / _length(text.sentences)),
        "repeated": _up_to(0.1, max(_circularity(text) - 0.36, 0.0)),
    }


def relations(sentences: _Sentences) -> frozenset[str]:
    """Collect the kinds of relation that sentences state."""
    return frozenset(kind for kind in _RELATIONS if any(_is(kind, one) for one in sentences))


def count_words(listed: str, sentences: _Sentences) -> int:
    """Count the different words of a list that sentences hold."""
    return len({word for sentence in sentences for word in sentence.words} & WORDS[listed])


def _up_to(enough: float, count: float) -> float:
    return min(count / enough, 1.0)


def _is(kind: str, sentence: Sentence) -> bool:
    return PATTERNS[kind].search(sentence.text) is not None


def _is_told(sentence: Sentence) -> bool:
    return _is("told", sentence)


def _is_retold(sentence: Sentence) -> bool:
    """Return whether a sentence only says what was changed."""
    found = PATTERNS["retold"].search(sentence.text)
    if found is None or not WORDS["effects"].isdisjoint(sentence.words):
        return False
    return not PATTERNS["clause"].search(sentence.text[: found.start()])


def _is_pinned(sentence: Sentence) -> bool:
    """Return whether a sentence says something countable or nameable of a thing."""
    if not sentence.topics and not sentence.names:
        return False
    return bool(sentence.names) or not WORDS["exact"].isdisjoint(sentence.words)


def _lasting(sentences: tuple[Sentence, ...]) -> tuple[tuple[Sentence, ...], tuple[Sentence, ...]]:
    """Choose the sentences that may hold a lesson, and those that do if there is a reason."""
    lasting: list[Sentence] = []
    reasoned: list[Sentence] = []
    for sentence in sentences:
        if _is("passing", sentence):
            continue
        if not _is_retold(sentence) and not _is_told(sentence):
            lasting.append(sentence)
        elif relations([sentence]) & _REASONS:
            reasoned.append(sentence)
    return tuple(lasting), tuple(reasoned)


def _with_half(lasting: _Sentences, reasoned: _Sentences, attribute: str) -> float:
    whole, half = _collect(lasting, attribute), _collect(reasoned, attribute)
    return len(whole) + len(half - whole) / 2


def _collect(sentences: _Sentences, attribute: str) -> frozenset[str]:
    return frozenset[str]().union(*(getattr(sentence, attribute) for sentence in sentences))


def _share(is_of_kind: Callable[[Sentence], bool], sentences: _Sentences) -> float:
    return sum(map(is_of_kind, sentences)) / max(len(sentences), 1)


def _retold(text: Text) -> float:
    """Measure retelling: in the summary it is half a fault; one sentence of a detail is none."""
    in_detail = _up_to(0.4, max(_share(_is_retold, text.detail) - 0.3, 0.0))
    return (_share(_is_retold, text.summary) + in_detail) / 2


def _content_words(sentences: _Sentences) -> list[str]:
    return [
        stem(word)
        for sentence in sentences
        for word in sentence.words
        if word not in WORDS["function_words"]
    ]


def _length(sentences: _Sentences) -> int:
    return len(_content_words(sentences)) + 2


def _circularity(text: Text) -> float:
    """Measure how far a text goes round in a circle."""
    if text.code_lines or not text.detail:
        return 0.0
    added = set(_content_words(text.detail)) - set(_content_words(text.summary))
    new_names = _collect(text.detail, "names") - _collect(text.summary, "names")
    if len(added) + 2 * len(new_names) < _NEW_WORDS_MIN:
        return 1.0
    words = [*_content_words(text.sentences), *new_names]
    return 1 - len(set(words)) / max(len(words), 1)


def _definite_topics(sentences: _Sentences) -> int:
    """Count the topics that are spoken of as known things: "the carrier", not "carriers"."""
    found: set[str] = set()
    for sentence in sentences:
        for position, word in enumerate(sentence.words):
            before = sentence.words[max(position - 2, 0) : position]
            base = stem(word.partition("'")[0])
            if base in sentence.topics and not WORDS["determiners"].isdisjoint(before):
                found.add(base)
    return len(found)
