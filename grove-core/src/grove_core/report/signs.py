"""Signs for terminals: sparklines, bars, arrows, and what stands for them in plain ASCII."""

from collections.abc import Sequence
from typing import Final

from grove_core.model.statistics import Share
from grove_core.report.words import Trend

WEEKS: Final = 12
"""How many weeks a sparkline shows."""
ARROWS: Final = {Trend.UP: "▲", Trend.DOWN: "▼", Trend.STEADY: "▬", Trend.UNKNOWN: ""}
BAR: Final = "■"
LEADS_TO: Final = "→"
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_NOTHING: Final = "·"
# One sign for one sign, so that columns stay where they are.
_ASCII: Final = str.maketrans("▁▂▃▄▅▆▇█·▲▼▬■→–…─•", "12345678.^v=#>-~-*")


def in_ascii(text: str) -> str:
    """Write grove's own signs with ASCII, for an encoding that has no others."""
    return text.translate(_ASCII)


def spark_of_counts(counts: Sequence[int]) -> str:
    """Draw counts of weeks, the highest of them as high as can be."""
    last = counts[-WEEKS:]
    highest = max(last, default=0)
    signs = [_level(one / highest) if one else _NOTHING for one in last]
    return "".join(signs).rjust(WEEKS, _NOTHING)


def spark_of_rates(shares: Sequence[Share]) -> str:
    """Draw rates of weeks from 0 to 100 %, so that lines compare with each other."""
    signs = [_NOTHING if one.rate is None else _level(one.rate) for one in shares[-WEEKS:]]
    return "".join(signs).rjust(WEEKS, _NOTHING)


def bar_of(count: int, highest: int, width: int) -> str:
    """Draw a count as a bar."""
    return BAR * max(1, round(width * count / highest))


def _level(height: float) -> str:
    return _LEVELS[round(height * (len(_LEVELS) - 1))]
