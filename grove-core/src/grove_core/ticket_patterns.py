"""Commands of a team's own that close a ticket: what ``ticketing.patterns`` may say, and means."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, Final

from attrs import field, frozen

from grove_core.model.value import Value

CANCELLING: Final = frozenset({"-h", "--help", "--dry-run"})

_SEPARATORS: Final = frozenset({"&&", "||", ";", "|", "&"})
_KEYS: Final = ("name", "command", "options_with_values")
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_OPTION: Final = re.compile(r"--?[A-Za-z0-9][\w-]*")
_SLOT: Final = re.compile(r"\{([^{}]*)\}")
_WORDS: Final = re.compile(r"[A-Za-z0-9_-]+")
_ID: Final = "{id}"
_IDS: Final = "{ids}"
_ANY: Final = "*"
_FURTHER: Final = "..."
_ALTERNATIVES: Final = "|"


@frozen(kw_only=True, eq=False, repr=False)
class TicketPattern(Value):
    """A command that closes a ticket."""

    name: str
    programs: tuple[str, ...]
    words: tuple[str, ...]
    further: bool = False
    options: Mapping[str, str | None] = field(factory=dict)
    valued: frozenset[str] = frozenset()

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
    ids = _fit_words(pattern, positionals)
    for name, wanted in pattern.options.items():
        if ids is None or name not in options:
            return None
        found = () if wanted is None else _fit(wanted, options[name])
        ids = None if found is None else (*ids, *found)
    if ids is not None and not ids:
        return (None,)
    return ids


def _read(table: object) -> TicketPattern:
    if not isinstance(table, Mapping):
        raise ValueError("must be a table with name and command")  # noqa: TRY004 - see the caller
    unknown = [key for key in table if key not in _KEYS]
    if unknown:
        raise ValueError(f"has a key that is not known, {unknown[0]}; known: {', '.join(_KEYS)}")
    name, command = table.get("name"), table.get("command")
    valued = table.get("options_with_values", [])
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError('needs a name of lower-case letters, digits, - and _, such as "acme"')
    if not isinstance(command, str) or not command.strip():
        raise ValueError(f'({name}) needs a command, such as "{name} close {_ID}"')
    if not isinstance(valued, list | tuple) or not all(
        isinstance(each, str) and _OPTION.fullmatch(each) for each in valued
    ):
        raise ValueError(f'({name}) wants options in options_with_values, such as ["--reason"]')
    try:
        return _compile(name, command, frozenset(valued))
    except ValueError as error:
        raise ValueError(f"({name}) {error}") from None


def _compile(name: str, command: str, valued: frozenset[str]) -> TicketPattern:
    try:
        program, *words = shlex.split(command)
    except ValueError:
        raise ValueError("has a command with a quote that never ends") from None
    joined = next((word for word in words if word in _SEPARATORS), None)
    if joined:
        raise ValueError(f"has {joined} in its command; write the one command that closes")
    programs = tuple(each.rsplit("/", 1)[-1] for each in program.split(_ALTERNATIVES))
    if not all(_WORDS.search(each) and not _SLOT.search(each) for each in programs):
        raise ValueError("has a command whose program is not named by plain words")
    _check_slots(words)
    further = words[-1:] == [_FURTHER]
    positionals: list[str] = []
    options: dict[str, str | None] = {}
    for word in words[:-1] if further else words:
        if word.startswith("-") and word != "-":
            option, equals, value = word.partition("=")
            if option == "--" or _SLOT.search(option):
                raise ValueError(f"has {option}, which is no option")
            options[option] = value if equals else None
        else:
            positionals.append(word)
    if _IDS in positionals[:-1] or (further and _IDS in positionals):
        raise ValueError(f"has words behind {_IDS}, which stands for all that follow")
    with_values = {option for option, value in options.items() if value is not None}
    return TicketPattern(
        name=name,
        programs=programs,
        words=tuple(positionals),
        further=further,
        options=options,
        valued=valued | with_values,
    )


def _check_slots(words: Sequence[str]) -> None:
    slots = [match[0] for word in words for match in _SLOT.finditer(word)]
    unknown = [slot for slot in slots if slot not in {_ID, _IDS}]
    if unknown:
        raise ValueError(f"has {unknown[0]} in its command; {_ID} and {_IDS} are known")
    if len(slots) > 1:
        raise ValueError(f"has more than one {_ID} in its command")
    if _IDS in slots and _IDS not in words:
        raise ValueError(f"must have {_IDS} as a word of its own")
    if _FURTHER in words[:-1]:
        raise ValueError(f"has words behind {_FURTHER}, which stands for all that follow")


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


def _fit_words(
    pattern: TicketPattern, positionals: Sequence[str | None]
) -> tuple[str | None, ...] | None:
    ids: list[str | None] = []
    rest = list(positionals)
    for wanted in pattern.words:
        if not rest:
            return None
        if wanted == _IDS:
            return tuple(word for word in rest if word != "") or None
        found = _fit(wanted, rest.pop(0))
        if found is None:
            return None
        ids += found
    return None if rest and not pattern.further else tuple(ids)


def _fit(wanted: str, word: str | None) -> tuple[str | None, ...] | None:
    """Compare one word; give the id that it holds, nothing, or ``None`` when it does not fit."""
    if wanted == _ANY:
        return ()
    if word is None:
        return (None,) if wanted == _ID else None
    for alternative in wanted.split(_ALTERNATIVES):
        before, slot, after = alternative.partition(_ID)
        if not slot:
            if word == alternative:
                return ()
            continue
        ticket_id = word[len(before) : len(word) - len(after)]
        if word.startswith(before) and word.endswith(after) and ticket_id:
            return (ticket_id,)
    return None
