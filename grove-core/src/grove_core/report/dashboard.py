"""The dashboard of ``grove stats``: sections from top to bottom, each left out when it is empty."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from grove_core.model.statistics import GroupStats, Insight, Statistics
from grove_core.model.usage import Share
from grove_core.report.text import (
    ARROWS,
    FEW,
    WEEKS,
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
    spark_of_counts,
    spark_of_rates,
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
_LONGEST_ID: Final = 20
_EVERYTHING: Final = "grove stats --json"
_TREND_STYLES: Final = {Trend.UP: "green", Trend.DOWN: "red"}
_URGENCY: Final = {1: ("!", "bold red"), 2: ("•", "yellow"), 3: ("•", "green")}

Parts = Iterator[RenderableType]


def print_dashboard(
    statistics: Statistics, insights: Sequence[Insight], title: str, console: Console
) -> None:
    """Print the numbers for a person."""
    width = min(console.width, _WIDEST) if console.is_terminal else _PIPED_WIDTH
    with console.capture() as capture:
        for part in _dashboard(statistics, insights, title, is_terminal=console.is_terminal):
            console.print(part, soft_wrap=False, width=width)
    lines = capture.get().splitlines()
    text = "\n".join(line if console.is_terminal else line.rstrip() for line in lines)
    console.file.write(f"{text}\n")


def _dashboard(
    statistics: Statistics, insights: Sequence[Insight], title: str, *, is_terminal: bool
) -> Parts:
    if statistics.learnings or statistics.log.events:
        yield Text.assemble((title, "bold"), (f"  {period_of(statistics)}", "dim"))
    elif statistics.since is not None:
        yield f"Nothing has happened since {day_of(statistics.since)}."
        yield "Without --since, grove stats counts everything."
    else:
        yield "No numbers yet: they come with the first learning that is written or shown."
        yield "When a ticket closes, grove asks what it taught; grove status shows the gate."
    yield from _summary(statistics)
    for heading, parts in (
        ("By category", _categories(statistics.categories, is_terminal=is_terminal)),
        ("Most valuable", _most_valuable(statistics)),
        ("Cross-pollination", _cross_pollination(statistics)),
        ("Going stale", _going_stale(statistics)),
        ("Write gate", _write_gate(statistics)),
        ("Skips", _skips(statistics)),
        ("Gate", _gate(statistics)),
        ("Insights", _insights(insights)),
        ("Event log", _log(statistics)),
    ):
        if found := list(parts):
            yield ""
            rule = Rule(Text(heading, style="bold green"), align="left", style="dim")
            yield rule if is_terminal else heading
            yield from found


def _summary(statistics: Statistics) -> Parts:
    weeks, reflections = statistics.weeks, statistics.reflections
    rows: list[tuple[str, str, str]] = []
    if statistics.learnings:
        rows.append(("Learnings", named_counts(statistics.by_status), ""))
    if (hits := statistics.usage.hits).total:
        used = f"{counted(hits.count, 'time')} in {counted(hits.total, 'showing')}, {rate_of(hits)}"
        rows.append(("Used", used, spark_of_rates([one.hits for one in weeks])))
    if reflections.submissions:
        accepted = Share(reflections.accepted, reflections.candidates)
        said = f"{reflections.submissions:,}, {share_of(accepted, 'candidates accepted')}"
        rows.append(("Reflections", said, spark_of_counts([one.reflections for one in weeks])))
    if statistics.skips.total:
        said = f"{statistics.skips.total:,}: {named_counts(statistics.skips.by_decider)}"
        rows.append(("Skips", said, spark_of_counts([one.skips for one in weeks])))
    if rows:
        table = _table(header=True)
        table.add_column("", style="bold")
        table.add_column("", ratio=1)
        _add_column(table, f"{WEEKS} weeks", style="green")
        for row in rows:
            table.add_row(*row)
        yield table


def _categories(groups: Sequence[GroupStats], *, is_terminal: bool) -> Parts:
    if not groups:
        return
    table = _table(header=True)
    _add_column(table, fills=True)
    for title in ("active", "used of shown"):
        _add_column(table, title, right=True)
    _add_column(table, "rate", right=True, style="bold")
    _add_column(table, right=True, style="dim")
    _add_column(table, f"{WEEKS} weeks", style="green")
    _add_column(table, "30 days", right=True)
    for group in sorted(groups, key=lambda one: (-one.hits.total, one.name)):
        share, trend = group.hits, trend_of(group.recent, group.before)
        few = share.interval is not None and share.total < FEW
        recent = Text(_plain_share(group.recent))
        sign = ARROWS[trend] if is_terminal else trend.value
        recent.append(f" {sign or ' '}", style=_TREND_STYLES.get(trend, "dim"))
        table.add_row(
            group.name,
            f"{group.active:,}",
            _plain_share(share),
            _rate(share),
            interval_of(*share.interval) if share.interval and few else "",
            spark_of_rates(group.weeks),
            recent,
        )
    yield table
    yield Text("30 days: used of shown, compared with the 30 days before", style="dim")


def _plain_share(share: Share) -> str:
    return f"{share.count:,} of {share.total:,}" if share.total else ""


def _rate(share: Share) -> str:
    return "" if share.rate is None else percent(share.rate)


def _most_valuable(statistics: Statistics) -> Parts:
    best = statistics.top
    if not best:
        return
    table = _learnings_table()
    _add_column(table, "used of shown", right=True)
    _add_column(table, "rate", right=True, style="bold")
    _add_column(table, "tickets", right=True)
    for one in best[:_SHOWN]:
        hits, used = one.stats.hits, one.stats.referenced
        # Found by a search, it is used without being shown.
        said = f"{used:,} of {hits.total:,}" if hits.total else f"{used:,}"
        tickets = f"{one.stats.referencing_tickets:,}"
        table.add_row(one.learning_id, Text(summary_of(one.summary)), said, _rate(hits), tickets)
    yield table
    yield from _more(len(best), _SHOWN, _EVERYTHING)


def _cross_pollination(statistics: Statistics) -> Parts:
    learnings = statistics.cross_pollination
    if not learnings:
        return
    uses = counted(statistics.edges.total, "time")
    yield Text(f"Learnings were used {uses} for another ticket than the one they came from.")
    table = _learnings_table(header=False)
    for one in learnings[:_EDGES_SHOWN]:
        table.add_row(one.learning_id, Text(summary_of(one.summary)))
        table.add_row("", Text(travels_of(one), style="dim"))
    yield table
    yield from _more(len(learnings), _EDGES_SHOWN, _EVERYTHING)


def _going_stale(statistics: Statistics) -> Parts:
    stale = statistics.going_stale
    if not stale:
        return
    table = _learnings_table()
    _add_column(table, "last seen", right=True, style="dim")
    _add_column(table, "archived", right=True, style="yellow")
    for one in stale[:_SHOWN]:
        seen, due = day_of(one.last_verified), in_days(one.days_left)
        table.add_row(one.learning_id, Text(summary_of(one.summary)), seen, due)
    yield table
    yield from _more(statistics.going_stale_count, min(_SHOWN, len(stale)), "grove list --stale")


def _write_gate(statistics: Statistics) -> Parts:
    gate, refused = statistics.write_gate, by_size(statistics.write_gate.rejected_by_stage)
    if gate.passed.total:
        yield Text(f"{share_of(gate.passed, 'candidates accepted')}.")
    if refused:
        table = _table()
        _add_column(table)
        _add_column(table, right=True)
        _add_column(table, fills=True, style="red")
        for name, count in refused:
            bar = "■" * max(1, round(_BAR_WIDTH * count / refused[0][1]))
            table.add_row(f"  refused by {name}", f"{count:,}", bar)
        yield table
    if gate.misses:
        misses = counted(len(gate.misses), "candidate was", "candidates were")
        yield Text(f"{misses} refused and written later all the same:")
    for one in gate.misses[:_SHOWN]:
        when = f"refused {day_of(one.rejected_at)}, written {day_of(one.accepted_at)}"
        yield _example(f"{summary_of(one.summary)} ({when} as {one.learning_id})")
    yield from _more(len(gate.misses), _SHOWN, _EVERYTHING)


def _skips(statistics: Statistics) -> Parts:
    skips = statistics.skips
    if not skips.misses:
        return
    yield Text(f"{share_of(skips.tickets, 'skipped tickets taught something later')}:")
    for one in skips.misses[:_SHOWN]:
        when = f"skipped {day_of(one.skipped_at)}, learnings accepted {day_of(one.accepted_at)}"
        yield _example(f"{summary_of(one.ticket_id)} ({when})")
    yield from _more(skips.tickets.count, min(_SHOWN, len(skips.misses)), _EVERYTHING)


def _gate(statistics: Statistics) -> Parts:
    gate = statistics.gate
    if cycles := sum(gate.by_outcome.values()):
        yield Text(f"{counted(cycles, 'finished cycle')}: {named_counts(gate.by_outcome)}.")
    if gate.precision.total:
        yield Text(f"Stopping the agent led to an accepted learning in {share_of(gate.precision)}.")


def _insights(insights: Sequence[Insight]) -> Parts:
    table = _table()
    table.add_column()
    table.add_column(ratio=1)
    for number, one in enumerate(insights[:_INSIGHTS_SHOWN]):
        sign, style = _URGENCY.get(one.priority, _URGENCY[2])
        if number:
            table.add_row()
        table.add_row(Text(sign, style=style), Text(summary_of(one.message), style="bold"))
        if one.evidence:
            table.add_row("", Text(evidence_of(one.evidence), style="dim"))
        table.add_row(Text("→", style="green"), Text(summary_of(one.suggestion)))
    if insights:
        yield table
    yield from _more(len(insights), _INSIGHTS_SHOWN, _EVERYTHING)


def _log(statistics: Statistics) -> Parts:
    log = statistics.log
    for fault in log.faults[:_SHOWN]:
        yield Text(fault_of(fault), style="yellow")
    if log.faults:
        yield Text("Everything else counts. grove doctor names each line.")
    if not log.complete:
        yield Text("The log was not read to its end in time; call again.", style="yellow")


def _table(*, header: bool = False) -> Table:
    """Make a table without lines."""
    return Table(
        box=None,
        show_header=header,
        header_style="dim",
        padding=(0, 2, 0, 0),
        pad_edge=False,
        expand=True,
    )


def _add_column(
    table: Table, title: str = "", *, right: bool = False, fills: bool = False, style: str = ""
) -> None:
    """Add a column of single lines."""
    table.add_column(
        title,
        justify="right" if right else "left",
        no_wrap=True,
        overflow="ellipsis",
        ratio=1 if fills else None,
        style=style,
    )


def _learnings_table(*, header: bool = True) -> Table:
    """Make a table that begins with ids, which are never cut, and summaries."""
    table = _table(header=header)
    table.add_column("", overflow="fold", max_width=_LONGEST_ID, style="cyan")
    _add_column(table, fills=True)
    return table


def _example(text: str) -> RenderableType:
    return Padding(Text(text, style="yellow"), (0, 0, 0, 2), expand=False)


def _more(total: int, shown: int, where: str) -> Parts:
    """Say how many more there are, and where."""
    if total > shown:
        yield Text(f"… and {total - shown:,} more: {where}", style="dim")
