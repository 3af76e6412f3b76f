"""How well a learning fits what is looked for: absolute, and about a probability."""

from collections import namedtuple
from math import exp, log

# typing.TYPE_CHECKING, without the import: typing takes longer than all of a query's work here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from grove_core.retrieval.indexed_text import IndexedText
    from grove_core.retrieval.query_terms import QueryTerms

# Evidence: a sum over matched terms of how rare they are. Measured; the optimum is flat.
SATURATION = 1.5  # the k1 of BM25: how soon repeating a word says nothing more
LENGTH_SHARE = 0.75  # the b of BM25: how far long texts are discounted
WHOLE_TEXT_WEIGHT = 1.0
SUMMARY_WEIGHT = 1.0
TAGS_WEIGHT = 0.5
PATHS_WEIGHT = 0.5

# Learnings that a project is thought to have besides, all about other things: with three of its own
# nothing could be rare.
BACKGROUND = 10

# Log odds: learned on what tells a project's own matters from a stranger's, all but the bias, which
# moves values and floor together: at -2 and more the best values come too close to 1.
BIAS = -4.0
EVIDENCE_SLOPE = 1.75
NEED_SLOPE = -1.12
CORPUS_SLOPE = -0.29
IDENTIFIERS_SLOPE = 0.89
KNOWN_AREA = 1.03
KNOWN_AREAS_SLOPE = 2.34
UNKNOWN_AREA = -1.09

# Of queries asked of strange projects 1.4 % have a better candidate, of answerable ones 96.6 %.
FLOOR = 0.033
# The exponent of recency in the score. Measured from 0 to 1: best from 0.2 to 0.5.
RECENCY_WEIGHT = 0.3


class Corpus(namedtuple("Corpus", ("documents", "lengths", "frequencies"))):  # noqa: PYI024 - as above
    """What is known of all learnings together."""

    __slots__ = ()
    documents: int
    lengths: tuple[float, ...]
    frequencies: "Callable[[Iterable[str]], Mapping[str, int]]"


class Relevance(
    namedtuple("Relevance", ("value", "parts", "reasons"), defaults=((),))  # noqa: PYI024 - as above
):
    """How well a learning fits."""

    __slots__ = ()
    value: float
    parts: "Mapping[str, float]"
    reasons: "Sequence[str]"


class _Wanted(namedtuple("_Wanted", ("words", "path_words", "keys", "lengths", "parts"))):  # noqa: PYI024 - as above
    """A query seen with the eyes of a corpus: its terms weighed by how rare they are."""

    __slots__ = ()
    words: "Mapping[str, float]"
    path_words: "Mapping[str, float]"
    keys: "Mapping[str, float]"
    lengths: tuple[float, float, float, float]
    parts: "Mapping[str, float]"


def relevances(
    query: "QueryTerms", texts: "Sequence[IndexedText]", corpus: Corpus
) -> list[Relevance]:
    """Return how well each of some learnings fits."""
    if not texts:
        return []
    wanted = _wanted(query, corpus)
    return [_relevance(wanted, text) for text in texts]


def _wanted(query: "QueryTerms", corpus: Corpus) -> _Wanted:
    found = corpus.frequencies([*query.all_terms(), *query.areas])
    documents = corpus.documents
    background = documents + BACKGROUND

    def weighed(terms: "Mapping[str, float]") -> dict[str, float]:
        # How often a term is found may be counted a little later than the documents were.
        return {
            term: weight * log(1 + (background - known + 0.5) / (known + 0.5))
            for term, weight in terms.items()
            for known in (min(found.get(term, 0), documents),)
        }

    words, path_words = weighed(query.words), weighed(query.path_words)
    # With nothing but files asked for, a few path words in common would be all there is to say.
    need = max(sum(words.values()), sum(path_words.values()))
    known_identifiers = sum(1 for word in query.identifiers if found.get(word))
    parts = {
        "query": BIAS + NEED_SLOPE * log(1 + need),
        "corpus": CORPUS_SLOPE * log(1 + documents),
        "identifiers": IDENTIFIERS_SLOPE * log(1 + known_identifiers),
        "area": 0.0,
    }
    if query.areas:
        share = sum(1 for area in query.areas if found.get(area)) / len(query.areas)
        parts["area"] = KNOWN_AREA + KNOWN_AREAS_SLOPE * share if share else UNKNOWN_AREA
    summary, tags, detail, paths = corpus.lengths[:4]
    return _Wanted(
        words=words,
        path_words=path_words,
        keys=weighed(query.keys),
        lengths=(summary + tags + detail, summary, tags, paths),
        parts=parts,
    )


def _relevance(wanted: _Wanted, text: "IndexedText") -> Relevance:
    evidence = _evidence(wanted, text)
    total = sum(evidence.values())
    if total <= 0:
        return Relevance(0.0, {})
    # The logarithm is of the sum: each component gets its share of it.
    each = EVIDENCE_SLOPE * log(1 + total) / total
    parts = {name: each * amount for name, amount in evidence.items()}
    parts.update(wanted.parts)
    return Relevance(1 / (1 + exp(-sum(parts.values()))), parts)


def _evidence(wanted: _Wanted, text: "IndexedText") -> dict[str, float]:
    words = wanted.words
    summary, tags, detail = text.summary.split(), text.tags.split(), text.detail.split()
    in_summary = [term for term in summary if term in words]
    in_tags = [term for term in tags if term in words]
    in_text = [term for term in detail if term in words] + in_summary + in_tags
    whole_mean, summary_mean, tags_mean, paths_mean = wanted.lengths
    whole = len(summary) + len(tags) + len(detail)
    evidence = {
        "text": WHOLE_TEXT_WEIGHT * _saturated(in_text, words, whole, whole_mean),
        "summary": SUMMARY_WEIGHT * _saturated(in_summary, words, len(summary), summary_mean),
        "tags": TAGS_WEIGHT * _saturated(in_tags, words, len(tags), tags_mean),
    }
    if wanted.path_words:
        weights, paths = wanted.path_words, text.paths.split()
        in_paths = [term for term in paths if term in weights]
        evidence["paths"] = PATHS_WEIGHT * _saturated(in_paths, weights, len(paths), paths_mean)
    if wanted.keys:
        evidence["keys"] = sum(
            [wanted.keys[key] for key in text.keys.split() if key in wanted.keys]
        )
    return evidence


def _saturated(
    found: list[str], weights: "Mapping[str, float]", length: int, mean_length: float
) -> float:
    """Sum up a field's matches as BM25 does (Robertson and Zaragoza 2009)."""
    if not found:
        return 0.0
    norm = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * length / (mean_length or 1))
    counts: dict[str, int] = {}
    for term in found:
        counts[term] = counts.get(term, 0) + 1
    total = 0.0
    for term, count in counts.items():
        total += weights[term] * count / (count + norm)
    return (SATURATION + 1) * total
