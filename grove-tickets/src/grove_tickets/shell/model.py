"""The commands that shell text is read for."""

from collections.abc import Mapping

from attrs import frozen

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
