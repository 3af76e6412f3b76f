"""What ``grove eval`` answers: a report, with what was left out and which engines have failed."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.evaluation.collection import Judgments
from grove_core.model.statistics import Share
from grove_core.plugins.engines import scoring
from grove_core.plugins.report import PluginProblem

if TYPE_CHECKING:
    from rich.console import Console


class Report(Protocol):
    """What was found."""

    @property
    def failed(self) -> Mapping[str, Share]:
        """By engine, the queries that it has not answered, of those it was asked."""

    def document(self) -> dict[str, Any]:
        """Say it for ``--json``."""

    def print(self, console: "Console") -> None:
        """Say it to people."""


def result_of(report: Report, warnings: Sequence[str], problems: Iterable[PluginProblem]) -> Result:
    """Make a report the result of a command, a failure if an engine has failed."""
    document = {**report.document(), "warnings": warnings}
    complaint = _complaint(report.failed, list(problems))
    if not complaint:
        return Result(document=document, human=report.print, warnings=warnings)
    return Result(
        document={**document, "error": complaint},
        human=report.print,
        warnings=[*warnings, complaint],
        exit_code=1,
    )


def left_out_of(judgments: Judgments, path: Path) -> list[str]:
    """Name the judgments that could not be used."""
    found = (
        (judgments.unknown_queries, "a query that is not in the file of queries"),
        (judgments.unknown_learnings, "a learning that is not in the corpus"),
    )
    return [
        f"{path}: {counted(number, 'judgment')} left out, naming {what}"
        for number, what in found
        if number
    ]


def _complaint(failed: Mapping[str, Share], problems: Sequence[PluginProblem]) -> str:
    """Return which engines have failed, and how."""
    told = []
    for name, share in failed.items():
        if share.count:
            details = [one.detail for one in problems if one.what == scoring(name)]
            queries = f"{share.count:,} of {share.total:,} queries"
            told.append(f"the engine {name} failed on {queries}: {', '.join(details)}")
    return "; ".join(told)
