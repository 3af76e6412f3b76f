"""Asking queries of one project against the learnings of another, where silence is right.

All learnings of the other project are there, whenever they were written: two projects have no
common history, and fewer learnings would only make it easier to stay silent.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import frozen

from grove_core.evaluation.collection import CollectedLearning, CollectedQuery
from grove_core.evaluation.engines import Engine
from grove_core.evaluation.protocol import injected
from grove_core.model.statistics import Share


@frozen(kw_only=True)
class Project:
    """The learnings of one project.

    Attributes:
        name: Its name; queries of that name are its own.
        title: What it is called in tables: its name, after that of its collection if it is another.
        learnings: Its learnings, the oldest first.
    """

    name: str
    title: str
    learnings: Sequence[CollectedLearning]


@frozen(kw_only=True)
class PairNoise:
    """What queries of one project find in another.

    Attributes:
        queries_of: The project that the queries are of.
        learnings_of: The title of the project that the learnings are of.
        injected: Queries to which something would be shown, of all of them.
    """

    queries_of: str
    learnings_of: str
    injected: Share


def projects_of(learnings: Iterable[CollectedLearning], collection: str = "") -> list[Project]:
    """Sort learnings into projects.

    Args:
        learnings: The learnings of a collection.
        collection: Its name, if it is another one than that of the queries.

    Returns:
        The projects, by name.
    """
    found: dict[str, list[CollectedLearning]] = {}
    for one in sorted(learnings, key=lambda one: one.created):
        found.setdefault(one.project, []).append(one)
    prefix = f"{collection}/" if collection else ""
    return [
        Project(name=name, title=f"{prefix}{name}", learnings=found[name]) for name in sorted(found)
    ]


def cases(queries: Sequence[CollectedQuery], projects: Sequence[Project]) -> int:
    """Count what is to be asked.

    Args:
        queries: The queries.
        projects: The projects.

    Returns:
        How many pairs of a query and a project that is not its own there are.
    """
    return sum(query.project != project.name for project in projects for query in queries)


def noise(
    engine: Engine,
    queries: Sequence[CollectedQuery],
    projects: Sequence[Project],
    after_each: Callable[[], None],
) -> list[PairNoise]:
    """Ask each query of each project that is not its own.

    Args:
        engine: The engine, one that injects.
        queries: The queries.
        projects: The projects.
        after_each: Is called after each query.

    Returns:
        What came of it, by project of the queries and then of the learnings.
    """
    found: list[PairNoise] = []
    for project in projects:
        store = engine.open()
        try:
            store.admit(project.learnings)
            newest = project.learnings[-1].created
            spoken: dict[str, list[bool]] = {}
            for query in queries:
                if query.project == project.name:
                    continue
                now = max(query.asked, newest)
                answer = injected(store.ask(query.query, now), now)
                spoken.setdefault(query.project, []).append(bool(answer))
                after_each()
            found += _pairs(project, spoken)
        finally:
            store.close()
    return sorted(found, key=lambda one: (one.queries_of, one.learnings_of))


def together(pairs: Iterable[PairNoise]) -> Share:
    """Sum up.

    Args:
        pairs: What was found.

    Returns:
        Queries to which something would be shown, of all of them.
    """
    shares = [one.injected for one in pairs]
    return Share(sum(share.count for share in shares), sum(share.total for share in shares))


def _pairs(project: Project, spoken: Mapping[str, Sequence[bool]]) -> Iterable[PairNoise]:
    return [
        PairNoise(
            queries_of=name, learnings_of=project.title, injected=Share(sum(answers), len(answers))
        )
        for name, answers in spoken.items()
    ]
