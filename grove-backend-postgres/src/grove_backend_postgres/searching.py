"""From a query to the parameters of a search, and from rows to hits."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from attrs import frozen

from grove_backend_postgres.rows import clean, file_names, parts, read_all
from grove_core import Filters, Hit, Learning, Query, best_first, rule_relevance

_FURTHER_WEIGHT: Final = 0.5
"""What a ticket's description or an error message counts, beside its title and search words."""
_RANK_OF_ONE: Final = 1.64493406685
"""``ts_rank`` of one word that stands once is its weight divided by this."""
_LEAST_LIKENESS: Final = 0.3
"""The cosine below which two texts have nothing to do with each other."""
_LEAST_CANDIDATES: Final = 200
_MOST_WORDS: Final = 200
ALL_ROWS: Final = 2**31 - 1
"""A number, since not every database takes none."""

_DECIMALS: Final = 4
_OTHER_FORMS: Final = "other forms of its words"
_WORD: Final = re.compile(r"\w+")


@frozen(kw_only=True)
class Evidence:
    """What speaks for a learning."""

    learning: Learning
    named: float = 0.0
    further: float = 0.0
    likeness: float = 0.0


def admitted_by(filters: Filters) -> dict[str, object]:
    """Return the parameters of a search that stand for filters, the limit aside."""
    return {
        "statuses": [each.value for each in filters.statuses],
        "any_scope": not filters.scopes,
        "scopes": [each.value for each in filters.scopes],
        "any_category": not filters.categories,
        "categories": [each.value for each in filters.categories],
        "any_tag": not filters.tags,
        "tags": [clean(each) for each in filters.tags],
        "any_time": filters.created_after is None,
        "created_after": filters.created_after,
    }


def asked_by(query: Query) -> dict[str, object]:
    """Return the parameters of a search that stand for a query."""
    named = f"{query.text} {query.ticket_title}"
    further = f"{query.ticket_description} {query.error_signature}"
    return {
        "named_plain": _any_of(_WORD.findall(named)),
        "named_exact": _any_of([*_WORD.findall(named), *parts(named), *query.tags]),
        "further_plain": _any_of(_WORD.findall(further)),
        "further_exact": _any_of(parts(further)),
        "named_tags": sorted({clean(each) for each in _named_tags(query)}),
        "named_files": sorted(file_names(query.files)),
        "ticket": clean(query.ticket_id) or None,
    }


def most_rows(query: Query, filters: Filters) -> int:
    """Return how many rows are looked at."""
    if filters.limit is None:
        return ALL_ROWS
    return filters.limit if query.is_empty else max(_LEAST_CANDIDATES, 2 * filters.limit)


def evidence_of(
    found: Iterable[Mapping[str, Any]], alike: Iterable[Mapping[str, Any]]
) -> list[Evidence]:
    """Put together what two searches have found."""
    by_words = {str(row["id"]): row for row in found}
    by_vector = {str(row["id"]): float(row["likeness"]) for row in alike}
    learnings = read_all([*by_words.values(), *alike])
    return [
        Evidence(
            learning=learning,
            named=float(by_words.get(id_, {}).get("named", 0)),
            further=float(by_words.get(id_, {}).get("further", 0)),
            likeness=by_vector.get(id_, 0.0),
        )
        for id_, learning in learnings.items()
    ]


def hits_of(query: Query, evidence: Iterable[Evidence], filters: Filters) -> list[Hit]:
    """Judge what was found."""
    judged = [(one, *_judged(query, one)) for one in evidence if filters.admit(one.learning)]
    hits = [
        Hit(learning=one.learning, relevance=relevance, reasons=reasons)
        for one, relevance, reasons in judged
        if relevance > 0
    ]
    return best_first(hits)[: filters.limit]


def _judged(query: Query, one: Evidence) -> tuple[float, tuple[str, ...]]:
    """Judge a learning: each kind of evidence leaves less of the doubt that the others leave."""
    exact, reasons = rule_relevance(_without_words(query), one.learning)
    words = [min(1.0, rank * _RANK_OF_ONE) for rank in (one.named, one.further)]
    meant = max(0.0, (one.likeness - _LEAST_LIKENESS) / (1 - _LEAST_LIKENESS))
    doubt = (1 - exact) * (1 - words[0]) * (1 - _FURTHER_WEIGHT * words[1]) * (1 - meant)
    if any(words):
        reasons = rule_relevance(query, one.learning)[1] or (_OTHER_FORMS,)
    if meant:
        reasons += (f"like it in meaning, {one.likeness:.2f}",)
    return round(min(1.0, max(0.0, 1 - doubt)), _DECIMALS), reasons


def _without_words(query: Query) -> Query:
    """Leave tags, files and ticket; words are a tag where they are one as they stand."""
    return Query(tags=tuple(_named_tags(query)), files=query.files, ticket_id=query.ticket_id)


def _named_tags(query: Query) -> list[str]:
    named = f"{query.text} {query.ticket_title}".lower()
    return list(dict.fromkeys([*query.tags, *re.findall(r"\w+(?:-\w+)*", named)]))


def _any_of(words: Sequence[str]) -> str:
    """Write what ``to_tsquery`` reads: any of these words, each in quotes."""
    cleaned = dict.fromkeys(clean(word).replace("'", "").replace("\\", "") for word in words)
    return " | ".join(f"'{word}'" for word in list(cleaned)[:_MOST_WORDS] if word.strip("_"))
