"""Events of the older program's log, brought into the logs here, each once."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from attrs import frozen

from grove_core.event_log import event_files, read
from grove_core.flow.import_sources import Source
from grove_core.identifiers import is_learning_id
from grove_core.interchange.older_events import cleaned_event, read_older_events, texts_of
from grove_core.model.events import StatsEvent
from grove_core.model.learning import Scope
from grove_core.model.value import Value
from grove_core.plugins.descriptors import Area
from grove_core.reflection.funnel import WITHHELD
from grove_core.reflection.secrets import find_leak
from grove_core.workspace import Workspace

# As far as clocks of other machines may be ahead.
_CLOCK_SKEW: Final = timedelta(days=1)
_FUTURE: Final = "its time lies in the future; correct it in the file"
NOT_INITIALISED: Final = "the project does not use grove yet, so it has no log; run `grove init`"
"""Why events of a project are refused that has no log."""
_UNKNOWN: Final = (
    "it is about a learning that is not here, so that nobody can tell whether it belongs into your"
    " own log; import the learning first, then the log again"
)


@frozen(kw_only=True, eq=False, repr=False)
class EventsOutcome(Value):
    """What became of events."""

    imported: int
    present: int
    refused: tuple[tuple[str, int, str], ...]
    unknown: Mapping[str, int]
    unreadable: tuple[tuple[str, int], ...]


def import_events(
    workspace: Workspace,
    logs: Sequence[Source],
    personal_ids: Mapping[str, bool],
    *,
    dry_run: bool,
) -> EventsOutcome:
    """Bring events into the project's log; those about personal learnings into the user's own."""
    owners = _Owners(workspace, personal_ids)
    there = _there(workspace)
    new: dict[StatsEvent, _NewEvent] = {}
    present = 0
    refused: list[tuple[str, int, str]] = []
    unreadable: list[tuple[str, int]] = []
    unknown: dict[str, int] = {}
    leak_in = _LeakFinder(workspace.config.secrets.allow)
    for log in logs:
        read = read_older_events(log.text)
        path = log.origin.path or str(log.path)
        unreadable += [(path, line) for line in read.unreadable]
        for said, count in read.unknown.items():
            name = WITHHELD if leak_in("event", said) else said
            unknown[name] = unknown.get(name, 0) + count
        for one in read.events:
            is_personal = owners.is_personal(getattr(one.event, "learning_id", None))
            if one.event in there or one.event in new:
                present += 1
            elif reason := _why_not(workspace, one.event, leak_in, is_personal=is_personal):
                refused.append((path, one.line, reason))
            else:
                new[one.event] = _NewEvent(path, one.line, bool(is_personal))
    lost = [] if dry_run else [*_written(workspace, new)]
    refused += lost
    return EventsOutcome(
        imported=len(new) - len(lost),
        present=present,
        refused=tuple(refused),
        unknown=unknown,
        unreadable=tuple(unreadable),
    )


class _NewEvent(NamedTuple):
    """Where an event stands that is to be written, and into whose log."""

    path: str
    line: int
    is_personal: bool


def _written(
    workspace: Workspace, new: Mapping[StatsEvent, _NewEvent]
) -> Iterator[tuple[str, int, str]]:
    for personal in (False, True):
        chosen = [event for event, one in new.items() if one.is_personal is personal]
        lost_before = len(workspace.lost_events)
        workspace.log_events(chosen, personal=personal)
        for why in workspace.lost_events[lost_before:]:
            reason = f"not written: {why}; import it again once that is mended"
            yield from ((new[event].path, new[event].line, reason) for event in chosen)


class _Owners:
    """Tells whose the learnings are that events are about."""

    def __init__(self, workspace: Workspace, named: Mapping[str, bool]) -> None:
        waiting = (one.learning for one in workspace.outbox.entries(workspace.root))
        stored = list(workspace.library.iterate())
        self._library = workspace.library
        self._known: dict[str, bool | None] = {
            **{one.id: one.scope is Scope.PERSONAL for one in waiting},
            **{one.hit.learning.id: one.area is Area.PERSONAL for one in stored},
        }
        for name, is_personal in named.items():
            self._known[name] = self._known.get(name) or is_personal

    def is_personal(self, learning_id: str | None) -> bool | None:
        """Return whether a learning is personal; what is about none is the project's."""
        if learning_id is None:
            return False
        if learning_id not in self._known:
            # A backend may have it although it cannot list what it has.
            found = self._library.get(learning_id) if is_learning_id(learning_id) else None
            self._known[learning_id] = None if found is None else found.area is Area.PERSONAL
        return self._known[learning_id]


def _there(workspace: Workspace) -> set[StatsEvent]:
    paths = (*event_files(workspace.project), workspace.paths.personal_events)
    return {cleaned_event(event) for event in read(*paths)}


class _LeakFinder:
    """Looks for secrets in texts, most of which are ids that stand in many events."""

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = allowed
        self._known: dict[tuple[str, str], str] = {}

    def __call__(self, name: str, text: str) -> str:
        """Return what is wrong with a text; nothing where all is well."""
        if (name, text) not in self._known:
            leak = find_leak(text, self._allowed, name)
            self._known[name, text] = "" if leak is None else leak.text
        return self._known[name, text]


def _why_not(
    workspace: Workspace, event: StatsEvent, leak_in: _LeakFinder, *, is_personal: bool | None
) -> str:
    if not (is_personal or workspace.project.initialised):
        return NOT_INITIALISED
    if event.ts - workspace.now > _CLOCK_SKEW:
        return _FUTURE
    leak = next((words for one in texts_of(event) if (words := leak_in(*one))), "")
    return leak or (_UNKNOWN if is_personal is None else "")
