"""The dashboard of ``grove stats``: sections from top to bottom, each left out when it is empty."""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Column, Table
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


def _lines(title: str = "", *, right: bool = False, fills: bool = False, style: str = "") -> Column:
    """Make a column of single lines."""
    return Column(
        title,
        justify="right" if right else "left",
        no_wrap=True,
        ratio=1 if fills else None,
        style=style,
    )


_SHARE: Final = _lines("used of shown", right=True)
_RATE: Final = _lines("rate", right=True, style="bold")
_SPARK: Final = _lines(f"{WEEKS} weeks", style="green")
# Ids are never cut.
_LEARNING: Final = (
    Column(overflow="fold", max_width=_LONGEST_ID, style="cyan"),
    _lines(fills=True),
)


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
    rows: list[Sequence[str | Text]] = []
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
    columns = (Column(style="bold"), Column(ratio=1), _SPARK)
    yield from _table(columns, rows, header=True)


def _categories(groups: Sequence[GroupStats], *, is_terminal: bool) -> Parts:
    rows: list[Sequence[str | Text]] = []
    for group in sorted(groups, key=lambda one: (-one.hits.total, one.name)):
        share, trend = group.hits, trend_of(group.recent, group.before)
        few = share.interval is not None and share.total < FEW
        recent = Text(_plain_share(group.recent))
        sign = ARROWS[trend] if is_terminal else trend.value
        recent.append(f" {sign or ' '}", style=_TREND_STYLES.get(trend, "dim"))
        interval = interval_of(*share.interval) if share.interval and few else ""
        numbers = (f"{group.active:,}", _plain_share(share), _rate(share), interval)
        rows.append((group.name, *numbers, spark_of_rates(group.weeks), recent))
    columns = (
        _lines(fills=True),
        _lines("active", right=True),
        *(_SHARE, _RATE, _lines(right=True, style="dim"), _SPARK, _lines("30 days", right=True)),
    )
    yield from _table(columns, rows, header=True)
    if groups:
        yield Text("30 days: used of shown, compared with the 30 days before", style="dim")


def _plain_share(share: Share) -> str:
    return f"{share.count:,} of {share.total:,}" if share.total else ""


def _rate(share: Share) -> str:
    return "" if share.rate is None else percent(share.rate)


def _most_valuable(statistics: Statistics) -> Parts:
    rows: list[Sequence[str | Text]] = []
    for one in statistics.top[:_SHOWN]:
        hits, used = one.stats.hits, one.stats.referenced
        # Found by a search, it is used without being shown.
        said = f"{used:,} of {hits.total:,}" if hits.total else f"{used:,}"
        tickets = f"{one.stats.referencing_tickets:,}"
        rows.append((one.learning_id, summary_of(one.summary), said, _rate(hits), tickets))
    columns = (*_LEARNING, _SHARE, _RATE, _lines("tickets", right=True))
    yield from _table(columns, rows, header=True)
    yield from _more(len(statistics.top), _SHOWN, _EVERYTHING)


def _cross_pollination(statistics: Statistics) -> Parts:
    learnings = statistics.cross_pollination
    if learnings:
        uses = counted(statistics.edges.total, "time")
        yield Text(f"Learnings were used {uses} for another ticket than the one they came from.")
    rows: list[Sequence[str | Text]] = []
    for one in learnings[:_EDGES_SHOWN]:
        rows.append((one.learning_id, summary_of(one.summary)))
        rows.append(("", Text(travels_of(one), style="dim")))
    yield from _table(_LEARNING, rows)
    yield from _more(len(learnings), _EDGES_SHOWN, _EVERYTHING)


def _going_stale(statistics: Statistics) -> Parts:
    stale = statistics.going_stale[:_SHOWN]
    columns = (
        *_LEARNING,
        _lines("last seen", right=True, style="dim"),
        _lines("archived", right=True, style="yellow"),
    )
    rows = [
        (
            one.learning_id,
            summary_of(one.summary),
            day_of(one.last_verified),
            in_days(one.days_left),
        )
        for one in stale
    ]
    yield from _table(columns, rows, header=True)
    yield from _more(statistics.going_stale_count, len(stale), "grove list --stale")


def _write_gate(statistics: Statistics) -> Parts:
    gate, refused = statistics.write_gate, by_size(statistics.write_gate.rejected_by_stage)
    if gate.passed.total:
        yield Text(f"{share_of(gate.passed, 'candidates accepted')}.")
    rows = [
        (f"  refused by {name}", f"{count:,}", "■" * max(1, round(_BAR_WIDTH * count / most)))
        for name, count in refused
        for most in (refused[0][1],)
    ]
    yield from _table((_lines(), _lines(right=True), _lines(fills=True, style="red")), rows)
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
    rows: list[Sequence[str | Text]] = []
    for number, one in enumerate(insights[:_INSIGHTS_SHOWN]):
        sign, style = _URGENCY.get(one.priority, _URGENCY[2])
        if number:
            rows.append(())
        rows.append((Text(sign, style=style), Text(summary_of(one.message), style="bold")))
        if one.evidence:
            rows.append(("", Text(evidence_of(one.evidence), style="dim")))
        rows.append((Text("→", style="green"), summary_of(one.suggestion)))
    yield from _table((Column(), Column(ratio=1)), rows)
    yield from _more(len(insights), _INSIGHTS_SHOWN, _EVERYTHING)


def _log(statistics: Statistics) -> Parts:
    log = statistics.log
    for fault in log.faults[:_SHOWN]:
        yield Text(fault_of(fault), style="yellow")
    if log.faults:
        yield Text("Everything else counts. grove doctor names each line.")
    if not log.complete:
        yield Text("The log was not read to its end in time; call again.", style="yellow")


def _table(
    columns: Sequence[Column], rows: Sequence[Sequence[str | Text]], *, header: bool = False
) -> Parts:
    """Make a table without lines; of no rows there is none."""
    table = Table(
        *(one.copy() for one in columns),
        box=None,
        show_header=header,
        header_style="dim",
        padding=(0, 2, 0, 0),
        pad_edge=False,
        expand=True,
    )
    for row in rows:
        # What others have written may look like markup.
        table.add_row(*(Text(one) if isinstance(one, str) else one for one in row))
    if rows:
        yield table


def _example(text: str) -> RenderableType:
    return Padding(Text(text, style="yellow"), (0, 0, 0, 2), expand=False)


def _more(total: int, shown: int, where: str) -> Parts:
    """Say how many more there are, and where."""
    if total > shown:
        yield Text(f"… and {total - shown:,} more: {where}", style="dim")
