"""What grove costs in a project: what agents are shown and asked for, stops, and hooks' time."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any, Final

from grove_core.model.hook import HookEvent, HookInput
from grove_core.model.session import EventType, Session
from grove_core.model.statistics import WeekStats
from grove_core.project import Project
from grove_core.quotation import shown_name
from grove_core.report.sections import CHARACTERS_PER_TOKEN, Section
from grove_core.services.explain import Retrieval, retrievals_of
from grove_core.services.messages import block_reason
from grove_core.services.overview import sessions_here
from grove_core.services.sessions import new_session
from grove_core.text import counted

_MOST_SESSIONS: Final = 10
_MOST_WEEKS: Final = 12
_LONGEST_ID: Final = 36
_ESTIMATED: Final = (
    "Characters are estimated from the learnings' texts as they are now, those of sessions were"
    f" counted; {CHARACTERS_PER_TOKEN} make a token. Hooks' time is the processor time of starts"
    " and prompts in these sessions; that of tool calls and stops is not recorded."
)


def cost_document(project: Project) -> dict[str, Any]:
    """Add up what is recorded, by week and for the latest sessions on this machine."""
    statistics = project.statistics()
    usage, settings = statistics.usage, project.config.retrieval
    showing = usage.characters / usage.surfaced if usage.surfaced else 0
    call = HookInput(event=HookEvent.STOP, session_id="0" * _LONGEST_ID)
    stop = len(block_reason(new_session(project, call), project.policy.max_blocks))
    weeks = [_week(one, showing, stop) for one in statistics.weeks[-_MOST_WEEKS:]]
    sessions = sessions_here(project)[:_MOST_SESSIONS]
    logs = [retrievals_of(project.paths.cache, one.id) for one in sessions]
    return {
        "showings": usage.surfaced,
        "shown": _size(usage.characters),
        "stops": statistics.gate.blocks,
        "asked": _size(statistics.gate.blocks * stop),
        "candidates": statistics.write_gate.passed.total,
        "refused": statistics.write_gate.passed.total - statistics.write_gate.passed.count,
        "limits": {
            "max_chars": settings.max_chars,
            "max_injections": settings.max_injections,
            "max_per_prompt": settings.max_per_prompt,
        },
        "hooks": dict(_times([one for log in logs for one in log])),
        "weeks": [one for one in weeks if one["showings"] or one["stops"] or one["refused"]],
        "sessions": [_session(*one) for one in zip(sessions, logs, strict=True)],
    }


def _size(characters: float) -> dict[str, int]:
    whole = round(characters)
    return {"characters": whole, "tokens": whole // CHARACTERS_PER_TOKEN}


def _week(week: WeekStats, showing: float, stop: int) -> dict[str, Any]:
    return {
        "start": week.start.isoformat(),
        "showings": week.hits.total,
        "shown": _size(week.hits.total * showing),
        "stops": week.blocks,
        "asked": _size(week.blocks * stop),
        "refused": week.candidates - week.accepted,
    }


def _session(session: Session, log: Sequence[Retrieval]) -> dict[str, Any]:
    happened = [one.event_type for one in session.trace.events]
    return {
        "id": session.id,
        "started_at": session.created_at,
        "showings": len(session.injected),
        "shown": _size(sum(one.characters for one in log)),
        "stops": happened.count(EventType.GATE_BLOCKED),
        "refused": happened.count(EventType.REFLECTION_REFUSED),
        "milliseconds": round(sum(one.milliseconds for one in log)),
    }


def _times(log: Sequence[Retrieval]) -> Iterator[tuple[str, dict[str, int]]]:
    for via in dict.fromkeys(one.via for one in log):
        times = [one.milliseconds for one in log if one.via == via and one.milliseconds]
        if times:
            numbers = {"calls": len(times), "median_ms": round(median(times))}
            yield via, {**numbers, "longest_ms": round(max(times))}


def cost_sections(document: Mapping[str, Any]) -> list[Section]:
    """Say what it costs."""
    rows = []
    if document["showings"]:
        shown = counted(document["showings"], "showing")
        rows.append(("Shown", f"{_tokens(document['shown'])} in {shown}"))
    if document["stops"]:
        stops = counted(document["stops"], "stop")
        rows.append(("Asked for", f"{_tokens(document['asked'])} in {stops}"))
    if document["candidates"]:
        many = counted(document["candidates"], "candidate")
        rows.append(("Written", f"{many}, {document['refused']:,} of them refused"))
    for via, times in document["hooks"].items():
        said = f"{times['median_ms']} ms in the middle, {times['longest_ms']} ms at most"
        rows.append((f"Hook: {via}", f"{said}, of {counted(times['calls'], 'call')}"))
    limits = document["limits"]
    most = f"{limits['max_chars']:,} characters a start or prompt (retrieval.max_chars)"
    rows.append(("At most", most))
    numbers = (">showings", ">tokens shown", ">stops", ">tokens asked", ">refused")
    weeks = [
        (one["start"], *_numbers(one), f"{one['asked']['tokens']:,}", f"{one['refused']:,}")
        for one in document["weeks"]
    ]
    sessions = [
        (
            shown_name(one["id"]),
            *_numbers(one),
            f"{one['refused']:,}",
            f"{one['milliseconds']:,}",
        )
        for one in document["sessions"]
    ]
    by_session = ("session", *numbers[:3], ">refused", ">ms")
    found = [
        Section(columns=("", ""), rows=rows),
        Section("By week", columns=("week of", *numbers), rows=weeks),
        Section("Latest sessions here", columns=by_session, rows=sessions),
    ]
    return [*(one for one in found if one.rows), Section(notes=[_ESTIMATED])]


def _tokens(size: Mapping[str, int]) -> str:
    return f"about {size['tokens']:,} tokens, {size['characters']:,} characters,"


def _numbers(one: Mapping[str, Any]) -> tuple[str, str, str]:
    return f"{one['showings']:,}", f"{one['shown']['tokens']:,}", f"{one['stops']:,}"
