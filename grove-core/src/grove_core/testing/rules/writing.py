"""Writing: receipts, and idempotence by id."""

from attrs import evolve

from grove_core.model.learning import Scope
from grove_core.model.memory import Receipt, ReceiptStatus
from grove_core.testing.rules.reading_back import Opener, expect_new, fetch, ids_in, write_all
from grove_core.testing.samples import example_learning, learning_id
from grove_core.testing.verdict import expect, rule

_WRITE = "grove_core.MemoryBackend.write"


class WritingRules:
    """What ``write`` answers, and what it does the second time."""

    @rule(_WRITE)
    def test_write_gives_a_receipt(self, open_backend: Opener) -> None:
        """Writing gives a Receipt: the id, stored or queued for its server, the backend's name."""
        backend, learning = open_backend(), example_learning()
        receipt: object = backend.write(learning)
        expect(type(receipt), Receipt, "the kind of the answer")
        assert isinstance(receipt, Receipt)
        expect_new(backend, receipt, "the status")
        found = (receipt.learning_id, receipt.backend)
        expect(found, (learning.id, backend.name), "id and backend")

    @rule(_WRITE)
    def test_every_new_id_is_stored(self, open_backend: Opener) -> None:
        """A learning whose id is new is stored, even if all else is the same."""
        backend = open_backend()
        for number in range(5):
            receipt = backend.write(evolve(example_learning(), id=learning_id(number)))
            expect_new(backend, receipt, f"the status of learning {number}")
        expect(ids_in(open_backend()), [*map(learning_id, range(5))], "the ids that are there")

    @rule(_WRITE)
    def test_write_is_idempotent(self, open_backend: Opener) -> None:
        """Writing a learning again is a duplicate, and it stands there once."""
        backend, learning = open_backend(), example_learning()
        write_all(backend, [learning, example_learning(2)])
        expect(backend.write(learning).status, ReceiptStatus.DUPLICATE, "the second receipt")
        expect(ids_in(backend), sorted([learning.id, learning_id(2)]), "the ids that are there")

    @rule(_WRITE)
    def test_another_instance_knows_what_is_stored(self, open_backend: Opener) -> None:
        """What one instance has stored is a duplicate for another, open already or new."""
        first, second, learning = open_backend(), open_backend(), example_learning()
        expect(fetch(second, learning.id), None, "what is there before")
        first.write(learning)
        expect(second.write(learning).status, ReceiptStatus.DUPLICATE, "the other's receipt")
        expect(open_backend().write(learning).status, ReceiptStatus.DUPLICATE, "a new one's")
        expect(ids_in(open_backend()), [learning.id], "the ids that are there")

    @rule(_WRITE)
    def test_what_was_written_first_stays(self, open_backend: Opener) -> None:
        """Another text under a known id changes nothing."""
        learning = example_learning()
        open_backend().write(learning)
        other = evolve(
            learning,
            summary="Something else entirely",
            detail="And more words of another kind.",
            scope=Scope.TEAM,
            tags=("other",),
        )
        expect(open_backend().write(other).status, ReceiptStatus.DUPLICATE, "its receipt")
        expect(fetch(open_backend(), learning.id), learning, "the learning afterwards")

    @rule(_WRITE)
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
        expect(fetch(open_backend(), mentioned.id), None, "what is there under the named id")
        backend = open_backend()
        expect_new(backend, backend.write(mentioned), "the receipt of the named learning")
        expect(fetch(open_backend(), mentioned.id), mentioned, "the named learning")

    @rule(_WRITE)
    def test_ids_are_compared_exactly(self, open_backend: Opener) -> None:
        """Ids that differ in case, or of which one begins with another, are different."""
        ids = ("cl_note", "cl_Note", "cl_note_1", "cl_not", "cl_note-1", "1cl_note")
        for number, each in enumerate(ids):
            learning = evolve(example_learning(number), id=each)
            backend = open_backend()
            expect_new(backend, backend.write(learning), f"the receipt of {each}")
        for number, each in enumerate(ids):
            learning = evolve(example_learning(number), id=each)
            expect(fetch(open_backend(), each), learning, f"the learning {each}")

    @rule(_WRITE)
    def test_what_is_written_stays_as_it_is(self, open_backend: Opener) -> None:
        """The learning that is handed over belongs to the caller and is not changed."""
        learning = example_learning()
        write_all(open_backend(), [learning, learning])
        expect(learning, example_learning(), "the caller's learning afterwards")
