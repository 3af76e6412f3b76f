"""The plugins that were found, what became of each, and what went wrong."""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final

import pluggy
from attrs import define, field

from grove_core.errors import PluginError
from grove_core.model.value import Value, frozen
from grove_core.plugins.limits import NoTimeLeftError
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


@frozen(kw_only=True, eq=False, repr=False)
class PluginReport(Value):
    """All plugins, and all that went wrong in this process so far."""

    plugins: tuple[Plugin, ...]
    problems: tuple[PluginProblem, ...]


class ProblemList:
    """Collects problems and passes each on once."""

    def __init__(self, on_problem: Callable[[PluginProblem], None]) -> None:
        self._problems: dict[PluginProblem, None] = {}
        self.tell(on_problem)

    def tell(self, on_problem: Callable[[PluginProblem], None]) -> None:
        """Pass new problems on to another observer from here on."""
        self._on_problem = on_problem
        self._out_of_time = False

    def add(self, source: Plugin, what: str, error: Exception | str) -> str:
        """Note a problem and say it in one line; that no time is left is noted once for all."""
        detail = (
            clean_line(error, _DETAIL_LENGTH) if isinstance(error, str) else describe_error(error)
        )
        is_known = isinstance(error, NoTimeLeftError) and self._out_of_time
        self._out_of_time = self._out_of_time or isinstance(error, NoTimeLeftError)
        problem = PluginProblem(source=source, what=what, detail=detail)
        if problem not in self._problems and not is_known:
            self._problems[problem] = None
            self._on_problem(problem)
        return detail

    def everything(self) -> tuple[PluginProblem, ...]:
        """List the problems, oldest first."""
        return tuple(self._problems)


def describe_error(error: Exception) -> str:
    """Say what an exception says; its class may be a plugin's own."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - the exception's __str__ is the plugin's code
        message = "(its message cannot be read)"
    if not isinstance(error, PluginError):
        message = f"{type(error).__name__}: {message}"
    return clean_line(message, _DETAIL_LENGTH)
