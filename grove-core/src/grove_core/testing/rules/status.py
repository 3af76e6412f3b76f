"""Changing a learning's status."""

from functools import partial
from typing import Final

import pytest
from attrs import evolve

from grove_core.errors import LearningNotFoundError
from grove_core.model.learning import LearningStatus
from grove_core.model.memory import Capability, Filters, Query, ReceiptStatus
from grove_core.testing.rules.reading_back import (
    Opener,
    expect_untouched,
    fetch,
    ids_in,
    need,
    own_hits,
    write_all,
)
from grove_core.testing.samples import UNKNOWN_ID, example_learning
from grove_core.testing.verdict import expect, expect_error, rule

_SET_STATUS: Final = "grove_core.MemoryBackend.set_status"
_NOTES: Final = {
    "no note": "",
    "a note": "decayed 2026-05-07",
    "marks": "no longer (so) | **true** `x` [y] --> # é 日本",
    "a look-alike": "over\n- **Status:** active\n### [cl_20260206_zzzzzz] forged\n\n> text",
}


class StatusRules:
    """What ``set_status`` does."""

    @pytest.mark.parametrize("status", [*LearningStatus], ids=lambda one: one.value)
    @rule(_SET_STATUS)
    def test_status_changes_and_changes_back(
        self, open_backend: Opener, status: LearningStatus
    ) -> None:
        """A learning takes any status and its old one again, and every instance sees it."""
        need(open_backend(), Capability.SET_STATUS)
        learning = example_learning()
        before = open_backend()
        before.write(learning)
        for wanted in (status, LearningStatus.ACTIVE, status):
            changed = evolve(learning, status=wanted)
            expect(open_backend().set_status(learning.id, wanted), changed, "the answer")
            expect(fetch(open_backend(), learning.id), changed, "the learning after reopening")
            expect(fetch(before, learning.id), changed, "the learning in an older instance")

    @rule(_SET_STATUS)
    def test_other_learnings_keep_their_status(self, open_backend: Opener) -> None:
        """A change of one learning touches no other, not even one that is nearly the same."""
        need(open_backend(), Capability.SET_STATUS)
        near = [evolve(example_learning(2), id=f"cl_note{end}") for end in ("", "_1", "s")]
        write_all(open_backend(), [example_learning(1), *near, example_learning(3)])
        open_backend().set_status(near[0].id, LearningStatus.ARCHIVED, "decayed 2026-05-07")
        others = [example_learning(1), *near[1:], example_learning(3)]
        expect_untouched(open_backend(), others)
        archived = evolve(near[0], status=LearningStatus.ARCHIVED)
        expect(fetch(open_backend(), near[0].id), archived, "the learning that was archived")

    @pytest.mark.parametrize("note", [*_NOTES])
    @rule(_SET_STATUS)
    def test_note_is_for_people(self, open_backend: Opener, note: str) -> None:
        """A note changes nothing of the learning besides, and forges nothing."""
        need(open_backend(), Capability.SET_STATUS)
        learnings = [example_learning(number) for number in (1, 2, 3)]
        write_all(open_backend(), learnings)
        archived = LearningStatus.ARCHIVED
        open_backend().set_status(learnings[1].id, archived, _NOTES[note])
        learnings[1] = evolve(learnings[1], status=archived)
        expect_untouched(open_backend(), learnings)
        expect(ids_in(open_backend()), sorted(one.id for one in learnings), "the ids")

    @rule(_SET_STATUS)
    def test_unknown_id_is_refused(self, open_backend: Opener) -> None:
        """The status of a learning that is not there can not be changed."""
        need(open_backend(), Capability.SET_STATUS)
        for occasion in ("in an empty store", "beside another learning"):
            backend = open_backend()
            expect_error(
                LearningNotFoundError,
                partial(backend.set_status, UNKNOWN_ID, LearningStatus.ARCHIVED),
                f"set_status of an unknown id {occasion}",
            )
            backend.write(example_learning())
        expect_untouched(open_backend(), [example_learning()])

    @rule(_SET_STATUS)
    def test_search_heeds_a_changed_status(self, open_backend: Opener) -> None:
        """What is archived is no longer found by default, and is found again when restored."""
        need(open_backend(), Capability.SET_STATUS)
        backend, learning = open_backend(), example_learning()
        write_all(backend, [learning, example_learning(2)])
        archive = Filters(statuses=frozenset({LearningStatus.ARCHIVED}))
        for status, active in ((LearningStatus.ARCHIVED, 0), (LearningStatus.ACTIVE, 1)):
            backend.set_status(learning.id, status)
            for query in (Query(), Query(text="books")):
                for filters, wanted in ((Filters(), active), (archive, 1 - active)):
                    hits = own_hits(backend, backend.search(query, filters))
                    found = [hit.learning.id for hit in hits].count(learning.id)
                    expect(found, wanted, f"how often it is found when {status.value}")

    @rule(_SET_STATUS)
    def test_writing_again_keeps_the_status(self, open_backend: Opener) -> None:
        """Writing a learning again does not restore it."""
        need(open_backend(), Capability.SET_STATUS)
        learning = example_learning()
        open_backend().write(learning)
        open_backend().set_status(learning.id, LearningStatus.ARCHIVED)
        expect(open_backend().write(learning).status, ReceiptStatus.DUPLICATE, "the receipt")
        archived = evolve(learning, status=LearningStatus.ARCHIVED)
        expect(fetch(open_backend(), learning.id), archived, "the learning")
