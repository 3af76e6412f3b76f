"""Fetching and listing, by ``get`` and ``iterate``."""

from datetime import timedelta

from grove_core.model.learning import LearningStatus
from grove_core.model.memory import Capability
from grove_core.testing.rules.reading_back import Opener, need, write_all
from grove_core.testing.samples import FIRST_INSTANT, UNKNOWN_ID, example_learning
from grove_core.testing.verdict import expect, rule


class ListingRules:
    """What ``get`` and ``iterate`` return."""

    @rule("grove_core.MemoryBackend.get")
    def test_get_fetches_one_of_any_status(self, open_backend: Opener) -> None:
        """A learning of any status is fetched by its id."""
        need(open_backend(), Capability.GET)
        learnings = [
            example_learning(number, status=status) for number, status in enumerate(LearningStatus)
        ]
        write_all(open_backend(), learnings)
        for learning in learnings:
            expect(open_backend().get(learning.id), learning, f"the learning {learning.id}")

    @rule("grove_core.MemoryBackend.get")
    def test_get_of_an_unknown_id_is_none(self, open_backend: Opener) -> None:
        """There is None where there is no learning of an id."""
        need(open_backend(), Capability.GET)
        expect(open_backend().get(UNKNOWN_ID), None, "what an empty store has")
        open_backend().write(example_learning())
        strange = ("", "cl", "../learnings", "%", "*", "cl_\n", "é", "x" * 500)
        for learning_id in (UNKNOWN_ID, example_learning().id[:-1], *strange):
            expect(open_backend().get(learning_id), None, f"what is there for {learning_id!r}")

    @rule("grove_core.MemoryBackend.iterate")
    def test_iterate_lists_each_once_oldest_first(self, open_backend: Opener) -> None:
        """All learnings of any status are listed once, by the time they were written at."""
        need(open_backend(), Capability.ITERATE)
        expect(list(open_backend().iterate()), [], "what an empty store lists")
        hours = (5, 1, 9, 3, 7)
        statuses = [*LearningStatus, *LearningStatus]
        learnings = [
            example_learning(
                number,
                timestamp=FIRST_INSTANT + timedelta(hours=hour),
                status=statuses[number],
            )
            for number, hour in enumerate(hours)
        ]
        write_all(open_backend(), [*learnings, learnings[2]])
        wanted = [one.id for one in sorted(learnings, key=lambda one: one.timestamp)]
        backend = open_backend()
        expect([one.id for one in backend.iterate()], wanted, "the ids in order")
        expect([one.id for one in backend.iterate()], wanted, "the ids when it is asked again")
        expect(
            {one.id: one for one in backend.iterate()},
            {one.id: one for one in learnings},
            "the learnings",
        )
