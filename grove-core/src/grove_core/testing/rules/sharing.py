"""Rules of memory backends for several sessions at work at once, in threads and in processes."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import get_all_start_methods, get_context
from threading import Barrier
from time import monotonic
from typing import Any, ClassVar, Final
from warnings import catch_warnings, simplefilter

import pytest

from grove_core.model.learning import Learning
from grove_core.model.memory import Filters, Query
from grove_core.testing.rules.reading import Opener, expect_only, fetch, ids_of, is_new
from grove_core.testing.samples import example_learning

_SECONDS: Final = 60.0
_THREADS: Final = 8
_PROCESSES: Final = 4
_LEARNINGS: Final = 48

Work = Callable[[], object]


class ConcurrencyRules:
    """What happens when several sessions work at once."""

    shared_between_processes: ClassVar[bool] = True

    def test_parallel_writers_lose_nothing(self, open_backend: Opener) -> None:
        """Eight writers at once, with an instance each: nothing is lost, nothing is there twice."""
        learnings = [example_learning(number) for number in range(_LEARNINGS)]
        parts = [learnings[number::_THREADS] for number in range(_THREADS)]
        for each in in_threads([partial(_writer, open_backend, part) for part in parts]):
            assert each == [True] * (_LEARNINGS // _THREADS), "whether the receipts say new"
        expect_only(open_backend, learnings)

    def test_parallel_writers_of_one_learning_store_it_once(self, open_backend: Opener) -> None:
        """Eight writers of the same learning, all at once: it is there once."""
        learning = example_learning()
        answers = in_threads([partial(_writer, open_backend, [learning])] * _THREADS)
        assert [True] in answers, "no receipt says that it is new"
        expect_only(open_backend, [learning])

    def test_parallel_processes_lose_nothing(self, open_backend: Opener) -> None:
        """Four processes that write at once: nothing is lost, nothing is there twice."""
        if not self.shared_between_processes:
            pytest.skip(f"the backend {open_backend().name} is not shared between processes")
        learnings = [example_learning(number) for number in range(_LEARNINGS)]
        parts = [learnings[number::_PROCESSES] for number in range(_PROCESSES)]
        for each in in_processes([partial(_writer, open_backend, part) for part in parts]):
            assert each == [True] * (_LEARNINGS // _PROCESSES), "whether the receipts say new"
        expect_only(open_backend, learnings)

    def test_calls_may_come_from_another_thread(self, open_backend: Opener) -> None:
        """An instance works in another thread than the one that opened it."""
        backend, learning = open_backend(), example_learning()
        assert fetch(backend, learning.id) is None

        def work() -> list[str]:
            backend.write(learning)
            return ids_of(backend.search(Query(tags=learning.tags), Filters()))

        with ThreadPoolExecutor(1) as other:
            assert learning.id in other.submit(work).result()
        assert fetch(backend, learning.id) == learning


def _writer(open_backend: Opener, learnings: Sequence[Learning]) -> Work:
    """Open a backend, and return what writes learnings there and says which receipts say new."""
    backend = open_backend()
    return lambda: [is_new(backend, backend.write(one)) for one in learnings]


def in_threads(openers: Sequence[Callable[[], Work]]) -> list[object]:
    """Prepare and do things in a thread each, all at once."""
    barrier = Barrier(len(openers), timeout=_SECONDS)
    with ThreadPoolExecutor(len(openers)) as threads:
        return [*threads.map(lambda opener: _together(opener, barrier), openers)]


def in_processes(openers: Sequence[Callable[[], Work]]) -> list[object]:
    """Prepare and do things in a forked process each, all at once; of one that fails say how."""
    if "fork" not in get_all_start_methods():
        pytest.skip("processes cannot be forked on this system")
    context = get_context("fork")
    barrier, queue = context.Barrier(len(openers), timeout=_SECONDS), context.SimpleQueue()

    def tell(place: int) -> None:
        try:
            answer = _together(openers[place], barrier)
        except BaseException as error:  # noqa: BLE001 - whatever it is, the test has to know
            answer = f"{type(error).__name__}: {error}"
        queue.put((place, answer))

    processes = [context.Process(target=tell, args=(place,)) for place in range(len(openers))]
    end = monotonic() + _SECONDS
    with catch_warnings():
        # The test runner may have threads, and the new processes need none of them.
        simplefilter("ignore", DeprecationWarning)
        for process in processes:
            process.start()
    answers: dict[int, object] = {}
    for place, process in enumerate(processes):
        process.join(max(0.0, end - monotonic()))
        ended = f"it died with exit code {process.exitcode}"
        hangs = f"it was not finished after {_SECONDS:g} seconds"
        answers[place] = hangs if process.is_alive() else ended
        process.kill()
        process.join()
    while not queue.empty():
        answers.update([queue.get()])
    queue.close()
    return [answers[place] for place in range(len(openers))]


def _together(opener: Callable[[], Work], barrier: Any) -> object:  # noqa: ANN401 - of two kinds
    """Do something at the same time as others."""
    try:
        work = opener()
    except BaseException:
        barrier.abort()  # the others need not wait for this one
        raise
    barrier.wait()
    return work()
