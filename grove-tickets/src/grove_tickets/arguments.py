"""Command-line arguments the way most tools read them: commands, flags, positionals."""

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from attrs import frozen

UNKNOWN: Final = "\ufffc"
"""Stands in a word for what only the running shell knows."""


def is_known(word: str) -> bool:
    """Return whether the text of a command alone says what a word is."""
    return UNKNOWN not in word


def known(word: str) -> str | None:
    """Return a word, such as a ticket's id, if it is there and known."""
    return word if word and is_known(word) else None


@frozen(eq=False, repr=False)
class Arguments:
    """A command line taken apart."""

    options: tuple[tuple[str, str], ...]
    positionals: tuple[str, ...]

    def has(self, *names: str) -> bool:
        """Return whether one of these flags was given and not set to ``false``."""
        return any(name in names and value != "false" for name, value in self.options)

    def value(self, *names: str) -> str | None:
        """Return the last value of a flag that goes by these names, or ``None``."""
        values = [value for name, value in self.options if name in names]
        return values[-1] if values else None


def parse(words: Sequence[str], valued: Collection[str], *, interspersed: bool = True) -> Arguments:
    """Take a command line apart."""
    options: list[tuple[str, str]] = []
    positionals: list[str] = []
    rest = list(reversed(words))
    while rest:
        word = rest.pop()
        if word == "--":
            break
        if not word.startswith("-") or word == "-":
            positionals.append(word)
            if not interspersed:
                break
        elif word.startswith("--"):
            options.append(_long(word, valued, rest))
        else:
            options.extend(_short(word, valued, rest))
    return Arguments(tuple(options), (*positionals, *reversed(rest)))


def _long(word: str, valued: Collection[str], rest: list[str]) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals and name in valued and rest:
        value = rest.pop()
    return name, value


def _short(word: str, valued: Collection[str], rest: list[str]) -> list[tuple[str, str]]:
    options: list[tuple[str, str]] = []
    for position, letter in enumerate(word[1:], start=2):
        name = f"-{letter}"
        if name in valued:
            value = word[position:] or (rest.pop() if rest else "")
            return [*options, (name, value.removeprefix("="))]
        options.append((name, ""))
    return options


@cache
def valued_flags(program: str) -> Mapping[str, Sequence[str]]:
    """Return a program's flags that take a value, by its subcommands."""
    import json

    text = Path(__file__).with_name("flags.json").read_text(encoding="utf-8")
    return {name: flags.split() for name, flags in json.loads(text)[program].items()}


def take_apart(
    program: str, words: Sequence[str], groups: Collection[str] = ()
) -> tuple[str, Arguments]:
    """Split a command line into the subcommand's name and its arguments."""
    valued = valued_flags(program)
    overall = valued.get("", ())
    names: list[str] = []
    options: tuple[tuple[str, str], ...] = ()
    rest = words
    while rest and (not names or names[-1] in groups):
        level = parse(rest, overall, interspersed=False)
        options += level.options
        names += level.positionals[:1]
        rest = level.positionals[1:]
    name = " ".join(names)
    own = parse(rest, {*overall, *valued.get(name, ())})
    return name, Arguments(options + own.options, own.positionals)
