"""Programs that run another command: ``sudo``, ``env``, ``xargs``, ``bash -c`` and their like."""

import re
from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Final

from attrs import field, frozen

from grove_tickets.arguments import UNKNOWN, is_known, parse

_ASSIGNMENT: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_STANDARD_INPUT: Final = frozenset({"/dev/stdin", "/dev/fd/0"})
_EXIT_SIGNALS: Final = frozenset({"EXIT", "0", "SIGEXIT"})


@frozen(kw_only=True)
class Inner:
    """A command that a wrapper runs: words, or a script for a shell."""

    words: tuple[str, ...] = ()
    script: str | None = None
    reads_script: bool = False
    same_shell: bool = False
    ends_shell: bool = False
    arguments: tuple[str, ...] | None = ()
    environment: Mapping[str, str] = field(factory=dict)


@frozen(kw_only=True)
class _Prefix:
    """Where the arguments of a program end and the command begins that it runs."""

    valued: str = ""
    skipped: int = 0
    behind: str = ""
    scripts: str = ""
    is_package: bool = False
    asks: str = ""


def program_of(word: str) -> str:
    """Return a program's name without its directory."""
    return word.rsplit("/", 1)[-1]


def unwrap(words: tuple[str, ...]) -> tuple[Inner, ...] | None:
    """Take a wrapping program off a command."""
    name = program_of(words[0])
    handler = _HANDLERS.get(name)
    if handler is not None:
        return handler(words[1:])
    found = _find_prefix(name, words[1:])
    return None if found is None else _prefixed(*found)


def _find_prefix(name: str, words: tuple[str, ...]) -> tuple[_Prefix, tuple[str, ...]] | None:
    """Look a program up in the table."""
    valued = _GLOBAL_FLAGS.get(name)
    if valued is not None:
        positionals = parse(words, valued.split(), interspersed=False).positionals
        for count in (2, 1):
            prefix = _PREFIXES.get(" ".join((name, *positionals[:count])))
            if prefix is not None and len(positionals) >= count:
                return prefix, positionals[count:]
    prefix = _PREFIXES.get(name)
    return None if prefix is None else (prefix, words)


def _prefixed(prefix: _Prefix, words: tuple[str, ...]) -> tuple[Inner, ...] | None:
    """Take off a wrapper that the table of them describes."""
    arguments = parse(words, prefix.valued.split(), interspersed=False)
    flags = prefix.scripts.split()
    script = arguments.value(*flags)
    rest = arguments.positionals[prefix.skipped :]
    if arguments.has(*prefix.asks.split()):
        return None
    if script is None and len(rest) > 1 and rest[0] in flags:
        script = rest[1]
    if script is not None:
        return (Inner(script=script),)
    if prefix.behind:
        marks = [place for place, word in enumerate(words) if word in prefix.behind.split()]
        rest = words[marks[0] + 1 :] if marks else ()
    if prefix.is_package and rest:
        after = rest[2:] if rest[1:2] == ("--",) else rest[1:]
        rest = (program_of(rest[0]).split("@")[0], *after)
    environment = {}
    while rest and (match := _ASSIGNMENT.fullmatch(rest[0])):
        environment[match[1]] = match[2]
        rest = rest[1:]
    return (Inner(words=rest, environment=environment),) if rest else ()


def _exec(words: tuple[str, ...]) -> tuple[Inner, ...]:
    rest = parse(words, {"-a"}, interspersed=False).positionals
    return (Inner(words=rest, ends_shell=True),) if rest else ()


def _xargs(words: tuple[str, ...]) -> tuple[Inner, ...]:
    return _program(_filled(words, _XARGS_VALUED))


def _parallel(words: tuple[str, ...]) -> tuple[Inner, ...]:
    end = words.index(":::") if ":::" in words else len(words)
    return (Inner(script=" ".join(_filled(words[:end], _PARALLEL_VALUED))),)


def _filled(words: tuple[str, ...], valued: str) -> tuple[str, ...]:
    """Return a command into which something unknown is put, at its end if it does not say where."""
    arguments = parse(words, valued.split(), interspersed=False)
    place = arguments.value("-I", "--replace", "-i") or "{}"
    filled = tuple(word.replace(place, UNKNOWN) for word in arguments.positionals)
    return filled if filled != arguments.positionals or not filled else (*filled, UNKNOWN)


def _program(words: tuple[str, ...]) -> tuple[Inner, ...]:
    return (Inner(words=words),) if words else ()


def _find(words: tuple[str, ...]) -> tuple[Inner, ...]:
    found: list[Inner] = []
    for place, word in enumerate(words, start=1):
        if word in {"-exec", "-execdir", "-ok", "-okdir"}:
            command = takewhile(lambda one: one not in {";", "+"}, words[place:])
            found += _program(tuple(one.replace("{}", UNKNOWN) for one in command))
    return tuple(found)


def _shell(words: tuple[str, ...]) -> tuple[Inner, ...]:
    options = tuple(word for word in words if not word.startswith("+"))
    arguments = parse(options, {"-o", "-O", "--rcfile", "--init-file"}, interspersed=False)
    rest = arguments.positionals
    if arguments.has("-n"):
        return ()
    if arguments.has("-c"):
        # A name that is unknown may stand for any number of words.
        values = None if UNKNOWN in rest[1:2] else rest[2:]
        return (Inner(script=rest[0], arguments=values),) if rest else ()
    if not rest or arguments.has("-s") or rest[0] in {"-", *_STANDARD_INPUT}:
        return (Inner(reads_script=True, arguments=rest if arguments.has("-s") else rest[1:]),)
    # It runs a file, whose text is not here: the file counts as the program.
    return _program(rest) if is_known(rest[0]) else ()


def _eval(words: tuple[str, ...]) -> tuple[Inner, ...]:
    return (Inner(script=" ".join(words[words[:1] == ("--",) :]), same_shell=True),)


def _source(words: tuple[str, ...]) -> tuple[Inner, ...]:
    if not words or words[0] in _STANDARD_INPUT or not is_known(words[0]):
        return (Inner(reads_script=True, same_shell=True),)
    return (Inner(words=words, same_shell=True),)


def _trap(words: tuple[str, ...]) -> tuple[Inner, ...]:
    """Take what runs when the shell ends, with whatever variables it has then."""
    runs = not _EXIT_SIGNALS.isdisjoint(words[1:]) and words[0] != "-"
    return (Inner(script=words[0]),) if runs else ()


_XARGS_VALUED: Final = (
    "-I -n -P -L -s -d -E -a --max-args --max-procs --max-lines --max-chars --delimiter"
    " --arg-file --process-slot-var"
)
_PARALLEL_VALUED: Final = "-j --jobs -n -N -a --arg-file --delay --timeout --retries --joblog"
_HANDLERS: Final[Mapping[str, Callable[[tuple[str, ...]], tuple[Inner, ...]]]] = {
    "exec": _exec,
    "eval": _eval,
    "trap": _trap,
    **dict.fromkeys((".", "source"), _source),
    "xargs": _xargs,
    "parallel": _parallel,
    "find": _find,
    **dict.fromkeys(("bash", "sh", "zsh", "dash", "ksh", "ash"), _shell),
}

_PLAIN: Final = _Prefix()
_NPX: Final = _Prefix(
    valued="-p --package -c --call -w --workspace", scripts="-c --call", is_package=True
)
_UVX: Final = _Prefix(
    valued="--from --with --python -p --index --directory --project --env-file", is_package=True
)
_BEHIND_DASHES: Final = _Prefix(behind="--")
_NIX: Final = _Prefix(behind="-c --command")

_GLOBAL_FLAGS: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("npm", "pnpm", "yarn", "bun"), "-C --dir --prefix --cwd -w --workspace --filter"
    ),
    "uv": "--directory --project --config-file --cache-dir",
    "hatch": "-e --env -p --project",
    "poetry": "-C --directory -P --project",
    **dict.fromkeys(("pdm", "pipenv", "rye", "pipx", "bundle", "asdf", "direnv", "devbox"), ""),
    **dict.fromkeys(("mise", "nix", "conda", "doppler", "op", "dotenvx", "rtk"), "-C --cd"),
}
"""Programs whose command follows a subcommand, with the valued flags before that."""

_PREFIXES: Final[Mapping[str, _Prefix]] = {
    "sudo": _Prefix(
        valued="-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --role"
        " --type",
    ),
    "doas": _Prefix(valued="-u -C"),
    "env": _Prefix(valued="-u --unset -C --chdir"),
    **dict.fromkeys(("command", "builtin"), _Prefix(asks="-v -V")),
    "coproc": _PLAIN,
    "nohup": _PLAIN,
    "setsid": _PLAIN,
    "busybox": _PLAIN,
    "time": _Prefix(valued="-f -o --format --output"),
    **dict.fromkeys(
        ("timeout", "gtimeout"), _Prefix(valued="-s -k --signal --kill-after", skipped=1)
    ),
    "nice": _Prefix(valued="-n --adjustment"),
    "stdbuf": _Prefix(valued="-i -o -e --input --output --error"),
    "flock": _Prefix(valued="-w -E --timeout", skipped=1, scripts="-c --command"),
    "script": _Prefix(
        valued="-c --command -E -I -O -B -T -m -o", skipped=1, scripts="-c --command"
    ),
    "nix develop": _NIX,
    "nix shell": _NIX,
    **dict.fromkeys(("npx", "bunx", "pnpx", "npm exec", "npm x", "bun x"), _NPX),
    **dict.fromkeys(("pnpm dlx", "yarn dlx"), _NPX),
    **dict.fromkeys(("pnpm", "pnpm exec", "yarn", "yarn exec", "yarn run", "bun run"), _PLAIN),
    **dict.fromkeys(("uvx", "uv tool run", "pipx run"), _UVX),
    "uv run": _Prefix(
        valued="--with --with-editable --with-requirements --python -p --project --directory"
        " --package --extra --group --only-group --env-file --index -m --module"
    ),
    **dict.fromkeys(
        ("poetry run", "pdm run", "pipenv run", "hatch run", "rye run", "bundle exec"), _PLAIN
    ),
    "conda run": _Prefix(valued="-n --name -p --prefix --cwd"),
    "asdf exec": _PLAIN,
    "direnv exec": _Prefix(skipped=1),
    "devbox run": _PLAIN,
    **dict.fromkeys(
        ("mise exec", "mise x"),
        _Prefix(valued="-c --command -j -C --cd", scripts="-c --command", behind="--"),
    ),
    **dict.fromkeys(("doppler run", "op run", "dotenvx run", "dotenv"), _BEHIND_DASHES),
    **dict.fromkeys(("rtk", "rtk proxy", "rtk err", "rtk test", "rtk summary"), _PLAIN),
}
