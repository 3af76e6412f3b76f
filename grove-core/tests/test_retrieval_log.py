"""The retrieval log: what it keeps is read back, and no line spoils another one."""

from datetime import UTC, datetime

import pytest

from grove_core.model.memory import Query
from grove_core.retrieval import RetrievalStrategy
from grove_core.retrieval.choosing import SHOWN, choose
from grove_core.retrieval.index import LearningIndex
from grove_core.retrieval.ranking import rank
from grove_core.retrieval.terms import entry_of, terms_of
from grove_core.services.explain import (
    NO_ROOM,
    Retrieval,
    candidates_of,
    from_line,
    to_line,
)
from grove_core.storage.cache import Cache
from grove_core.testing.samples import example_learning

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)


def choice_of(*summaries):
    index = LearningIndex(Cache())
    entries = [
        entry_of(
            example_learning(id=f"cl_{number}", summary=summary, detail="Words of a detail."),
            backend="markdown",
            personal=False,
        )
        for number, summary in enumerate(summaries)
    ]
    index.put("project markdown", entries, "", whole=True)
    ranked = rank(index.find(terms_of(Query(text="slow orders report"))), {}, NOW, 90)
    return choose(ranked, RetrievalStrategy.MODERATE, 5, NOW, floor=0.0)


def retrieval(candidates=(), found=0, at="2026-02-06T10:00:00Z"):
    return Retrieval(
        at=at,
        via="prompt",
        floor=0.0,
        found=found,
        missing=["search of elsewhere"],
        candidates=list(candidates),
    )


def test_a_line_is_read_back_with_what_had_no_room():
    choice = choice_of("The report of orders is slow", "Orders stream their rows")
    shown = [choice.chosen[0].entry.id]
    written = retrieval(candidates_of(choice, shown), len(choice.assessments))
    line = to_line(written)
    assert line.endswith("\n")
    assert line.isascii()
    assert from_line(line) == written
    assert [one.rank for one in written.candidates] == [1, 2]
    assert [one.reason for one in written.candidates] == [SHOWN, NO_ROOM]


@pytest.mark.parametrize("line", ["{", "[]", '{"v": 2}', '{"v": 3, "at": "x"}'])
def test_what_cannot_be_read_is_nothing(line):
    assert from_line(line) is None
