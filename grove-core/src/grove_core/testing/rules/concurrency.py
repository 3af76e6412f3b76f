"""Calls side by side, in threads and in processes."""

from collections.abc import Callable, Sequence
from functools import partial
from threading import Barrier, Thread
from typing import ClassVar, Final, TypeVar

import pytest

from grove_core.model.memory import Filters, Query, ReceiptStatus
from grove_core.testing.rules.forking import side_by_side_in_processes
from grove_core.testing.rules.reading_back import Opener, expect_untouched, fetch, ids_in, is_new
from grove_core.testing.samples import example_learning
from grove_core.testing.verdict import expect, require, rule

T = TypeVar("T")

_BACKEND: Final = "grove_core.MemoryBackend"
_THREADS: Final = 8
_WRITES: Final = 6
_PROCESSES: Final = 4
_WRITES_OF_A_PROCESS: Final = 10


class ConcurrencyRules:
    """What happens when several sessions work at once."""

    shared_between_processes: ClassVar[bool] = True

    @rule(_BACKEND)
    def test_parallel_writers_lose_nothing(self, open_backend: Opener) -> None:
        """Eight writers at once, with an instance each: nothing is lost, nothing is there twice."""
        learnings = [example_learning(number) for number in range(_THREADS * _WRITES)]
        barrier = Barrier(_THREADS)

        def write(number: int) -> list[bool]:
            backend = open_backend()
            barrier.wait()
            return [is_new(backend, backend.write(one)) for one in learnings[number::_THREADS]]

        answers = _side_by_side([partial(write, number) for number in range(_THREADS)])
        expect(answers, [[True] * _WRITES] * _THREADS, "whether the writers' receipts say new")
        backend = open_backend()
        expect(ids_in(backend), sorted(one.id for one in learnings), "the ids that are there")
        expect_untouched(backend, learnings)

    @rule(_BACKEND)
    def test_parallel_writers_of_one_learning_store_it_once(self, open_backend: Opener) -> None:
        """Eight writers of the same learning, all at once: it is there once."""
        learning, barrier = example_learning(), Barrier(_THREADS)

        def write() -> tuple[bool, ReceiptStatus]:
            backend = open_backend()
            barrier.wait()
            receipt = backend.write(learning)
            return is_new(backend, receipt), receipt.status

        answers = _side_by_side([write] * _THREADS)
        found = [status for _, status in answers]
        require(any(new for new, _ in answers), expected="a receipt that says stored", found=found)
        expect(ids_in(open_backend()), [learning.id], "the ids that are there")
        expect_untouched(open_backend(), [learning])

    @rule(_BACKEND)
    def test_parallel_processes_lose_nothing(self, open_backend: Opener) -> None:
        """Four processes that write at once: nothing is lost, nothing is there twice."""
        if not self.shared_between_processes:
            pytest.skip(f"the backend {open_backend().name} is not shared between processes")
        count = _PROCESSES * _WRITES_OF_A_PROCESS
        learnings = [example_learning(number) for number in range(count)]

        def opened(number: int) -> Callable[[], list[bool]]:
            backend = open_backend()
            mine = learnings[number::_PROCESSES]
            return lambda: [is_new(backend, backend.write(one)) for one in mine]

        answers = side_by_side_in_processes([partial(opened, one) for one in range(_PROCESSES)])
        new = [True] * _WRITES_OF_A_PROCESS
        expect(answers, [new] * _PROCESSES, "whether the receipts of each process say new")
        backend = open_backend()
        expect(ids_in(backend), sorted(one.id for one in learnings), "the ids that are there")
        expect_untouched(backend, learnings)

    @rule(_BACKEND)
    def test_calls_may_come_from_another_thread(self, open_backend: Opener) -> None:
        """An instance works in another thread than the one that opened it."""
        backend, learning = open_backend(), example_learning()
        expect(fetch(backend, learning.id), None, "what is there before")

        def work() -> list[str]:
            backend.write(learning)
            return [hit.learning.id for hit in backend.search(Query(tags=learning.tags), Filters())]

        (found,) = _side_by_side([work])
        require(learning.id in found, expected=f"{learning.id} among the hits", found=found)
        expect(fetch(backend, learning.id), learning, "what the first thread finds")


def _side_by_side(works: Sequence[Callable[[], T]]) -> list[T]:
    """Do things in a thread each; the first of their errors is raised."""
    answers: dict[int, T] = {}
    errors: list[Exception] = []

    def run(place: int) -> None:
        try:
            answers[place] = works[place]()
        except Exception as error:  # noqa: BLE001 - raised again below, in the test's own thread
            errors.append(error)

    threads = [Thread(target=run, args=(place,)) for place in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return [answers[place] for place in range(len(works))]
