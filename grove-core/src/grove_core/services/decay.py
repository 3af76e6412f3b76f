"""How learnings have fared: what was logged of them, decay, and what it hides on this machine."""

import os
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from grove_core.codec import event_from_line
from grove_core.errors import CodecError, StorageError
from grove_core.event_log import event_files
from grove_core.model.events import StatsEvent
from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.value import Value, frozen
from grove_core.project import Project
from grove_core.stats.decay import DecayAssessment, DecayState, assess_decay
from grove_core.stats.lines import LONGEST_LINE, instant, microseconds
from grove_core.storage.files import is_readable
from grove_core.storage.hidden import HIDDEN_MAX, read_decay_run, write_decay_run

if TYPE_CHECKING:
    from grove_core.memory.backends import FoundLearning
    from grove_core.model.learning import LearningStats

_INTERVAL: Final = timedelta(days=1)
# With less left of the hook's time, nothing is begun: a start that is late says nothing at all.
_SHARE_THAT_MUST_BE_LEFT: Final = 0.45
_SHARE_FOR_LOOKING: Final = 0.2
_PORTION: Final = 500
_ACTIVE: Final = LearningStatus.ACTIVE.value


@frozen(kw_only=True, eq=False, repr=False)
class Aging(Value):
    """A learning and how it stands to the rule."""

    found: "FoundLearning"
    assessment: DecayAssessment

    @property
    def learning(self) -> Learning:
        """The learning itself."""
        return self.found.hit.learning


def examine(
    project: Project,
    found: "Iterable[FoundLearning]",
    usage: "Mapping[str, LearningStats]",
) -> list[Aging]:
    """Apply the rule of its area to each learning."""
    from grove_core.plugins.descriptors import Area

    rules = {
        Area.PROJECT: project.decay_rule(),
        Area.PERSONAL: project.decay_rule(personal=True),
    }
    examined = []
    for one in found:
        learning = one.hit.learning
        assessment = assess_decay(
            learning.timestamp,
            learning.status.value,
            usage.get(learning.id),
            project.now,
            rules[one.area],
        )
        if assessment.state is DecayState.DUE and learning.id in project.hidden:
            assessment = assessment._replace(hidden_since=project.hidden[learning.id].since)
        examined.append(Aging(found=one, assessment=assessment))
    return examined


def examine_all(project: Project) -> list[Aging]:
    """Examine every learning that can be listed, the soonest due first."""
    found = list(project.library.iterate())
    examined = examine(project, found, project.usage()) if found else []
    return sorted(examined, key=lambda one: one.assessment.days_left)


def decay_document(assessment: DecayAssessment) -> dict[str, Any]:
    """Describe for JSON how a learning stands to decay."""
    rounded = {"days_since": round(assessment.days_since, 2), "days_left": days_left(assessment)}
    if assessment.hit_rate is not None:
        rounded["hit_rate"] = round(assessment.hit_rate, 4)
    return assessment._asdict() | {"reason": assessment.reason} | rounded


def days_left(assessment: DecayAssessment) -> float | None:
    """Return the days until it is due; ``None`` where the rule does not apply."""
    by_rule = assessment.state in (DecayState.FRESH, DecayState.DUE)
    return round(assessment.days_left, 2) if by_rule else None


def require_all_events(project: Project) -> None:
    """Make sure that every use counts."""
    for path in (*event_files(project.files), project.paths.personal_events):
        if os.path.lexists(path) and not is_readable(path):
            raise StorageError(f"{path} cannot be read, and what is used would seem unused")
    if not project.numbers.complete:
        raise StorageError("the event log is not counted to its end yet")


def decay_daily(project: Project) -> None:
    """Hide what is due, at most once a day; a reflection that stores a learning archives it."""
    looks = [(project.paths.decay_file, True)]
    if project.files.initialised:
        looks.append((project.files.decay_file, False))
    # A clock that was wrong once must not stop decay for years.
    looks = [
        (path, personal)
        for path, personal in looks
        if (last := read_decay_run(path).at) is None
        or not timedelta(0) <= project.now - last < _INTERVAL
    ]
    # Where there is nothing to look at, nothing is noted down.
    if not looks or not len(project.finder.index):
        return
    try:
        _require_everything(project)
        for path, personal in looks:
            write_decay_run(path, project.now, _due(project, personal=personal))
    except StorageError as error:
        project.diagnostics.log("info", f"decay waits for the next start: {error}")


def _require_everything(project: Project) -> None:
    """Raise ``StorageError`` where what is used could seem unused, or there is no time to look."""
    from grove_core.services.sync import index_in_background

    if project.work_deadline is not None:
        left = project.work_deadline - time.thread_time()
        if left < _SHARE_THAT_MUST_BE_LEFT * _seconds_of_a_start(project):
            raise StorageError("little time is left")
    if not project.finder.complete:
        index_in_background(project)
        raise StorageError("not all learnings are indexed")
    require_all_events(project)


def _due(project: Project, *, personal: bool) -> list[tuple[str, str]]:
    """Find what is due and why, the oldest first, as far as a part of the hook's time lasts."""
    rule = project.decay_rule(personal=personal)
    before = microseconds(project.now - timedelta(days=rule.passive_days))
    older = project.finder.index.written_before(before, personal=personal)
    until = time.thread_time() + _SHARE_FOR_LOOKING * _seconds_of_a_start(project)
    due: list[tuple[str, str]] = []
    for start in range(0, len(older), _PORTION):
        portion = older[start : start + _PORTION]
        usage = project.usage([name for name, _ in portion])
        for name, created in portion:
            assessment = assess_decay(instant(created), _ACTIVE, usage.get(name), project.now, rule)
            if assessment.state is DecayState.DUE:
                due.append((name, assessment.reason))
        if len(due) >= HIDDEN_MAX or time.thread_time() > until:
            break
    return due[:HIDDEN_MAX]


def _seconds_of_a_start(project: Project) -> float:
    return project.config.hooks.deadline_ms / 1000


# --- what was logged ------------------------------------------------------------------------------

# JSON may write any character of a word like this.
_ESCAPE: Final = rb"\u"
# What is read of logs at most, and what an event takes beside its text.
_ROOM: Final = 64 * 1024 * 1024
_AN_EVENT: Final = 1000


@frozen(kw_only=True, eq=False, repr=False)
class LoggedEvent(Value):
    """An event and whose log it is in."""

    event: StatsEvent
    personal: bool


def find_events(
    project: Project, kinds: Collection[type[StatsEvent]], naming: Collection[str] = ()
) -> list[LoggedEvent]:
    """Read the events of some kinds from the project's log and the personal one, by time."""
    wanted = _filter({kind.event for kind in kinds}, naming)
    # This machine's own come last: where there is no room for all, the first ones go.
    logs = [(path, False) for path in reversed(event_files(project.files))]
    found: dict[str, LoggedEvent] = {}
    room = _ROOM
    for path, personal in (*logs, (project.paths.personal_events, True)):
        for raw in filter(wanted, _lines(project, path)):
            line = raw.decode("utf-8", "surrogateescape").strip()
            try:
                event = event_from_line(line)
            except CodecError:
                continue
            if event is not None and isinstance(event, tuple(kinds)):
                if line in found:
                    continue  # merging branches may repeat a line
                found[line] = LoggedEvent(event=event, personal=personal)
                room -= len(line) + _AN_EVENT
                while room < 0:
                    room += len(first := next(iter(found))) + _AN_EVENT
                    del found[first]
    return sorted(found.values(), key=lambda one: one.event.ts)


def _filter(names: Collection[str], naming: Collection[str]) -> Callable[[bytes], bool]:
    kinds = [name.encode() for name in names]
    texts = [text.encode("utf-8", "surrogatepass") for text in naming]

    def wanted(line: bytes) -> bool:
        if _ESCAPE in line:
            return True
        named = not texts or any(text in line for text in texts)
        return named and any(kind in line for kind in kinds)

    return wanted


def _lines(project: Project, path: Path) -> Iterator[bytes]:
    """Read line by line: a log may be larger than what a command should take of memory."""
    said = f"the event log cannot be read: {path}"
    if not is_readable(path):
        if os.path.lexists(path):
            project.diagnostics.log("error", said)
        return
    try:
        with path.open("rb") as file:
            # What is longer than any event comes in pieces, which are none.
            yield from iter(partial(file.readline, LONGEST_LINE), b"")
    except OSError as error:
        project.diagnostics.log("error", f"{said}: {error}")
