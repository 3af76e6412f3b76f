"""What was considered on an occasion, for ``grove why`` and ``grove debug``."""

from collections.abc import Iterator
from typing import Any, Final

from grove_core.cli.timeparse import local_time
from grove_core.clock import parse_instant
from grove_core.retrieval.considered import Occasion
from grove_core.retrieval.explaining import explanation_of, lines_of
from grove_core.text import clean_line

_LONGEST: Final = 300
_HEAD: Final = ("place", "score", "relevance", "recency", "boost", "id", "reason")


def occasion_document(occasion: Occasion) -> dict[str, Any]:
    """Describe an occasion for ``--json``."""
    query = None if occasion.query is None else occasion.query._asdict()
    return {
        **occasion.circumstances._asdict(),
        "found": occasion.found,
        "query": query,
        "considered": [
            {
                "rank": one.rank,
                "id": one.id,
                "score": explanation_of(one.score),
                "reason": one.reason,
            }
            for one in occasion.verdicts
        ],
    }


def headline(occasion: Occasion) -> str:
    """Say in one line what came of an occasion."""
    under = occasion.circumstances
    when = local_time(parse_instant(under.at))
    told = f"{when}  {under.via}: {occasion.found} found, {len(occasion.shown)} shown"
    settings = f"at most {under.limit}, floor {under.floor:g}, {under.strategy}, {under.engine}"
    failed = f"; could not be asked: {', '.join(under.failed)}" if under.failed else ""
    index = "" if under.complete else "; not all learnings were in the index yet"
    return f"{told} ({settings}{clean_line(failed, _LONGEST)}{index})"


def occasion_lines(occasion: Occasion, *, parts: bool = False) -> Iterator[str]:
    """Write an occasion as a table, the best learning first."""
    yield headline(occasion)
    if not occasion.verdicts:
        return
    widest = max(len("id"), *(len(one.id) for one in occasion.verdicts))
    yield _row(*_HEAD, widest=widest)
    for one in occasion.verdicts:
        score = one.score
        factors = (score.total, score.relevance, score.recency, score.boost)
        numbers = (f"{value:.4f}" for value in factors)
        reason = clean_line(one.reason, _LONGEST)
        yield _row(str(one.rank), *numbers, one.id, reason, widest=widest)
        if parts:
            yield from (f"{'':>5}  {clean_line(line, _LONGEST)}" for line in lines_of(score)[1:])


def _row(*cells: str, widest: int) -> str:
    rank, total, relevance, recency, boost, learning_id, reason = cells
    numbers = f"{rank:>5}  {total:>7}  {relevance:>9}  {recency:>7}  {boost:>6}"
    return f"{numbers}  {learning_id:<{widest}}  {reason}"
