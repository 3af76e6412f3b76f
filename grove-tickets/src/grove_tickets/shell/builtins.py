"""What the shell's own commands change in what is known."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from grove_tickets.shell.output import DONE, FAILED, SILENT, UNCERTAIN, Outcome
from grove_tickets.shell.scope import Scope
from grove_tickets.shell.words import UNKNOWN, is_known

DECLARATIONS: Final = frozenset({"export", "declare", "typeset", "local", "readonly"})
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STANDARD_INPUT: Final = frozenset({"/dev/stdin", "/dev/fd/0"})
_CHANGING: Final = frozenset("Ailnu")
"""Flags of ``declare`` that make of a value something else than its text, or leave it unset."""


def run_builtin(words: tuple[str, ...], scope: Scope) -> Outcome | None:
    """Run a command of the shell itself."""
    builtin = _BUILTINS.get(words[0])
    return None if builtin is None else builtin(words[1:], scope)


def declare(words: tuple[str, ...], names: Sequence[str], scope: Scope) -> None:
    """Note what ``export``, ``declare`` and ``local`` say of variables besides their values."""
    flags = "".join(word[1:] for word in words[1:] if word.startswith("-"))
    plain = [word for word in words[1:] if not word.startswith(("-", "+"))]
    if "p" in flags or ("f" in flags and words[0] != "export"):
        return
    if "f" in flags:
        scope.exported |= {f"{name}()" for name in plain}
        return
    for word in plain:
        name, equals, value = word.partition("=")
        if equals:
            scope.assign(name, value)
        elif words[0] == "local" and _NAME.fullmatch(name):
            scope.assign(name, "")
    if not _CHANGING.isdisjoint(flags):
        scope.forget(names)
    if words[0] == "export" or "x" in flags:
        scope.exported |= {word.partition("=")[0] for word in plain} | set(names)


def hide(names: Sequence[str], scope: Scope) -> None:
    """Make variables local to the function that is running."""
    if scope.locals is not None:
        for name in names:
            scope.locals.setdefault(name, scope.variables.get(name))


def _cd(words: tuple[str, ...], scope: Scope) -> Outcome:
    targets = [word for word in words if word not in {"-P", "-L", "-e", "--"}]
    target = targets[0] if targets else "~"
    scope.enter(UNKNOWN if target == "-" or target.startswith("+") else target)
    return SILENT


def _popd(_words: tuple[str, ...], scope: Scope) -> Outcome:
    scope.enter(UNKNOWN)
    return UNCERTAIN


def _unset(words: tuple[str, ...], scope: Scope) -> Outcome:
    for name in words:
        if "-f" not in words:
            is_variable = name in scope.variables
            scope.variables.pop(name, None)
            if is_variable or "-v" in words:
                continue
        scope.functions.pop(name, None)
    return SILENT


def _set(words: tuple[str, ...], scope: Scope) -> Outcome:
    rest = list(words)
    while rest and rest[0][:1] in {"-", "+"} and rest[0] not in {"--", "-"}:
        flag = rest.pop(0)
        takes_value = flag.endswith("o") and rest
        value = rest.pop(0) if takes_value else ""
        if flag[0] == "-" and ("n" in flag[1:].replace("o", "") or value == "noexec"):
            scope.exit_trap = ""
            scope.stop("exit")
    if rest and rest[0] in {"--", "-"}:
        scope.positionals = tuple(rest[1:])
    elif rest:
        scope.positionals = tuple(rest)
    return SILENT


def _shift(words: tuple[str, ...], scope: Scope) -> Outcome:
    count = int(words[0]) if words and words[0].isdecimal() else 1
    values = scope.positionals
    if values is not None and count <= len(values):
        gone = values[:count]
        scope.positionals = values[count:] if all(map(is_known, gone)) else None
    return SILENT


def _read(words: tuple[str, ...], scope: Scope) -> Outcome:
    names = [match[0] for word in words if (match := _NAME.match(word))]
    scope.forget(names or ["REPLY"])
    return SILENT


def _exit(how: str) -> Callable[[tuple[str, ...], Scope], Outcome]:
    def leave(words: tuple[str, ...], scope: Scope) -> Outcome:
        if how == "exit" or scope.locals is not None:
            scope.stop(how)
            return Outcome("", (words[0] == "0") if words and words[0].isdecimal() else None)
        return SILENT

    return leave


def _leave_loop(how: str) -> Callable[[tuple[str, ...], Scope], Outcome]:
    def leave(words: tuple[str, ...], scope: Scope) -> Outcome:
        levels = int(words[0]) if words and words[0].isdecimal() else 1
        if scope.loops:
            scope.stop(how, min(levels, scope.loops))
        return DONE

    return leave


def _trap(words: tuple[str, ...], scope: Scope) -> Outcome:
    action, *signals = [word for word in words if word != "--"] or [""]
    if not {"EXIT", "0", "SIGEXIT"}.isdisjoint(signals) and action not in {"-p", "-l"}:
        scope.exit_trap = "" if action == "-" else action
    return SILENT


def _source(words: tuple[str, ...], scope: Scope) -> Outcome | None:
    if words and words[0] in _STANDARD_INPUT:
        return None
    scope.forget(list(scope.variables))
    return None if words and is_known(words[0]) else UNCERTAIN  # the file counts as a program


def _mapfile(words: tuple[str, ...], scope: Scope) -> Outcome:
    return _read(words or ("MAPFILE",), scope)


_BUILTINS: Final[Mapping[str, Callable[[tuple[str, ...], Scope], Outcome | None]]] = {
    ":": lambda _words, _scope: DONE,
    "true": lambda _words, _scope: DONE,
    "false": lambda _words, _scope: FAILED,
    **dict.fromkeys(("cd", "pushd"), _cd),
    "popd": _popd,
    "unset": _unset,
    "set": _set,
    "shift": _shift,
    **dict.fromkeys(("read", "getopts", "let"), _read),
    **dict.fromkeys(("mapfile", "readarray"), _mapfile),
    **{how: _exit(how) for how in ("exit", "return")},
    **{how: _leave_loop(how) for how in ("break", "continue")},
    "trap": _trap,
    **dict.fromkeys((".", "source"), _source),
}
