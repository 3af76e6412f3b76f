"""When each of grove's own insights shows: every threshold in one table."""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Trigger(NamedTuple):
    """When an insight shows."""

    priority: int
    when: str
    limits: Mapping[str, float]

    @property
    def condition(self) -> str:
        """The condition with its numbers, for the documentation."""
        return self.when.format(**self.limits)


TRIGGERS: Final[Mapping[str, Trigger]] = {
    "rubber_stamping": Trigger(
        1,
        "there are at least {learnings} learnings, and more than {share:.0%} of them claim the same"
        " criterion",
        {"learnings": 10, "share": 0.9},
    ),
    "decay_warning": Trigger(
        2,
        "at least one learning will be archived within {days} days",
        {"days": 7},
    ),
    "low_gate_precision": Trigger(
        2,
        "agents were stopped in at least {cycles} gate cycles, and fewer than {rate:.0%} of these"
        " led to an accepted learning",
        {"cycles": 10, "rate": 0.3},
    ),
    "low_hit_category": Trigger(
        2,
        "learnings of a category were shown at least {showings} times, and fewer than {rate:.0%}"
        " of the showings were of use",
        {"showings": 10, "rate": 0.3},
    ),
    "over_surfaced": Trigger(
        2,
        "an active learning was shown in at least {showings} sessions, and its uses are at most"
        " {rate:.0%} of its showings; the {most} most shown are named",
        {"showings": 5, "rate": 0.1, "most": 3},
    ),
    "skip_miss": Trigger(
        2,
        "at least {tickets} ticket whose reflection was skipped later produced learnings",
        {"tickets": 1},
    ),
    "stale_top_learning": Trigger(
        2,
        "of the ten most used active learnings, the one with the best record, used in at least"
        " {rate:.0%} of at least {showings} showings, was last used {days} days ago or earlier",
        {"rate": 0.5, "showings": 3, "days": 60},
    ),
    "write_gate_too_loose": Trigger(
        2,
        "of at least {candidates} candidates more than {pass_rate:.0%} were accepted, and of at"
        " least {showings} showings fewer than {hit_rate:.0%} were of use",
        {"candidates": 10, "pass_rate": 0.95, "showings": 10, "hit_rate": 0.3},
    ),
    "write_gate_too_strict": Trigger(
        2,
        "of at least {candidates} candidates fewer than {pass_rate:.0%} were accepted",
        {"candidates": 10, "pass_rate": 0.5},
    ),
    "cross_pollination": Trigger(
        3,
        "learnings were used for at least {uses} tickets besides the ones they came from, and for"
        " more of them in the last {days} days than in the {days} before",
        {"uses": 3, "days": 30},
    ),
    "high_value_rare": Trigger(
        3,
        "a category has fewer than {learnings} active learnings, and of at least {showings}"
        " showings more than {rate:.0%} were of use",
        {"learnings": 5, "showings": 3, "rate": 0.7},
    ),
    "large_learnings_file": Trigger(
        3,
        "a file with learnings holds more than {kilobytes:,} kB",
        {"kilobytes": 500},
    ),
}
"""Every insight with its condition: the one place where these numbers stand."""
