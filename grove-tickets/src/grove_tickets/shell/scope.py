"""What a shell knows at one point of a text."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final

from attrs import define, evolve, field

from grove_tickets.arguments import UNKNOWN, is_known
from grove_tickets.shell.syntax import Node

_MAX_VALUE: Final = 65_536
_MAX_PATH: Final = 1024
_MAX_BODIES: Final = 4


@define(eq=False)
class Scope:
    """What a shell knows at one point of the text.

    The status is that of the last command: success, failure, or ``None`` where nobody knows it.
    """

    variables: dict[str, str] = field(factory=dict)
    functions: dict[str, tuple[Node, ...]] = field(factory=dict)
    positionals: tuple[str, ...] | None = None
    directory: str = ""
    status: bool | None = True
    endings: frozenset[str] = frozenset({"exit"})
    ended_by: str = ""
    changed: set[str] = field(factory=set)

    def copy(self) -> "Scope":
        """Return what commands start with that may run or not, or in a subshell."""
        return evolve(
            self, variables=dict(self.variables), functions=dict(self.functions), changed=set()
        )

    def program(self, arguments: tuple[str, ...] | None) -> "Scope":
        """Return what a shell starts with that is started as a program.

        Which variables and functions are exported is not followed: it may have any of them.
        """
        shell = self.copy()
        shell.forget(self.variables)
        shell.positionals = arguments
        shell.endings = frozenset({"exit"})
        return shell

    def environment(self, more: Mapping[str, str]) -> Mapping[str, str]:
        """Return the variables whose values are known, and further ones."""
        values = {**self.variables, **more}
        return MappingProxyType({name: value for name, value in values.items() if is_known(value)})

    def assign(self, name: str, value: str) -> None:
        """Set a variable."""
        self.variables[name] = UNKNOWN if len(value) > _MAX_VALUE else value
        self.changed.add(name)

    def forget(self, names: Iterable[str]) -> None:
        """Note that the values of variables are not known any more."""
        for name in tuple(names):
            self.assign(name, UNKNOWN)

    def enter(self, directory: str) -> None:
        """Change to a directory."""
        path = str(PurePosixPath(directory))
        if path.startswith("/") or not self.directory:
            self.directory = path
        elif path != ".":
            self.directory = f"{self.directory}/{path}"
        if len(self.directory) > _MAX_PATH:
            self.directory = UNKNOWN

    def meet(self, end: "Scope") -> None:
        """Go on behind commands that may have run, or only in part, or several times."""
        for name, bodies in end.functions.items():
            own = self.functions.get(name, ())
            more = [body for body in bodies if body not in own]
            self.functions[name] = (*own, *more)[:_MAX_BODIES]
        if end.ended_by != "exit":
            self.forget(end.changed)
            if self.positionals != end.positionals:
                self.positionals = None
            if self.directory != end.directory:
                self.directory = UNKNOWN
