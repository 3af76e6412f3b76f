"""The commands that shell text is read for."""

from collections.abc import Mapping

from attrs import frozen

from grove_tickets.shell.wrappers import program_of


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
