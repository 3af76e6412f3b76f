"""What ``grove stats`` and the page say of the numbers: sections of plain text."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from grove_core.model.learning import Share
from grove_core.model.statistics import GroupStats, Insight, Statistics
from grove_core.quotation import shown_name
from grove_core.report.text import (
    WEEKS,
    by_size,
    day_of,
    fault_of,
    in_days,
    named_counts,
    rate_of,
    share_of,
    spark_of_counts,
    spark_of_rates,
    summary_of,
    travels_of,
    trend_of,
)
from grove_core.text import counted

_SHOWN: Final = 5
_INSIGHTS_SHOWN: Final = 6
_EVERYTHING: Final = "grove stats --json"
_INTERVALS: Final = "In brackets: where the real rate may well lie, judged from so few (95 %)."
CHARACTERS_PER_TOKEN: Final = 4
"""A rule of thumb for English and code; each model counts in its own way."""


class Item(NamedTuple):
    """A text of its own, with what is said of it; of a learning also its id."""

    text: str
    about: str
    learning_id: str = ""


class Section(NamedTuple):
    """A heading with what stands below it."""

    title: str = ""
    notes: Sequence[str] = ()
    columns: Sequence[str] = ()
    """Titles; one that begins with ``>`` is of numbers, which stand to the right."""
    rows: Sequence[Sequence[str]] = ()
    items: Sequence[Item] = ()
    more: str = ""


def sections(statistics: Statistics, insights: Sequence[Insight]) -> list[Section]:
    """Say what there is to say, the most important first."""
    made = (
        _summary(statistics),
        _categories(statistics.categories),
        _most_valuable(statistics),
        _other_tickets(statistics),
        _going_stale(statistics),
        _write_gate(statistics),
        _skips(statistics),
        _gate(statistics),
        _insights(insights),
        _log(statistics),
    )
    found = [one for one in made if one.notes or one.rows or one.items]
    return [*found, Section(notes=[_INTERVALS])] if found else []


def _summary(statistics: Statistics) -> Section:
    weeks, reflections = statistics.weeks, statistics.reflections
    rows: list[Sequence[str]] = []
    if statistics.learnings:
        rows.append(("Learnings", named_counts(statistics.by_status), ""))
    if (hits := statistics.usage.hits).total:
        used = f"{counted(hits.count, 'time')} in {counted(hits.total, 'showing')}, {rate_of(hits)}"
        rows.append(("Used", used, spark_of_rates([one.hits for one in weeks])))
    if reflections.candidates:
        accepted = Share(reflections.accepted, reflections.candidates)
        candidates = "candidate accepted" if accepted.total == 1 else "candidates accepted"
        said = f"{reflections.completed:,}, {share_of(accepted, candidates)}"
        rows.append(("Reflections", said, spark_of_counts([one.reflections for one in weeks])))
    if statistics.skips.total:
        said = f"{statistics.skips.total:,}: {named_counts(statistics.skips.by_decider)}"
        rows.append(("Skips", said, spark_of_counts([one.skips for one in weeks])))
    if characters := statistics.usage.characters:
        tokens = characters // CHARACTERS_PER_TOKEN
        rows.append(("Cost", f"about {tokens:,} tokens shown to agents; see grove cost", ""))
    return Section(columns=("", "", f"{WEEKS} weeks"), rows=rows)


def _categories(groups: Sequence[GroupStats]) -> Section:
    rows = []
    for group in sorted(groups, key=lambda one: (-one.hits.total, one.name)):
        trend = trend_of(group.recent, group.before)
        numbers = (f"{group.active:,}", _plain_share(group.hits), rate_of(group.hits))
        recent = f"{_plain_share(group.recent)} {trend or ' '}"
        rows.append((group.name, *numbers, spark_of_rates(group.weeks), recent))
    columns = ("", ">active", ">used", ">rate", f"{WEEKS} weeks", ">30 days")
    said = "used: of showings; 30 days: the same, and ▲ or ▼ against the 30 before"
    return Section("By category", columns=columns, rows=rows, more=said if rows else "")


def _plain_share(share: Share) -> str:
    return f"{share.count:,} of {share.total:,}" if share.total else ""


def _most_valuable(statistics: Statistics) -> Section:
    items = []
    for one in statistics.top[:_SHOWN]:
        # Found by a search, it is used without being shown.
        said = f"used {counted(one.referenced, 'time')}"
        if one.hits.total:
            said = f"used {one.referenced:,} of {one.hits.total:,}, {rate_of(one.hits)}"
        said += f", for {counted(one.tickets, 'ticket')}" if one.tickets else ""
        items.append(Item(summary_of(one.summary), said, one.learning_id))
    return Section("Most valuable", items=items, more=_more(len(statistics.top), _SHOWN))


def _other_tickets(statistics: Statistics) -> Section:
    learnings = statistics.cross_pollination
    return Section(
        "Used for other tickets",
        notes=[f"{counted(statistics.edges.total, 'time')} in all"] if learnings else [],
        items=[
            Item(summary_of(one.summary), travels_of(one), one.learning_id)
            for one in learnings[:_SHOWN]
        ],
        more=_more(len(learnings), _SHOWN),
    )


def _going_stale(statistics: Statistics) -> Section:
    items = [
        Item(
            summary_of(one.summary),
            f"last seen {day_of(one.last_verified)}, archived {in_days(one.days_left)}",
            one.learning_id,
        )
        for one in statistics.going_stale[:_SHOWN]
    ]
    more = _more(statistics.going_stale_count, len(items), "grove list --stale")
    return Section("Going stale", items=items, more=more)


def _write_gate(statistics: Statistics) -> Section:
    gate, notes = statistics.write_gate, []
    if refused := [
        f"{count:,} {shown_name(name)}" for name, count in by_size(gate.rejected_by_stage)
    ]:
        notes.append(f"Refused by {', '.join(refused)}.")
    if gate.misses:
        misses = counted(len(gate.misses), "candidate was", "candidates were")
        notes.append(f"{misses} refused and written later all the same:")
    items = [
        Item(
            summary_of(one.summary),
            f"refused {day_of(one.rejected_at)}, written {day_of(one.accepted_at)}",
            one.learning_id,
        )
        for one in gate.misses[:_SHOWN]
    ]
    return Section("Write gate", notes, items=items, more=_more(len(gate.misses), _SHOWN))


def _skips(statistics: Statistics) -> Section:
    skips = statistics.skips
    items = [
        Item(
            shown_name(one.ticket_id),
            f"skipped {day_of(one.skipped_at)}, learnings accepted {day_of(one.accepted_at)}",
        )
        for one in skips.misses[:_SHOWN]
    ]
    said = f"{share_of(skips.tickets, 'skipped tickets taught something later')}:"
    notes, more = [said] if items else [], _more(skips.tickets.count, len(items))
    return Section("Skips", notes, items=items, more=more if items else "")


def _gate(statistics: Statistics) -> Section:
    gate, notes = statistics.gate, []
    if cycles := sum(gate.by_outcome.values()):
        notes.append(f"{counted(cycles, 'finished cycle')}: {named_counts(gate.by_outcome)}.")
    if gate.precision.total:
        notes.append(
            f"Stopping the agent led to an accepted learning in {share_of(gate.precision)}."
        )
    for name, outcomes in gate.of_plugins.items():
        said = ", ".join(f"{outcome} {share_of(one)}" for outcome, one in outcomes.items())
        notes.append(f"Gate {summary_of(name)}: {summary_of(said)}.")
    return Section("Gate", notes)


def _insights(insights: Sequence[Insight]) -> Section:
    items = [
        Item(summary_of(one.message), f"→ {summary_of(one.suggestion)}")
        for one in insights[:_INSIGHTS_SHOWN]
    ]
    return Section("What to look at", items=items, more=_more(len(insights), _INSIGHTS_SHOWN))


def _log(statistics: Statistics) -> Section:
    notes = [fault_of(fault) for fault in statistics.log.faults[:_SHOWN]]
    if notes:
        notes.append("Everything else counts. grove doctor names each line.")
    if not statistics.log.complete:
        notes.append("The log was not read to its end in time; call again.")
    return Section("Event log", notes)


def _more(total: int, shown: int, where: str = _EVERYTHING) -> str:
    """Say how many more there are, and where."""
    return f"… and {total - shown:,} more: {where}" if total > shown else ""
