"""What is known about shell text while it is read."""

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from attrs import define, field, frozen

from grove_tickets.shell.words import UNKNOWN
from grove_tickets.shell.wrappers import program_of


@frozen(kw_only=True)
class Command:
    """A simple command that would run.

    Attributes:
        words: The program and its arguments; ``UNKNOWN`` stands for what is not known yet.
        environment: Variables set before it in the same text, as far as they are known.
        directory: Where the text has changed to, relative to its start; empty when it has not.
        stdin: What it reads from standard input, if the text says so.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str]
    directory: str = ""
    stdin: str | None = None

    @property
    def program(self) -> str:
        """The program's name without its directory."""
        return program_of(self.words[0])


@define
class Scope:
    """What the shell knows at one point of the text.

    Attributes:
        variables: Variables whose values are known.
        directory: As in ``Command``.
    """

    variables: dict[str, str] = field(factory=dict)
    directory: str = ""

    def copy(self) -> "Scope":
        """Give what a subshell starts with."""
        return Scope(dict(self.variables), self.directory)

    def forget(self, names: Iterable[str]) -> None:
        """Forget the values of variables."""
        for name in names:
            self.variables.pop(name, None)

    def enter(self, directory: str) -> None:
        """Change to a directory."""
        self.directory = str(PurePosixPath(self.directory) / directory)

    def change_directory(self, words: tuple[str, ...]) -> None:
        """Follow ``cd``, ``pushd`` or ``popd``."""
        targets = [word for word in words[1:] if word not in {"-P", "-L", "-e", "--"}]
        target = targets[0] if targets else "~"
        is_path = words[0] != "popd" and target != "-" and not target.startswith("+")
        self.enter(target if is_path else UNKNOWN)


@frozen
class Given:
    """What a statement hands to its last command.

    Attributes:
        stdin: Text on standard input, if known.
        words: Arguments that stand behind a redirection.
    """

    stdin: str | None = None
    words: tuple[str, ...] = ()


def printed(words: tuple[str, ...], stdin: str | None) -> str | None:
    """Give what ``cat``, ``echo`` and ``printf`` print, where that is plain."""
    match words:
        case ("cat",) | ("cat", "-"):
            return stdin
        case ("echo", "-e" | "-n" | "-ne" | "-en" as flags, *rest):
            text = " ".join(rest) + "\n"
            return text.replace("\\n", "\n") if "e" in flags else text
        case ("echo", *rest):
            return " ".join(rest) + "\n"
        case ("printf", layout, *rest):
            layout = layout.replace("\\n", "\n")
            return "".join(layout.replace("%s", word) for word in rest) if rest else layout
        case _:
            return None
