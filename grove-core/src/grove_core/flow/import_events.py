"""Events of the older program's log, brought into the logs here, each once."""

from collections.abc import Collection, Mapping, Sequence
from datetime import timedelta
from typing import Final

from attrs import frozen

from grove_core.flow.import_sources import Source
from grove_core.interchange.older_events import cleaned_event, read_older_events, texts_of
from grove_core.model.events import StatsEvent
from grove_core.model.value import Value
from grove_core.plugins.descriptors import Area
from grove_core.reflection.funnel import WITHHELD
from grove_core.reflection.secrets.screening import find_leak
from grove_core.workspace import Workspace

# As far as clocks of other machines may be ahead.
_CLOCK_SKEW: Final = timedelta(days=1)
_FUTURE: Final = "its time lies in the future; correct it in the file"
_NOT_INITIALISED: Final = "the project does not use grove yet, so it has no log; run `grove init`"


@frozen(kw_only=True, eq=False, repr=False)
class EventsOutcome(Value):
    """What became of events.

    Attributes:
        imported: How many were written to a log here.
        present: How many are there already.
        refused: Files and lines of those that were refused, and why.
        unknown: How many there are of kinds that have no counterpart here, by name.
        unreadable: Files and lines that are no events.
    """

    imported: int
    present: int
    refused: tuple[tuple[str, int, str], ...]
    unknown: Mapping[str, int]
    unreadable: tuple[tuple[str, int], ...]


def import_events(
    workspace: Workspace, logs: Sequence[Source], personal_ids: Collection[str], *, dry_run: bool
) -> EventsOutcome:
    """Bring events into the project's log; those about personal learnings into the user's own.

    Args:
        workspace: The project.
        logs: Logs of the older program.
        personal_ids: Ids of personal learnings that this import brings.
        dry_run: Whether nothing is written.

    Returns:
        What became of them.
    """
    personal = {*personal_ids, *_known_personal(workspace)}
    there = _there(workspace)
    new: dict[StatsEvent, bool] = {}
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
            is_personal = getattr(one.event, "learning_id", None) in personal
            if one.event in there or one.event in new:
                present += 1
            elif reason := _why_not(workspace, one.event, leak_in, is_personal=is_personal):
                refused.append((path, one.line, reason))
            else:
                new[one.event] = is_personal
    if not dry_run:
        for area in (False, True):
            chosen = [event for event, is_personal in new.items() if is_personal is area]
            workspace.log_events(chosen, personal=area)
    return EventsOutcome(
        imported=len(new),
        present=present,
        refused=tuple(refused),
        unknown=unknown,
        unreadable=tuple(unreadable),
    )


def _known_personal(workspace: Workspace) -> set[str]:
    return {one.hit.learning.id for one in workspace.library.iterate() if one.area is Area.PERSONAL}


def _there(workspace: Workspace) -> set[StatsEvent]:
    logs = [workspace.project_log.read(), workspace.personal_log.read()]
    return {cleaned_event(event) for content in logs for event in content.events}


class _LeakFinder:
    """Looks for secrets in texts, most of which are ids that stand in many events."""

    def __init__(self, allowed: Collection[str]) -> None:
        self._allowed = allowed
        self._known: dict[tuple[str, str], str] = {}

    def __call__(self, name: str, text: str) -> str:
        """Tell what is wrong with a text; nothing where all is well."""
        if (name, text) not in self._known:
            leak = find_leak(text, self._allowed, name)
            self._known[name, text] = "" if leak is None else leak.words
        return self._known[name, text]


def _why_not(
    workspace: Workspace, event: StatsEvent, leak_in: _LeakFinder, *, is_personal: bool
) -> str:
    if not (is_personal or workspace.project.initialised):
        return _NOT_INITIALISED
    if event.ts - workspace.now > _CLOCK_SKEW:
        return _FUTURE
    return next((words for one in texts_of(event) if (words := leak_in(*one))), "")
