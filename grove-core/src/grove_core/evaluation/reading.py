"""Reading a collection; whatever is wrong with a file is named with its line and the mend."""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from reprlib import repr as shortened
from typing import Any, Final, TypeVar

from grove_core.evaluation.collection import (
    DAY,
    CollectedLearning,
    CollectedQuery,
    Collection,
    Judgments,
    PoolScope,
    Rules,
)
from grove_core.evaluation.collection_lines import (
    CollectionError,
    Fields,
    fault,
    lines_of,
    object_of,
    text_of,
)
from grove_core.model.learning import Category, Learning
from grove_core.model.memory import Query
from grove_core.stats.log_lines import instant

META_NAME: Final = "meta.json"
_COLUMNS: Final = 3
_TREC_COLUMNS: Final = 4
_MOST_DAYS: Final = 36_525
_META_KEYS: Final = ("embargo_days", "scope")
# Files of judgments and rules may say more than grove reads: only what is nearly one of its keys.
_LIKENESS: Final = 0.7

T = TypeVar("T")


def read_collection(corpus: Path, queries: Path, qrels: Path, scope: str | None) -> Collection:
    """Read a collection."""
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
    """Name a collection."""
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
    for number, line in lines_of(path):
        cells = line.split("\t")
        if len(cells) != _COLUMNS or not _is_whole(cells[2]):
            if number == 1 and _is_heading(cells, queries | learnings):
                continue
            raise fault(path, number, f"is no judgment; {_mend_of_judgment(line)}")
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
    found = object_of(text_of(path), f"{path}")
    _check_keys(path, found)
    days, scope = found.get("embargo_days", 0), found.get("scope", PoolScope.PROJECT.value)
    if isinstance(days, bool) or not isinstance(days, int | float) or not 0 <= days <= _MOST_DAYS:
        mend = f"write how many, 0 or more and at most {_MOST_DAYS}"
        raise CollectionError(f"{path}: embargo_days is {shortened(days)}; {mend}")
    if scope not in [one.value for one in PoolScope]:
        mend = 'write "project" or "pooled"'
        raise CollectionError(f"{path}: scope is {shortened(scope)}; {mend}")
    return Rules(embargo=round(days * DAY), scope=PoolScope(scope))


def _learning(fields: Fields) -> CollectedLearning:
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


def _query(fields: Fields) -> CollectedQuery:
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


def _unique(path: Path, make: Callable[[Fields], T], id_of: Callable[[T], str]) -> list[T]:
    """Read the objects of a file; ids must differ, for judgments name them."""
    found: list[T] = []
    lines: dict[str, int] = {}
    for number, line in lines_of(path):
        one = make(Fields(path, number, line))
        first = lines.setdefault(id_of(one), number)
        if first != number:
            raise fault(path, number, f"has the id of line {first}; every line needs its own")
        found.append(one)
    if not found:
        raise CollectionError(f"{path} is empty; it needs a JSON object a line")
    return found


def _check_keys(path: Path, found: Mapping[str, Any]) -> None:
    """Refuse a key that is nearly one of grove's: it would be without effect, and nobody knew."""
    missing = [name for name in _META_KEYS if name not in found]
    for key in found:
        near = get_close_matches(key.lower(), missing, n=1, cutoff=_LIKENESS)
        if key not in _META_KEYS and near:
            what = f"the key {shortened(key)} is unknown; write {near[0]}, or delete it"
            raise CollectionError(f"{path}: {what}")


def _is_heading(cells: Sequence[str], known: set[str]) -> bool:
    return len(cells) == _COLUMNS and known.isdisjoint(cells)


def _mend_of_judgment(line: str) -> str:
    mend = "write query-id, doc-id and 1 or 0 with tabs between"
    if len(line.split()) == _TREC_COLUMNS:
        mend += "; of four columns, as TREC has them, leave out the second"
    return mend


def _is_whole(text: str) -> bool:
    try:
        int(text)
    except ValueError:
        return False
    return True
