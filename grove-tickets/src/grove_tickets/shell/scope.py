"""What a shell knows at one point of a text, and what its own commands change in that."""

import posixpath
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from attrs import define, evolve, field

from grove_tickets.arguments import UNKNOWN, is_known
from grove_tickets.shell.syntax import Node

DECLARATIONS: Final = frozenset({"export", "declare", "typeset", "local", "readonly"})
CONSTANT_STATUS: Final = {":": True, "true": True, "false": False, "break": True, "continue": True}
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@define(eq=False)
class Scope:
    """What a shell knows at one point of the text."""

    variables: dict[str, str] = field(factory=dict)
    functions: dict[str, Node] = field(factory=dict)
    positionals: tuple[str, ...] | None = None
    directory: str = ""
    stdin: str | None = None
    status: bool | None = True  # of the last command: success, failure, unknown
    endings: frozenset[str] = frozenset({"exit"})
    ended_by: str = ""
    calls: int = 0
    changed: set[str] = field(factory=set)

    def copy(self) -> "Scope":
        """Return what commands start with that may run or not, or in a shell of their own."""
        return evolve(
            self, variables=dict(self.variables), functions=dict(self.functions), changed=set()
        )

    def assign(self, name: str, value: str) -> None:
        """Set a variable."""
        self.variables[name] = value
        self.changed.add(name)

    def forget(self, names: Iterable[str]) -> None:
        """Note that the values of variables are not known any more."""
        for name in tuple(names):
            self.assign(name, UNKNOWN)

    def enter(self, directory: str) -> None:
        """Change to a directory."""
        self.directory = posixpath.join(self.directory, directory.rstrip("/") or "/")

    def meet(self, end: "Scope") -> None:
        """Go on behind commands that may have run, or only in part, or several times."""
        self.functions |= end.functions
        if end.ended_by != "exit":
            self.forget(end.changed)
            if self.positionals != end.positionals:
                self.positionals = None
            if self.directory != end.directory:
                self.directory = UNKNOWN
        self.status = None


def declare(how: str, words: Sequence[str], scope: Scope) -> None:
    """Note what ``export``, ``declare`` and ``local`` say of variables."""
    for word in words:
        name, equals, value = word.partition("=")
        if equals:
            scope.assign(name, value)
        elif how not in {"export", "readonly"}:
            _forget((word,), scope)


def _cd(words: tuple[str, ...], scope: Scope) -> None:
    target = next((word for word in words if word not in {"-P", "-L", "-e", "--"}), "~")
    scope.enter(UNKNOWN if target == "-" or target.startswith("+") else target)


def _forget(words: tuple[str, ...], scope: Scope) -> None:
    scope.forget(match[0] for word in words if (match := _NAME.match(word)))


def _set(words: tuple[str, ...], scope: Scope) -> None:
    if not words or words[-1][:1] not in {"-", "+"}:
        scope.positionals = None


def _shift(words: tuple[str, ...], scope: Scope) -> None:
    values = scope.positionals or (UNKNOWN,)
    scope.positionals = values[1:] if is_known(values[0]) and not words else None


BUILTINS: Final[Mapping[str, Callable[[tuple[str, ...], Scope], None]]] = {
    **dict.fromkeys(("cd", "pushd"), _cd),
    "popd": lambda _words, scope: scope.enter(UNKNOWN),
    **dict.fromkeys(("read", "getopts", "let", "mapfile", "readarray", "unset"), _forget),
    "set": _set,
    "shift": _shift,
    **dict.fromkeys((*CONSTANT_STATUS, "exit", "return"), lambda *_: None),
}
