"""Commands of a team's own that close a ticket: what ``ticketing.patterns`` may say, and means."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import fields, frozen

from grove_core.codec import MisplacedError, reader_of
from grove_core.model.value import Value

CANCELLING: Final = frozenset({"-h", "--help", "--dry-run"})

_SEPARATORS: Final = frozenset({"&&", "||", ";", "|", "&"})
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_OPTION: Final = re.compile(r"--?[A-Za-z0-9][\w-]*")
_WORDS: Final = re.compile(r"[A-Za-z0-9_-]+")
_ID: Final = "{id}"
_IDS: Final = "{ids}"
_FURTHER: Final = "..."
_ALTERNATIVES: Final = "|"
_SLOT: Final = re.compile(r"[^{}]*\{id\}[^{}]*|\{ids\}")
_NO_OPTION: Final = re.compile(r"--($|=)|-[^=]*\{")
# A command is compared as one text, whose words and options begin with what no word holds.
_WORD: Final = "\0"
_OPTION_MARK: Final = "\1"
_UNKNOWN: Final = "\2"
_ANY_WORD: Final = r"\0[^\0\1]*"
_SPECIAL: Final = {
    "*": _ANY_WORD,
    _FURTHER: f"(?:{_ANY_WORD})*",
    _IDS: r"((?=\0+[^\0\1])(?:\0[^\0\1]*)+)",  # a word may be empty, but not every one
}


@frozen(kw_only=True, eq=False, repr=False)
class _Written(Value):
    """A table of the configuration."""

    name: str
    command: str
    options_with_values: tuple[str, ...] = ()


@frozen(kw_only=True, eq=False, repr=False)
class TicketPattern(Value):
    """A command that closes a ticket."""

    name: str
    programs: tuple[str, ...]
    arguments: re.Pattern[str]
    options: tuple[str, ...]
    valued: frozenset[str]

    @property
    def literals(self) -> tuple[str, ...]:
        """Words as a matcher names them, of which one stands in every such command."""
        return tuple(" ".join(_WORDS.findall(program)) for program in self.programs)


def read_patterns(tables: Sequence[Any]) -> tuple[TicketPattern, ...]:
    """Read the patterns of a configuration."""
    patterns = []
    for place, table in enumerate(tables, start=1):
        try:
            patterns.append(_read(table))
        except ValueError as error:
            others = f"; all {len(tables)} are left out until it is corrected"
            also = others if len(tables) > 1 else ""
            raise ValueError(f"holds a wrong pattern: number {place} {error}{also}") from None
    return tuple(patterns)


def ids_closed_by(
    pattern: TicketPattern, words: Sequence[str | None]
) -> tuple[str | None, ...] | None:
    """Return which tickets a command closes by a pattern."""
    program = words[0] if words else None
    if program is None or program.rsplit("/", 1)[-1] not in pattern.programs:
        return None
    positionals, options = _take_apart(words[1:], pattern.valued)
    if not (CANCELLING - pattern.valued).isdisjoint(options):
        return None
    parts = [_text(word) for word in positionals]
    parts += [
        f"{_OPTION_MARK}{one}{_text(options[one])}" for one in pattern.options if one in options
    ]
    found = pattern.arguments.fullmatch("".join(parts))
    if found is None:
        return None
    ids = (found[1] if found.re.groups else "") or ""
    return tuple(None if one == _UNKNOWN else one for one in ids.split(_WORD) if one) or (None,)


def _text(word: str | None) -> str:
    return _WORD + (_UNKNOWN if word is None else word)


def _read(table: object) -> TicketPattern:
    known = [one.name for one in fields(_Written)]
    unknown = [key for key in table if key not in known] if isinstance(table, Mapping) else []
    if unknown:
        raise ValueError(f"has a key that is not known, {unknown[0]}; known: {', '.join(known)}")
    try:
        written: _Written = reader_of(_Written)(table)
    except MisplacedError as error:
        raise ValueError(f"is wrong: {error.place[1:]} {error}") from None
    if not _NAME.fullmatch(written.name):
        raise ValueError('needs a name of lower-case letters, digits, - and _, such as "acme"')
    try:
        return _compile(written)
    except ValueError as error:
        raise ValueError(f"({written.name}) {error}") from None


def _compile(written: _Written) -> TicketPattern:
    if not all(map(_OPTION.fullmatch, written.options_with_values)):
        raise ValueError('wants options in options_with_values, such as ["--reason"]')
    program, *words = shlex.split(written.command) or [""]
    programs = tuple(each.rsplit("/", 1)[-1] for each in program.split(_ALTERNATIVES))
    if "{" in program or not all(map(_WORDS.search, programs)):
        raise ValueError("has a command whose program is not named by plain words")
    _check(words)
    positionals = [word for word in words if word == "-" or not word.startswith("-")]
    options = dict(word.partition("=")[::2] for word in words if word not in positionals)
    arguments = [*map(_regex, positionals)]
    arguments += [f"{_OPTION_MARK}{re.escape(one)}{_regex(options[one] or '*')}" for one in options]
    return TicketPattern(
        name=written.name,
        programs=programs,
        arguments=re.compile("".join(arguments)),
        options=tuple(options),
        valued=frozenset(written.options_with_values).union(filter(options.get, options)),
    )


def _check(words: Sequence[str]) -> None:
    joined = next((word for word in words if word in _SEPARATORS), None)
    if joined:
        raise ValueError(f"has {joined} in its command; write the one command that closes")
    slots = [word for word in words if "{" in word or "}" in word]
    if len(slots) > 1 or not all(map(_SLOT.fullmatch, slots)):
        said = f"has {', '.join(slots)} in its command"
        raise ValueError(f"{said}; there may be one {_ID}, or {_IDS} as a word of its own")
    wrong = next((word for word in words if _NO_OPTION.match(word)), None)
    if wrong:
        raise ValueError(f"has {wrong}, which is no option")
    following = [word for word in words if not word.startswith("-")][:-1]
    early = next((word for word in following if word in (_IDS, _FURTHER)), None)
    if early:
        raise ValueError(f"has words behind {early}, which stands for all that follow")


def _regex(word: str) -> str:
    """Turn a word of a pattern into what matches it, with a group for the id in it."""
    if word in _SPECIAL:
        return _SPECIAL[word]
    words = re.escape(word).replace(re.escape(_ID), r"([^\0\1]+)")
    return f"{_WORD}(?:{words.replace(re.escape(_ALTERNATIVES), _ALTERNATIVES)})"


def _take_apart(
    words: Sequence[str | None], valued: frozenset[str]
) -> tuple[list[str | None], dict[str, str | None]]:
    """Split arguments into words and options; a flag's value is empty."""
    positionals: list[str | None] = []
    options: dict[str, str | None] = {}
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word == "--":
            break
        if word is None or not word.startswith("-") or word == "-":
            positionals.append(word)
            continue
        name, equals, value = word.partition("=")
        glued = word[:2]
        if equals:
            options[name] = value
        elif name in valued:
            options[name] = rest.pop() if rest else ""
        elif glued in valued:
            options[glued] = word[2:]
        else:
            options[name] = ""
    return [*positionals, *reversed(rest)], options
