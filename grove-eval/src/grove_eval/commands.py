"""``grove eval``."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import rich_click as click  # noqa: TID253 - imported when the command is called

from grove_core import GroveError
from grove_core.cli.app import grove_command
from grove_core.cli.result import Result
from grove_core.text import counted
from grove_eval import runs
from grove_eval.baselines import BASELINES
from grove_eval.collection import (
    CollectedLearning,
    Collection,
    name_of,
    read_collection,
    read_learnings,
    read_queries,
)
from grove_eval.engines import DEFAULT, RULES, Engine, engine_for
from grove_eval.reports import EngineNoise, NoiseReport, RunReport
from grove_eval.schedule import Schedule, schedule_of

_MEASURED: Final = ("rules", "bm25f", "default")
_ASKED_FOR_NOISE: Final = ("default",)
_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


def _file(name: str, about: str, **more: Any) -> Callable[..., Any]:  # noqa: ANN401 - click's own
    return click.option(name, type=_FILE, metavar="FILE", help=about, **more)


_CORPUS = _file(
    "--corpus",
    "The learnings, a JSON object a line; meta.json may lie beside them.",
    required=True,
)
_QUERIES = _file("--queries", "The queries, a JSON object a line.", required=True)
_QRELS: Final = "What is relevant: query, learning and 1, with tabs between."
_ENGINES = click.option(
    "--engine",
    "engines",
    multiple=True,
    metavar="NAME",
    help="An engine to measure; may be given several times.",
)


@click.group("eval")
def command() -> None:
    """Measure retrieval on learnings, queries and judgments that you bring.

    `grove eval run` holds engines side by side: how much of what is relevant they find, and what a
    session would be shown. `grove eval noise` asks queries of one project against the learnings of
    others, where nothing is the right answer.
    """


@command.command("run")
@_CORPUS
@_QUERIES
@_file("--qrels", _QRELS, required=True)
@_ENGINES
@click.option(
    "--scope",
    type=click.Choice(["project", "pooled"]),
    help="Ask against the query's own project, or all together, whatever meta.json says.",
)
@grove_command
def run(
    _project: object,
    *,
    corpus: Path,
    queries: Path,
    qrels: Path,
    engines: tuple[str, ...],
    scope: str | None,
) -> Result:
    """Measure how well engines find what is relevant, and how sure that is.

    Learnings come into a real index in the order of time, and each query is asked when just those
    are in that were written before it, as hooks would ask. Queries with fewer than ten candidates
    are left out; those without a relevant one count for silence only.

    Engines: `default` (grove's index), `rules`, and as baselines `recent`,
    `bm25` and `bm25f`; unless some are named `rules`, `bm25f` and `default`. Each is
    compared with `rules` and `bm25f` where they are measured, else with the first one named.

    Intervals hold 95 % and come from 1,000 resamples of the queries, the same ones each time.
    Milliseconds are the median over the queries of finding and ranking.
    """
    collection = read_collection(corpus, queries, qrels, scope)
    schedule = schedule_of(collection)
    if not schedule.answerable:
        raise GroveError(
            f"no query counts: {schedule.too_few_candidates} have fewer than ten candidates, and"
            f" {schedule.steps} no relevant one among them; look at created_at, project and --qrels"
        )
    chosen = _engines(engines or _MEASURED, collection.learnings)
    summary = runs.summarise(_outcomes(chosen, schedule))
    report = RunReport(collection=collection, schedule=schedule, summary=summary)
    return _result(report, _left_out(collection, qrels))


@command.command("noise")
@_CORPUS
@_QUERIES
@_file("--qrels", f"{_QRELS} Without it only other projects are asked.")
@_ENGINES
@_file(
    "--other-corpus",
    "Learnings of another collection to ask against as well; may be given several times.",
    multiple=True,
)
@grove_command
def noise(
    _project: object,
    *,
    corpus: Path,
    queries: Path,
    qrels: Path | None,
    engines: tuple[str, ...],
    other_corpus: tuple[Path, ...],
) -> Result:
    """Measure how often a query brings up learnings of a project that it is not about.

    Each query is asked against all learnings of each project but its own, one project at a time.
    Something is injected where the moderate strategy would show anything. With --qrels the share
    of queries of which something is injected from their own project stands beside it, counting
    those that have an answer there, as `grove eval run` asks them.

    Baselines cannot be asked: their scores do not tell what is worth showing.
    """
    collection = read_collection(corpus, queries, qrels, None) if qrels else None
    learnings = collection.learnings if collection else read_learnings(corpus)
    asked = collection.queries if collection else read_queries(queries)
    projects = dict(runs.projects_of(learnings))
    for other in other_corpus:
        projects |= runs.projects_of(read_learnings(other), name_of(other))
    if not any(query.project != project for project in projects for query in asked):
        raise GroveError(f"{corpus} has no project but that of the queries; name --other-corpus")
    chosen = _engines(engines or _ASKED_FOR_NOISE, learnings, injecting=True)
    pairs = {name: runs.noise(engine, asked, projects) for name, engine in chosen.items()}
    own = _outcomes(chosen, schedule_of(collection)) if collection else {}
    report = NoiseReport(
        collection=name_of(corpus),
        queries=len(asked),
        projects=list(projects),
        engines=[
            EngineNoise(name=name, pairs=found, own=runs.injection_of(own.get(name, ())))
            for name, found in pairs.items()
        ],
    )
    return _result(report, _left_out(collection, qrels))


def _outcomes(
    engines: Mapping[str, Engine], schedule: Schedule
) -> dict[str, Sequence[runs.Outcome]]:
    return {name: runs.run(engine, schedule) for name, engine in engines.items()}


def _engines(
    names: Iterable[str],
    learnings: Sequence[CollectedLearning],
    *,
    injecting: bool = False,
) -> dict[str, Engine]:
    known = [DEFAULT, RULES, *BASELINES]
    for name in names:
        if name not in known:
            raise _bad_engine(f"there is no engine {name}; there are {', '.join(known)}")
        if injecting and name in BASELINES:
            raise _bad_engine(
                f"{name} is a baseline, whose scores do not tell what is worth showing"
            )
    return {name: engine_for(name, learnings) for name in names}


def _bad_engine(message: str) -> click.BadParameter:
    return click.BadParameter(message, param_hint="--engine")


def _left_out(collection: Collection | None, qrels: Path | None) -> list[str]:
    """Name the judgments that could not be used."""
    if collection is None:
        return []
    counts = (
        (collection.judgments.unknown_queries, "a query that is not in the file of queries"),
        (collection.judgments.unknown_learnings, "a learning that is not in the corpus"),
    )
    return [
        f"{qrels}: {counted(number, 'judgment')} left out, naming {what}"
        for number, what in counts
        if number
    ]


def _result(report: RunReport | NoiseReport, warnings: Sequence[str]) -> Result:
    document = {**report.document(), "warnings": warnings}
    return Result(document=document, human=report.print, warnings=warnings)
