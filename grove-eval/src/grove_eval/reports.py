"""What ``grove eval`` has found, as a document for programs and as tables for people."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from grove_core import Share
from grove_core.text import counted
from grove_eval.collection import Collection
from grove_eval.measures import Estimates
from grove_eval.runs import EngineSummary, Injection, Noise, Summary
from grove_eval.schedule import FEWEST_CANDIDATES, Schedule

if TYPE_CHECKING:
    from rich.console import Console

_DIGITS: Final = 6
_PRINTED: Final = ("recall@5", "precision@5", "mrr@10", "ndcg@10")
_INJECTS: Final = "injects something [95 %]"
_MOST_PAIRS: Final = 10


@frozen(kw_only=True)
class RunReport:
    """What ``grove eval run`` has found."""

    collection: Collection
    schedule: Schedule
    summary: Summary

    def document(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        rules, judgments = self.collection.rules, self.collection.judgments
        return {
            "collection": self.collection.name,
            "queries": self.schedule.answerable,
            "learnings": len(self.collection.learnings),
            "scope": rules.scope,
            "embargo_days": rules.embargo / timedelta(days=1),
            "skipped": {
                "few_candidates": self.schedule.too_few_candidates,
                "nothing_relevant": self.schedule.steps - self.schedule.answerable,
                "judgments_of_unknown_queries": judgments.unknown_queries,
                "judgments_of_unknown_learnings": judgments.unknown_learnings,
            },
            "engines": {name: _engine_document(one) for name, one in self.summary.engines.items()},
            "differences": [
                {"engine": engine, "reference": reference, **_estimates_document(measures)}
                for (engine, reference), measures in self.summary.differences.items()
            ],
        }

    def print(self, console: "Console") -> None:
        """Print it for people."""
        self._print_heading(console)
        engines = self.summary.engines.items()
        _print_table(
            console,
            ("", *(f"{name} [95 %]" for name in _PRINTED), "ms"),
            [(name, *_values(one.measures), f"{one.milliseconds:.1f}") for name, one in engines],
        )
        differences = [
            (f"{engine} - {reference}", *_values(measures, sign="+"))
            for (engine, reference), measures in self.summary.differences.items()
        ]
        _print_table(console, ("on the same queries", *_PRINTED), differences)
        silent = "silent without an answer [95 %]"
        _print_table(
            console,
            ("moderate, at most 5", _INJECTS, "relevant of injected", "recall", silent),
            [
                (
                    name,
                    _share(one.injection.answered),
                    _share(one.injection.relevant).partition(" [")[0],
                    f"{one.injection.recall:.3f}",
                    _share(one.injection.silent),
                )
                for name, one in engines
                if one.injection
            ],
        )

    def _print_heading(self, console: "Console") -> None:
        rules, schedule = self.collection.rules, self.schedule
        learnings = counted(len(self.collection.learnings), "learning")
        scope = "the query's own project" if rules.scope.value == "project" else "all projects"
        days = rules.embargo / timedelta(days=1)
        embargo = f", embargo {days:g} d" if days else ""
        asked = f"{counted(schedule.answerable, 'query', 'queries')}, {learnings}"
        console.print(f"{self.collection.name}: {asked}; asked against {scope}{embargo}")
        if few := schedule.too_few_candidates:
            queries = counted(few, "query", "queries")
            console.print(f"{queries} with fewer than {FEWEST_CANDIDATES} candidates left out")
        if silent := schedule.steps - schedule.answerable:
            queries = counted(silent, "query", "queries")
            console.print(f"{queries} without a relevant candidate, asked for silence only")


@frozen(kw_only=True)
class EngineNoise:
    """What an engine injects of other projects, and of a query's own one."""

    name: str
    pairs: Noise
    own: Injection | None

    @property
    def injected(self) -> Share:
        """Of how many queries it injects something of another project."""
        shares = self.pairs.values()
        return Share(sum(one.count for one in shares), sum(one.total for one in shares))


@frozen(kw_only=True)
class NoiseReport:
    """What ``grove eval noise`` has found."""

    collection: str
    queries: int
    projects: Sequence[str]
    engines: Sequence[EngineNoise]

    def document(self) -> dict[str, Any]:
        """Return it for ``--json``."""
        return {
            "collection": self.collection,
            "queries": self.queries,
            "projects": list(self.projects),
            "engines": {
                one.name: {
                    **_share_document(one.injected),
                    "pairs": [
                        {"queries_of": asked, "learnings_of": of, **_share_document(share)}
                        for (asked, of), share in one.pairs.items()
                    ],
                    "own_project": one.own and _share_document(one.own.answered),
                }
                for one in self.engines
            },
        }

    def print(self, console: "Console") -> None:
        """Print it for people."""
        projects, queries = (
            counted(len(self.projects), "project"),
            counted(self.queries, "query", "queries"),
        )
        console.print(f"{self.collection}: {queries} against {projects}, not their own")
        own = ["of the own project"] if any(one.own for one in self.engines) else []
        _print_table(
            console,
            ("", _INJECTS, *own),
            [
                (one.name, _share(one.injected), *([_share(one.own.answered)] if one.own else []))
                for one in self.engines
            ],
        )
        for one in self.engines:
            loud = [(*pair, share) for pair, share in one.pairs.items() if share.count]
            loud.sort(key=lambda each: -each[2].count / each[2].total)
            rows = [(asked, of, _share(share)) for asked, of, share in loud]
            titles = (f"{one.name}: queries of", "learnings of", _INJECTS)
            _print_table(console, titles, rows[:_MOST_PAIRS])
            if len(rows) > _MOST_PAIRS:
                console.print(f"… and {len(rows) - _MOST_PAIRS} more: --json")


def _engine_document(one: EngineSummary) -> dict[str, Any]:
    found = one.injection
    return {
        **_estimates_document(one.measures),
        "ms_per_query": round(one.milliseconds, 3),
        "injected": found
        and {
            **_share_document(found.answered),
            "learnings": found.relevant.total,
            "precision": _share_document(found.relevant)["share"],
            "recall": round(found.recall, _DIGITS),
        },
        "abstention": found and _share_document(found.silent, counts="silent"),
    }


def _estimates_document(estimates: Estimates) -> dict[str, Any]:
    rounded = {name: [round(number, _DIGITS) for number in one] for name, one in estimates.items()}
    means = {name: value for name, (value, *_) in rounded.items()}
    return {**means, "ci": {name: ends for name, (_, *ends) in rounded.items()}}


def _share_document(share: Share, *, counts: str = "injected") -> dict[str, Any]:
    return {
        "queries": share.total,
        counts: share.count,
        "share": None if share.rate is None else round(share.rate, _DIGITS),
        "ci": share.interval and [round(end, _DIGITS) for end in share.interval],
    }


def _values(estimates: Estimates, *, sign: str = "") -> list[str]:
    shown = (estimates[name] for name in _PRINTED)
    return [f"{one.value:{sign}.3f} [{one.low:{sign}.3f}, {one.high:{sign}.3f}]" for one in shown]


def _share(share: Share) -> str:
    if share.rate is None or share.interval is None:
        return "–"
    low, high = (100 * end for end in share.interval)
    return f"{share.count:,} of {share.total:,}, {100 * share.rate:.1f} % [{low:.1f}, {high:.1f}]"


def _print_table(console: "Console", titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print columns that are as wide as they need to be, below an empty line."""
    if not rows:
        return
    from rich.table import Table

    table = Table(*titles, box=None, padding=(0, 2, 0, 0), header_style="dim")
    for row in rows:
        table.add_row(*row)
    console.print()
    console.print(table)
