"""The write gate: the assessment of a candidate by a learnt sum of its words, and what helps."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

from grove_core.model.learning import Candidate, Rejection
from grove_core.model.value import frozen
from grove_core.reflection import load_json, load_toml
from grove_core.stemmer import stems
from grove_core.text import shorten

REASON_LENGTH_MAX: Final = 160
_WORDS_QUOTED: Final = 2

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
            "relations": len(self.relations) / len(_vocabulary().relations),
            "passing": min(len(self.passing) / _PASSING_ENOUGH, 1.0),
        }


class _Vocabulary(NamedTuple):
    little_words: frozenset[str]
    stems: frozenset[str]
    relations: Mapping[str, re.Pattern[str]]
    passing: re.Pattern[str]


@cache
def _vocabulary() -> _Vocabulary:
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
    known = _vocabulary()
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


@frozen
class Assessment:
    """What the write gate thinks of a candidate."""

    rejection: Rejection | None
    hint: str
    """What would help one that passes by little, or whose language is not known."""
    score: float


def evaluate(candidate: Candidate) -> Assessment:
    """Evaluate whether a candidate says something that is worth keeping."""
    text = parse(candidate.summary, candidate.detail)
    weights = load_json("weights.json")
    measured = (value * weights["measures"][name] for name, value in text.measures.items())
    listed: dict[str, float] = weights["words"]
    phrases = {one: listed[one] for one in text.phrases if one in listed}
    score = sum((*measured, *phrases.values())) if text.is_english else 0.0
    low, sure = weights["threshold"], weights["sure"]
    advice = _advice(candidate.summary, text, phrases) if score < sure else ""
    is_refused = text.is_english and score < low
    return Assessment(
        rejection=Rejection(reason=advice, field="detail") if is_refused else None,
        hint="" if is_refused else advice,
        score=score,
    )


def _advice(summary: str, text: Text, phrases: dict[str, float]) -> str:
    """Name what this text lacks, and show its summary with that added."""
    is_nowhere = not text.names and not text.topics
    plain = _vocabulary().little_words
    words = [
        one
        for one, word in text.words.items()
        if one.isalpha() and word not in plain and phrases.get(one, 0) < 0
    ]
    against = sorted(words, key=lambda one: phrases[one])
    quoted = ", ".join(f'"{text.words[one]}"' for one in against[:_WORDS_QUOTED])
    if not text.is_english:
        missing, added = "Only English can be judged", "because …"
    elif is_nowhere:
        missing, added = "It names no file, number or thing of this project", "in FILE, because …"
    elif text.passing:
        missing, added = f'"{min(text.passing)}" will soon be over', "because …; else …"
    elif not text.relations:
        missing, added = "It says neither why, nor when, nor what else happens", "because …; else …"
    elif quoted:
        missing, added = f"Words such as {quoted} could stand for any work", "otherwise …"
    else:
        missing, added = "It says little that the next session would not do anyway", "otherwise …"
    if added.split()[0] in summary.lower().split():  # the last advice was taken
        return f"{missing}; say in the detail what goes wrong, where, and how one sees it."
    room = REASON_LENGTH_MAX - len(f'{missing}; say for example: "… {added}".')
    return f'{missing}; say for example: "{shorten(summary.rstrip(" .!"), room)} {added}".'
