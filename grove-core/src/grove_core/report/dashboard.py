"""The dashboard of ``grove stats``: sections from top to bottom, each left out when it is empty."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rich.console import Console, RenderableType
from rich.rule import Rule
from rich.text import Text

from grove_core.model.statistics import GroupStats, Insight, Statistics
from grove_core.model.usage import Share
from grove_core.report.layout import (
    ARROWS,
    LEADS_TO,
    Frame,
    Section,
    add_column,
    add_id_column,
    bar_of,
    grid,
    in_ascii,
    more_of,
    paragraph,
    spark_of_counts,
    spark_of_rates,
)
from grove_core.report.text import (
    FEW,
    Trend,
    by_size,
    day_of,
    evidence_of,
    fault_of,
    in_days,
    interval_of,
    named_counts,
    percent,
    period_of,
    rate_of,
    share_of,
    summary_of,
    travels_of,
    trend_of,
)
from grove_core.text import counted

_PIPED_WIDTH: Final = 80
_WIDEST: Final = 120
_SHOWN: Final = 5
_EDGES_SHOWN: Final = 3
_INSIGHTS_SHOWN: Final = 6
_BAR_WIDTH: Final = 20
_EVERYTHING: Final = "grove stats --json"
_TREND_STYLES: Final = {Trend.UP: "green", Trend.DOWN: "red"}
_URGENCY: Final = {1: ("!", "bold red"), 2: ("•", "yellow"), 3: ("•", "green")}


def print_dashboard(
    statistics: Statistics, insights: Sequence[Insight], title: str, console: Console
) -> None:
    """Print the numbers for a person."""
    width = min(console.width, _WIDEST) if console.is_terminal else _PIPED_WIDTH
    frame = Frame(width=width, is_terminal=console.is_terminal)
    with console.capture() as capture:
        _print_all(statistics, insights, title, frame, console)
    lines = capture.get().splitlines()
    text = "\n".join(line if frame.is_terminal else line.rstrip() for line in lines)
    if not console.encoding.lower().startswith("utf"):
        text = in_ascii(text)
    console.file.write(f"{text}\n")


def _is_empty(statistics: Statistics) -> bool:
    """Return whether there is nothing to show."""
    return not statistics.learnings and not statistics.log.events


def _print_all(
    statistics: Statistics,
    insights: Sequence[Insight],
    title: str,
    frame: Frame,
    console: Console,
) -> None:
    if _is_empty(statistics):
        for line in _nothing_yet(statistics):
            console.print(line, soft_wrap=False, width=frame.width)
    else:
        heading = Text.assemble((title, "bold"), (f"  {period_of(statistics)}", "dim"))
        console.print(heading, soft_wrap=False, width=frame.width)
    for section in _sections(statistics, insights, frame):
        if section.title:
            console.print()
            _print_title(section.title, frame, console)
        for part in section.parts:
            console.print(part, soft_wrap=False, width=frame.width)


def _print_title(title: str, frame: Frame, console: Console) -> None:
    if frame.is_terminal:
        rule = Rule(Text(title, style="bold green"), align="left", style="dim")
        console.print(rule, soft_wrap=False, width=frame.width)
    else:
        console.print(title)


def _nothing_yet(statistics: Statistics) -> Sequence[str]:
    if statistics.since is not None:
        return (
            f"Nothing has happened since {day_of(statistics.since)}.",
            "Without --since, grove stats counts everything.",
        )
    return (
        "No numbers yet: they come with the first learning that is written or shown.",
        "When a ticket closes, grove asks what it taught; grove status shows the gate.",
    )


def _sections(
    statistics: Statistics, insights: Sequence[Insight], frame: Frame
) -> Sequence[Section]:
    """Return the sections that have something to show."""
    found = (
        Section("", [*_summary(statistics, frame)]),
        Section("By category", _categories(statistics.categories, frame)),
        Section("Most valuable", _most_valuable(statistics, frame)),
        Section("Cross-pollination", [*_cross_pollination(statistics)]),
        Section("Going stale", _going_stale(statistics, frame)),
        Section("Write gate", [*_write_gate(statistics)]),
        Section("Skips", [*_skips(statistics)]),
        Section("Gate", [*_gate(statistics)]),
        Section("Insights", [*_insights(insights)]),
        Section("Event log", [*_log(statistics)]),
    )
    return [one for one in found if one.parts]


def _summary(statistics: Statistics, frame: Frame) -> Iterator[RenderableType]:
    table = grid(header=not frame.is_narrow)
    table.add_column("")
    table.add_column("", ratio=1)
    if not frame.is_narrow:
        add_column(table, "12 weeks")
    for label, text, spark in _summary_lines(statistics):
        cells = [Text(label, style="bold"), text]
        table.add_row(*cells if frame.is_narrow else (*cells, Text(spark, style="green")))
    if table.row_count:
        yield table


def _summary_lines(statistics: Statistics) -> Iterator[tuple[str, str, str]]:
    weeks, reflections = statistics.weeks, statistics.reflections
    if statistics.learnings:
        yield "Learnings", named_counts(statistics.by_status), ""
    if statistics.usage.hits.total:
        hits = statistics.usage.hits
        used = f"{counted(hits.count, 'time')} in {counted(hits.total, 'showing')}"
        yield "Used", f"{used}, {rate_of(hits)}", spark_of_rates([one.hits for one in weeks])
    if reflections.submissions:
        accepted = share_of(
            Share(reflections.accepted, reflections.candidates), "candidates accepted"
        )
        said = f"{reflections.submissions:,}, {accepted}"
        yield "Reflections", said, spark_of_counts([one.reflections for one in weeks])
    if statistics.skips.total:
        said = f"{statistics.skips.total:,}: {named_counts(statistics.skips.by_decider)}"
        yield "Skips", said, spark_of_counts([one.skips for one in weeks])


def _categories(groups: Sequence[GroupStats], frame: Frame) -> Sequence[RenderableType]:
    if not groups:
        return []
    table = grid(header=True)
    add_column(table, "", fills=True)
    for title in ("active", "used of shown", "rate"):
        add_column(table, title, right=True)
    add_column(table, "", right=True)
    if not frame.is_narrow:
        add_column(table, "12 weeks")
    add_column(table, "30 days", right=True)
    if frame.is_wide:
        add_column(table, "before", right=True)
    for group in sorted(groups, key=lambda one: (-one.hits.total, one.name)):
        table.add_row(*_category(group, frame))
    legend = "30 days: used of shown, compared with the 30 days before"
    return [table, paragraph(legend, style="dim")]


def _category(group: GroupStats, frame: Frame) -> Iterator[Text]:
    yield Text(group.name)
    yield Text(f"{group.active:,}")
    yield from _share_cells(group.hits)
    if not frame.is_narrow:
        yield Text(spark_of_rates(group.weeks), style="green")
    trend = trend_of(group.recent, group.before)
    sign = ARROWS[trend] if frame.is_terminal else trend.value
    recent = Text(_plain_share(group.recent))
    recent.append(f" {sign or ' '}", style=_TREND_STYLES.get(trend, "dim"))
    yield recent
    if frame.is_wide:
        yield Text(_plain_share(group.before), style="dim")


def _share_cells(share: Share) -> Iterator[Text]:
    """Return a share's counts, its rate, and where there are few its interval."""
    yield Text(_plain_share(share))
    yield Text("" if share.rate is None else percent(share.rate), style="bold")
    few = share.interval is not None and share.total < FEW
    yield Text(interval_of(*share.interval) if share.interval and few else "", style="dim")


def _plain_share(share: Share) -> str:
    return f"{share.count:,} of {share.total:,}" if share.total else ""


def _most_valuable(statistics: Statistics, frame: Frame) -> Sequence[RenderableType]:
    best = statistics.top
    if not best:
        return []
    table = grid(header=True)
    add_id_column(table)
    add_column(table, fills=True)
    add_column(table, "used of shown", right=True)
    if not frame.is_narrow:
        add_column(table, "rate", right=True)
        add_column(table, "tickets", right=True)
    for one in best[:_SHOWN]:
        cells = [
            Text(one.learning_id),
            Text(summary_of(one.summary)),
            _used(one.stats.hits, one.stats.referenced),
        ]
        if not frame.is_narrow:
            rate = one.stats.hit_rate
            cells.append(Text("" if rate is None else percent(rate), style="bold"))
            cells.append(Text(f"{one.stats.referencing_tickets:,}"))
        table.add_row(*cells)
    return [table, *more_of(len(best), min(_SHOWN, len(best)), _EVERYTHING)]


def _used(hits: Share, referenced: int) -> Text:
    """Return how often it was used; found by a search, it is used without being shown."""
    return Text(f"{referenced:,} of {hits.total:,}" if hits.total else f"{referenced:,}")


def _cross_pollination(statistics: Statistics) -> Iterator[RenderableType]:
    learnings = statistics.cross_pollination
    if not learnings:
        return
    uses = counted(statistics.edges.total, "time")
    yield paragraph(f"Learnings were used {uses} for another ticket than the one they came from.")
    table = grid()
    add_id_column(table)
    table.add_column(ratio=1)
    for one in learnings[:_EDGES_SHOWN]:
        line = Text(summary_of(one.summary), no_wrap=True, overflow="ellipsis")
        table.add_row(Text(one.learning_id), line)
        table.add_row("", Text(travels_of(one), style="dim"))
    yield table
    yield from more_of(len(learnings), min(_EDGES_SHOWN, len(learnings)), _EVERYTHING)


def _going_stale(statistics: Statistics, frame: Frame) -> Sequence[RenderableType]:
    stale = statistics.going_stale
    if not stale:
        return []
    table = grid(header=True)
    add_id_column(table)
    add_column(table, fills=True)
    if not frame.is_narrow:
        add_column(table, "last seen", right=True)
    add_column(table, "archived", right=True)
    for one in stale[:_SHOWN]:
        seen = [] if frame.is_narrow else [Text(day_of(one.last_verified), style="dim")]
        due = Text(in_days(one.days_left), style="yellow")
        table.add_row(Text(one.learning_id), Text(summary_of(one.summary)), *seen, due)
    return [
        table,
        *more_of(statistics.going_stale_count, min(_SHOWN, len(stale)), "grove list --stale"),
    ]


def _write_gate(statistics: Statistics) -> Iterator[RenderableType]:
    gate = statistics.write_gate
    if gate.passed.total:
        yield paragraph(f"{share_of(gate.passed, 'candidates accepted')}.")
    yield from _bars(gate.rejected_by_stage)
    if gate.misses:
        misses = counted(len(gate.misses), "candidate was", "candidates were")
        yield paragraph(f"{misses} refused and written later all the same:")
    for one in gate.misses[:_SHOWN]:
        yield paragraph(
            f"{summary_of(one.summary)} (refused {day_of(one.rejected_at)},"
            f" written {day_of(one.accepted_at)} as {one.learning_id})",
            indent=2,
            style="yellow",
        )
    yield from more_of(len(gate.misses), min(_SHOWN, len(gate.misses)), _EVERYTHING)


def _bars(refused: Mapping[str, int]) -> Iterator[RenderableType]:
    sizes = by_size(refused)
    if not sizes:
        return
    table = grid()
    add_column(table)
    add_column(table, right=True)
    add_column(table, fills=True)
    for name, count in sizes:
        bar = Text(bar_of(count, sizes[0][1], _BAR_WIDTH), style="red")
        table.add_row(Text(f"  refused by {name}"), Text(f"{count:,}"), bar)
    yield table


def _skips(statistics: Statistics) -> Iterator[RenderableType]:
    skips = statistics.skips
    if not skips.misses:
        return
    yield paragraph(f"{share_of(skips.tickets, 'skipped tickets taught something later')}:")
    for one in skips.misses[:_SHOWN]:
        yield paragraph(
            f"{summary_of(one.ticket_id)} (skipped {day_of(one.skipped_at)}, learnings accepted"
            f" {day_of(one.accepted_at)})",
            indent=2,
            style="yellow",
        )
    yield from more_of(skips.tickets.count, min(_SHOWN, len(skips.misses)), _EVERYTHING)


def _gate(statistics: Statistics) -> Iterator[RenderableType]:
    gate = statistics.gate
    cycles = sum(gate.by_outcome.values())
    if cycles:
        yield paragraph(f"{counted(cycles, 'finished cycle')}: {named_counts(gate.by_outcome)}.")
    if gate.precision.total:
        yield paragraph(
            f"Stopping the agent led to an accepted learning in {share_of(gate.precision)}."
        )


def _insights(insights: Sequence[Insight]) -> Iterator[RenderableType]:
    table = grid()
    table.add_column()
    table.add_column(ratio=1)
    for number, one in enumerate(insights[:_INSIGHTS_SHOWN]):
        sign, style = _URGENCY.get(one.priority, _URGENCY[2])
        if number:
            table.add_row()
        table.add_row(Text(sign, style=style), Text(summary_of(one.message), style="bold"))
        if one.evidence:
            table.add_row("", Text(evidence_of(one.evidence), style="dim"))
        table.add_row(Text(LEADS_TO, style="green"), Text(summary_of(one.suggestion)))
    if insights:
        yield table
    yield from more_of(len(insights), min(_INSIGHTS_SHOWN, len(insights)), _EVERYTHING)


def _log(statistics: Statistics) -> Iterator[RenderableType]:
    log = statistics.log
    for fault in log.faults[:_SHOWN]:
        yield paragraph(fault_of(fault), style="yellow")
    if log.faults:
        yield paragraph("Everything else counts. grove doctor names each line.")
    if not log.complete:
        yield paragraph("The log was not read to its end in time; call again.", style="yellow")
