"""A candidate's text as the write gate sees it, by the words of `data/write_gate.toml`."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

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

# What stands among the tokens of a sentence in the place of what it names.
_IDENTIFIER, _NUMBER, _NAME = "<identifier>", "<number>", "<name>"
_SENTENCE_START: Final = "^"

_FENCE: Final = ("```", "~~~")
_CODE: Final = re.compile(r"`([^`\n]{1,200})`")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?;])[ \t]+|(?<=[。！？])")  # noqa: RUF001 - meant
_BULLET: Final = re.compile(r"^[\s>#*+•-]+|^\s*\d{1,3}[.)] ")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_EDGES: Final = "\"'“”‘’«»()[]{}<>,;:!?.…*_=|"  # noqa: RUF001 - meant
_IDENTIFIER_FORM: Final = re.compile(
    r"--?[a-z][\w-]*(?:=\S*)?"  # an option
    r"|[\w.-]*/[\w.@*{}-]*[._/*][\w./@*{}-]*"  # a path of more than two plain words
    r"|[\w.-]+/"  # a directory
    r"|/[\w{][\w./{}:-]*"  # a path or route from the root
    r"|[\w-]*\.[a-z]{1,5}"  # a file name
    r"|[A-Za-z_]\w*(?:\.\w+)+(?:\(\))?"  # a dotted name
    r"|\w+\(\)"
    r"|[A-Za-z0-9]*_\w*"  # snake_case
    r"|[a-z]+[A-Z]\w*"  # camelCase
    r"|[A-Z][a-z0-9]+[A-Z]\w*"  # PascalCase
    r"|[A-Z]{1,6}-?\d[\w-]*"  # E1234, PROJ-12
    r"|[@#$]\w[\w./-]*"
)
_NUMBER_FORM: Final = re.compile(
    r"[v~≥≤<>+$€£-]?\d[\d.,:/x×-]*(?:[a-zµ%°]{1,7})?(?:/[a-z]{1,7})?", re.IGNORECASE
)
_TINY_NUMBERS: Final = frozenset("012")
_WORD_LENGTH_MIN: Final = 3
_FUNCTION_WORDS_SHARE_MIN: Final = 0.18
_KNOWN_SHARE_MIN: Final = 0.6
_FOREIGN_LETTERS_SHARE_MAX: Final = 0.25
_WORDS_TO_TELL: Final = 5
_WORDS_ABOUT_OUTPUT_MIN: Final = 8


class Sentence(NamedTuple):
    """One sentence, list item or line."""

    text: str
    words: tuple[str, ...]
    tokens: tuple[str, ...]
    topics: frozenset[str]
    names: frozenset[str]


class Text(NamedTuple):
    """A candidate's summary and detail, parsed."""

    summary: tuple[Sentence, ...]
    detail: tuple[Sentence, ...]
    code_lines: int
    output_lines: int

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """All sentences in their order."""
        return self.summary + self.detail

    @property
    def words(self) -> list[str]:
        """All words in their order."""
        return [word for sentence in self.sentences for word in sentence.words]

    @property
    def is_english(self) -> bool:
        """Whether it looks English; what is too short to tell does."""
        words = self.words
        foreign = sum(1 for word in words if not word.isascii())
        if foreign > _FOREIGN_LETTERS_SHARE_MAX * len(words):
            return False
        if len(words) < _WORDS_TO_TELL:
            return True
        little = sum(1 for word in words if word in WORDS["function_words"])
        known = sum(1 for word in words if not is_topic(word))
        enough_little = little >= _FUNCTION_WORDS_SHARE_MIN * len(words)
        return enough_little or known >= _KNOWN_SHARE_MIN * len(words)

    @property
    def is_raw_output(self) -> bool:
        """Whether the detail is what a program printed, without a word about it."""
        words = sum(len(sentence.words) for sentence in self.detail)
        return self.output_lines > 0 and words < _WORDS_ABOUT_OUTPUT_MIN

    @property
    def phrases(self) -> frozenset[str]:
        """The stems of its words and of the pairs of words that follow each other."""
        found: set[str] = set()
        for sentence in self.sentences:
            tokens = [_base(token) for token in sentence.tokens]
            pairs = zip([_SENTENCE_START, *tokens], tokens, strict=False)
            found.update(tokens, (f"{first} {second}" for first, second in pairs))
        return frozenset(found)


def parse(summary: str, detail: str) -> Text:
    """Parse a candidate's text."""
    prose, code_lines, output_lines = _split_lines(detail)
    return Text(
        summary=tuple(_sentences([summary])),
        detail=tuple(_sentences(prose)),
        code_lines=code_lines,
        output_lines=output_lines,
    )


@lru_cache(maxsize=4096)
def is_topic(word: str) -> bool:
    """Return whether general programming prose hardly uses a word."""
    base = word.partition("'")[0]
    if len(base) < _WORD_LENGTH_MIN or {base, word} & WORDS["function_words"]:
        return False
    return base not in WORDS["common_names"] and stem(base) not in GENERIC_STEMS


def _base(token: str) -> str:
    is_stem = token in WORDS["function_words"] or token.startswith("<")
    return token if is_stem else stem(token)


def _split_lines(text: str) -> tuple[list[str], int, int]:
    """Separate prose from code blocks and from lines that a program printed."""
    prose: list[str] = []
    code_lines = output_lines = 0
    in_block = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith(_FENCE):
            in_block = not in_block
        elif PATTERNS["program_output"].match(line):
            output_lines += 1
        elif in_block:
            code_lines += 1
        else:
            prose.append(line)
    return prose, code_lines, output_lines


def _sentences(lines: list[str]) -> Iterator[Sentence]:
    for line in lines:
        for part in map(str.strip, _SENTENCE_END.split(_BULLET.sub("", line))):
            if part:
                yield _sentence(part)


def _sentence(part: str) -> Sentence:
    names = {code.strip().lower() for code in _CODE.findall(part)}
    prose = _CODE.sub(" ` ", part).replace("’", "'")
    words: list[str] = []
    tokens: list[str] = []
    for position, raw in enumerate(prose.split()):
        token = raw.strip(_EDGES)
        if token == "`":  # noqa: S105 - a mark for code
            tokens.append(_IDENTIFIER)
        elif _is_name(token, first=position == 0):
            names.add(token.lower())
            tokens.append(_kind_of_name(token))
        else:
            found = [word.lower() for word in _WORD.findall(token)]
            words.extend(found)
            tokens.extend(found)
    return Sentence(
        text=" ".join(prose.lower().split()),
        words=tuple(words),
        tokens=tuple(tokens),
        topics=frozenset(stem(word.partition("'")[0]) for word in words if is_topic(word)),
        names=frozenset(names - WORDS["common_names"]),
    )


def _kind_of_name(token: str) -> str:
    if _NUMBER_FORM.fullmatch(token):
        return _NUMBER
    is_word = token.isalpha() and (token.isupper() or token[1:].islower())
    return _NAME if is_word else _IDENTIFIER


def _is_name(token: str, *, first: bool) -> bool:
    if not token or token.lower() in WORDS["abbreviations"]:
        return False
    if _NUMBER_FORM.fullmatch(token):
        return token not in _TINY_NUMBERS
    if _IDENTIFIER_FORM.fullmatch(token):
        return True
    if not token[0].isupper() or not token.isascii():
        return False
    # A capital letter alone makes no name: headings have them, and shouted words.
    return (token.isupper() or not first) and is_topic(token.lower())
