"""Asking queries of one project against the learnings of another, where silence is right."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import frozen

from grove_core.evaluation.collection import CollectedLearning, CollectedQuery
from grove_core.evaluation.engines import Engine
from grove_core.evaluation.protocol import Outcome, injected
from grove_core.model.statistics import Share


@frozen(kw_only=True)
class Project:
    """The learnings of one project."""

    collection: str | None
    name: str
    learnings: Sequence[CollectedLearning]

    @property
    def title(self) -> str:
        """What it is called in tables: its name, after that of its collection if it is another."""
        return "/".join(filter(None, (self.collection, self.name)))

    def owns(self, query: CollectedQuery) -> bool:
        """Return whether a query is one of this project's own."""
        return self.collection is None and query.project == self.name


@frozen(kw_only=True)
class PairNoise:
    """What queries of one project find in another."""

    queries_of: str
    learnings_of: str
    injected: Share
    failed: int = 0


def projects_of(
    learnings: Iterable[CollectedLearning], collection: str | None = None
) -> list[Project]:
    """Sort learnings into projects."""
    found: dict[str, list[CollectedLearning]] = {}
    for one in sorted(learnings, key=lambda one: one.created):
        found.setdefault(one.project, []).append(one)
    return [
        Project(collection=collection, name=name, learnings=found[name]) for name in sorted(found)
    ]


def cases(queries: Sequence[CollectedQuery], projects: Sequence[Project]) -> int:
    """Count what is to be asked."""
    return sum(not project.owns(query) for project in projects for query in queries)


def noise(
    engine: Engine,
    queries: Sequence[CollectedQuery],
    projects: Sequence[Project],
    after_each: Callable[[], None],
) -> list[PairNoise]:
    """Ask each query of each project that is not its own."""
    found: list[PairNoise] = []
    for project in projects:
        store = engine.open()
        try:
            store.admit(project.learnings)
            newest = project.learnings[-1].created
            answers: dict[str, list[tuple[bool, bool]]] = {}
            for query in queries:
                if project.owns(query):
                    continue
                now = max(query.asked, newest)
                answer = store.ask(query.query, now)
                one = bool(injected(answer, now)), answer.failed
                answers.setdefault(query.project, []).append(one)
                after_each()
            found += _pairs(project, answers)
        finally:
            store.close()
    return sorted(found, key=lambda one: (one.queries_of, one.learnings_of))


def together(pairs: Iterable[PairNoise]) -> Share:
    """Sum up."""
    shares = [one.injected for one in pairs]
    return Share(sum(share.count for share in shares), sum(share.total for share in shares))


def failures_of(pairs: Iterable[PairNoise], outcomes: Sequence[Outcome]) -> Share:
    """Count what an engine has not answered."""
    asked = [*((one.failed, one.injected.total) for one in pairs)]
    asked += [(int(one.failed), 1) for one in outcomes]
    return Share(sum(failed for failed, _ in asked), sum(total for _, total in asked))


def _pairs(
    project: Project, answers: Mapping[str, Sequence[tuple[bool, bool]]]
) -> Iterable[PairNoise]:
    """Count, by project of the queries, what was said and what failed."""
    return [
        PairNoise(
            queries_of=name,
            learnings_of=project.title,
            injected=Share(sum(spoken for spoken, _ in found), len(found)),
            failed=sum(failed for _, failed in found),
        )
        for name, found in answers.items()
    ]
