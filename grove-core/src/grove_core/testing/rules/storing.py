"""Rules of every memory backend: what it is, what it keeps, and that nothing of it is lost."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

import pytest
from attrs import evolve
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from grove_core.errors import BackendError, StorageError, UnsupportedError
from grove_core.model.learning import Learning, LearningStatus, Scope
from grove_core.model.memory import Capability, Filters, Health, Query, Receipt, ReceiptStatus
from grove_core.plugins.descriptors import MemoryBackend
from grove_core.testing.rules.reading import (
    CALLS,
    Opener,
    expect_as_written,
    expect_only,
    fetch,
    ids_in,
    is_new,
    need,
    write_all,
)
from grove_core.testing.samples import (
    FIRST_INSTANT,
    SUMMARIES,
    TEXTS,
    UNKNOWN_ID,
    VARIANTS,
    example_learning,
    learning_id,
    learnings,
)
from grove_core.testing.watching import watching

_EXAMPLES: Final = 30
_KEPT: Final[Mapping[str, Learning]] = {
    **{f"scope {one.value}": example_learning(scope=one) for one in Scope},
    **VARIANTS,
    **{f"detail: {name}": example_learning(detail=text) for name, text in TEXTS.items()},
    **{f"summary: {name}": example_learning(summary=text) for name, text in SUMMARIES.items()},
}
"""Learnings of which each thing has to come back, by what is odd about them."""

_NEEDED: Final = {Scope.PERSONAL: Capability.PERSONAL, Scope.EPHEMERAL: Capability.EPHEMERAL}


class IdentityRules:
    """Name, capabilities, health."""

    def test_name_and_capabilities_are_constant(self, open_backend: Opener) -> None:
        """A backend has a name, and says what it can do by Capability; both stay the same."""
        backend, again = open_backend(), open_backend()
        assert backend.name
        assert all(isinstance(one, Capability) for one in backend.capabilities)
        assert (again.name, again.capabilities) == (backend.name, backend.capabilities)

    def test_what_it_cannot_it_refuses(self, open_backend: Opener) -> None:
        """A method whose capability it does not declare raises UnsupportedError, if it is there."""
        backend = open_backend()
        for capability in CALLS.keys() - backend.capabilities:
            if hasattr(backend, capability.value):
                with pytest.raises(UnsupportedError):
                    CALLS[capability](backend)

    def test_only_slow_ones_ask_others(self, open_backend: Opener) -> None:
        """A backend that is not declared slow starts no program and makes no connection."""
        if Capability.SLOW in open_backend().capabilities:
            pytest.skip(f"the backend {open_backend().name} declares slow")
        calls: tuple[Callable[[MemoryBackend], object], ...] = (
            lambda backend: backend.write(example_learning()),
            lambda backend: backend.search(Query(text="kerosene migrations"), Filters()),
            lambda backend: backend.ping(),
        )
        for call in calls:
            backend = open_backend()
            with watching() as heard:
                call(backend)
            assert heard == []

    def test_ping_tells_how_it_is(self, open_backend: Opener) -> None:
        """A backend that works says so, with a few words, before and after the first write."""
        for _ in range(2):
            health: object = open_backend().ping()
            assert isinstance(health, Health)
            assert health.ok
            assert health.detail
            open_backend().write(example_learning())

    def test_failed_write_is_an_error(self, broken_backend: Opener) -> None:
        """What cannot be stored is an error each time, and ping tells before and after."""
        backend = broken_backend()
        for _ in range(2):
            health = broken_backend().ping()
            assert not health.ok
            assert health.detail
            with pytest.raises((BackendError, StorageError)):
                backend.write(example_learning())


class WritingRules:
    """What ``write`` answers, and what it does the second time."""

    def test_write_gives_a_receipt(self, open_backend: Opener) -> None:
        """Writing gives a Receipt: the id, stored or queued for its server, the backend's name."""
        backend, learning = open_backend(), example_learning()
        receipt: object = backend.write(learning)
        assert isinstance(receipt, Receipt)
        assert is_new(backend, receipt), receipt
        assert (receipt.learning_id, receipt.backend) == (learning.id, backend.name)
        assert learning == example_learning(), "the learning belongs to the caller"

    def test_every_new_id_is_stored(self, open_backend: Opener) -> None:
        """A learning whose id is new is stored, be all else the same and the id like another's."""
        ids = ("cl_note", "cl_Note", "cl_note_1", "cl_not", "cl_note-1", "1cl_note")
        learnings = [example_learning(id=each) for each in ids]
        for learning in learnings:
            backend = open_backend()
            assert is_new(backend, backend.write(learning)), learning.id
        expect_only(open_backend, learnings)

    def test_write_is_idempotent(self, open_backend: Opener) -> None:
        """Writing again under a known id is a duplicate and changes nothing, for any instance."""
        first, second, learning = open_backend(), open_backend(), example_learning()
        assert fetch(second, learning.id) is None
        first.write(learning)
        other = evolve(
            learning,
            summary="Something else entirely",
            detail="And more words of another kind.",
            scope=Scope.TEAM,
            tags=("other",),
        )
        for backend in (first, second, open_backend()):
            for again in (learning, other):
                assert backend.write(again).status is ReceiptStatus.DUPLICATE
        expect_only(open_backend, [learning])

    def test_a_mentioned_id_is_not_stored(self, open_backend: Opener) -> None:
        """An id that other learnings only name is new."""
        mentioned = example_learning(2)
        naming = example_learning(
            1,
            summary=f"Corrects {mentioned.id} (grove:{mentioned.id})",
            detail=f"### [{mentioned.id}] it\n## {mentioned.id}\n- (grove:{mentioned.id}): it",
            supersedes=(mentioned.id,),
        )
        open_backend().write(naming)
        assert fetch(open_backend(), mentioned.id) is None
        backend = open_backend()
        assert is_new(backend, backend.write(mentioned))
        expect_only(open_backend, [naming, mentioned])


class ListingRules:
    """What ``get`` and ``iterate`` return."""

    def test_get_fetches_one_of_any_status(self, open_backend: Opener) -> None:
        """A learning of any status is fetched by its id; there is None of an id that is unknown."""
        assert need(open_backend, Capability.GET).get(UNKNOWN_ID) is None
        learnings = [
            example_learning(number, status=status) for number, status in enumerate(LearningStatus)
        ]
        write_all(open_backend, learnings)
        backend = open_backend()
        for learning in learnings:
            assert backend.get(learning.id) == learning
        strange = ("", "cl", "../learnings", "%", "*", "cl_\n", "é", "x" * 500)
        for unknown in (UNKNOWN_ID, learnings[0].id[:-1], *strange):
            assert backend.get(unknown) is None

    def test_iterate_lists_each_once_oldest_first(self, open_backend: Opener) -> None:
        """All learnings of any status are listed once, by the time they were written at."""
        assert [*need(open_backend, Capability.ITERATE).iterate()] == []
        learnings = [
            example_learning(number, timestamp=FIRST_INSTANT + timedelta(hours=hour), status=status)
            for number, (hour, status) in enumerate(
                zip((5, 1, 9, 3, 7, 2), [*LearningStatus, *LearningStatus], strict=True)
            )
        ]
        write_all(open_backend, [*learnings, learnings[2]])
        backend = open_backend()
        for _ in range(2):
            assert [*backend.iterate()] == sorted(learnings, key=lambda one: one.timestamp)


class FidelityRules:
    """What is written comes back equal, in another instance, whatever it holds."""

    @pytest.mark.parametrize("kept", [*_KEPT])
    def test_it_comes_back_as_written(self, open_backend: Opener, kept: str) -> None:
        """Every field is kept to the letter and forges nothing, whatever it looks like."""
        learning = _KEPT[kept]
        if learning.scope in _NEEDED:
            need(open_backend, _NEEDED[learning.scope])
        learnings = [example_learning(800), learning, example_learning(801)]
        write_all(open_backend, learnings)
        expect_only(open_backend, learnings)

    def test_any_learning_comes_back(self, open_backend: Opener) -> None:
        """Any learning that the pipeline accepts comes back equal, among others."""
        written: list[Learning] = []

        @settings(max_examples=_EXAMPLES, deadline=None, phases=(Phase.reuse, Phase.generate))
        @given(some=st.lists(learnings(), min_size=1, max_size=3))
        def check(some: list[Learning]) -> None:
            # An id of its own: hypothesis tries the same learning again and again.
            fresh = [
                evolve(one, id=learning_id(len(written) + place)) for place, one in enumerate(some)
            ]
            written.extend(fresh)
            write_all(open_backend, fresh)
            expect_as_written(open_backend(), fresh)

        check()
        assert ids_in(open_backend()) == sorted(one.id for one in written)
