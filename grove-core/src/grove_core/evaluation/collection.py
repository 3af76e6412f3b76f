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
    """A learning of a collection."""

    learning: Learning
    category: str
    project: str
    created: int


@frozen(kw_only=True)
class CollectedQuery:
    """A query of a collection."""

    id: str
    query: Query
    project: str
    asked: int


@frozen(kw_only=True)
class Rules:
    """What ``meta.json`` says."""

    embargo: int = 0
    scope: PoolScope = PoolScope.PROJECT


@frozen(kw_only=True)
class Judgments:
    """What is relevant."""

    relevant: Mapping[str, frozenset[str]]
    unknown_queries: int = 0
    unknown_learnings: int = 0


@frozen(kw_only=True)
class Collection:
    """All of it."""

    name: str
    learnings: Sequence[CollectedLearning]
    queries: Sequence[CollectedQuery]
    judgments: Judgments
    rules: Rules
