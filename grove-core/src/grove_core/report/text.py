"""How the report says its numbers: percentages, intervals, trends, dates, faults of logs."""

import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Final

from grove_core.model.learning import Share
from grove_core.model.statistics import CrossPollination, LogFault, Statistics
from grove_core.quotation import shown_name
from grove_core.text import clean_line, counted

_FEW: Final = 100
WEEKS: Final = 12
"""How many weeks are drawn as a line of signs."""
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_NOTHING: Final = "·"
_FEWEST_OF_A_TREND: Final = 5
_LEAST_DIFFERENCE: Final = 0.05
_LONGEST_NAME: Final = 200
_LONGEST_SUMMARY: Final = 500


def percent(rate: float) -> str:
    """Say a rate in whole percents, keeping 0 and 100 for none and all."""
    rounded = round(rate * 100)
    if 0 < rate < 1:
        rounded = min(max(rounded, 1), 99)
    return f"{rounded} %"


def rate_of(share: Share) -> str:
    """Say the rate of a share, which is shown beside its count; of few with its interval."""
    if share.rate is None or share.interval is None:
        return ""
    low, high = share.interval
    interval = f" ({low * 100:.0f}–{high * 100:.0f} %)" if share.total < _FEW else ""
    return f"{percent(share.rate)}{interval}"


def share_of(share: Share, noun: str = "") -> str:
    """Say a share with its rate."""
    words = f"{share.count:,} of {share.total:,}{' ' + noun if noun else ''}"
    return f"{words}, {rate_of(share)}" if share.total else words


def trend_of(recent: Share, before: Share) -> str:
    """Draw whether a rate is above an earlier one; nothing where too little is known."""
    if min(recent.total, before.total) < _FEWEST_OF_A_TREND:
        return ""
    difference = recent.count / recent.total - before.count / before.total
    if abs(difference) < _LEAST_DIFFERENCE:
        return "▬"
    return "▲" if difference > 0 else "▼"


def in_days(days: float) -> str:
    """Say when something that is due on a day is done."""
    whole = math.ceil(days)
    return f"in {counted(whole, 'day')}" if whole > 0 else "now"


def day_of(moment: datetime) -> str:
    """Say a day."""
    return f"{moment:%Y-%m-%d}"


def period_of(statistics: Statistics) -> str:
    """Return what period the numbers are of."""
    since = statistics.since
    start = "all time" if since is None else f"since {day_of(since)}"
    return f"{start}, as of {day_of(statistics.now)}"


def named_counts(counts: Mapping[str, int]) -> str:
    """List counts by name, the highest first."""
    named = [f"{count:,} {shown_name(name)}" for name, count in by_size(counts)]
    return ", ".join(named).replace("_", " ")


def by_size(counts: Mapping[str, int]) -> Sequence[tuple[str, int]]:
    """Sort counts, the highest first."""
    return sorted(
        ((name, count) for name, count in counts.items() if count),
        key=lambda one: (-one[1], one[0]),
    )


def summary_of(text: str) -> str:
    """Make a learning's summary fit to be shown."""
    return clean_line(text, _LONGEST_SUMMARY)


def travels_of(one: CrossPollination) -> str:
    """Say where a learning came from and where it helped."""
    examples = [shown_name(ticket) for ticket in one.examples]
    more = one.tickets - len(examples)
    targets = ", ".join(examples) or counted(one.tickets, "ticket")
    end = f" and {more:,} more" if examples and more > 0 else ""
    return f"from {shown_name(one.origin_ticket)} to {targets}{end}"


def fault_of(fault: LogFault) -> str:
    """Return what is wrong with an event log."""
    said = []
    if fault.unreadable_count:
        said.append(f"{counted(fault.unreadable_count, 'line')} cannot be read")
    if fault.unknown:
        said.append(f"{counted(fault.unknown, 'event')} of a newer grove")
    return f"{clean_line(fault.path, _LONGEST_NAME)}: {', '.join(said)}"


def spark_of_counts(counts: Sequence[int]) -> str:
    """Draw counts of weeks, the highest of them as high as can be."""
    highest = max(counts[-WEEKS:], default=0)
    return _spark(one / highest if one else None for one in counts[-WEEKS:])


def spark_of_rates(shares: Sequence[Share]) -> str:
    """Draw rates of weeks from 0 to 100 %, so that lines compare with each other."""
    return _spark(one.rate for one in shares[-WEEKS:])


def _spark(heights: Iterable[float | None]) -> str:
    top = len(_LEVELS) - 1
    signs = [_NOTHING if one is None else _LEVELS[round(one * top)] for one in heights]
    return "".join(signs).rjust(WEEKS, _NOTHING)
