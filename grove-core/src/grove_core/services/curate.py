"""Curation: what is worth a look; archive, restore and supersede learnings."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime, timedelta
from typing import Any, Final

from grove_core.errors import BackendError, LearningNotFoundError
from grove_core.memory.backends import FoundLearning
from grove_core.model.events import Archived, Corrected, Restored, StatsEvent
from grove_core.model.learning import Learning, LearningStatus
from grove_core.plugins.descriptors import Area
from grove_core.project import Project
from grove_core.quotation import Foreign, shown_name
from grove_core.services.decay import (
    Aging,
    days_left,
    decay_document,
    examine,
    examine_all,
    find_events,
    require_all_events,
)
from grove_core.services.result import Line, Result, line
from grove_core.stats.decay import UNUSED_SHOWINGS, DecayState
from grove_core.storage import files
from grove_core.text import clean_line, counted

_LONGEST_REASON: Final = 200
# Sections whose reasons somebody has written.
_QUOTED: Final = ("archived", "corrected")
_BY_HAND: Final = "by hand"
_MOST_AT_ONCE: Final = 20
_LATELY: Final = timedelta(days=30)
_MOST_SHOWN: Final = 20
# name of a section: its title, and what to do about it
_SECTIONS: Final = {
    "going_stale": (
        "Going stale: archived soon unless shown or used",
        "grove maintain archive --stale, or grove ref ID where one helped",
    ),
    "archived": ("Archived within 30 days", "grove maintain restore ID"),
    "corrected": (
        "Said to be wrong, and nothing has taken their place",
        "grove maintain supersede ID --by ID, or grove maintain archive ID",
    ),
    "never_used": (
        "Often shown, never used",
        "grove maintain archive ID, or fix its tags and files",
    ),
}
# What became of a learning; in a dry run, what would have.
_CHANGED, _UNCHANGED, _REFUSED = "changed", "unchanged", "refused"


@contextmanager
def curating(project: Project) -> Iterator[None]:
    """Let no other process curate meanwhile."""
    files.make_directory(project.paths.cache)
    with files.locked(project.paths.cache / "curation.lock"):
        yield


class Curator:
    """Curates the learnings of a project; a dry run says what it would do."""

    def __init__(self, project: Project, *, dry_run: bool = False) -> None:
        self._project = project
        self._dry_run = dry_run
        self._is_shared = False
        self._done: dict[str, list[dict[str, str]]] = {_CHANGED: [], _UNCHANGED: [], _REFUSED: []}

    def archive(self, ids: Iterable[str], reason: str = "") -> Result:
        """Archive learnings."""
        note = _line(reason) or _BY_HAND
        self._each(ids, lambda found: self._archive(found, note))
        return self._result("archived")

    def archive_stale(self, reason: str) -> Result:
        """Archive what is due now or within seven days."""
        require_all_events(self._project)
        given = _line(reason)
        with self._lock():
            for one in examine_all(self._project):
                if one.assessment.is_stale:
                    why = "" if given else one.assessment.reason
                    self._archive(one.found, given or "going stale", why)
        return self._result("archived", "No learning is due now or within seven days.")

    def decay(self) -> Result:
        """Archive everything that is due."""
        require_all_events(self._project)
        with self._lock():
            self._archive_due(examine_all(self._project))
        return self._result("archived", "No learning is due.")

    def archive_hidden(self) -> None:
        """Archive in their files what is hidden here and still due; a few: a command waits."""
        project = self._project
        names = [*project.hidden][:_MOST_AT_ONCE]
        if names:
            require_all_events(project)
            with self._lock():
                found = [one for one in map(project.library.get, names) if one is not None]
                self._archive_due(examine(project, found, project.usage(names)))

    def restore(self, ids: Iterable[str], reason: str = "") -> Result:
        """Take learnings back from the archive."""
        project, reason = self._project, _line(reason) or _BY_HAND

        def restore_one(found: FoundLearning) -> None:
            learning = found.hit.learning
            event = Restored(ts=project.now, learning_id=learning.id, reason=reason)
            if learning.status is LearningStatus.SUPERSEDED:
                final = "is superseded, which is final; write what holds as a new one"
                self._note(_REFUSED, learning, f"{learning.id} {final}")
            elif learning.status is LearningStatus.ACTIVE and learning.id not in project.hidden:
                self._note_as_it_is(learning)
            else:
                self._change(found, LearningStatus.ACTIVE, "", event, detail=reason)

        self._each(ids, restore_one)
        return self._result("restored")

    def supersede(self, old_id: str, new_id: str) -> Result:
        """Put one learning in another one's place, for good."""
        project = self._project

        def supersede_one(found: FoundLearning) -> None:
            learning = found.hit.learning
            if learning.status is LearningStatus.SUPERSEDED:
                self._note_as_it_is(learning)
                return
            event = Corrected(
                ts=project.now, learning_id=old_id, session_id="", superseded_by=new_id
            )
            note = f"by {new_id}"
            if objection := _objection(found, project.library.get(new_id), new_id):
                self._note(_REFUSED, learning, objection)
            else:
                self._change(found, LearningStatus.SUPERSEDED, note, event, detail=note)

        self._each([old_id], supersede_one)
        return self._result("superseded")

    def _lock(self) -> AbstractContextManager[None]:
        return nullcontext() if self._dry_run else curating(self._project)

    def _each(self, ids: Iterable[str], curate_one: Callable[[FoundLearning], None]) -> None:
        with self._lock():
            for name in dict.fromkeys(ids):
                found = self._project.library.get(name)
                if found is not None:
                    curate_one(found)
                else:
                    said = {"id": name, "summary": "", "detail": _unknown(name)}
                    self._done[_REFUSED].append(said)

    def _archive_due(self, examined: Iterable[Aging]) -> None:
        for one in examined:
            if one.assessment.state is DecayState.DUE:
                self._archive(one.found, "decayed", one.assessment.reason)

    def _archive(self, found: FoundLearning, note: str, why: str = "") -> None:
        """Archive a learning with a note in its file; the log says why as well."""
        learning, now = found.hit.learning, self._project.now
        if learning.status is not LearningStatus.ACTIVE:
            self._note_as_it_is(learning)
            return
        reason = f"{note}: {why}" if why else note
        event = Archived(ts=now, learning_id=learning.id, reason=reason)
        note = f"{note} {now:%Y-%m-%d}"
        self._change(found, LearningStatus.ARCHIVED, note, event, detail=reason)

    def _change(
        self,
        found: FoundLearning,
        status: LearningStatus,
        note: str,
        event: StatsEvent,
        *,
        detail: str,
    ) -> None:
        """Set the status, then log it: an event must not record what did not happen."""
        learning, personal = found.hit.learning, found.area is Area.PERSONAL
        if not self._dry_run:
            if learning.status is not status:
                try:
                    self._project.library.set_status(learning.id, status, note)
                except (BackendError, LearningNotFoundError) as error:
                    self._note(_REFUSED, learning, str(error))
                    return
                self._is_shared |= not personal
            self._project.log_events([event], personal=personal)
        self._note(_CHANGED, learning, detail)

    def _note_as_it_is(self, learning: Learning) -> None:
        said = f"{shown_name(learning.id)} is {learning.status.value} already"
        self._note(_UNCHANGED, learning, said)

    def _note(self, outcome: str, learning: Learning, detail: str) -> None:
        said = {"id": learning.id, "summary": learning.summary, "detail": detail}
        self._done[outcome].append(said)

    def _result(self, verb: str, nothing: str = "") -> Result:
        if self._is_shared:
            # Without its event a colleague's decay would undo what was restored.
            self._project.publish_events()
        changed, refused = self._done[_CHANGED], [one["detail"] for one in self._done[_REFUSED]]
        done = f"would be {verb}" if self._dry_run else verb
        lines: list[Line] = []
        for one in changed:
            lines.append([f"{done}  {shown_name(one['id'])}  ", Foreign(one["summary"])])
            lines.append(line("    ", Foreign(one["detail"])))
        lines += [(one["detail"], "dim") for one in self._done[_UNCHANGED]]
        error = {"error": "; ".join(refused)} if refused else {}
        return Result(
            document={"dry_run": self._dry_run, **self._done, **error},
            lines=lines if any(self._done.values()) else [nothing],
            ids=[one["id"] for one in changed],
            exit_code=1 if refused else 0,
            warnings=refused,
        )


def _objection(old: FoundLearning, new: FoundLearning | None, new_id: str) -> str:
    """Say why a learning cannot take another one's place, if it cannot."""
    if new_id == old.hit.learning.id:
        return f"{new_id} cannot take its own place"
    if new is None:
        return _unknown(new_id)
    status = new.hit.learning.status
    if status is not LearningStatus.ACTIVE:
        return f"{new_id} is {status.value} itself; name an active learning"
    if new.area is Area.PERSONAL and old.area is not Area.PERSONAL:
        return f"{new_id} is personal, and others who share the project could not read it"
    return ""


def _unknown(learning_id: str) -> str:
    return f"no learning has the id {_line(learning_id)}; `grove list --all` names those there are"


def _line(text: str) -> str:
    return clean_line(text, _LONGEST_REASON)


# --- what is worth a look -------------------------------------------------------------------------


def curation_overview(project: Project) -> Result:
    """List what a curator would see to."""
    examined = examine_all(project)
    events = (one.event for one in find_events(project, [Archived, Corrected]))
    latest = {one.learning_id: one for one in events if isinstance(one, Archived | Corrected)}
    sections: dict[str, list[dict[str, Any]]] = {name: [] for name in _SECTIONS}
    for one in examined:
        for name, reason in _remarks(one, latest.get(one.learning.id), project.now):
            said = {"id": one.learning.id, "summary": one.learning.summary, "reason": reason}
            sections[name].append({**said, "days_left": days_left(one.assessment)})
    total = f"{counted(len(examined), 'learning')} in all; `grove maintain list --explain` says how"
    return Result(
        document={"total": len(examined), **sections},
        lines=[*_lines_of(sections), (f"{total} each stands to decay.", "dim")],
        ids=list(dict.fromkeys(one["id"] for rows in sections.values() for one in rows)),
    )


def _remarks(
    one: Aging, last: Archived | Corrected | None, now: datetime
) -> Iterator[tuple[str, str]]:
    """Say in which sections a learning belongs, and why; texts of a log are cleaned."""
    found, status = one.assessment, one.learning.status
    match last:
        case Archived() if status is LearningStatus.ARCHIVED and now - last.ts <= _LATELY:
            yield "archived", f"archived {last.ts:%Y-%m-%d}: {_line(last.reason)}"
        case Corrected() if status is LearningStatus.ACTIVE:
            yield "corrected", f"{last.ts:%Y-%m-%d}: {_line(last.why or 'no reason was given')}"
    if status is not LearningStatus.ACTIVE:
        return
    if found.is_stale:
        yield "going_stale", found.explanation
    if found.surfaced >= UNUSED_SHOWINGS and not found.referenced:
        yield "never_used", f"shown in {found.surfaced} sessions, used in none"


def _lines_of(sections: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Line]:
    for name, rows in sections.items():
        if rows:
            title, hint = _SECTIONS[name]
            yield f"{title} ({len(rows)})", "bold"
            for one in rows[:_MOST_SHOWN]:
                yield [f"  {shown_name(one['id'])}  ", Foreign(one["summary"])]
                reason = one["reason"]
                yield line("    ", Foreign(reason, "dim") if name in _QUOTED else (reason, "dim"))
            if len(rows) > _MOST_SHOWN:
                yield f"  … and {len(rows) - _MOST_SHOWN} more (--json names all)", "dim"
            yield f"  → {hint}\n", "dim"
    if not any(sections.values()):
        yield "Nothing needs curation."


def explain_decay(project: Project) -> Result:
    """Say of every active learning how it stands to decay."""
    examined = [one for one in examine_all(project) if one.learning.status is LearningStatus.ACTIVE]
    rows: list[dict[str, Any]] = []
    lines: list[Line] = []
    for one in examined:
        learning, found = one.learning, one.assessment
        decay = decay_document(found)
        rows.append({"id": learning.id, "summary": learning.summary, "decay": decay})
        lines.append(line(f"{shown_name(learning.id)}  ", Foreign(learning.summary)))
        lines.append(f"    {found.state.value}: {found.explanation}")
    ids = [one.learning.id for one in examined]
    return Result(document={"explained": rows}, lines=lines or ["No learnings yet."], ids=ids)
