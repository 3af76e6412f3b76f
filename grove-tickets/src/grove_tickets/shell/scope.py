"""What a shell knows at one point of a text, and the commands that are found with it."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from attrs import define, evolve, field, frozen

from grove_tickets.shell.words import UNKNOWN, is_known

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_VALUE: Final = 65_536
_MAX_PATH: Final = 1024
_MAX_BODIES: Final = 4


@frozen(kw_only=True)
class Command:
    """A simple command that would run."""

    words: tuple[str, ...]
    environment: Mapping[str, str]
    directory: str = ""
    stdin: str | None = None

    @property
    def program(self) -> str:
        """The program's name without its directory."""
        return program_of(self.words[0])


def program_of(word: str) -> str:
    """Return a program's name without its directory."""
    return word.rsplit("/", 1)[-1]


@frozen
class Outcome:
    """What a command prints, and whether it succeeds, where the text tells it."""

    output: str | None = None
    status: bool | None = None


SILENT: Final = Outcome("")
DONE: Final = Outcome("", status=True)
FAILED: Final = Outcome("", status=False)
UNCERTAIN: Final = Outcome()


@define(eq=False)
class Scope:
    """What a shell knows at one point of the text."""

    variables: dict[str, str] = field(factory=dict)
    exported: set[str] = field(factory=set)
    functions: "dict[str, tuple[Node, ...]]" = field(factory=dict)
    positionals: tuple[str, ...] | None = None
    directory: str = ""
    exit_trap: str = ""
    stopped: str = ""
    """The builtin that ended this: ``exit``, ``return``, ``break`` or ``continue``."""

    levels: int = 0
    loops: int = 0
    locals: dict[str, str | None] | None = None
    changed: set[str] = field(factory=set)
    """The variables that were set; of a loop or function, ``""`` if a part of it may be left."""

    def copy(self) -> "Scope":
        """Return what a branch starts with."""
        variables, functions = dict(self.variables), dict(self.functions)
        return evolve(self, variables=variables, functions=functions, exported=set(self.exported))

    def subshell(self) -> "Scope":
        """Return what a subshell starts with."""
        return evolve(self.copy(), exit_trap="", loops=0, changed=set())

    def program(self, environment: Mapping[str, str]) -> "Scope":
        """Return what a shell that is started as a program starts with."""
        variables = {
            name: value if name in self.exported else UNKNOWN
            for name, value in self.variables.items()
        }
        functions = {
            name: bodies for name, bodies in self.functions.items() if f"{name}()" in self.exported
        }
        return Scope(
            {**variables, **environment},
            {*self.exported, *environment},
            functions,
            directory=self.directory,
        )

    def environment(self, more: Mapping[str, str]) -> Mapping[str, str]:
        """Return the variables whose values are known, and further ones."""
        values = {**self.variables, **more}
        return MappingProxyType({name: value for name, value in values.items() if is_known(value)})

    def assign(self, name: str, value: str) -> None:
        """Set a variable."""
        self.changed.add(name)
        self.variables[name] = UNKNOWN if len(value) > _MAX_VALUE else value

    def forget(self, names: Iterable[str]) -> None:
        """Note that the values of variables are not known any more."""
        for name in filter(None, names):
            self.assign(name, UNKNOWN)

    def restore(self, values: Mapping[str, str | None]) -> None:
        """Return variables the values that they had, if any."""
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

    def become(self, ends: "list[Scope]") -> None:
        """Go on from where several ways may have led, with what they all agree on."""
        going = [end for end in ends if not end.stopped]
        if len(going) < len(ends):
            self.changed.add("")
        first, *others = going or ends[:1]
        functions = self.functions
        for name in _STATE:
            setattr(self, name, getattr(first, name))
        for other in others:
            self._agree(other)
        if len(ends) > 1:
            for end in ends:
                for name, bodies in end.functions.items():
                    all_of_them = dict.fromkeys(
                        (*self.functions.get(name, functions.get(name, ())), *bodies)
                    )
                    self.functions[name] = tuple(all_of_them)[:_MAX_BODIES]

    def _agree(self, other: "Scope") -> None:
        names = self.variables.keys() | other.variables.keys()
        differ = [one for one in names if self.variables.get(one) != other.variables.get(one)]
        self.variables |= dict.fromkeys(differ, UNKNOWN)
        self.exported |= other.exported
        self.exit_trap = other.exit_trap or self.exit_trap
        if self.positionals != other.positionals:
            self.positionals = None
        if self.directory != other.directory:
            self.directory = UNKNOWN


_STATE: Final = (
    "variables", "exported", "functions", "positionals", "directory", "exit_trap", "stopped",
    "levels",
)  # fmt: skip
