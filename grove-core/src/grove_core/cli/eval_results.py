"""What ``grove eval`` has found, for programs and for people."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from grove_core.evaluation.collection import DAY, Collection
from grove_core.evaluation.noise import PairNoise, together
from grove_core.evaluation.schedule import FEWEST_CANDIDATES, Schedule
from grove_core.evaluation.summary import (
    Difference,
    EngineSummary,
    Estimate,
    Injection,
    Summary,
)
from grove_core.model.statistics import Share
from grove_core.report.words import counted

if TYPE_CHECKING:
    from rich.console import Console

_PRINTED: Final = ("recall@5", "precision@5", "mrr@10", "ndcg@10")
_QUERIES: Final = ("query", "queries")
_DIGITS: Final = 6
_MOST_PAIRS: Final = 10
_INJECTION_COLUMNS: Final = (
    "moderate, at most 5",
    "injects something [95 %]",
    "relevant of injected",
    "recall",
    "silent without an answer [95 %]",
)


@frozen(kw_only=True)
class RunReport:
    """What ``grove eval run`` has found.

    Attributes:
        collection: What was asked.
        schedule: What of it was asked.
        summary: How the engines have done.
    """

    collection: Collection
    schedule: Schedule
    summary: Summary

    def document(self) -> dict[str, Any]:
        """Say it for ``--json``."""
        rules, judgments = self.collection.rules, self.collection.judgments
        return {
            "collection": self.collection.name,
            "queries": self.schedule.answerable,
            "learnings": len(self.collection.learnings),
            "scope": rules.scope,
            "embargo_days": rules.embargo / DAY,
            "skipped": {
                "few_candidates": self.schedule.too_few_candidates,
                "nothing_relevant": self._unanswerable,
                "judgments_of_unknown_queries": judgments.unknown_queries,
                "judgments_of_unknown_learnings": judgments.unknown_learnings,
            },
            "engines": {one.name: _engine_document(one) for one in self.summary.engines},
            "differences": [
                {
                    "engine": one.engine,
                    "reference": one.reference,
                    **_estimates_document(one.measures),
                }
                for one in self.summary.differences
            ],
        }

    def print(self, console: "Console") -> None:
        """Say it to people."""
        _print_lines(console, self._heading())
        _print_table(
            console,
            ("", *(f"{name} [95 %]" for name in _PRINTED), "ms"),
            [
                (
                    one.name,
                    *(_value(one.measures[name]) for name in _PRINTED),
                    f"{one.milliseconds:.1f}",
                )
                for one in self.summary.engines
            ],
        )
        if self.summary.differences:
            _print_table(
                console,
                ("on the same queries", *_PRINTED),
                [_difference_row(one) for one in self.summary.differences],
            )
        injections = [one for one in self.summary.engines if one.injection is not None]
        if injections:
            _print_table(console, _INJECTION_COLUMNS, [_injection_row(one) for one in injections])

    @property
    def _unanswerable(self) -> int:
        return self.schedule.steps - self.schedule.answerable

    def _heading(self) -> Iterable[str]:
        rules = self.collection.rules
        count = counted(self.schedule.answerable, *_QUERIES)
        learnings = counted(len(self.collection.learnings), "learning")
        scope = "the query's own project" if rules.scope.value == "project" else "all projects"
        embargo = f", embargo {rules.embargo / DAY:g} d" if rules.embargo else ""
        yield f"{self.collection.name}: {count}, {learnings}; asked against {scope}{embargo}"
        if self.schedule.too_few_candidates:
            left_out = counted(self.schedule.too_few_candidates, *_QUERIES)
            yield f"{left_out} with fewer than {FEWEST_CANDIDATES} candidates left out"
        if self._unanswerable:
            unanswerable = counted(self._unanswerable, *_QUERIES)
            yield f"{unanswerable} without a relevant candidate, asked for silence only"


@frozen(kw_only=True)
class EngineNoise:
    """What an engine injects of other projects.

    Attributes:
        name: Its name.
        pairs: What it injects, by pair of projects.
        own: What it injects of queries' own projects; ``None`` without judgments.
    """

    name: str
    pairs: Sequence[PairNoise]
    own: Injection | None


@frozen(kw_only=True)
class NoiseReport:
    """What ``grove eval noise`` has found.

    Attributes:
        collection: The name of the collection.
        queries: How many queries were asked.
        projects: The titles of the projects that they were asked against.
        engines: What each engine injects.
    """

    collection: str
    queries: int
    projects: Sequence[str]
    engines: Sequence[EngineNoise]

    def document(self) -> dict[str, Any]:
        """Say it for ``--json``."""
        return {
            "collection": self.collection,
            "queries": self.queries,
            "projects": list(self.projects),
            "engines": {
                one.name: {
                    **_share_document(together(one.pairs)),
                    "pairs": [
                        {
                            "queries_of": pair.queries_of,
                            "learnings_of": pair.learnings_of,
                            **_share_document(pair.injected),
                        }
                        for pair in one.pairs
                    ],
                    "own_project": None if one.own is None else _share_document(one.own.answered),
                }
                for one in self.engines
            },
        }

    def print(self, console: "Console") -> None:
        """Say it to people."""
        projects = counted(len(self.projects), "project")
        asked = counted(self.queries, *_QUERIES)
        _print_lines(console, [f"{self.collection}: {asked} against {projects}, not their own"])
        judged = any(one.own is not None for one in self.engines)
        _print_table(
            console,
            ("", "injects something [95 %]", *(["of the own project"] if judged else [])),
            [
                (
                    one.name,
                    _share(together(one.pairs)),
                    *([_share(one.own.answered)] if one.own is not None else []),
                )
                for one in self.engines
            ],
        )
        for one in self.engines:
            self._print_pairs(one, console)

    @staticmethod
    def _print_pairs(engine: EngineNoise, console: "Console") -> None:
        """Show where the noise is, the worst pairs first."""
        loud = [one for one in engine.pairs if one.injected.count]
        loud.sort(key=lambda one: -(one.injected.rate or 0.0))
        if not loud:
            return
        _print_table(
            console,
            (f"{engine.name}: queries of", "learnings of", "injects something [95 %]"),
            [
                (one.queries_of, one.learnings_of, _share(one.injected))
                for one in loud[:_MOST_PAIRS]
            ],
        )
        if len(loud) > _MOST_PAIRS:
            _print_lines(console, [f"… and {len(loud) - _MOST_PAIRS} more: --json"])


def _injection_row(one: EngineSummary) -> Sequence[str]:
    found = one.injection
    assert found is not None, "asked of those that inject only"
    return (
        one.name,
        _share(found.answered),
        _share(found.relevant, interval=False),
        f"{found.recall:.3f}",
        _share(found.silent),
    )


def _difference_row(one: Difference) -> Sequence[str]:
    return (
        f"{one.engine} - {one.reference}",
        *(_value(one.measures[name], signed=True) for name in _PRINTED),
    )


def _value(estimate: Estimate, *, signed: bool = False) -> str:
    sign = "+" if signed else ""
    low, high = f"{estimate.low:{sign}.3f}", f"{estimate.high:{sign}.3f}"
    return f"{estimate.value:{sign}.3f} [{low}, {high}]"


def _share(share: Share, *, interval: bool = True) -> str:
    if share.rate is None or share.interval is None:
        return "–"
    low, high = share.interval
    ends = f" [{100 * low:.1f}, {100 * high:.1f}]" if interval else ""
    return f"{share.count:,} of {share.total:,}, {100 * share.rate:.1f} %{ends}"


def _engine_document(one: EngineSummary) -> dict[str, Any]:
    injection = one.injection
    return {
        **_estimates_document(one.measures),
        "ms_per_query": round(one.milliseconds, 3),
        "injected": injection and _injected_document(injection),
        "abstention": injection and _share_document(injection.silent, counts="silent"),
    }


def _injected_document(injection: Injection) -> dict[str, Any]:
    relevant = injection.relevant
    return {
        **_share_document(injection.answered),
        "learnings": relevant.total,
        "precision": None if relevant.rate is None else round(relevant.rate, _DIGITS),
        "recall": round(injection.recall, _DIGITS),
    }


def _estimates_document(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {
        **{name: round(one.value, _DIGITS) for name, one in estimates.items()},
        "ci": {
            name: [round(one.low, _DIGITS), round(one.high, _DIGITS)]
            for name, one in estimates.items()
        },
    }


def _share_document(share: Share, *, counts: str = "injected") -> dict[str, Any]:
    ends = share.interval
    return {
        "queries": share.total,
        counts: share.count,
        "share": None if share.rate is None else round(share.rate, _DIGITS),
        "ci": None if ends is None else [round(end, _DIGITS) for end in ends],
    }


def _print_lines(console: "Console", lines: Iterable[str]) -> None:
    for line in lines:
        console.print(line)


def _print_table(console: "Console", titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns that are as wide as they need to be, below an empty line."""
    from rich.text import Text

    widths = [max(map(len, column)) for column in zip(titles, *rows, strict=False)]
    console.print()
    console.print(Text(_row(titles, widths), style="dim"))
    for row in rows:
        console.print(Text(_row(row, widths)))


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (f"{cell:<{width}}" for cell, width in zip(cells, widths, strict=False))
    return "  ".join(padded).rstrip()
