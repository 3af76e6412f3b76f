"""From a query to the parameters of a search, and from rows to hits."""

import re
from collections.abc import Sequence
from typing import Final

from grove_backend_postgres.connection import Row
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


def hits_of(
    query: Query, found: Sequence[Row], alike: Sequence[Row], filters: Filters
) -> list[Hit]:
    """Judge what two searches have found, by words and by meaning."""
    words = {str(row["id"]): (float(row["named"]), float(row["further"])) for row in found}
    likeness = {str(row["id"]): float(row["likeness"]) for row in alike}
    learnings = [one for one in read_all([*found, *alike]).values() if filters.admit(one)]
    hits = [
        _judged(query, one, words.get(one.id, (0, 0)), likeness.get(one.id, 0)) for one in learnings
    ]
    return best_first([hit for hit in hits if hit.relevance > 0])[: filters.limit]


def _judged(query: Query, learning: Learning, ranks: tuple[float, float], likeness: float) -> Hit:
    """Judge a learning: each kind of evidence leaves less of the doubt that the others leave."""
    exact, reasons = rule_relevance(_without_words(query), learning)
    named, further = (min(1.0, rank * _RANK_OF_ONE) for rank in ranks)
    meant = max(0.0, (likeness - _LEAST_LIKENESS) / (1 - _LEAST_LIKENESS))
    doubt = (1 - exact) * (1 - named) * (1 - _FURTHER_WEIGHT * further) * (1 - meant)
    if named or further:
        reasons = rule_relevance(query, learning)[1] or (_OTHER_FORMS,)
    if meant:
        reasons += (f"like it in meaning, {likeness:.2f}",)
    relevance = round(min(1.0, max(0.0, 1 - doubt)), _DECIMALS)
    return Hit(learning=learning, relevance=relevance, reasons=reasons)


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
