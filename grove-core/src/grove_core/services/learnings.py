"""Listing, showing and searching learnings, and what ``--json`` says of one."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from attrs import fields

from grove_core.clock import format_instant
from grove_core.errors import GroveError, LearningNotFoundError
from grove_core.finder import found_learning
from grove_core.injection import FOREIGN
from grove_core.memory.backends import FoundLearning
from grove_core.model.events import (
    Archived,
    Corrected,
    Imported,
    Rated,
    Referenced,
    Rejected,
    Restored,
    StatsEvent,
)
from grove_core.model.learning import (
    Candidate,
    Learning,
    LearningStats,
    LearningStatus,
    Stage,
    about,
)
from grove_core.model.memory import Filters, Query
from grove_core.model.value import frozen
from grove_core.plugins.descriptors import Area
from grove_core.project import Project
from grove_core.quotation import Foreign, shown_name
from grove_core.reflection.pipeline import WITHHELD
from grove_core.retrieval.ranking import Score
from grove_core.retrieval.rules import overlaps
from grove_core.retrieval.terms import learning_of
from grove_core.services.decay import Aging, decay_document, examine, find_events
from grove_core.services.result import Line, Part, Result, line
from grove_core.text import clean_line, counted

SEARCH_LIMIT: Final = 10
_LONGEST: Final = 500
_MOST_NAMED: Final = 5
_SHORTEST_PIECE: Final = 3
_WHOLE_ID: Final = re.compile(r"cl_[0-9]{8}_[a-z2-7]{6}")
_NEVER: Final = datetime.fromtimestamp(0, UTC)
_USAGE: Final = tuple(
    "surfaced referenced dismissed corrected hit_rate last_surfaced last_referenced".split()
)

_Key = Callable[[Aging, LearningStats], float | datetime]

ORDERS: Final[Mapping[str, _Key]] = {
    "created": lambda one, _: one.learning.timestamp,
    "last-used": lambda _, stats: stats.last_referenced or _NEVER,
    "hit-rate": lambda _, stats: -1.0 if stats.hit_rate is None else stats.hit_rate,
    "surfaced": lambda _, stats: stats.surfaced,
}
_SOONEST_DUE: Final[_Key] = lambda one, _: -one.assessment.days_left  # noqa: E731 - as those above


@frozen(kw_only=True)
class Selection:
    """Which learnings are asked for."""

    filters: Filters = Filters()
    paths: tuple[str, ...] = ()
    limit: int | None = None

    def admits(self, learning: Learning) -> bool:
        """Return whether a learning is asked for, the limit aside."""
        return self.filters.admit(learning) and self.names_file(learning)

    def names_file(self, learning: Learning) -> bool:
        """Return whether a learning names one of the files, if any are asked for."""
        files = learning.context_files
        return not self.paths or any(overlaps(file, self.paths) for file in files)


def full_id(project: Project, text: str) -> str:
    """Complete the beginning or the end of an id that one learning alone has."""
    text = text.removesuffix("…")
    if len(text) < _SHORTEST_PIECE or _WHOLE_ID.fullmatch(text):
        return text
    ids = sorted({one.hit.learning.id for one in project.library.iterate()})
    # The beginning of the random part is what lists show after the day.
    size = len(text)
    fitting = [one for one in ids if text in (one[:size], one[-size:], one.split("_")[-1][:size])]
    if text in ids or not fitting:
        return text
    if len(fitting) > 1:
        named = ", ".join(map(shown_name, fitting[:_MOST_NAMED]))
        raise GroveError(f"{text} fits several learnings: {named}")
    return fitting[0]


def learning_document(found: FoundLearning, stats: LearningStats | None) -> dict[str, Any]:
    """Describe a learning for JSON: all its fields, ``backend``, ``complete`` and ``usage``."""
    learning = found.hit.learning
    names = (one.name for one in fields(Learning) if one.name != "schema_version")
    stats = stats or LearningStats(learning.id)
    return {
        **{name: getattr(learning, name) for name in names},
        "backend": found.backend,
        "complete": found.hit.complete,
        "usage": {name: getattr(stats, name) for name in _USAGE},
    }


def learning_lines(
    project: Project, found: FoundLearning, stats: LearningStats | None
) -> list[Line]:
    """Write a learning in two lines, and a third with the files it is about."""
    learning = found.hit.learning
    head: list[Part] = [(shown_name(learning.id), "bold"), (f"  {learning.category.value}", "cyan")]
    head.append((f"  {learning.timestamp:%Y-%m-%d}", "dim"))
    if learning.status is not LearningStatus.ACTIVE:
        head.append((f"  {learning.status.value}", "yellow"))
    if not found.hit.complete:
        head.append((f"  partial, from {found.backend}", "yellow"))
    elif found.area is not Area.PERSONAL and not project.origins.knows(
        learning.id, learning.summary, learning.detail
    ):
        head.append((f"  {FOREIGN}", "dim"))
    if stats is not None and (stats.surfaced or stats.referenced):
        used = f"  shown in {counted(stats.surfaced, 'session')}, used in {stats.referenced}"
        head.append((used, "dim"))
    files = ", ".join(learning.context_files[:3])
    return [
        head,
        line("  ", Foreign(learning.summary)),
        *([line("  ", Foreign(files, "dim"))] if files else []),
    ]


def show_learning(project: Project, learning_id: str) -> Result:
    """Show one learning in full, and what has become of it since."""
    found = project.library.get(learning_id)
    if found is None:
        raise LearningNotFoundError(
            f"no learning has the id {learning_id}; `grove list --all` names those there are"
        )
    usage = project.usage()
    # What others have noted is theirs to put away.
    aging = examine(project, [found], usage)[0].assessment if found.hit.complete else None
    kinds = [Archived, Restored, Imported, Corrected, Referenced, Rated]
    logged = find_events(project, kinds, [learning_id])
    events = [one.event for one in logged if getattr(one.event, "learning_id", "") == learning_id]
    successor = _find_successor(project, found.hit.learning, events)
    stats = usage.get(learning_id)
    facts: list[tuple[str, str | Foreign]] = [
        *facts_of(found),
        ("Superseded by", Foreign(f"{successor.id} {successor.summary}" if successor else "")),
        ("Decay", aging.explanation if aging else ""),
    ]
    return Result(
        document={
            **learning_document(found, stats),
            "decay": decay_document(aging) if aging else None,
            "superseded_by": successor.id if successor else None,
            "history": [
                {"at": one.ts, "event": one.event, "detail": detail_of(one)} for one in events
            ],
        },
        lines=[
            *learning_lines(project, found, stats),
            "",
            Foreign(found.hit.learning.detail),
            "",
            *(line(f"{name}: ", value) for name, value in facts if value not in ("", Foreign(""))),
            *(line(f"{one.ts:%Y-%m-%d}  {one.event}  ", Foreign(detail_of(one))) for one in events),
        ],
        ids=[learning_id],
    )


def facts_of(found: FoundLearning) -> list[tuple[str, str | Foreign]]:
    """Name the fields that are not shown above, and where the learning comes from."""
    learning = found.hit.learning
    names = [one.name for one in fields(Candidate)]
    named = (name for name in names if name not in ("category", "summary", "detail"))
    origin = (("ticket", learning.ticket_id), ("session", learning.session_id))
    return [
        *((about(name).title, _words(getattr(learning, name))) for name in named),
        ("Origin", Foreign(", ".join(f"{name} {value}" for name, value in origin if value))),
        ("Created", format_instant(learning.timestamp)),
        ("Backend", found.backend),
    ]


def _words(value: Any) -> str | Foreign:  # noqa: ANN401 - of any field
    if isinstance(value, frozenset):
        return ", ".join(sorted(one.value for one in value))
    return Foreign(", ".join(value)) if isinstance(value, tuple) else str(value.value)


def _find_successor(
    project: Project, learning: Learning, events: Sequence[StatsEvent]
) -> Learning | None:
    """Find what took a learning's place, as it says itself or as the log says."""
    if learning.status is not LearningStatus.SUPERSEDED:
        return None
    named = {one.superseded_by for one in events if isinstance(one, Corrected)}
    others = (one.hit.learning for one in project.library.iterate())
    return next((one for one in others if one.id in named or learning.id in one.supersedes), None)


def detail_of(event: StatsEvent) -> str:
    """Describe an event; a log comes with a clone, so its texts are cleaned."""
    parts: Sequence[str | None] = ()
    match event:
        case Archived() | Restored() | Imported():
            parts = (event.reason,)
        case Corrected():
            parts = (f"by {event.superseded_by}" if event.superseded_by else "", event.why)
        case Referenced():
            parts = (f"for ticket {event.ticket_id}" if event.ticket_id else "", event.how)
        case Rated():
            parts = ("useful" if event.useful else "not useful",)
    return clean_line(": ".join(part for part in parts if part), _LONGEST)


def list_learnings(
    project: Project, selection: Selection, order: str | None = None, *, stale: bool = False
) -> Result:
    """List learnings with how they have fared, or those that are due soonest."""
    known = list(project.library.iterate())
    kept = [one for one in known if selection.admits(one.hit.learning)]
    usage = {one.hit.learning.id: LearningStats(one.hit.learning.id) for one in kept}
    usage |= project.usage()
    examined = examine(project, kept, usage)
    if stale:
        examined = [one for one in examined if one.assessment.is_stale]
    key = ORDERS[order or "created"] if order or not stale else _SOONEST_DUE
    examined.sort(
        key=lambda one: (key(one, usage[one.learning.id]), one.learning.timestamp), reverse=True
    )
    shown = examined[: selection.limit]
    lines: list[Line] = []
    for one in shown:
        lines += learning_lines(project, one.found, usage[one.learning.id])
        if stale or one.assessment.hidden_since:
            lines.append((f"  {one.assessment.explanation}", "dim"))
    if not known:
        uses = project.files.initialised
        lines.append("No learnings yet." if uses else f"{project.root} does not use grove yet.")
    elif not examined:
        lines.append(f"None fits; {len(known)} in all.")
    elif len(examined) > len(shown):
        lines.append((f"{len(shown)} of {len(examined)} shown.", "dim"))
    return Result(
        document={
            "count": len(shown),
            "total": len(examined),
            "learnings": (  # which takes much of many, and most often nobody wants
                {
                    **learning_document(one.found, usage[one.learning.id]),
                    "decay": decay_document(one.assessment),
                }
                for one in shown
            ),
        },
        lines=lines,
        ids=[one.learning.id for one in shown],
    )


def list_rejected(project: Project, after: datetime | None, limit: int | None) -> Result:
    """List candidates that were refused, newest first."""
    found: list[dict[str, Any]] = []
    for logged in reversed(find_events(project, [Rejected])):
        event = logged.event
        # Of others' refusals only the numbers are published.
        if not isinstance(event, Rejected) or not (event.summary or event.reason):
            continue
        # The digest in the log is the candidate's, and lets nothing pass. A log comes with a clone,
        # so its texts are cleaned.
        is_secret = event.stage == Stage.SECRET.value
        if after is None or event.ts > after:
            found.append(
                {
                    "at": event.ts,
                    "session_id": clean_line(event.session_id, _LONGEST),
                    "summary": WITHHELD if is_secret else clean_line(event.summary, _LONGEST),
                    "tags": [clean_line(tag, _LONGEST) for tag in event.tags],
                    "stage": clean_line(event.stage, _LONGEST),
                    "reason": clean_line(event.reason, _LONGEST),
                    "personal": logged.personal,
                }
            )
    shown = found[:limit]
    lines: list[Line] = []
    for one in shown:
        stage = shown_name(one["stage"]) or "unknown stage"
        lines.append([f"{one['at']:%Y-%m-%d}  {stage}  ", Foreign(one["summary"])])
        lines.append(line("    ", Foreign(one["reason"] or "no reason was recorded", "dim")))
    if not found:
        lines.append("No candidate was refused.")
    elif len(found) > len(shown):
        lines.append((f"{len(shown)} of {counted(len(found), 'refusal')} shown.", "dim"))
    document = {"count": len(shown), "total": len(found), "rejected": shown}
    return Result(document=document, lines=lines)


# --- search ---------------------------------------------------------------------------------------


def search_learnings(
    project: Project, query: Query, selection: Selection, *, explain: bool = False
) -> Result:
    """Search the learnings of a project and the user's own, in all active backends."""
    found = project.finder.search(query, selection.filters, notes=True)
    fitting = [one for one in found if one.score.relevance > 0]
    every = [one for one in fitting if selection.names_file(learning_of(one.entry))]
    ranked = every[: selection.limit or SEARCH_LIMIT]
    ids = [one.entry.id for one in ranked]
    usage = project.usage(ids)
    results: list[dict[str, Any]] = []
    lines: list[Line] = []
    for one in ranked:
        learning, stats = found_learning(one), usage.get(one.entry.id)
        results.append({**learning_document(learning, stats), "score": one.score.rounded()})
        lines += learning_lines(project, learning, stats)
        if explain:
            lines += score_lines(one.score)
    if len(every) > len(ranked):
        lines.append((f"The best {len(ranked)} of {len(every)} that fit; see --limit.", "dim"))
    return Result(
        document={"query": query.text, "count": len(ranked), "results": results},
        lines=lines or ["Nothing fits."],
        ids=ids,
    )


def score_lines(score: Score) -> list[Line]:
    """Say what a score is made of, and what it is for."""
    lines: list[Line] = [(f"  {text}", "dim") for text in score.lines()]
    said = "; ".join(score.reasons)
    return [*lines, line(("  because of ", "dim"), Foreign(said, "dim"))] if said else lines
