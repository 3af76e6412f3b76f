"""Reading a collection; whatever is wrong with a file is named with its line and the mend."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from grove_core.clock import parse_instant
from grove_core.errors import GroveError
from grove_core.evaluation.collection import (
    DAY,
    CollectedLearning,
    CollectedQuery,
    Collection,
    Judgments,
    PoolScope,
    Rules,
)
from grove_core.model.learning import Category, Learning
from grove_core.model.memory import Query
from grove_core.stats.log_lines import instant, microseconds

META_NAME: Final = "meta.json"
_COLUMNS: Final = 3

T = TypeVar("T")


class CollectionError(GroveError):
    """A file of a collection cannot be used; the message names the file, the line and the mend."""


def read_collection(corpus: Path, queries: Path, qrels: Path, scope: str | None) -> Collection:
    """Read a collection.

    Args:
        corpus: The learnings, one JSON object a line; ``meta.json`` may lie beside it.
        queries: The queries, one JSON object a line.
        qrels: The judgments: query, learning and relevance, separated by tabs.
        scope: The scope to use instead of that of ``meta.json``.

    Returns:
        The collection.

    Raises:
        CollectionError: A file cannot be read.
    """
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
    """Name a collection.

    Args:
        corpus: The file of its learnings.

    Returns:
        The name of the folder that the file lies in.
    """
    return corpus.resolve().parent.name


def read_learnings(path: Path) -> list[CollectedLearning]:
    """Read the learnings of a collection.

    Args:
        path: The file: an object with ``id`` and ``summary`` a line, and of what grove knows about
            a learning as much as there is.

    Returns:
        The learnings, in the order of the file.

    Raises:
        CollectionError: The file cannot be read.
    """
    return _unique(path, _learning, lambda one: one.learning.id)


def read_queries(path: Path) -> list[CollectedQuery]:
    """Read the queries of a collection.

    Args:
        path: The file: an object with ``id`` and ``ticket_title`` a line, and of what grove knows
            about the work at hand as much as there is.

    Returns:
        The queries, in the order of the file.

    Raises:
        CollectionError: The file cannot be read.
    """
    return _unique(path, _query, lambda one: one.id)


def read_judgments(path: Path, queries: set[str], learnings: set[str]) -> Judgments:
    """Read what is relevant.

    Args:
        path: The file: the ids of a query and of a learning, and a whole number that is above zero
            when the learning is relevant, separated by tabs. The first line may be a heading.
        queries: The ids of all queries.
        learnings: The ids of all learnings.

    Returns:
        The judgments; what names an unknown id is counted and left out.

    Raises:
        CollectionError: The file cannot be read.
    """
    relevant: dict[str, set[str]] = {}
    without_query = without_learning = 0
    for number, line in _lines(path):
        cells = line.split("\t")
        if len(cells) != _COLUMNS or not _is_whole(cells[2]):
            if number == 1:
                continue
            raise _fault(
                path, number, "is no judgment; write query-id, doc-id and 1 or 0 with tabs between"
            )
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
    """Read how a collection is measured.

    Args:
        path: The file, which need not exist.

    Returns:
        The rules.

    Raises:
        CollectionError: The file cannot be read.
    """
    if not path.exists():
        return Rules()
    found = _object(_text(path), f"{path}")
    days, scope = found.get("embargo_days", 0), found.get("scope", PoolScope.PROJECT.value)
    if isinstance(days, bool) or not isinstance(days, int | float) or not 0 <= days < float("inf"):
        raise CollectionError(f"{path}: embargo_days is {days!r}; write how many, 0 or more")
    if scope not in [one.value for one in PoolScope]:
        raise CollectionError(f'{path}: scope is {scope!r}; write "project" or "pooled"')
    return Rules(embargo=round(days * DAY), scope=PoolScope(scope))


class _Fields:
    """An object of a file, and where it stands, for whoever has to mend it."""

    def __init__(self, path: Path, number: int, line: str) -> None:
        self._path, self._number = path, number
        self._values = _object(line, f"{path}:{number}")

    def text(self, name: str, *, needed: bool = False) -> str:
        value = self._values.get(name)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or (needed and not value.strip()):
            wrong = "is missing" if name not in self._values else "is no text"
            raise _fault(self._path, self._number, f"{name} {wrong}; every line needs one")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        value = self._values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise _fault(
                self._path, self._number, f'{name} is no list of texts, such as ["a", "b"]'
            )
        return tuple(value)

    def instant(self, name: str) -> int:
        text = self.text(name)
        if not text.strip():
            return 0
        try:
            return microseconds(parse_instant(text))
        except (ValueError, OverflowError) as error:
            mend = "write it as 2026-02-06T10:00:00Z"
            raise _fault(self._path, self._number, f"{name} is no time; {mend}") from error


def _learning(fields: _Fields) -> CollectedLearning:
    category, created = fields.text("category"), fields.instant("created_at")
    known = {one.value: one for one in Category}
    return CollectedLearning(
        learning=Learning(
            id=fields.text("id", needed=True),
            # A plugin's engine gets grove's own learnings, which have no other categories.
            category=known.get(category, Category.PATTERN),
            summary=fields.text("summary", needed=True),
            detail=fields.text("detail"),
            session_id="",
            timestamp=instant(created),
            tags=tuple(tag.lower() for tag in fields.texts("tags")),
            context_files=fields.texts("context_files"),
            ticket_id=fields.text("ticket_id") or None,
        ),
        category=category,
        project=fields.text("project"),
        created=created,
    )


def _query(fields: _Fields) -> CollectedQuery:
    return CollectedQuery(
        id=fields.text("id", needed=True),
        query=Query(
            ticket_title=fields.text("ticket_title", needed=True),
            ticket_description=fields.text("ticket_description"),
            tags=tuple(tag.lower() for tag in fields.texts("tags")),
            files=fields.texts("file_paths"),
        ),
        project=fields.text("project"),
        asked=fields.instant("created_at"),
    )


def _unique(path: Path, make: Callable[[_Fields], T], id_of: Callable[[T], str]) -> list[T]:
    """Read the objects of a file; ids must differ, for judgments name them."""
    found: list[T] = []
    lines: dict[str, int] = {}
    for number, line in _lines(path):
        one = make(_Fields(path, number, line))
        first = lines.setdefault(id_of(one), number)
        if first != number:
            raise _fault(path, number, f"has the id of line {first}; every line needs its own")
        found.append(one)
    if not found:
        raise CollectionError(f"{path} is empty; it needs a JSON object a line")
    return found


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Give the lines that hold something, with their numbers; JSON texts may hold any separator."""
    for number, line in enumerate(_text(path).split("\n"), start=1):
        if line.strip():
            yield number, line.rstrip("\r")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _fault(path, line, "is no UTF-8; convert the file") from error
    except OSError as error:
        raise CollectionError(f"cannot read {path}: {error.strerror}") from error


def _object(text: str, where: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise CollectionError(f"{where} is no JSON ({error}); write one object") from error
    if not isinstance(value, dict):
        raise CollectionError(f"{where} is JSON, but no object; write one in braces")
    return value


def _is_whole(text: str) -> bool:
    try:
        int(text)
    except ValueError:
        return False
    return True


def _fault(path: Path, number: int, what: str) -> CollectionError:
    return CollectionError(f"{path}:{number} {what}")
