"""Collections: learnings, queries, relevance judgments, and the rules they are measured by."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import Enum
from pathlib import Path
from typing import Any, Final, TypeVar

from attrs import field, frozen

from grove_core import Category, GroveError, Learning, Query, parse_instant

UNKNOWN_TIME: Final = datetime(1970, 1, 1, tzinfo=UTC)
META_NAME: Final = "meta.json"
_COLUMNS: Final = 3
_MOST_DAYS: Final = 36_525

T = TypeVar("T")


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
    return _unique(path, _learning, lambda one: one.learning.id)


def read_queries(path: Path) -> list[CollectedQuery]:
    """Read the queries of a collection."""
    return _unique(path, _query, lambda one: one.id)


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
    found = _object(_text(path), f"{path}")
    days, scope = found.get("embargo_days", 0), found.get("scope", PoolScope.PROJECT.value)
    if isinstance(days, bool) or not isinstance(days, int | float) or not 0 <= days <= _MOST_DAYS:
        raise GroveError(f"{path}: embargo_days is {days!r}; write 0 to {_MOST_DAYS}")
    if scope not in [one.value for one in PoolScope]:
        raise GroveError(f'{path}: scope is {scope!r}; write "project" or "pooled"')
    return Rules(embargo=timedelta(days=days), scope=PoolScope(scope))


class _Fields:
    """One line of a file, which names itself when a field of it is wrong."""

    def __init__(self, where: str, line: str) -> None:
        self._where = where
        self._values = _object(line, where)

    def required(self, name: str) -> str:
        if name not in self._values:
            raise GroveError(f"{self._where} {name} is missing; every line needs one")
        return self.text(name)

    def text(self, name: str) -> str:
        value = self._values.get(name)
        if not isinstance(value, str | None):
            raise GroveError(f"{self._where} {name} is no text")
        return value or ""

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._values.get(name) or ()
        if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
            raise GroveError(f'{self._where} {name} is no list of texts, such as ["a", "b"]')
        return tuple(value)

    def time(self, name: str) -> datetime:
        text = self.text(name).strip()
        try:
            return parse_instant(text) if text else UNKNOWN_TIME
        except (ValueError, OverflowError) as error:
            fix = "write it as 2026-02-06T10:00:00Z"
            raise GroveError(f"{self._where} {name} is no time; {fix}") from error


def _learning(fields: _Fields) -> CollectedLearning:
    category = fields.text("category")
    known = {one.value: one for one in Category}
    learning = Learning(
        id=fields.required("id"),
        # A plugin's engine gets grove's own learnings, which have no other categories.
        category=known.get(category, Category.PATTERN),
        summary=fields.required("summary"),
        detail=fields.text("detail"),
        session_id="",
        timestamp=fields.time("created_at"),
        tags=tuple(tag.lower() for tag in fields.texts("tags")),
        context_files=fields.texts("context_files"),
        ticket_id=fields.text("ticket_id") or None,
    )
    return CollectedLearning(learning=learning, category=category, project=fields.text("project"))


def _query(fields: _Fields) -> CollectedQuery:
    query = Query(
        ticket_title=fields.required("ticket_title"),
        ticket_description=fields.text("ticket_description"),
        tags=tuple(tag.lower() for tag in fields.texts("tags")),
        files=fields.texts("file_paths"),
    )
    return CollectedQuery(
        id=fields.required("id"),
        query=query,
        project=fields.text("project"),
        asked=fields.time("created_at"),
    )


def _unique(path: Path, make: Callable[[_Fields], T], id_of: Callable[[T], str]) -> list[T]:
    """Read the objects of a file; ids must differ, for judgments name them."""
    found: list[T] = []
    lines: dict[str, int] = {}
    for number, line in _lines(path):
        one = make(_Fields(f"{path}:{number}", line))
        first = lines.setdefault(id_of(one), number)
        if first != number:
            raise GroveError(f"{path}:{number} has the id of line {first}; give it its own")
        found.append(one)
    if not found:
        raise GroveError(f"{path} is empty; it needs a JSON object a line")
    return found


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


def _object(text: str, where: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise GroveError(f"{where} is no JSON ({error}); write one object") from error
    if not isinstance(value, dict):
        raise GroveError(f"{where} is JSON, but no object; write one in braces")
    return value
