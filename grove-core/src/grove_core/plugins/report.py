"""The plugins that were found, what became of each, and what went wrong."""

from collections.abc import Mapping
from enum import Enum
from typing import Final

import pluggy
from attrs import define, field

from grove_core.errors import PluginError
from grove_core.model.value import Value, frozen
from grove_core.text import clean_line

_DETAIL_LENGTH: Final = 300


class PluginState(Enum):
    """What became of a plugin that was found."""

    ACTIVE = "active"
    BLOCKED = "blocked"
    FAILED = "failed"
    REFUSED = "refused"
    SHADOWED = "shadowed"
    NOT_LOADED = "not loaded"


@define(eq=False)
class Plugin:
    """An installed entry point of one of grove's groups, and what became of it."""

    group: str
    name: str
    target: str
    distribution: str
    version: str
    first_party: bool = False
    state: PluginState = PluginState.NOT_LOADED
    detail: str = ""
    implementations: Mapping[str, tuple[pluggy.HookImpl, ...]] = field(factory=dict, repr=False)
    instance: object = field(default=None, repr=False)
    milliseconds: float | None = None

    @property
    def row(self) -> tuple[str, str, str, str, str, bool]:
        """What was found, to be kept in a file."""
        return (
            *(self.group, self.name, self.target, self.distribution, self.version),
            self.first_party,
        )

    @property
    def entry_point(self) -> str:
        """Its group and name."""
        return ":".join(filter(None, [self.group, self.name]))

    @property
    def hooks(self) -> tuple[str, ...]:
        """The hooks that it implements."""
        return tuple(self.implementations)

    def __str__(self) -> str:
        return " ".join(filter(None, [self.distribution, self.version, f"({self.entry_point})"]))


@frozen(kw_only=True, eq=False, repr=False)
class PluginProblem(Value):
    """Something that a plugin did wrong."""

    source: Plugin
    what: str
    detail: str

    def __str__(self) -> str:
        return f"{self.source}: {self.what}: {self.detail}"


def describe_error(error: Exception | str) -> str:
    """Say in a line what an exception says; its class may be a plugin's own."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - the exception's __str__ is the plugin's code
        message = "(its message cannot be read)"
    if not isinstance(error, str | PluginError):
        message = f"{type(error).__name__}: {message}"
    return clean_line(message, _DETAIL_LENGTH)
