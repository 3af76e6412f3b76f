"""What a shell knows at one point of a text."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import Final

from attrs import define, evolve, field

from grove_tickets.arguments import UNKNOWN, is_known
from grove_tickets.shell.syntax import Node

_PROGRAM: Final = frozenset({"exit"})


@define(eq=False)
class Scope:
    """What a shell knows at one point of the text.

    The status is that of the last command: success, failure, or ``None`` where no one knows it.
    """

    variables: dict[str, str] = field(factory=dict)
    functions: dict[str, tuple[Node, ...]] = field(factory=dict)
    positionals: tuple[str, ...] | None = None
    directory: str = ""
    stdin: str | None = None
    status: bool | None = True
    endings: frozenset[str] = _PROGRAM
    ended_by: str = ""
    changed: set[str] = field(factory=set)

    def copy(self) -> "Scope":
        """Return what commands start with that may run or not, or in a shell of their own."""
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
        shell.endings = _PROGRAM
        return shell

    def environment(self, more: Mapping[str, str]) -> Mapping[str, str]:
        """Return the variables whose values are known, and further ones."""
        values = {**self.variables, **more}
        return MappingProxyType({name: value for name, value in values.items() if is_known(value)})

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
        path = str(PurePosixPath(directory))
        if path.startswith("/") or not self.directory:
            self.directory = path
        elif path != ".":
            self.directory = f"{self.directory}/{path}"

    def meet(self, end: "Scope") -> None:
        """Go on behind commands that may have run, or only in part, or several times."""
        for name, bodies in end.functions.items():
            own = self.functions.get(name, ())
            self.functions[name] = (*own, *(body for body in bodies if body not in own))
        if end.ended_by != "exit":
            self.forget(end.changed)
            if self.positionals != end.positionals:
                self.positionals = None
            if self.directory != end.directory:
                self.directory = UNKNOWN
        self.status = None
