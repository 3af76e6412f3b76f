"""Programs that run another command: ``sudo``, ``env``, ``xargs``, ``bash -c`` and their like."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from attrs import evolve, field, frozen

from grove_tickets.arguments import parse
from grove_tickets.shell.prefixes import Prefix, find_prefix
from grove_tickets.shell.words import UNKNOWN, is_known

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_STANDARD_INPUT: Final = frozenset({"/dev/stdin", "/dev/fd/0"})
_MAX_RUNS: Final = 100
SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash", "ksh", "ash"})


@frozen(kw_only=True)
class Inner:
    """A command that a wrapper runs: words, or a script for a shell."""

    words: tuple[str, ...] = ()
    builtins: bool = False
    replaces_shell: bool = False
    script: str | None = None
    reads_script: bool = False
    same_shell: bool = False
    arguments: tuple[str, ...] | None = ()
    environment: Mapping[str, str] = field(factory=dict)
    unset: tuple[str, ...] = ()
    is_clean: bool = False
    directory: str = ""


def program_of(word: str) -> str:
    """Return a program's name without its directory."""
    return word.rsplit("/", 1)[-1]


def unwrap(words: tuple[str, ...], *, builtins: bool = True) -> tuple[Inner, ...] | None:
    """Take a wrapping program off a command."""
    handler = _BUILTINS.get(words[0]) if builtins else None
    if handler is not None:
        return handler(words[1:])
    name = program_of(words[0])
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(words[1:])
    found = find_prefix(name, words[1:])
    return None if found is None else _prefixed(*found)


def _prefixed(prefix: Prefix, words: tuple[str, ...]) -> tuple[Inner, ...]:
    """Take off a wrapper that the table of them describes."""
    arguments = parse(words, prefix.valued.split(), interspersed=False)
    flags = prefix.scripts.split()
    script = arguments.value(*flags)
    rest = arguments.positionals[prefix.skipped :]
    if script is None and len(rest) > 1 and rest[0] in flags:
        script = rest[1]
    if script is not None:
        return (Inner(script=script),)
    if prefix.behind:
        marks = [place for place, word in enumerate(words) if word in prefix.behind.split()]
        rest = words[marks[0] + 1 :] if marks else ()
    if prefix.joins:
        return (Inner(script=" ".join(rest)),) if rest else ()
    if prefix.is_package and rest:
        after = rest[2:] if rest[1:2] == ("--",) else rest[1:]
        rest = (program_of(rest[0]).split("@")[0], *after)
    cleans = prefix.cleans and not arguments.has("-E", "--preserve-env")
    return tuple(evolve(inner, is_clean=cleans) for inner in _command(rest))


def _command(words: tuple[str, ...]) -> tuple[Inner, ...]:
    """Return the command that words are, with assignments before it as for ``env``."""
    environment = {}
    position = 0
    for word in words:
        match = _ASSIGNMENT.fullmatch(word)
        if match is None:
            break
        environment[match[1]] = match[2]
        position += 1
    rest = tuple(words[position:])
    return (Inner(words=rest, environment=environment),) if rest else ()


def _env(words: tuple[str, ...]) -> tuple[Inner, ...]:
    valued = {"-u", "--unset", "-C", "--chdir", "-S", "--split-string"}
    arguments = parse(words, valued, interspersed=False)
    split = arguments.value("-S", "--split-string")
    unset = [value for name, value in arguments.options if name in {"-u", "--unset"}]
    positionals = (*(split or "").split(), *arguments.positionals)
    is_clean = arguments.has("-i", "--ignore-environment") or positionals[:1] == ("-",)
    return tuple(
        evolve(
            inner,
            unset=tuple(unset),
            is_clean=is_clean,
            directory=arguments.value("-C", "--chdir") or "",
        )
        for inner in _command(positionals[positionals[:1] == ("-",) :])
    )


def _command_builtin(words: tuple[str, ...]) -> tuple[Inner, ...] | None:
    arguments = parse(words, (), interspersed=False)
    if arguments.has("-v", "-V"):
        return None
    return (Inner(words=arguments.positionals, builtins=True),) if arguments.positionals else ()


def _exec(words: tuple[str, ...]) -> tuple[Inner, ...]:
    arguments = parse(words, {"-a"}, interspersed=False)
    rest = arguments.positionals
    clean = arguments.has("-c")
    return (Inner(words=rest, replaces_shell=True, is_clean=clean),) if rest else ()


def _xargs(words: tuple[str, ...]) -> tuple[Inner, ...]:
    arguments = parse(words, _XARGS_VALUED.split(), interspersed=False)
    placeholder = arguments.value("-I", "--replace", "-i")
    if placeholder is None:
        return _program((*arguments.positionals, UNKNOWN)) if arguments.positionals else ()
    mark = placeholder or "{}"
    return _program(tuple(word.replace(mark, UNKNOWN) for word in arguments.positionals))


def _program(words: tuple[str, ...]) -> tuple[Inner, ...]:
    return (Inner(words=words),) if words else ()


def _parallel(words: tuple[str, ...]) -> tuple[Inner, ...]:
    marks = [place for place, word in enumerate(words) if word in {":::", ":::+", "::::"}]
    arguments = parse(
        words[: marks[0]] if marks else words, _PARALLEL_VALUED.split(), interspersed=False
    )
    template = arguments.positionals
    if arguments.has("-S", "--sshlogin"):
        return ()
    is_list = len(marks) == 1 and words[marks[0]] == ":::"
    values = words[marks[0] + 1 :] if is_list else (UNKNOWN,)
    found = []
    for value in values[:_MAX_RUNS]:
        filled = [word.replace("{}", value) for word in template]
        plain = not any("{" in word for word in template)
        found.append(Inner(script=" ".join([*filled, value] if plain else filled)))
    return tuple(found)


def _find(words: tuple[str, ...]) -> tuple[Inner, ...]:
    found: list[Inner] = []
    current: list[str] | None = None
    for word in words:
        if current is None:
            current = [] if word in {"-exec", "-execdir", "-ok", "-okdir"} else None
        elif word == ";" or (word == "+" and current[-1:] == [UNKNOWN]):
            found += _program(tuple(current))
            current = None
        else:
            current.append(word.replace("{}", UNKNOWN))
    return tuple(found)


def _su(words: tuple[str, ...]) -> tuple[Inner, ...]:
    arguments = parse(words, {"-c", "--command", "-s", "--shell", "-g", "-G", "-w", "-u", "--user"})
    script = arguments.value("-c", "--command")
    if script is not None:
        return (Inner(script=script, is_clean=True),)
    return _program(arguments.positionals) if arguments.has("-u", "--user") else ()


def _shell(words: tuple[str, ...]) -> tuple[Inner, ...]:
    arguments = parse(
        tuple(word for word in words if not word.startswith("+")),
        {"-o", "-O", "--rcfile", "--init-file"},
        interspersed=False,
    )
    rest = arguments.positionals
    if arguments.has("-n"):
        return ()
    if arguments.has("-c"):
        # A name that is unknown may stand for any number of words.
        values = None if UNKNOWN in rest[1:2] else rest[2:]
        return (Inner(script=rest[0], arguments=values),) if rest else ()
    if arguments.has("-s") or rest == ("-",):
        return (Inner(reads_script=True, arguments=rest if arguments.has("-s") else ()),)
    if rest and rest[0] not in _STANDARD_INPUT:
        # It runs a file, whose text is not here: the file counts as the program.
        return _program(rest) if is_known(rest[0]) else ()
    return (Inner(reads_script=True, arguments=rest[1:]),)


def _eval(words: tuple[str, ...]) -> tuple[Inner, ...]:
    return (Inner(script=" ".join(words[words[:1] == ("--",) :]), same_shell=True),)


def _source(words: tuple[str, ...]) -> tuple[Inner, ...]:
    if words and words[0] not in _STANDARD_INPUT:
        return _program(words)
    return (Inner(reads_script=True, same_shell=True),)


_XARGS_VALUED: Final = (
    "-I -n -P -L -s -d -E -a --max-args --max-procs --max-lines --max-chars --delimiter"
    " --arg-file --process-slot-var"
)
_PARALLEL_VALUED: Final = (
    "-j --jobs -n -N -L -a --arg-file -S --sshlogin --delay --timeout --retries -C --colsep"
    " --joblog --results --halt --load --memfree --tagstring --workdir --wd"
)
_BUILTINS: Final[Mapping[str, Callable[[tuple[str, ...]], tuple[Inner, ...] | None]]] = {
    **dict.fromkeys(("command", "builtin"), _command_builtin),
    "exec": _exec,
    "eval": _eval,
    **dict.fromkeys((".", "source"), _source),
}
_HANDLERS: Final[Mapping[str, Callable[[tuple[str, ...]], tuple[Inner, ...]]]] = {
    "env": _env,
    "xargs": _xargs,
    "parallel": _parallel,
    "find": _find,
    **dict.fromkeys(("su", "runuser"), _su),
    **dict.fromkeys(SHELLS, _shell),
}
