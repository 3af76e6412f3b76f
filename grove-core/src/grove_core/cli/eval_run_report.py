"""What ``grove eval run`` has found, for programs and for people."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from grove_core.cli.eval_tables import (
    DIGITS,
    QUERIES,
    in_words,
    marked,
    print_lines,
    print_table,
    share_document,
)
from grove_core.evaluation.collection import DAY, Collection
from grove_core.evaluation.schedule import FEWEST_CANDIDATES, Schedule
from grove_core.evaluation.summary import (
    Difference,
    EngineSummary,
    Estimate,
    Injection,
    Summary,
)
from grove_core.model.statistics import Share
from grove_core.report.text import counted

if TYPE_CHECKING:
    from rich.console import Console

_PRINTED: Final = ("recall@5", "precision@5", "mrr@10", "ndcg@10")
_INJECTION_COLUMNS: Final = (
    "moderate, at most 5",
    "injects something [95 %]",
    "relevant of injected",
    "recall",
    "silent without an answer [95 %]",
)


@frozen(kw_only=True)
class RunReport:
    """What ``grove eval run`` has found."""

    collection: Collection
    schedule: Schedule
    summary: Summary

    @property
    def failed(self) -> Mapping[str, Share]:
        """By engine, the queries that it has not answered, of those it was asked."""
        return {one.name: one.failed for one in self.summary.engines}

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
        print_lines(console, self._heading())
        print_table(
            console,
            ("", *(f"{name} [95 %]" for name in _PRINTED), "ms"),
            [
                (
                    marked(one.name, one.failed),
                    *(_value(one.measures[name]) for name in _PRINTED),
                    f"{one.milliseconds:.1f}",
                )
                for one in self.summary.engines
            ],
        )
        if self.summary.differences:
            print_table(
                console,
                ("on the same queries", *_PRINTED),
                [_difference_row(one) for one in self.summary.differences],
            )
        injections = [one for one in self.summary.engines if one.injection is not None]
        if injections:
            print_table(console, _INJECTION_COLUMNS, [_injection_row(one) for one in injections])

    @property
    def _unanswerable(self) -> int:
        return self.schedule.steps - self.schedule.answerable

    def _heading(self) -> Iterable[str]:
        rules = self.collection.rules
        count = counted(self.schedule.answerable, *QUERIES)
        learnings = counted(len(self.collection.learnings), "learning")
        scope = "the query's own project" if rules.scope.value == "project" else "all projects"
        embargo = f", embargo {rules.embargo / DAY:g} d" if rules.embargo else ""
        yield f"{self.collection.name}: {count}, {learnings}; asked against {scope}{embargo}"
        if self.schedule.too_few_candidates:
            left_out = counted(self.schedule.too_few_candidates, *QUERIES)
            yield f"{left_out} with fewer than {FEWEST_CANDIDATES} candidates left out"
        if self._unanswerable:
            unanswerable = counted(self._unanswerable, *QUERIES)
            yield f"{unanswerable} without a relevant candidate, asked for silence only"


def _injection_row(one: EngineSummary) -> Sequence[str]:
    found = one.injection
    assert found is not None, "asked of those that inject only"
    return (
        marked(one.name, one.failed),
        in_words(found.answered),
        in_words(found.relevant, interval=False),
        f"{found.recall:.3f}",
        in_words(found.silent),
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


def _engine_document(one: EngineSummary) -> dict[str, Any]:
    injection = one.injection
    return {
        **_estimates_document(one.measures),
        "ms_per_query": round(one.milliseconds, 3),
        "failed": one.failed.count,
        "injected": injection and _injected_document(injection),
        "abstention": injection and share_document(injection.silent, counts="silent"),
    }


def _injected_document(injection: Injection) -> dict[str, Any]:
    relevant = injection.relevant
    return {
        **share_document(injection.answered),
        "learnings": relevant.total,
        "precision": None if relevant.rate is None else round(relevant.rate, DIGITS),
        "recall": round(injection.recall, DIGITS),
    }


def _estimates_document(estimates: Mapping[str, Estimate]) -> dict[str, Any]:
    return {
        **{name: round(one.value, DIGITS) for name, one in estimates.items()},
        "ci": {
            name: [round(one.low, DIGITS), round(one.high, DIGITS)]
            for name, one in estimates.items()
        },
    }
