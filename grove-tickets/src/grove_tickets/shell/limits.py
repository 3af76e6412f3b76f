"""How much work one text is worth."""

from typing import Final, Self

MAX_DEPTH: Final = 40  # of syntax, scripts within scripts and calls of functions, in all
MAX_STEPS: Final = 10_000  # tokens that are read or nodes that are walked: some microseconds each


class TooMuchError(Exception):
    """The text is too large or too deep to be read in a hook."""


class ShellSyntaxError(Exception):
    """A shell would refuse the text."""


class Budget:
    """What may be spent on one text; shared by all scripts within it."""

    def __init__(self) -> None:
        self._steps = MAX_STEPS
        self._depth = 0

    def spend(self, steps: int = 1) -> None:
        """Count steps."""
        self._steps -= steps
        if self._steps < 0:
            raise TooMuchError

    def __enter__(self) -> Self:
        """Go one level deeper."""
        self.spend()
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise TooMuchError
        return self

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
