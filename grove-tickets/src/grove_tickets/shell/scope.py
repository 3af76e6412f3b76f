"""What a shell knows at one point of a text."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from attrs import define, field, frozen

from grove_tickets.shell.syntax import Unit
from grove_tickets.shell.words import UNKNOWN, is_known

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_VALUE: Final = 65_536
"""Values longer than this many characters are not kept."""

_MAX_PATH: Final = 1024
_MAX_BODIES: Final = 4
_ENDS_SHELL: Final = frozenset({"exit", "return"})


@frozen(eq=False)
class Function:
    """A function: its body, and the unit that this is part of."""

    unit: Unit
    body: "Node"


@define(eq=False)
class Scope:
    """What a shell knows at one point of the text."""

    variables: dict[str, str] = field(factory=dict)
    exported: set[str] = field(factory=set)
    functions: dict[str, tuple[Function, ...]] = field(factory=dict)
    positionals: tuple[str, ...] | None = None
    directory: str = ""
    stopped: str = ""
    levels: int = 0
    loops: int = 0
    locals: dict[str, str | None] | None = None
    departed: "list[Scope]" = field(factory=list)
    exit_trap: str = ""

    def copy(self) -> "Scope":
        """Return what a branch starts with; stops in it count as stops here."""
        return Scope(
            dict(self.variables),
            set(self.exported),
            dict(self.functions),
            self.positionals,
            self.directory,
            self.stopped,
            self.levels,
            self.loops,
            self.locals,
            self.departed,
            self.exit_trap,
        )

    def subshell(self) -> "Scope":
        """Return what a subshell starts with."""
        shell = self.copy()
        shell.departed, shell.exit_trap, shell.loops = [], "", 0
        return shell

    def program(self, environment: Mapping[str, str]) -> "Scope":
        """Return what a shell that is started as a program starts with."""
        variables: dict[str, str] = {
            name: value if name in self.exported else UNKNOWN
            for name, value in self.variables.items()
        }
        variables |= environment
        functions = {
            name: body for name, body in self.functions.items() if f"{name}()" in self.exported
        }
        exported = self.exported | environment.keys()
        return Scope(variables, exported, functions, directory=self.directory)

    def environment(self, more: Mapping[str, str]) -> Mapping[str, str]:
        """Return the variables whose values are known, and further ones."""
        values = {**self.variables, **more}
        return MappingProxyType({name: value for name, value in values.items() if is_known(value)})

    def assign(self, name: str, value: str) -> None:
        """Set a variable."""
        self.variables[name] = UNKNOWN if len(value) > MAX_VALUE else value

    def forget(self, names: Iterable[str]) -> None:
        """Note that the values of variables are not known any more."""
        for name in names:
            self.variables[name] = UNKNOWN

    def restore(self, values: Mapping[str, str | None]) -> None:
        """Return variables the values back that they had, if any."""
        for name, value in values.items():
            if value is None:
                self.variables.pop(name, None)
            else:
                self.variables[name] = value

    def enter(self, directory: str) -> None:
        """Change to a directory."""
        path = str(PurePosixPath(directory))
        if path.startswith("/") or not self.directory:
            self.directory = path
        elif path != ".":
            self.directory = f"{self.directory}/{path}"
        if len(self.directory) > _MAX_PATH:
            self.directory = UNKNOWN

    def stop(self, how: str, levels: int = 0) -> None:
        """Run nothing more here."""
        self.stopped, self.levels = how, levels

    def departures(self, since: int, how: str) -> "list[Scope]":
        """Take out what was known where commands under a condition stopped."""
        recent = self.departed[since:]
        self.departed[since:] = [scope for scope in recent if scope.stopped != how]
        found = [scope for scope in recent if scope.stopped == how]
        for scope in found:
            scope.stopped = ""
        return found

    def end_round(self, since: int) -> "tuple[list[Scope], list[Scope]]":
        """End a round of a loop."""
        recent = self.departed[since:]
        self.departed[since:] = [scope for scope in recent if scope.stopped in _ENDS_SHELL]
        ends = [self.copy(), *(scope for scope in recent if scope.stopped not in _ENDS_SHELL)]
        going: list[Scope] = []
        leaving: list[Scope] = []
        for end in ends:
            goes_on = end.stopped in {"", "continue"} and end.levels <= 1
            (going if goes_on else leaving).append(end)
            if end.levels > 1:
                end.levels -= 1
            elif end.stopped not in _ENDS_SHELL:
                end.stop("")
        return going, leaving

    def join(self, ends: "list[Scope]") -> None:
        """Go on from where several ways meet, with what all of them agree on."""
        going = [end for end in ends if not end.stopped]
        stopped = [end for end in ends if end.stopped]
        first, *others = going or [stopped.pop()]
        self.departed += [end.copy() for end in stopped]
        self._become(first.copy())
        for other in others:
            self.merge(other)

    def merge(self, other: "Scope") -> bool:
        """Keep only what another scope agrees on, but the functions of both."""
        names = {
            name
            for name in self.variables.keys() | other.variables.keys()
            if self.variables.get(name) != other.variables.get(name)
        }
        less = any(self.variables.get(name) != UNKNOWN for name in names)
        self.forget(names)
        self.exported |= other.exported
        for name, bodies in other.functions.items():
            known = self.functions.get(name, ())
            more = tuple(body for body in bodies if body not in known)
            self.functions[name] = (*known, *more)[:_MAX_BODIES]
        self.exit_trap = other.exit_trap or self.exit_trap
        if self.positionals != other.positionals:
            less = less or self.positionals is not None
            self.positionals = None
        if self.directory != other.directory:
            less = less or self.directory != UNKNOWN
            self.directory = UNKNOWN
        return less

    def _become(self, other: "Scope") -> None:
        for name in _STATE:
            setattr(self, name, getattr(other, name))


_STATE: Final = (
    "variables", "exported", "functions", "positionals", "directory", "stopped", "levels",
    "exit_trap",
)  # fmt: skip
"""What the ways through a condition may differ in."""
