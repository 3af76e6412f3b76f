"""``grove eval``."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command, name_problems
from grove_core.cli.progress import progress
from grove_core.cli.result import Result
from grove_core.errors import GroveError
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from grove_core.evaluation.collection import CollectedLearning
    from grove_core.evaluation.engines import Engine
    from grove_core.evaluation.protocol import Outcome
    from grove_core.evaluation.schedule import Schedule

_MEASURED: Final = ("rules", "bm25f", "default")
_ASKED_FOR_NOISE: Final = ("default",)
_FILE: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


def _options(*, qrels_required: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the files of a collection, and the engines, to a command."""
    without = "" if qrels_required else " Without it only other projects are asked."
    options = (
        click.option(
            "--corpus",
            type=_FILE,
            required=True,
            metavar="FILE",
            help="The learnings, a JSON object a line; meta.json may lie beside them.",
        ),
        click.option(
            "--queries",
            type=_FILE,
            required=True,
            metavar="FILE",
            help="The queries, a JSON object a line.",
        ),
        click.option(
            "--qrels",
            type=_FILE,
            required=qrels_required,
            metavar="FILE",
            help=f"What is relevant: query, learning and 1, with tabs between.{without}",
        ),
        click.option(
            "--engine",
            "engines",
            multiple=True,
            metavar="NAME",
            help="An engine to measure; may be given several times.",
        ),
    )

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed(options):
            function = option(function)
        return function

    return add


@click.group("eval")
def command() -> None:
    """Measure retrieval on learnings, queries and judgments that you bring.

    `grove eval run` holds engines side by side: how much of what is relevant they find, and what a
    session would be shown. `grove eval noise` asks queries of one project against the learnings of
    others, where nothing is the right answer.
    """


@command.command("run")
@_options(qrels_required=True)
@click.option(
    "--scope",
    type=click.Choice(["project", "pooled"]),
    help="Ask against the query's own project, or all together, whatever meta.json says.",
)
@grove_command
def run(
    invocation: Invocation,
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

    Engines: `default` (grove's index), `rules`, those of plugins, and as baselines `recent`,
    `bm25`, `bm25f` and `fts5`; unless some are named `rules`, `bm25f` and `default`. Each is
    compared with `rules` and `bm25f` where they are measured, else with the first one named.
    An engine that fails on a query, or takes longer than five seconds, makes the command fail: in
    hooks it has no longer, and often less, and the index answers in its place.

    Intervals hold 95 % and come from 1,000 resamples of the queries, the same ones each time.
    Milliseconds are the median over the queries of finding and ranking.
    """
    from grove_core.cli.eval_answer import left_out_of, result_of
    from grove_core.cli.eval_run_report import RunReport
    from grove_core.evaluation.reading import read_collection
    from grove_core.evaluation.schedule import schedule_of
    from grove_core.evaluation.summary import summarise

    collection = read_collection(corpus, queries, qrels, scope)
    schedule = schedule_of(collection)
    if not schedule.answerable:
        raise GroveError(_nothing_counts(schedule))
    measured = _engines(invocation.workspace, engines or _MEASURED, collection.learnings)
    outcomes = _outcomes(measured, schedule)
    report = RunReport(collection=collection, schedule=schedule, summary=summarise(outcomes))
    left_out = left_out_of(collection.judgments, qrels)
    return result_of(report, left_out, invocation.workspace.problems)


@command.command("noise")
@_options(qrels_required=False)
@click.option(
    "--other-corpus",
    "others",
    type=_FILE,
    multiple=True,
    metavar="FILE",
    help="Learnings of another collection to ask against as well; may be given several times.",
)
@grove_command
def noise(
    invocation: Invocation,
    *,
    corpus: Path,
    queries: Path,
    qrels: Path | None,
    engines: tuple[str, ...],
    others: tuple[Path, ...],
) -> Result:
    """Measure how often a query brings up learnings of a project that it is not about.

    Each query is asked against all learnings of each project but its own, one project at a time.
    Something is injected where the moderate strategy would show anything. With --qrels the share
    of queries of which something is injected from their own project stands beside it, counting
    those that have an answer there, as `grove eval run` asks them.

    Baselines cannot be asked: their scores do not tell what is worth showing.
    """
    from grove_core.cli.eval_answer import left_out_of, result_of
    from grove_core.cli.eval_noise_report import EngineNoise, NoiseReport
    from grove_core.evaluation import noise as noises
    from grove_core.evaluation.reading import (
        name_of,
        read_collection,
        read_learnings,
        read_queries,
    )
    from grove_core.evaluation.schedule import schedule_of
    from grove_core.evaluation.summary import injection_of

    collection = None if qrels is None else read_collection(corpus, queries, qrels, None)
    learnings = collection.learnings if collection else read_learnings(corpus)
    asked = collection.queries if collection else read_queries(queries)
    projects = noises.projects_of(learnings)
    for other in others:
        projects += noises.projects_of(read_learnings(other), name_of(other))
    total = noises.cases(asked, projects)
    if not total:
        raise GroveError(f"{corpus} has no project but that of the queries; name --other-corpus")
    chosen = _injecting(_engines(invocation.workspace, engines or _ASKED_FOR_NOISE, learnings))
    pairs = {}
    with progress() as begin:
        for engine in chosen:
            after_each = begin(engine.name, total)
            pairs[engine.name] = noises.noise(engine, asked, projects, after_each)
    own = _outcomes(chosen, schedule_of(collection)) if collection else {}
    report = NoiseReport(
        collection=name_of(corpus),
        queries=len(asked),
        projects=[one.title for one in projects],
        engines=[
            EngineNoise(
                name=name,
                pairs=found,
                own=injection_of(own.get(name, ())),
                failed=noises.failures_of(found, own.get(name, ())),
            )
            for name, found in pairs.items()
        ],
    )
    left_out = left_out_of(collection.judgments, qrels) if collection and qrels else []
    return result_of(report, left_out, invocation.workspace.problems)


def _outcomes(
    engines: Sequence["Engine"], schedule: "Schedule"
) -> "Mapping[str, Sequence[Outcome]]":
    from grove_core.evaluation.protocol import run as ask_everything

    outcomes = {}
    with progress() as begin:
        for engine in engines:
            after_each = begin(engine.name, schedule.steps)
            outcomes[engine.name] = ask_everything(engine, schedule, after_each)
    return outcomes


def _engines(
    workspace: Workspace, names: Iterable[str], learnings: Sequence["CollectedLearning"]
) -> list["Engine"]:
    from grove_core.evaluation.engines import engines_for, names_of_engines
    from grove_core.plugins.engines import find_engine

    offered = (one.value.name for one in workspace.plugins.retrieval_engines())
    found = {name: find_engine(workspace.plugins, name) for name in offered}
    judges = {name: engine for name, engine in found.items() if engine is not None}
    known = names_of_engines(judges)
    for name in names:
        if name not in known:
            # It may be one of theirs.
            name_problems(workspace.problems)
            raise click.BadParameter(
                f"there is no engine {name}; there are {', '.join(known)}", param_hint="--engine"
            )
    return engines_for(dict.fromkeys(names), learnings, judges)


def _injecting(engines: Sequence["Engine"]) -> Sequence["Engine"]:
    for engine in engines:
        if not engine.injects:
            raise click.BadParameter(
                f"{engine.name} is a baseline, whose scores do not tell what is worth showing",
                param_hint="--engine",
            )
    return engines


def _nothing_counts(schedule: "Schedule") -> str:
    return (
        f"no query counts: {schedule.too_few_candidates} have fewer than ten candidates, and"
        f" {schedule.steps} no relevant one among them; look at created_at, project and --qrels"
    )
