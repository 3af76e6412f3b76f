"""What the shell's own commands change in what is known, and what commands print."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import dropwhile, takewhile
from typing import Final

from grove_tickets.arguments import UNKNOWN, is_known
from grove_tickets.shell.expansion import unescaped
from grove_tickets.shell.scope import Scope

DECLARATIONS: Final = frozenset({"export", "declare", "typeset", "local", "readonly"})
CONSTANT_STATUS: Final = {":": True, "true": True, "false": False, "break": True, "continue": True}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ECHO_FLAGS: Final = re.compile(r"-[neE]+")


def declare(how: str, words: Sequence[str], scope: Scope) -> None:
    """Note what ``export``, ``declare`` and ``local`` say of variables."""
    flags = {word for word in words if word.startswith("-")}
    for word in words:
        name, equals, value = word.partition("=")
        # Other flags make numbers or lists of values.
        if equals and flags <= {"-x", "-r", "-g"}:
            scope.assign(name, value)
        elif equals or how not in {"export", "readonly"}:
            _forget((word,), scope)


def _cd(words: tuple[str, ...], scope: Scope) -> None:
    targets = [word for word in words if word not in {"-P", "-L", "-e", "--"}]
    target = targets[0] if targets else "~"
    scope.enter(UNKNOWN if target == "-" or target.startswith("+") else target)


def _forget(words: tuple[str, ...], scope: Scope) -> None:
    scope.forget(match[0] for word in words if (match := _NAME.match(word)))


def _set(words: tuple[str, ...], scope: Scope) -> None:
    if words[:1] == ("--",):
        scope.positionals = words[1:]
    elif not words or words[-1][:1] not in {"-", "+"}:
        scope.positionals = None


def _shift(words: tuple[str, ...], scope: Scope) -> None:
    values = scope.positionals
    is_plain = not words and values and is_known(values[0])
    scope.positionals = values[1:] if is_plain and values else None


BUILTINS: Final[Mapping[str, Callable[[tuple[str, ...], Scope], None]]] = {
    **dict.fromkeys(("cd", "pushd"), _cd),
    "popd": lambda _words, scope: scope.enter(UNKNOWN),
    **dict.fromkeys(("read", "getopts", "let", "mapfile", "readarray", "unset"), _forget),
    "set": _set,
    "shift": _shift,
    **dict.fromkeys((*CONSTANT_STATUS, "exit", "return"), lambda *_: None),
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
    """Return what ``printf`` prints: the layout as often as there are words for it."""
    wanted = layout.count("%s")
    is_plain = "%" not in layout.replace("%s", "") and layout[:1] != "-"
    # An unknown word may be several, and then no one knows how often the layout is used.
    if not is_plain or not all(map(is_known, (layout, *words))):
        return None
    if not wanted:
        return layout
    words += [""] * (-len(words) % wanted if words else wanted)
    rows = zip(*[iter(words)] * wanted, strict=True)
    return "".join(layout % row for row in rows)
