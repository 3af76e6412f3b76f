"""What became of each plugin, and what went wrong, for people and for the log."""

from collections.abc import Callable
from enum import Enum
from typing import Final

from grove_core.errors import PluginError
from grove_core.model.value import Value, frozen
from grove_core.plugins.discovery import FoundPlugin
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


@frozen(kw_only=True, eq=False, repr=False)
class PluginSource(Value):
    """Where something that a plugin said or did comes from."""

    name: str
    distribution: str
    version: str
    entry_point: str

    @classmethod
    def of(cls, found: FoundPlugin) -> "PluginSource":
        """Name the source of a plugin that was found."""
        return cls(
            name=found.name,
            distribution=found.distribution,
            version=found.version,
            entry_point=f"{found.group}:{found.name}",
        )

    def __str__(self) -> str:
        return " ".join(filter(None, [self.distribution, self.version, f"({self.entry_point})"]))


@frozen(kw_only=True, eq=False, repr=False)
class PluginProblem(Value):
    """Something that a plugin did wrong."""

    source: PluginSource
    what: str
    detail: str

    def __str__(self) -> str:
        return f"{self.source}: {self.what}: {self.detail}"


@frozen(kw_only=True, eq=False, repr=False)
class PluginEntry(Value):
    """One plugin that was found."""

    found: FoundPlugin
    state: PluginState
    detail: str = ""
    hooks: tuple[str, ...] = ()
    milliseconds: float | None = None


@frozen(kw_only=True, eq=False, repr=False)
class PluginReport(Value):
    """All plugins, and all that went wrong in this process so far."""

    plugins: tuple[PluginEntry, ...]
    problems: tuple[PluginProblem, ...]
    own: PluginEntry | None = None


class ProblemList:
    """Collects problems and passes each on once."""

    def __init__(self, on_problem: Callable[[PluginProblem], None]) -> None:
        self._on_problem = on_problem
        self._problems: dict[PluginProblem, None] = {}
        self._out_of_time = False

    def tell(self, on_problem: Callable[[PluginProblem], None]) -> None:
        """Pass what is new on to somebody else from here on."""
        self._on_problem = on_problem
        self._out_of_time = False

    def add(self, source: PluginSource, what: str, detail: str) -> None:
        """Note a problem."""
        problem = PluginProblem(source=source, what=what, detail=clean_detail(detail))
        if problem not in self._problems:
            self._problems[problem] = None
            self._on_problem(problem)

    def add_error(self, source: PluginSource, what: str, error: Exception) -> None:
        """Note an exception; that no time is left is nobody's fault and is noted once for all."""
        if isinstance(error, NoTimeLeftError):
            if self._out_of_time:
                return
            self._out_of_time = True
        self.add(source, what, describe_error(error))

    def everything(self) -> tuple[PluginProblem, ...]:
        """List the problems, oldest first."""
        return tuple(self._problems)


def clean_detail(text: str) -> str:
    """Make one line of limited length out of a text that a plugin had a hand in."""
    return clean_line(text, _DETAIL_LENGTH)


def describe_error(error: Exception) -> str:
    """Return what an exception says, by a class that may be a plugin's own."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - the exception's __str__ is the plugin's code
        message = "(its message cannot be read)"
    if isinstance(error, PluginError):
        return clean_detail(message)
    return clean_detail(f"{type(error).__name__}: {message}")
