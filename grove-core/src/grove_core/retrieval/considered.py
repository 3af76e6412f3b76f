"""What was considered for showing on one occasion, as a line of JSON that keeps no secret."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from grove_core.retrieval.choosing import SHOWN, Choice
from grove_core.retrieval.query_terms import QueryTerms
from grove_core.retrieval.ranking import Score

MOST_VERDICTS: Final = 20
"""How many of the best are kept, besides those that were shown."""

MOST_LINES: Final = 64
MOST_CHARACTERS: Final = 512 * 1024
NO_ROOM: Final = "no room left in max_chars"
UNKNOWN: Final = "unknown"
"""What a term that no learning holds is called, with its number behind a blank: no term has one."""

_VERSION: Final = 1
_LONGEST_LINE: Final = 64 * 1024
_LONGEST_NAME: Final = 200
_MOST_PARTS: Final = 30
_DIGITS: Final = 6
# Of a file that is full: the first line is the session's start, the newest are asked for most.
_KEPT_LINES: Final = MOST_LINES // 2


class Considered(NamedTuple):
    """What became of a learning."""

    id: str
    rank: int
    score: Score
    reason: str


class Circumstances(NamedTuple):
    """When and how learnings were considered."""

    at: str
    via: str
    strategy: str
    limit: int
    floor: float
    max_chars: int
    engine: str
    complete: bool = True
    failed: tuple[str, ...] = ()


class Occasion(NamedTuple):
    """An occasion on which learnings were considered."""

    circumstances: Circumstances
    found: int
    query: QueryTerms | None
    verdicts: tuple[Considered, ...]
    exact: frozenset[str] = frozenset()

    @property
    def shown(self) -> tuple[str, ...]:
        """Ids of what was shown, best first."""
        return tuple(one.id for one in self.verdicts if one.reason == SHOWN)


def line_of(
    circumstances: Circumstances, query: QueryTerms, choice: Choice, shown: Sequence[str]
) -> str:
    """Write an occasion as a line."""
    failed = [one[:_LONGEST_NAME] for one in circumstances.failed][:_MOST_PARTS]
    document: dict[str, Any] = {
        "v": _VERSION,
        **circumstances._replace(failed=tuple(failed))._asdict(),
        "found": len(choice.verdicts),
        "query": _query_document(query, choice),
        "verdicts": _verdicts(choice, shown),
    }
    if choice.exact:
        document["exact"] = _known_keys(choice)
    # Nobody writes that much; what is too long may have been pasted, or be a plugin's reasons.
    for name, less in (("query", None), ("verdicts", ())):
        line = _dumped(document)
        if len(line) > _LONGEST_LINE:
            document[name] = less
    return _dumped(document)


def _dumped(document: Mapping[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":")) + "\n"


def _verdicts(choice: Choice, shown: Sequence[str]) -> list[dict[str, Any]]:
    kept: list[dict[str, Any]] = []
    for rank, (ranked, reason) in enumerate(choice.verdicts, 1):
        if rank > MOST_VERDICTS and reason != SHOWN:
            continue
        score = ranked.score
        parts = list(score.parts.items())[:_MOST_PARTS]
        kept.append(
            {
                "id": ranked.entry.id,
                "rank": rank,
                "total": round(score.total, _DIGITS),
                "relevance": round(score.relevance, _DIGITS),
                "recency": round(score.recency, _DIGITS),
                "boost": round(score.boost, _DIGITS),
                "parts": {name[:_LONGEST_NAME]: round(value, _DIGITS) for name, value in parts},
                "reasons": [name[:_LONGEST_NAME] for name in score.reasons[:_MOST_PARTS]],
                "reason": NO_ROOM if reason == SHOWN and ranked.entry.id not in shown else reason,
            }
        )
    return kept


def _query_document(query: QueryTerms, choice: Choice) -> dict[str, Any]:
    """Write a query by its fields, whatever these are, without words that nobody knows."""
    names = _Names(_known(query, choice))
    return {name: names.plain(value) for name, value in query._asdict().items()}


def _known(query: QueryTerms, choice: Choice) -> set[str]:
    """Pick the terms that one of the learnings holds that were found."""
    wanted: set[str] = set()
    for value in query:
        wanted.update(_strings(value))
    known: set[str] = set()
    for ranked, _ in choice.verdicts:
        for field in ranked.text:
            known |= wanted.intersection(field.split())
        if len(known) == len(wanted):
            break
    return known


def _known_keys(choice: Choice) -> list[str]:
    """Pick the exact keys that one of the learnings has that were found: no other is kept."""
    held = {key for ranked, _ in choice.verdicts for key in ranked.text.keys.split()}
    return sorted(held.intersection(choice.exact))


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return (one for one in value if isinstance(one, str))
    return ()


class _Names:
    """What terms are called: the same one is called the same everywhere."""

    def __init__(self, known: set[str]) -> None:
        self._known = known
        self._numbered: dict[str, str] = {}

    def plain(self, value: object) -> Any:  # noqa: ANN401 - JSON
        """Make a field of a query into JSON."""
        if isinstance(value, str):
            return self._name(value) if value else ""
        if isinstance(value, float):
            return round(value, _DIGITS)
        if isinstance(value, Mapping):
            return {self._name(str(term)): self.plain(weight) for term, weight in value.items()}
        if isinstance(value, set | frozenset):
            return [self.plain(one) for one in sorted(value)]
        if isinstance(value, list | tuple):
            return [self.plain(one) for one in value]
        return value

    def _name(self, term: str) -> str:
        if term in self._known:
            return term
        number = len(self._numbered) + 1
        return self._numbered.setdefault(term, f"{UNKNOWN} {number}")


def occasion_of(line: str) -> Occasion | None:
    """Read a line."""
    try:
        document = json.loads(line)
        if document["v"] != _VERSION:
            return None
        under = {name: document[name] for name in Circumstances._fields}
        return Occasion(
            Circumstances(**{**under, "failed": tuple(under["failed"])}),
            document["found"],
            _query_of(document["query"]),
            tuple(map(_considered_of, document["verdicts"])),
            frozenset(document.get("exact", ())),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _query_of(document: dict[str, Any] | None) -> QueryTerms | None:
    """Read a query; one that an older grove wrote with other fields is none."""
    if document is None or document.keys() != set(QueryTerms._fields):
        return None
    fields: dict[str, Any] = {
        name: frozenset(value) if isinstance(value, list) else value
        for name, value in document.items()
    }
    return QueryTerms(**fields)


def _considered_of(document: dict[str, Any]) -> Considered:
    known = {name: document[name] for name in Score._fields if name in document}
    score = Score(**{**known, "reasons": tuple(known.get("reasons", ()))})
    return Considered(document["id"], document["rank"], score, document["reason"])


def has_room(text: str, line: str) -> bool:
    """Return whether a file of lines may take one more."""
    return text.count("\n") < MOST_LINES and len(text) + len(line) <= MOST_CHARACTERS


def with_room_made(text: str, line: str) -> str:
    """Add a line to a file that is full; the first line and the newest stay."""
    lines = text.splitlines(keepends=True)
    newest = lines[1:][-_KEPT_LINES:]
    while newest and not has_room("".join((lines[0], *newest)), line):
        del newest[: len(newest) // 2 + 1]
    kept = "".join((*lines[:1], *newest))
    return kept + line if has_room(kept, line) else line
