"""A candidate's text as the write gate sees it: sentences, their words, and what they name."""

import re
from functools import lru_cache
from typing import Final

from attrs import frozen

from grove_core.model.value import Value
from grove_core.reflection.write_gate.vocabulary import (
    COMMON_NAMES,
    FUNCTION_WORDS,
    GENERIC_STEMS,
    stem,
)

IDENTIFIER: Final = "<identifier>"
NUMBER: Final = "<number>"
NAME: Final = "<name>"
"""What stands among the tokens of a sentence in the place of what it names."""

_FENCE: Final = ("```", "~~~")
_CODE: Final = re.compile(r"`([^`\n]{1,200})`")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?;])[ \t]+|(?<=[。！？])")  # noqa: RUF001 - meant
_BULLET: Final = re.compile(r"^[\s>#*+•-]+|^\s*\d{1,3}[.)] ")
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_TOKEN: Final = re.compile(r"\S+")
_EDGES: Final = "\"'“”‘’«»()[]{}<>,;:!?.…*_=|"  # noqa: RUF001 - meant
_OUTPUT: Final = re.compile(
    r"[\[(]?\d{4}-\d\d-\d\d[T ]|[\[(]?\d\d:\d\d:\d\d"
    r"|\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE)\b"
    r"|Traceback |File \"|at [\w.$<>]+\(|at async |raise \w|[$>%] |(?:PASS|FAIL|ok|not ok"
    r"|FAILED)\b[: ]"
    r"|[MAD?]{1,2} [\w./-]+$|[+-]{1,3} ?\S*$|@@ |diff --git|npm (?:ERR|WARN)|\w*(?:Error"
    r"|Exception):"
    r"|(?:Tests?|Time|Test Suites|Snapshots|Ran|Ran all): +\S|={4,}|-{4,}|make(?:\[\d\])?: "
    r"|error(?:\[E\d+\])?: "
    r"|exit (?:code|status) \d|\d+ (?:passed|failed)|warning: |Caused by: |Process finished"
    r"|--> |\d+ +\||\| *$|\| +[\^-]|\S+ [.FEsx]+ +\[ *\d{1,3}%\]|[\w./-]+(?: {2,}\S+){2,}|\^+$"
    r"|[\w.$]+\([\w.]+:\d+\)"
)
_IDENTIFIER: Final = re.compile(
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
_NUMBER: Final = re.compile(
    r"[v~≥≤<>+$€£-]?\d[\d.,:/x×-]*(?:[a-zµ%°]{1,7})?(?:/[a-z]{1,7})?", re.IGNORECASE
)
_ABBREVIATIONS: Final = frozenset({"e.g", "i.e", "etc", "vs", "a.k.a", "and/or", "w/o", "n/a"})
_TINY: Final = frozenset("012")
_CODE_MARK: Final = "`"
_WORD_LENGTH_MIN: Final = 3
_LITTLE_SHARE_MIN: Final = 0.18
_KNOWN_SHARE_MIN: Final = 0.6
_FOREIGN_LETTERS_SHARE: Final = 0.25
_WORDS_TO_TELL: Final = 5
_WORDS_ABOUT_OUTPUT_MIN: Final = 8


@frozen(kw_only=True, eq=False, repr=False)
class Sentence(Value):
    """One sentence, list item or line."""

    text: str
    words: tuple[str, ...]
    tokens: tuple[str, ...]
    topics: frozenset[str]
    names: frozenset[str]


@frozen(kw_only=True, eq=False, repr=False)
class Reading(Value):
    """A candidate's summary and detail, read."""

    summary: tuple[Sentence, ...]
    detail: tuple[Sentence, ...]
    code_lines: int
    output_lines: int
    is_english: bool

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """All sentences in their order."""
        return self.summary + self.detail


def read(summary: str, detail: str) -> Reading:
    """Read a candidate's text."""
    prose, code_lines, output_lines = _split_lines(detail)
    first = _sentences([summary])
    second = _sentences(prose)
    words = [word for sentence in first + second for word in sentence.words]
    return Reading(
        summary=first,
        detail=second,
        code_lines=code_lines,
        output_lines=output_lines,
        is_english=_is_english(words),
    )


def is_raw_output(reading: Reading) -> bool:
    """Return whether a detail is what a program printed, without a word about it."""
    words = sum(len(sentence.words) for sentence in reading.detail)
    return reading.output_lines > 0 and words < _WORDS_ABOUT_OUTPUT_MIN


@lru_cache(maxsize=4096)
def is_topic(word: str) -> bool:
    """Return whether general programming prose hardly uses a word."""
    base = word.partition("'")[0]
    if len(base) < _WORD_LENGTH_MIN or base in FUNCTION_WORDS or word in FUNCTION_WORDS:
        return False
    return base not in COMMON_NAMES and stem(base) not in GENERIC_STEMS


def _split_lines(text: str) -> tuple[list[str], int, int]:
    """Part prose from code blocks and from lines that a program printed."""
    prose: list[str] = []
    code_lines = output_lines = 0
    in_block = False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith(_FENCE):
            in_block = not in_block
        elif _OUTPUT.match(stripped):
            output_lines += 1
        elif in_block:
            code_lines += 1
        else:
            prose.append(stripped)
    return prose, code_lines, output_lines


def _is_english(words: list[str]) -> bool:
    foreign = sum(1 for word in words if not word.isascii())
    if foreign > _FOREIGN_LETTERS_SHARE * len(words):
        return False
    if len(words) < _WORDS_TO_TELL:
        return True
    little = sum(1 for word in words if word in FUNCTION_WORDS)
    known = sum(1 for word in words if not is_topic(word))
    return little >= _LITTLE_SHARE_MIN * len(words) or known >= _KNOWN_SHARE_MIN * len(words)


def _sentences(lines: list[str]) -> tuple[Sentence, ...]:
    parts = (part.strip() for line in lines for part in _SENTENCE_END.split(_BULLET.sub("", line)))
    return tuple(_sentence(part) for part in parts if part)


def _sentence(part: str) -> Sentence:
    names = {code.strip().lower() for code in _CODE.findall(part)}
    prose = _CODE.sub(f" {_CODE_MARK} ", part).replace("’", "'")
    words: list[str] = []
    tokens: list[str] = []
    for position, match in enumerate(_TOKEN.finditer(prose)):
        token = match.group().strip(_EDGES)
        if token == _CODE_MARK:
            tokens.append(IDENTIFIER)
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
        names=frozenset(names - COMMON_NAMES),
    )


def _kind_of_name(token: str) -> str:
    if _NUMBER.fullmatch(token):
        return NUMBER
    is_word = token.isalpha() and (token.isupper() or token[1:].islower())
    return NAME if is_word else IDENTIFIER


def _is_name(token: str, *, first: bool) -> bool:
    if not token or token.lower() in _ABBREVIATIONS:
        return False
    if _NUMBER.fullmatch(token):
        return token not in _TINY
    if _IDENTIFIER.fullmatch(token):
        return True
    if not token[0].isupper() or not token.isascii():
        return False
    # A capital letter alone makes no name: headings have them, and shouted words.
    return (token.isupper() or not first) and is_topic(token.lower())
