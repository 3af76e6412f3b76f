"""A collection: learnings, queries, judgments, and the rules they are measured by."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Final

from attrs import frozen

from grove_core.model.learning import Learning
from grove_core.model.memory import Query

DAY: Final = 86_400_000_000
"""Microseconds."""


class PoolScope(Enum):
    """Which learnings a query is asked against."""

    PROJECT = "project"
    POOLED = "pooled"


@frozen(kw_only=True)
class CollectedLearning:
    """A learning of a collection.

    Attributes:
        learning: The learning; its category is one of grove's, whatever the file says.
        category: Its category as the file has it.
        project: Its project.
        created: When it was written, microseconds since 1970; 0 when that is not known.
    """

    learning: Learning
    category: str
    project: str
    created: int


@frozen(kw_only=True)
class CollectedQuery:
    """A query of a collection.

    Attributes:
        id: Its id.
        query: What is looked for.
        project: Its project.
        asked: When it was asked, microseconds since 1970; 0 when that is not known.
    """

    id: str
    query: Query
    project: str
    asked: int


@frozen(kw_only=True)
class Rules:
    """What ``meta.json`` says.

    Attributes:
        embargo: Microseconds that a learning has to be older than the query.
        scope: Which learnings a query is asked against.
    """

    embargo: int = 0
    scope: PoolScope = PoolScope.PROJECT


@frozen(kw_only=True)
class Judgments:
    """What is relevant.

    Attributes:
        relevant: Ids of the relevant learnings by the query's id.
        unknown_queries: How many judgments name a query that there is not.
        unknown_learnings: How many of the others name a learning that there is not.
    """

    relevant: Mapping[str, frozenset[str]]
    unknown_queries: int = 0
    unknown_learnings: int = 0


@frozen(kw_only=True)
class Collection:
    """All of it.

    Attributes:
        name: The name of the corpus's folder.
        learnings: The learnings.
        queries: The queries.
        judgments: What is relevant.
        rules: How it is measured.
    """

    name: str
    learnings: Sequence[CollectedLearning]
    queries: Sequence[CollectedQuery]
    judgments: Judgments
    rules: Rules
