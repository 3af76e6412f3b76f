"""Finding a few events in logs that may be long: only lines that can be wanted are parsed."""

import os
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from grove_core.codec import event_from_line
from grove_core.errors import CodecError
from grove_core.event_log import event_files
from grove_core.model.events import Corrected, StatsEvent
from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.value import Value, frozen
from grove_core.project import Project
from grove_core.storage.files import is_readable

if TYPE_CHECKING:
    from grove_core.memory.backends import FoundLearning

# JSON may write any character of a word like this.
_ESCAPE: Final = rb"\u"


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
    logs = [(path, False) for path in event_files(project.files)]
    found: dict[str, LoggedEvent] = {}
    for path, personal in (*logs, (project.paths.personal_events, True)):
        for raw in filter(wanted, _lines(project, path)):
            line = raw.decode("utf-8", "surrogateescape").strip()
            try:
                event = event_from_line(line)
            except CodecError:
                continue
            if event is not None and isinstance(event, tuple(kinds)):
                # Merging branches may repeat a line.
                found.setdefault(line, LoggedEvent(event=event, personal=personal))
    return sorted(found.values(), key=lambda one: one.event.ts)


def find_successor(
    project: Project, learning: Learning, events: Iterable[StatsEvent] | None = None
) -> "FoundLearning | None":
    """Find what took a learning's place: as the log says, else as the other one says itself."""
    if learning.status is not LearningStatus.SUPERSEDED:
        return None
    if events is None:
        events = [one.event for one in find_events(project, [Corrected], [learning.id])]
    named = [
        one.superseded_by
        for one in events
        if isinstance(one, Corrected) and one.learning_id == learning.id
    ]
    for name in reversed(named):
        successor = project.library.get(name) if name else None
        if successor is not None:
            return successor
    others = project.library.iterate()
    return next((one for one in others if learning.id in one.hit.learning.supersedes), None)


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
    if os.path.lexists(path) and not is_readable(path):
        project.diagnostics.log("error", f"the event log cannot be read: {path}")
        return
    try:
        with path.open("rb") as file:
            yield from file
    except FileNotFoundError:
        return
    except OSError as error:
        project.diagnostics.log("error", f"the event log cannot be read: {path}: {error}")
