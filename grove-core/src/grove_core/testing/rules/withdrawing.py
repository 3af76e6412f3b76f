"""Giving back what was lent."""

from typing import Any, Final

import pytest
from attrs import evolve

from grove_core.model.learning import Confidence, Criterion, Learning, LearningStatus, Scope
from grove_core.model.memory import Capability
from grove_core.plugins.descriptors import MemoryBackend, Withdrawing
from grove_core.testing.rules.reading_back import (
    Opener,
    expect_new,
    expect_untouched,
    fetch,
    ids_in,
    need,
    write_all,
)
from grove_core.testing.samples import SUMMARIES, TEXTS, example_learning
from grove_core.testing.verdict import expect, rule

_WITHDRAW: Final = "grove_core.Withdrawing.withdraw"
_EDITS: Final[dict[str, dict[str, Any]]] = {
    "summary": {"summary": "Somebody has put it better since"},
    "detail": {"detail": example_learning().detail + "\n\nAnd somebody has added this."},
    "tags": {"tags": ("shelf",)},
    "confidence": {"confidence": Confidence.LOW},
    "criteria_met": {"criteria_met": frozenset(Criterion)},
    "scope": {"scope": Scope.TEAM},
    "files": {"context_files": ()},
    "ticket_id": {"ticket_id": None},
}


class WithdrawingRules:
    """What ``withdraw`` takes out."""

    @rule(_WITHDRAW)
    def test_withdraw_takes_out_what_was_written(self, open_backend: Opener) -> None:
        """What was written is taken out, once, and nothing else."""
        need(open_backend(), Capability.WITHDRAW)
        hostile = "\n\n".join(TEXTS[name] for name in ("headings", "quotes", "fields of an entry"))
        learnings = [
            example_learning(1),
            example_learning(2, detail=hostile, summary=SUMMARIES["brackets"]),
            example_learning(3),
        ]
        write_all(open_backend(), learnings)
        for place in (1, 0, 0):
            learning = learnings.pop(place)
            expect(
                _withdraw(open_backend(), learning),
                expected=True,
                about=f"the answer for {learning.id}",
            )
            expect(fetch(open_backend(), learning.id), None, "what is there afterwards")
            expect_untouched(open_backend(), learnings)
            expect(ids_in(open_backend()), sorted(one.id for one in learnings), "the other ids")
            expect(
                _withdraw(open_backend(), learning),
                expected=False,
                about="the answer the second time",
            )

    @rule(_WITHDRAW)
    def test_withdraw_of_what_is_not_there_is_false(self, open_backend: Opener) -> None:
        """What is not there is not taken out."""
        need(open_backend(), Capability.WITHDRAW)
        expect(
            _withdraw(open_backend(), example_learning()),
            expected=False,
            about="the answer of an empty store",
        )
        open_backend().write(example_learning(2))
        expect(_withdraw(open_backend(), example_learning()), expected=False, about="the answer")
        expect_untouched(open_backend(), [example_learning(2)])

    @pytest.mark.parametrize("field", [*_EDITS])
    @rule(_WITHDRAW)
    def test_withdraw_leaves_what_differs(self, open_backend: Opener, field: str) -> None:
        """What differs from what was written stays: somebody has worked on it."""
        need(open_backend(), Capability.WITHDRAW)
        learning = example_learning()
        stored = evolve(learning, **_EDITS[field])
        write_all(open_backend(), [stored, example_learning(2)])
        expect(_withdraw(open_backend(), learning), expected=False, about="the answer")
        expect_untouched(open_backend(), [stored, example_learning(2)])

    @rule(_WITHDRAW)
    def test_withdraw_leaves_what_was_archived(self, open_backend: Opener) -> None:
        """What has got another status since stays."""
        need(open_backend(), Capability.WITHDRAW)
        need(open_backend(), Capability.SET_STATUS)
        open_backend().write(example_learning())
        archived = open_backend().set_status(example_learning().id, LearningStatus.ARCHIVED)
        expect(_withdraw(open_backend(), example_learning()), expected=False, about="the answer")
        expect_untouched(open_backend(), [archived])

    @rule(_WITHDRAW)
    def test_withdrawn_learning_can_be_written_again(self, open_backend: Opener) -> None:
        """What was taken out is new when it is written again."""
        need(open_backend(), Capability.WITHDRAW)
        learning = example_learning()
        write_all(open_backend(), [learning, example_learning(2)])
        _withdraw(open_backend(), learning)
        backend = open_backend()
        expect_new(backend, backend.write(learning), "the receipt")
        expect_untouched(open_backend(), [learning, example_learning(2)])


def _withdraw(backend: MemoryBackend, learning: Learning) -> bool:
    assert isinstance(backend, Withdrawing)
    answer = backend.withdraw(learning)
    expect(type(answer), bool, "the kind of the answer")
    return answer
