"""The one place from which plugins are called."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

import pluggy
from attrs import fields

from grove_core.errors import PluginError
from grove_core.model.gate import Gate
from grove_core.model.learning import Candidate, Learning, Rejection
from grove_core.model.memory import Receipt
from grove_core.model.session import Session
from grove_core.model.ticket import Ticket
from grove_core.model.value import frozen
from grove_core.plugins.checks import complaint_about
from grove_core.plugins.descriptors import (
    BackendSpec,
    CloseMatcher,
    CommandReader,
    CommandSpec,
    EngineSpec,
    HealthCheck,
    ProjectContext,
    ReflectionContext,
    TicketProbe,
)
from grove_core.plugins.discovery import (
    BACKEND_GROUP,
    GENERAL_GROUP,
    GROUPS,
    TICKET_GROUP,
    FoundPlugin,
)
from grove_core.plugins.limits import Deadline, TimeLimitError, TimeLimits, call_limited
from grove_core.plugins.manager import GROUPS_OF_HOOK, OWN_GROUP, LoadedPlugin, Manager
from grove_core.plugins.report import (
    PluginProblem,
    PluginReport,
    PluginSource,
    ProblemList,
)
from grove_core.plugins.selection import PluginSettings, rank

if TYPE_CHECKING:
    # Only `grove stats` needs them, and every hook imports this module.
    from grove_core.model.statistics import Insight, Statistics

T = TypeVar("T")
D = TypeVar("D")

_MOST_TERMS: Final = 1000  # more are no help, and a generator may have no end
_DEFAULT_LIMITS: Final = TimeLimits()
_DESCRIPTORS: Final = (
    TicketProbe,
    CloseMatcher,
    CommandReader,
    BackendSpec,
    CommandSpec,
    HealthCheck,
)


@frozen(kw_only=True)
class Provided(Generic[T]):
    """A value and the plugin it comes from."""

    value: T
    source: PluginSource


class Plugins:
    """All plugins of this process, imported when something is asked of them."""

    def __init__(
        self,
        found: Iterable[FoundPlugin],
        settings: PluginSettings,
        on_problem: Callable[[PluginProblem], None],
        *,
        limits: TimeLimits = _DEFAULT_LIMITS,
        deadline: Deadline | None = None,
    ) -> None:
        self._settings = settings
        self._limits = limits
        self._deadline = deadline or Deadline()
        self._problems = ProblemList(on_problem)
        self._manager = Manager(found, settings, limits, self._deadline, self._problems)
        self._offers: dict[str, list[Provided[Any]]] = {}
        self._hung: set[tuple[PluginSource, str]] = set()

    def serve(
        self, on_problem: Callable[[PluginProblem], None], at: float | None, work: float | None
    ) -> None:
        """Go on for another hook in the same process: what was late before may be asked again."""
        self._problems.tell(on_problem)
        self._deadline.at, self._deadline.work = at, work
        self._hung.clear()

    def ticket_probes(self) -> list[Provided[TicketProbe]]:
        """Return the ticket systems: configured ones in their order, the others by name."""
        return self._offered("grove_ticket_probes", TicketProbe, TICKET_GROUP)

    def close_matchers(self) -> list[Provided[CloseMatcher]]:
        """Return the close matchers, in the order of their ticket systems."""
        return self._offered("grove_close_matchers", CloseMatcher, TICKET_GROUP)

    def command_readers(self) -> list[Provided[CommandReader]]:
        """Return what reads the commands of a shell, in the order of the plugins' names."""
        return self._offered("grove_command_readers", CommandReader, GENERAL_GROUP)

    def memory_backends(self) -> list[Provided[BackendSpec]]:
        """Return the memory backends: configured ones in their order, the others by name."""
        return self._offered("grove_memory_backends", BackendSpec, BACKEND_GROUP)

    def commands(self) -> list[Provided[CommandSpec]]:
        """Return the plugins' sub-commands by name."""
        return self._offered("grove_commands", CommandSpec, GENERAL_GROUP)

    def health_checks(self) -> list[Provided[HealthCheck]]:
        """Return the plugins' health checks by name."""
        return self._offered("grove_health_checks", HealthCheck, GENERAL_GROUP)

    def retrieval_engines(self) -> list[Provided[EngineSpec]]:
        """Return what judges how well learnings fit, besides grove's own index, by name."""
        return self._offered("grove_retrieval_engines", EngineSpec, GENERAL_GROUP)

    def query_terms(self, project: ProjectContext, ticket: Ticket | None) -> frozenset[str]:
        """Ask for further words to search with."""
        hook = "grove_query_terms"
        terms: set[str] = set()
        for plugin, answer in self._ask(hook, {"project": project, "ticket": ticket}, _terms):
            for term in answer:
                if isinstance(term, str):
                    terms.add(term.strip())
                else:
                    detail = f"returned {type(term).__name__} among its words"
                    self._problems.add(plugin.source, hook, detail)
        return frozenset(terms - {""})

    def check_candidate(
        self, candidate: Candidate, context: ReflectionContext
    ) -> list[Provided[Rejection]]:
        """Ask whether there are objections to a candidate."""
        hook = "grove_check_candidate"
        rejections: list[Provided[Rejection]] = []
        for plugin, answer in self._ask(hook, {"candidate": candidate, "context": context}, _as_is):
            if answer is None:
                continue
            if complaint := complaint_about(answer, Rejection):
                self._problems.add(plugin.source, hook, complaint)
            else:
                rejections.append(Provided(value=answer, source=plugin.source))
        return rejections

    def insights(self, statistics: "Statistics") -> "tuple[Insight, ...]":
        """Ask what is worth knowing in the numbers, grove's own part first."""
        from grove_core.plugins.insight_answers import read_insights
        from grove_core.stats.insights import ranked

        hook = "grove_insights"
        seen: list[Insight] = []
        for plugin, (insights, complaints) in self._ask(
            hook, {"statistics": statistics}, read_insights
        ):
            seen += insights
            for complaint in complaints:
                self._problems.add(plugin.source, hook, complaint)
        return ranked(seen)

    def learning_written(self, learning: Learning, receipt: Receipt) -> None:
        """Tell the plugins that a learning was written."""
        self._ask("grove_learning_written", {"learning": learning, "receipt": receipt}, _as_is)

    def gate_changed(self, session: Session, before: Gate, after: Gate, cause: str) -> None:
        """Tell the plugins that a session's gate has moved."""
        arguments = {"session": session, "before": before, "after": after, "cause": cause}
        self._ask("grove_gate_changed", arguments, _as_is)

    def observe_the_gate(self) -> bool:
        """Return whether any plugin wants to hear of changes of the gate."""
        return self._is_implemented("grove_gate_changed")

    def _is_implemented(self, hook: str) -> bool:
        loaded = self._manager.plugins(GROUPS_OF_HOOK[hook])
        return any(plugin.implementations.get(hook) for plugin in loaded)

    def call(
        self,
        provided: Provided[Any],
        function: Callable[..., T],
        *arguments: Any,  # noqa: ANN401 - whatever the function takes
        seconds: float,
        default: D,
        what: str = "",
    ) -> T | D:
        """Call a function that a descriptor holds."""
        what = what or _describe_call(provided.value, function)
        answers = self._limited(provided.source, what, partial(function, *arguments), seconds)
        return answers[0] if answers else default

    def complain(self, provided: Provided[Any], what: str, detail: str) -> None:
        """Report something that a plugin did wrong without raising, such as a senseless answer."""
        self._problems.add(provided.source, what, detail)

    def load_all(self) -> None:
        """Load every plugin and ask for all it offers, so that the report is complete."""
        self._manager.plugins((OWN_GROUP, *GROUPS))
        self.ticket_probes()
        self.close_matchers()
        self.command_readers()
        self.memory_backends()
        self.commands()
        self.health_checks()

    def report(self) -> PluginReport:
        """Return what has become of each plugin so far, without loading any."""
        return PluginReport(
            plugins=self._manager.entries(),
            problems=self._problems.everything(),
            own=self._manager.own_entry(),
        )

    def _offered(self, hook: str, kind: type[D], group: str) -> list[Provided[D]]:
        if hook not in self._offers:
            self._offers[hook] = self._collect(hook, kind, group)
        return list(self._offers[hook])

    def _collect(self, hook: str, kind: type[D], group: str) -> list[Provided[D]]:
        """Bring what plugins offer into order; of several with one name the first is used."""
        order = self._settings.order(group)
        offers: list[tuple[tuple[int, str, bool], str, Provided[D]]] = []
        for plugin, answer in self._ask(hook, {}, partial(_sequence, kind)):
            for value in answer:
                if complaint := complaint_about(value, kind):
                    self._problems.add(plugin.source, hook, complaint)
                    continue
                name = _name_of(value)
                key = (*rank(order, name, plugin.source.distribution), not plugin.first_party)
                offers.append((key, name, Provided(value=value, source=plugin.source)))
        chosen: list[Provided[D]] = []
        first: dict[str, PluginSource] = {}
        for _, name, offer in sorted(offers, key=lambda each: each[0]):
            if self._settings.blocks(group, name):
                continue
            used = first.setdefault(name, offer.source)
            # A ticket system may have a matcher for each kind of tools; nothing else comes twice.
            if used == offer.source and (kind is CloseMatcher or name not in map(_named, chosen)):
                chosen.append(offer)
            else:
                detail = f"{name} is provided by {used} as well, which is used"
                self._problems.add(offer.source, hook, detail)
        return chosen

    def _ask(
        self, hook: str, arguments: Mapping[str, object], take: Callable[[Any], T]
    ) -> list[tuple[LoadedPlugin, T]]:
        """Call a hook's implementations one by one; ``take`` sees to a result in the same call."""
        registering = not arguments
        seconds = self._limits.registration if registering else self._limits.life_cycle
        answers: list[tuple[LoadedPlugin, T]] = []
        for plugin in self._manager.plugins(GROUPS_OF_HOOK[hook]):
            for implementation in plugin.implementations.get(hook, ()):
                call = partial(_run, implementation, arguments, take)
                answers += [
                    (plugin, answer) for answer in self._limited(plugin.source, hook, call, seconds)
                ]
        return answers

    def _limited(
        self, source: PluginSource, what: str, function: Callable[[], T], seconds: float
    ) -> tuple[T, ...]:
        """Call one function; nothing comes back when it fails, which is reported."""
        if (source, what) in self._hung:
            return ()
        try:
            return (call_limited(function, seconds, self._deadline),)
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything
            self._problems.add_error(source, what, error)
            if isinstance(error, TimeLimitError):
                self._hung.add((source, what))
            return ()


def _run(
    implementation: pluggy.HookImpl, arguments: Mapping[str, object], take: Callable[[Any], T]
) -> T:
    return take(implementation.function(*(arguments[name] for name in implementation.argnames)))


def _as_is(answer: Any) -> Any:  # noqa: ANN401 - a plugin may return anything
    return answer


def _sequence(kind: type[D], answer: object) -> tuple[D, ...]:
    if isinstance(answer, Sequence) and not isinstance(answer, str | bytes):
        return tuple(answer)
    raise PluginError(f"returned {type(answer).__name__} instead of a list of {kind.__name__}")


def _terms(answer: object) -> tuple[object, ...]:
    if isinstance(answer, Iterable) and not isinstance(answer, str | bytes):
        return tuple(islice(answer, _MOST_TERMS))
    raise PluginError(f"returned {type(answer).__name__} instead of a list of words")


def _named(offer: Provided[Any]) -> str:
    return _name_of(offer.value)


def _name_of(descriptor: Any) -> str:  # noqa: ANN401 - one of the descriptors
    match descriptor:
        case CloseMatcher():
            name = descriptor.system
        case CommandReader():
            name = ", ".join(descriptor.tools)
        case _:
            name = descriptor.name
    return str(name)


def _describe_call(value: object, function: Callable[..., object]) -> str:
    """Return which function failed: a descriptor's by the name that grove knows it by."""
    if isinstance(value, _DESCRIPTORS):
        for field in fields(type(value)):
            if getattr(value, field.name) is function:
                return f"{field.name} of {_name_of(value)}"
    return getattr(function, "__name__", type(function).__name__)
