"""What the best candidates of queries are worth, in their own project and in strangers'.

For ``tune_retrieval.py``.
"""

import random
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from retrieval_collections import Collection, Found, Index, query_of

from grove_core.retrieval import ranking

Known = Any
SIZES: Final = (1, 3, 5, 10, 30, 100, 300)


class Case(NamedTuple):
    """The best candidate of a query in a project, its own or another's.

    Attributes:
        collection: The query's collection.
        query_project: The query's project.
        project: The project whose learnings were asked.
        is_own: Whether that is the query's own project, with a relevant learning in it.
        size: To how many learnings the project was cut down at random; 0 when it was not.
        kind: "whole" or "title", when nothing but the title was asked.
        documents: How many learnings were asked.
        value: The best candidate's relevance, of the highest score.
        features: What the log odds are made of.
        shown: How many candidates are over the floor.
    """

    collection: str
    query_project: str
    project: str
    is_own: bool
    size: int
    kind: str
    documents: int
    value: float
    features: tuple[float, ...]
    shown: int


FEATURES: Final = (
    "evidence",
    "need",
    "corpus",
    "identifiers",
    "known area",
    "share",
    "unknown area",
)


def features(one: ranking.Relevance) -> tuple[float, ...]:
    """Take a relevance apart into what its log odds are linear in; age is left out."""
    parts = one.parts
    if not parts:
        return (0.0,) * len(FEATURES)
    evidence = sum(parts.get(name, 0.0) for name in ("text", "summary", "tags", "paths", "keys"))
    return (
        evidence / ranking.EVIDENCE_SLOPE,
        (parts["query"] - ranking.BIAS) / ranking.NEED_SLOPE,
        parts["corpus"] / ranking.CORPUS_SLOPE,
        parts["identifiers"] / ranking.IDENTIFIERS_SLOPE,
        float(parts["area"] > ranking.UNKNOWN_AREA and parts["area"] != 0),
        max(0.0, (parts["area"] - ranking.KNOWN_AREA) / ranking.KNOWN_AREAS_SLOPE),
        float(parts["area"] == ranking.UNKNOWN_AREA),
    )


def best_case(found: Sequence[Found], **known: Known) -> Case:
    """Describe the best candidate."""
    nothing = ranking.Relevance(0.0, {})
    best = max(found, key=lambda one: one.score).relevance if found else nothing
    return Case(
        value=max((one.relevance.value for one in found), default=0.0),
        features=features(best),
        shown=sum(one.relevance.value >= ranking.FLOOR for one in found),
        **known,
    )


def own_cases(collection: Collection, chance: random.Random) -> list[Case]:
    """Ask the own project of every query that counts, whole and cut down."""
    cases: list[Case] = []
    counting = collection.evaluate(collection.scorer("project"))
    for query in collection.queries:
        if query["id"] not in counting:
            continue
        index, now = (
            collection.indexes[query["project"]],
            collection.baseline.ts(query["created_at"]),
        )
        known = int(counting[query["id"]][6])
        relevant = {
            at
            for at in range(known)
            if collection.relevant[query["id"]].get(index.documents[at]["id"])
        }
        place = {
            "collection": collection.name,
            "query_project": query["project"],
            "project": query["project"],
            "is_own": True,
        }
        for kind in ("whole", "title"):
            asked = query_of(query, only_title=kind == "title")
            found = index.search(asked, known, now)
            cases.append(best_case(found, size=0, kind=kind, documents=known, **place))
        for size in chance.sample(SIZES, 3):
            if size < known:
                kept = chance.choice(sorted(relevant))
                others = [at for at in range(known) if at != kept]
                part = [kept, *chance.sample(others, size - 1)]
                small = Index(
                    [index.documents[at] for at in part], [index.times[at] for at in part]
                )
                found = small.search(query_of(query), size, now)
                cases.append(best_case(found, size=size, kind="whole", documents=size, **place))
    return cases


def foreign_cases(
    collections: Sequence[Collection], chance: random.Random, most: int = 300
) -> Iterator[Case]:
    """Ask other projects: all of the same collection, up to six, and three of the others."""
    projects = [
        (collection, project, index)
        for collection in collections
        for project, index in collection.indexes.items()
        if project
    ]
    small: dict[tuple[str, str], Index] = {}
    for collection in collections:
        queries = collection.queries
        for query in chance.sample(queries, min(most, len(queries))):
            same = [one for one in projects if one[0] is collection and one[1] != query["project"]]
            other = [one for one in projects if one[0] is not collection]
            for _, project, index in (
                *chance.sample(same, min(6, len(same))),
                *chance.sample(other, 3),
            ):
                place = {
                    "collection": collection.name,
                    "query_project": query["project"],
                    "project": project,
                    "is_own": False,
                }
                known = len(index.documents)
                for kind in ("whole", "title"):
                    found = index.search(query_of(query, only_title=kind == "title"), known, None)
                    yield best_case(found, size=0, kind=kind, documents=known, **place)
                size = chance.choice(SIZES)
                if size < known:
                    part = small.get((project, str(size) + str(chance.randrange(5))))
                    if part is None:
                        chosen = chance.sample(range(known), size)
                        part = Index(
                            [index.documents[at] for at in chosen],
                            [index.times[at] for at in chosen],
                        )
                    found = part.search(query_of(query), size, None)
                    yield best_case(found, size=size, kind="whole", documents=size, **place)


def gather(collections: Sequence[Collection]) -> list[Case]:
    """Ask every query of its own project and of others."""
    chance = random.Random(7)
    cases = [case for collection in collections for case in own_cases(collection, chance)]
    cases.extend(foreign_cases(collections, chance))
    return cases
