"""One list out of several answers of a server."""

from collections.abc import Iterable, Sequence
from typing import Final

from attrs import frozen

from grove_backend_mcp.protocol.results import Found

_RANK_OFFSET: Final = 60


@frozen(kw_only=True)
class _Standing:
    """How a result has done in the answers so far."""

    found: Found
    answers: int = 0
    ranks: float = 0.0

    def with_answer(self, found: Found, rank: int) -> "_Standing":
        better = found if self.found.learning is None else self.found
        return _Standing(
            found=better, answers=self.answers + 1, ranks=self.ranks + 1 / (_RANK_OFFSET + rank)
        )


def merged(answers: Iterable[Sequence[Found]]) -> Sequence[Found]:
    """Merge the answers to several words."""
    standings: dict[object, _Standing] = {}
    for found in answers:
        for rank, one in enumerate(found, start=1):
            key = one.learning_id or (one.handle, one.text)
            before = standings.get(key, _Standing(found=one))
            standings[key] = before.with_answer(one, rank)
    ordered = sorted(standings.values(), key=lambda one: (-one.answers, -one.ranks))
    return [one.found for one in ordered]
