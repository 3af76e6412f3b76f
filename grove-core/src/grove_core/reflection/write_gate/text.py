"""A candidate's text as the write gate sees it: the stems of its words, and what they amount to."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

from grove_core.reflection.data_files import load_toml
from grove_core.stemmer import stems

_TOKEN: Final = re.compile(
    r"(?P<block>(?:```|~~~).*?(?:```|~~~|\Z))"
    r"|(?P<span>`[^`\n]+`)"
    r"|(?P<start>(?:^|(?<=[.!?:;])|(?<=\n))[\s>*#•\"'(-]*(?=[^\W_]))"
    r"|(?P<number>[$€£#v]?\d[\w.,:%-]*)"
    r"|(?P<word>[^\W\d_](?:[\w'’./-]*\w)?(?:\(\))?)",
    re.DOTALL,
)
_IDENTIFIER: Final = re.compile(r"[_/]|\w\.\w|[a-z][A-Z]|\(\)|[^\W\d]\d")
_CODE, _NUMBER, _NAME, _START = "<code>", "<number>", "<name>", "^"
_MARKS: Final = "<^"
_TOPIC_LENGTH_MIN: Final = 3
_TOPICS_ENOUGH: Final = 6
_DENSITY_ENOUGH: Final = 0.5
_PASSING_ENOUGH: Final = 2
_LITTLE_WORDS_SHARE_MIN: Final = 0.12
_KNOWN_SHARE_MIN: Final = 0.6
_WORDS_TO_TELL: Final = 5


class Text(NamedTuple):
    """A candidate's summary and detail, read."""

    words: Mapping[str, str]
    """Those of the text by their stems; what names something stands as a kind of name."""
    pairs: frozenset[str]
    """Two stems that follow each other; the first of a sentence follows its start."""
    topics: frozenset[str]
    """Words that prose about programs in general hardly uses."""
    relations: frozenset[str]
    passing: frozenset[str]
    """What it says that will soon be over."""
    is_english: bool

    @property
    def phrases(self) -> frozenset[str]:
        """What has a weight of its own."""
        return self.pairs | self.words.keys()

    @property
    def names(self) -> set[str]:
        """The kinds of names it holds."""
        return self.words.keys() & {_CODE, _NUMBER, _NAME}

    @property
    def measures(self) -> Mapping[str, float]:
        """What the text amounts to, each from 0 to 1."""
        return {
            "topics": min(len(self.topics) / _TOPICS_ENOUGH, 1.0),
            "density": min(len(self.topics) / (len(self.words) + 1) / _DENSITY_ENOUGH, 1.0),
            "relations": len(self.relations) / len(vocabulary().relations),
            "passing": min(len(self.passing) / _PASSING_ENOUGH, 1.0),
        }


class _Vocabulary(NamedTuple):
    little_words: frozenset[str]
    stems: frozenset[str]
    relations: Mapping[str, re.Pattern[str]]
    passing: re.Pattern[str]


@cache
def vocabulary() -> _Vocabulary:
    """Read the word lists."""
    data: dict[str, Any] = load_toml("write_gate.toml")
    words = {name: frozenset(text.split()) for name, text in data["words"].items()}
    known = words["generic"] | words["common_names"] | words["function_words"]
    return _Vocabulary(
        little_words=words["function_words"],
        stems=frozenset(stems(known).values()) | known,
        relations={
            name: re.compile(rf"\b(?:{'|'.join(texts)})\b")
            for name, texts in data["relations"].items()
        },
        passing=re.compile(rf"\b(?:{'|'.join(data['passing']['expressions'])})\b"),
    )


def parse(summary: str, detail: str) -> Text:
    """Read a candidate's text."""
    whole = f"{summary}\n{detail}".replace("’", "'")
    tokens = list(_tokens(whole))
    words = [one for one in tokens if one[0] not in _MARKS]
    found = stems(frozenset(words))
    known = vocabulary()
    topics = {
        stem
        for word, stem in found.items()
        if len(word) >= _TOPIC_LENGTH_MIN and known.stems.isdisjoint((word, stem))
    }
    row = [found.get(one, one) for one in tokens]
    plain = whole.lower()
    return Text(
        words={found.get(one, one): one for one in tokens if one != _START},
        pairs=frozenset(f"{first} {second}" for first, second in pairwise([_START, *row])),
        topics=frozenset(topics),
        relations=frozenset(name for name, one in known.relations.items() if one.search(plain)),
        passing=frozenset(known.passing.findall(plain)),
        is_english=_is_english(words, known),
    )


def _tokens(whole: str) -> Iterator[str]:
    """Take a text apart: words in lower case, kinds of names, starts of sentences."""
    starts = True
    for match in _TOKEN.finditer(whole):
        kind, token = match.lastgroup, match.group()
        if kind == "start":
            yield _START
        elif kind == "number":
            yield _NUMBER
        elif kind != "word" or _IDENTIFIER.search(token):
            yield _CODE
        elif token[0].isupper() and not starts and not token.startswith("I"):
            yield _NAME
        else:
            yield token.lower()
        starts = kind == "start"


def _is_english(words: list[str], known: _Vocabulary) -> bool:
    """Return whether words look English; what is too short to tell does."""
    if len(words) < _WORDS_TO_TELL:
        return True
    little = sum(word in known.little_words for word in words)
    common = sum(word in known.stems for word in words)
    return little >= _LITTLE_WORDS_SHARE_MIN * len(words) or common >= _KNOWN_SHARE_MIN * len(words)
