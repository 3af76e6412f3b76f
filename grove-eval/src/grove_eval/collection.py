"""Collections: learnings, queries, relevance judgments, and the rules they are measured by."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Final, TypeVar

from attrs import field, frozen

from grove_core import Category, GroveError, Learning, Query
from grove_core.codec import from_json
from grove_core.errors import CodecError

UNKNOWN_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
META_NAME: Final = "meta.json"
_COLUMNS: Final = 3
_MOST_DAYS: Final = 36_525


class PoolScope(Enum):
    """Which learnings a query is asked against."""

    PROJECT = "project"
    POOLED = "pooled"


@frozen(kw_only=True)
class CollectedLearning:
    """A learning, with a category that need not be one of grove's."""

    learning: Learning
    category: str
    project: str

    @property
    def created(self) -> datetime:
        """When it was written."""
        return self.learning.timestamp


@frozen(kw_only=True)
class CollectedQuery:
    """A query, and when it was asked."""

    id: str
    query: Query
    project: str
    asked: datetime


@frozen(kw_only=True)
class Rules:
    """What ``meta.json`` says."""

    embargo: timedelta = timedelta()
    scope: PoolScope = PoolScope.PROJECT


@frozen(kw_only=True)
class Judgments:
    """Which learnings are relevant for which query, and how many lines name something unknown."""

    relevant: Mapping[str, frozenset[str]] = field(factory=dict)
    unknown_queries: int = 0
    unknown_learnings: int = 0


@frozen(kw_only=True)
class Collection:
    """Everything that is measured together."""

    name: str
    learnings: Sequence[CollectedLearning]
    queries: Sequence[CollectedQuery]
    judgments: Judgments
    rules: Rules


@frozen(kw_only=True)
class _Learning:
    """A line of the corpus."""

    id: str
    summary: str
    detail: str | None = None
    category: str | None = None
    project: str | None = None
    created_at: datetime | None = None
    tags: tuple[str, ...] | None = None
    context_files: tuple[str, ...] | None = None
    ticket_id: str | None = None


@frozen(kw_only=True)
class _Query:
    """A line of the queries."""

    id: str
    ticket_title: str
    ticket_description: str | None = None
    project: str | None = None
    created_at: datetime | None = None
    tags: tuple[str, ...] | None = None
    file_paths: tuple[str, ...] | None = None


@frozen(kw_only=True)
class _Meta:
    """The file that says how to measure."""

    embargo_days: float = 0
    scope: PoolScope = PoolScope.PROJECT


T = TypeVar("T", _Learning, _Query)
R = TypeVar("R")


def read_collection(corpus: Path, queries: Path, qrels: Path, scope: str | None) -> Collection:
    """Read a collection; ``scope`` overrides what ``meta.json`` says."""
    learnings, asked = read_learnings(corpus), read_queries(queries)
    rules = read_rules(corpus.parent / META_NAME)
    return Collection(
        name=name_of(corpus),
        learnings=learnings,
        queries=asked,
        judgments=read_judgments(
            qrels, {one.id for one in asked}, {one.learning.id for one in learnings}
        ),
        rules=rules if scope is None else Rules(embargo=rules.embargo, scope=PoolScope(scope)),
    )


def name_of(corpus: Path) -> str:
    """Name a collection by its folder."""
    return corpus.resolve().parent.name


def read_learnings(path: Path) -> list[CollectedLearning]:
    """Read the learnings of a collection."""
    known = {one.value: one for one in Category}
    return [
        CollectedLearning(
            learning=Learning(
                id=line.id,
                # Rules get grove's own learnings, which have no other categories.
                category=known.get(line.category or "", Category.PATTERN),
                summary=line.summary,
                detail=line.detail or "",
                session_id="",
                timestamp=line.created_at or UNKNOWN_TIME,
                tags=tuple(tag.lower() for tag in line.tags or ()),
                context_files=line.context_files or (),
                ticket_id=line.ticket_id or None,
            ),
            category=line.category or "",
            project=line.project or "",
        )
        for line in _read_lines(path, _Learning)
    ]


def read_queries(path: Path) -> list[CollectedQuery]:
    """Read the queries of a collection."""
    return [
        CollectedQuery(
            id=line.id,
            query=Query(
                ticket_title=line.ticket_title,
                ticket_description=line.ticket_description or "",
                tags=tuple(tag.lower() for tag in line.tags or ()),
                files=line.file_paths or (),
            ),
            project=line.project or "",
            asked=line.created_at or UNKNOWN_TIME,
        )
        for line in _read_lines(path, _Query)
    ]


def read_judgments(path: Path, queries: set[str], learnings: set[str]) -> Judgments:
    """Read what is relevant."""
    relevant: dict[str, set[str]] = {}
    without_query = without_learning = 0
    for number, line in _lines(path):
        cells = line.split("\t")
        if len(cells) != _COLUMNS or not cells[2].strip().lstrip("-").isdigit():
            if number == 1 and len(cells) == _COLUMNS and not {*cells} & (queries | learnings):
                continue  # a heading
            fix = "write query-id, doc-id and 1 or 0 with tabs between"
            raise GroveError(f"{path}:{number} is no judgment; {fix}")
        query, learning, relevance = cells
        if query not in queries:
            without_query += 1
        elif learning not in learnings:
            without_learning += 1
        elif int(relevance) > 0:
            relevant.setdefault(query, set()).add(learning)
    return Judgments(
        relevant={query: frozenset(found) for query, found in relevant.items()},
        unknown_queries=without_query,
        unknown_learnings=without_learning,
    )


def read_rules(path: Path) -> Rules:
    """Read how a collection is measured."""
    if not path.exists():
        return Rules()
    meta = _read(_Meta, _text(path), f"{path}")
    if not 0 <= meta.embargo_days <= _MOST_DAYS:
        raise GroveError(f"{path}: embargo_days is {meta.embargo_days}; write 0 to {_MOST_DAYS}")
    return Rules(embargo=timedelta(days=meta.embargo_days), scope=meta.scope)


def _read_lines(path: Path, kind: type[T]) -> list[T]:
    """Read the objects of a file; ids must differ, for judgments name them."""
    found: dict[str, tuple[int, T]] = {}
    for number, line in _lines(path):
        one = _read(kind, line, f"{path}:{number}")
        first, _ = found.setdefault(one.id, (number, one))
        if first != number:
            raise GroveError(f"{path}:{number} has the id of line {first}; give it its own")
    if not found:
        raise GroveError(f"{path} is empty; it needs a JSON object a line")
    return [one for _, one in found.values()]


def _read(kind: type[R], text: str, where: str) -> R:
    try:
        return from_json(kind, text)
    except CodecError as error:
        wrong = str(error).removeprefix(f"{kind.__name__.lower()}.")
        raise GroveError(f"{where}: {wrong}") from error


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise GroveError(f"{path} is no UTF-8; convert the file") from error
    except OSError as error:
        raise GroveError(f"cannot read {path}: {error.strerror}") from error
