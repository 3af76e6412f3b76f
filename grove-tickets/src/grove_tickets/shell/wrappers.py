"""Programs that run another command: ``sudo``, ``env``, ``xargs``, ``bash -c`` and their like."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from attrs import field, frozen

from grove_tickets.arguments import Arguments, parse
from grove_tickets.shell.words import UNKNOWN

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)


@frozen(kw_only=True)
class Inner:
    """A command that a wrapper runs: words, or a script for a shell.

    Attributes:
        words: The command's words; empty when a script is run.
        script: Shell text to run.
        reads_script: The script comes from standard input.
        same_shell: The script runs in the shell that calls it.
        environment: Variables that the wrapper sets.
        directory: Where the wrapper changes to; empty when it stays.
    """

    words: tuple[str, ...] = ()
    script: str | None = None
    reads_script: bool = False
    same_shell: bool = False
    environment: Mapping[str, str] = field(factory=dict)
    directory: str = ""


def program_of(word: str) -> str:
    """Give a program's name without its directory."""
    return word.rsplit("/", 1)[-1]


def unwrap(words: tuple[str, ...]) -> tuple[Inner, ...] | None:
    """Take a wrapping program off a command.

    Args:
        words: The command's words, the program first.

    Returns:
        The commands that it runs, or ``None`` when the program is no wrapper.
    """
    name = program_of(words[0])
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(words[1:])
    valued = _PREFIXES.get(name)
    if valued is None:
        return None
    return _command(parse(words[1:], valued, interspersed=False).positionals)


def _command(words: tuple[str, ...], directory: str = "") -> tuple[Inner, ...]:
    environment = {}
    position = 0
    for word in words:
        match = _ASSIGNMENT.fullmatch(word)
        if match is None:
            break
        environment[match[1]] = match[2]
        position += 1
    rest = tuple(words[position:])
    return (Inner(words=rest, environment=environment, directory=directory),) if rest else ()


def _env(words: tuple[str, ...]) -> tuple[Inner, ...]:
    valued = {"-u", "--unset", "-C", "--chdir", "-S", "--split-string"}
    arguments = parse(words, valued, interspersed=False)
    split = arguments.value("-S", "--split-string")
    positionals = (*(split or "").split(), *arguments.positionals)
    return _command(positionals, arguments.value("-C", "--chdir") or "")


def _command_builtin(words: tuple[str, ...]) -> tuple[Inner, ...]:
    arguments = parse(words, (), interspersed=False)
    return () if arguments.has("-v", "-V") else _command(arguments.positionals)


def _timeout(words: tuple[str, ...]) -> tuple[Inner, ...]:
    valued = {"-s", "--signal", "-k", "--kill-after"}
    return _command(parse(words, valued, interspersed=False).positionals[1:])


def _coproc(words: tuple[str, ...]) -> tuple[Inner, ...]:
    return _command(words[2:] if words[1:2] == ("{",) else words)


def _xargs(words: tuple[str, ...]) -> tuple[Inner, ...]:
    arguments = parse(words, _XARGS_VALUED, interspersed=False)
    placeholder = arguments.value("-I", "--replace", "-i")
    if placeholder is None:
        return _command((*arguments.positionals, UNKNOWN)) if arguments.positionals else ()
    mark = placeholder or "{}"
    return _command(tuple(word.replace(mark, UNKNOWN) for word in arguments.positionals))


def _find(words: tuple[str, ...]) -> tuple[Inner, ...]:
    found: list[Inner] = []
    current: list[str] | None = None
    for word in words:
        if current is None:
            current = [] if word in {"-exec", "-execdir", "-ok", "-okdir"} else None
        elif word in {";", "+"}:
            found += _command(tuple(current))
            current = None
        else:
            current.append(word.replace("{}", UNKNOWN))
    return tuple(found)


def _package_runner(words: tuple[str, ...]) -> tuple[Inner, ...]:
    arguments = parse(words, _PACKAGE_RUNNER_VALUED, interspersed=False)
    script = arguments.value("-c", "--call")
    if script is not None:
        return (Inner(script=script),)
    if not arguments.positionals:
        return ()
    package, *rest = arguments.positionals
    return _command((program_of(package).split("@")[0], *rest))


def _mise(words: tuple[str, ...]) -> tuple[Inner, ...]:
    if words[:1] not in {("exec",), ("x",)}:
        return ()
    if "--" in words:
        return _command(words[words.index("--") + 1 :])
    script = parse(words[1:], {"-c", "--command", "-j", "-C", "--cd"}).value("-c", "--command")
    return () if script is None else (Inner(script=script),)


def _shell(words: tuple[str, ...]) -> tuple[Inner, ...]:
    arguments = parse(
        tuple(word for word in words if not word.startswith("+")),
        {"-o", "-O", "--rcfile", "--init-file"},
        interspersed=False,
    )
    if arguments.has("-n"):
        return ()
    if arguments.has("-c"):
        return tuple(Inner(script=script) for script in arguments.positionals[:1])
    return _shell_with_stdin(arguments)


def _shell_with_stdin(arguments: Arguments) -> tuple[Inner, ...]:
    if arguments.positionals and arguments.positionals != ("-",) and not arguments.has("-s"):
        return ()  # it runs a file, whose text is not here
    return (Inner(reads_script=True),)


def _eval(words: tuple[str, ...]) -> tuple[Inner, ...]:
    return (Inner(script=" ".join(words), same_shell=True),)


def _trap(words: tuple[str, ...]) -> tuple[Inner, ...]:
    action, *signals = [word for word in words if word != "--"] or [""]
    runs = not {"EXIT", "0", "SIGEXIT"}.isdisjoint(signals) and action not in {"", "-", "-p", "-l"}
    return (Inner(script=action),) if runs else ()


_XARGS_VALUED: Final = frozenset(
    {
        "-I", "-n", "-P", "-L", "-s", "-d", "-E", "-a",
        "--max-args", "--max-procs", "--max-lines", "--max-chars", "--delimiter", "--arg-file",
        "--process-slot-var",
    }
)  # fmt: skip
_PACKAGE_RUNNER_VALUED: Final = frozenset(
    {"-p", "--package", "-c", "--call", "--from", "--with", "--python", "--index", "--directory"}
)
_SUDO_VALUED: Final = frozenset(
    {
        "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R",
        "--user", "--group", "--host", "--prompt", "--chdir", "--role", "--type",
    }
)  # fmt: skip

_PREFIXES: Final[Mapping[str, frozenset[str]]] = {
    "sudo": _SUDO_VALUED,
    "doas": frozenset({"-u", "-C"}),
    "builtin": frozenset(),
    "exec": frozenset({"-a"}),
    "nohup": frozenset(),
    "time": frozenset({"-f", "-o", "--format", "--output"}),
    "nice": frozenset({"-n", "--adjustment"}),
    "stdbuf": frozenset({"-i", "-o", "-e", "--input", "--output", "--error"}),
    "setsid": frozenset(),
    # `! { …; }` reaches us as a command named `{`.
    "{": frozenset(),
}

_HANDLERS: Final[Mapping[str, Callable[[tuple[str, ...]], tuple[Inner, ...]]]] = {
    "env": _env,
    "command": _command_builtin,
    "timeout": _timeout,
    "coproc": _coproc,
    "xargs": _xargs,
    "find": _find,
    "npx": _package_runner,
    "bunx": _package_runner,
    "uvx": _package_runner,
    "mise": _mise,
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "ksh"), _shell),
    "eval": _eval,
    "trap": _trap,
}
