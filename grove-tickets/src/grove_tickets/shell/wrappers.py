"""Programs that run another command, like ``sudo`` and ``bash -c``, and what programs print."""

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Final

from attrs import field, frozen

from grove_tickets.arguments import UNKNOWN, is_known, parse
from grove_tickets.shell.expansion import unescaped

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_ECHO_FLAGS: Final = re.compile(r"-[neE]+")


@frozen(kw_only=True)
class Inner:
    """A command that a wrapper runs: words, or a script for a shell; or nothing."""

    words: tuple[str, ...] = ()
    script: str | None = None
    same_shell: bool = False
    arguments: tuple[str, ...] | None = ()
    environment: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class _Wrapper:
    """An entry of ``wrappers.json``: where a program's arguments end and a command begins."""

    verb: tuple[str, ...] = ()
    before: str = ""  # flags with a value between the program and its subcommand
    valued: str = ""  # flags with a value before the command
    skip: int = 0  # arguments before the command
    behind: str = ""  # words one of which stands before the command
    scripts: str = ""  # flags whose value is a script for a shell
    package: bool = False  # the command's first word may be @scope/name@version


def program_of(word: str) -> str:
    """Return a program's name without its directory."""
    return word.rsplit("/", 1)[-1]


def unwrap(words: tuple[str, ...], stdin: str | None) -> Inner | None:
    """Take a wrapping program off a command."""
    name, rest = program_of(words[0]), words[1:]
    if name == "command" and rest[:1] in {("-v",), ("-V",)}:
        return None
    if name in _HANDLERS:
        return _HANDLERS[name](rest, stdin)
    for wrapper in _wrappers().get(name, ()):
        behind = rest
        if wrapper.verb:
            behind = parse(rest, wrapper.before.split(), interspersed=False).positionals
        end = len(wrapper.verb)
        if behind[:end] == wrapper.verb:
            return _unwrapped(wrapper, behind[end:])
    return None


@cache
def _wrappers() -> Mapping[str, list[_Wrapper]]:
    """Read the table, by the names of programs."""
    table: dict[str, list[_Wrapper]] = {}
    for entry in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")):
        for name in entry.pop("names"):
            program, *verb = name.split()
            table.setdefault(program, []).append(_Wrapper(verb=tuple(verb), **entry))
    return table


def _unwrapped(wrapper: _Wrapper, words: tuple[str, ...]) -> Inner:
    arguments = parse(words, wrapper.valued.split(), interspersed=False)
    script = arguments.value(*wrapper.scripts.split())
    if script is not None:
        return Inner(script=script)
    rest = arguments.positionals[wrapper.skip :]
    if wrapper.behind:
        marks = [place for place, word in enumerate(words) if word in wrapper.behind.split()]
        rest = words[marks[0] + 1 :] if marks else ()
    if wrapper.package and rest:
        after = rest[2:] if rest[1:2] == ("--",) else rest[1:]
        rest = (program_of(rest[0]).split("@")[0], *after)
    environment = {}
    while rest and (match := _ASSIGNMENT.fullmatch(rest[0])):
        environment[match[1]] = match[2]
        rest = rest[1:]
    return Inner(words=rest, environment=environment)


def _xargs(words: tuple[str, ...], _stdin: str | None) -> Inner:
    """Put something unknown into the command, at its end if it does not say where."""
    valued = "-I -n -P -L -s -d -E -a --max-args --max-procs --delimiter --arg-file".split()
    arguments = parse(words, valued, interspersed=False)
    place = arguments.value("-I", "--replace", "-i") or "{}"
    filled = tuple(word.replace(place, UNKNOWN) for word in arguments.positionals)
    return Inner(words=filled if filled != arguments.positionals else (*filled, UNKNOWN))


def _find(words: tuple[str, ...], _stdin: str | None) -> Inner:
    rest = [*dropwhile(lambda one: one not in {"-exec", "-execdir"}, words)][1:]
    command = takewhile(lambda one: one not in {";", "+"}, rest)
    return Inner(words=tuple(one.replace("{}", UNKNOWN) for one in command))


def _shell(words: tuple[str, ...], stdin: str | None) -> Inner:
    arguments = parse(words, {"-o", "-O", "--rcfile", "--init-file"}, interspersed=False)
    rest = arguments.positionals
    if arguments.has("-n"):
        return Inner()
    if arguments.has("-c"):
        # A name that is unknown may stand for any number of words.
        values = None if UNKNOWN in rest[1:2] else rest[2:]
        return Inner(script="".join(rest[:1]), arguments=values)
    if not rest or arguments.has("-s"):
        return Inner(script=stdin, arguments=rest)
    # It runs a file, whose text is not here: the file counts as the program.
    return Inner(words=rest if is_known(rest[0]) else ())


def _source(words: tuple[str, ...], stdin: str | None) -> Inner:
    if words and words[0] in {"/dev/stdin", "/dev/fd/0"}:
        return Inner(script=stdin, same_shell=True)
    return Inner(words=words if words and is_known(words[0]) else (), same_shell=True)


def _trap(words: tuple[str, ...], _stdin: str | None) -> Inner:
    """Take what runs when the shell ends, with whatever variables it has then."""
    runs = bool({"EXIT", "0", "SIGEXIT"}.intersection(words[1:])) and words[0] != "-"
    return Inner(script=words[0] if runs else None)


_HANDLERS: Final[Mapping[str, Callable[[tuple[str, ...], str | None], Inner]]] = {
    "eval": lambda words, _stdin: Inner(script=" ".join(words), same_shell=True),
    "trap": _trap,
    **dict.fromkeys((".", "source"), _source),
    "xargs": _xargs,
    "find": _find,
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "ksh", "ash"), _shell),
}


def printed(words: tuple[str, ...], stdin: str | None) -> str | None:
    """Return what a program prints, where its words tell it."""
    match words:
        case ("cat",) | ("cat", "-") | ("tee", *_):
            return stdin
        case ("echo", *rest):
            return _echoed(rest)
        case ("printf", layout, *rest):
            return _formatted(unescaped(layout), rest)
        case ("which", name) | ("command", "-v", name):
            return f"{UNKNOWN}/{name}\n"
        case _:
            return None


def _echoed(words: list[str]) -> str:
    flags = "".join(takewhile(_ECHO_FLAGS.fullmatch, words))
    text = " ".join(dropwhile(_ECHO_FLAGS.fullmatch, words))
    if "e" in flags:
        text = unescaped(text)
    return text if "n" in flags else text + "\n"


def _formatted(layout: str, words: list[str]) -> str | None:
    is_plain = "%" not in layout.replace("%s", "") and layout.count("%s") == len(words)
    return layout % tuple(words) if is_plain and all(map(is_known, (layout, *words))) else None
