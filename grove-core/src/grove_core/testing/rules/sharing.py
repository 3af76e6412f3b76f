"""Rules of memory backends for several sessions at work at once, in threads and in processes."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import get_all_start_methods, get_context
from threading import Barrier
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


class ConcurrencyRules:
    """What happens when several sessions work at once."""

    shared_between_processes: ClassVar[bool] = True

    def test_parallel_writers_lose_nothing(self, open_backend: Opener) -> None:
        """Eight writers at once, with an instance each: nothing is lost, nothing is there twice."""
        learnings = [example_learning(number) for number in range(_LEARNINGS)]
        parts = [learnings[place::_THREADS] for place in range(_THREADS)]
        answers = _in_threads(open_backend, parts)
        assert all(map(all, answers)), "not every receipt says new"
        expect_only(open_backend, learnings)

    def test_parallel_writers_of_one_learning_store_it_once(self, open_backend: Opener) -> None:
        """Eight writers of the same learning, all at once: it is there once."""
        learning = example_learning()
        answers = _in_threads(open_backend, [[learning]] * _THREADS)
        assert [True] in answers, "no receipt says that it is new"
        expect_only(open_backend, [learning])

    def test_parallel_processes_lose_nothing(self, open_backend: Opener) -> None:
        """Four processes that write at once: nothing is lost, nothing is there twice."""
        if not self.shared_between_processes or "fork" not in get_all_start_methods():
            pytest.skip(f"the backend {open_backend().name} is not shared between processes")
        learnings = [example_learning(number) for number in range(_LEARNINGS)]
        context = get_context("fork")
        barrier = context.Barrier(_PROCESSES, timeout=_SECONDS)
        parts = [learnings[place::_PROCESSES] for place in range(_PROCESSES)]
        writers = [
            context.Process(target=_write_together, args=(open_backend, barrier, part))
            for part in parts
        ]
        with catch_warnings():
            # The test runner may have threads, and the new processes need none of them.
            simplefilter("ignore", DeprecationWarning)
            for one in writers:
                one.start()
        for one in writers:
            one.join(_SECONDS)
        codes = [one.exitcode for one in writers]
        for one in writers:
            one.kill()
            one.join()
        assert codes == [0] * _PROCESSES, f"exit codes; None was not over after {_SECONDS:g} s"
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


def _in_threads(open_backend: Opener, parts: Sequence[Sequence[Learning]]) -> list[list[bool]]:
    """Write parts in a thread each, all at once."""
    barrier = Barrier(len(parts), timeout=_SECONDS)
    with ThreadPoolExecutor(len(parts)) as threads:
        return [*threads.map(partial(_write_together, open_backend, barrier), parts)]


def _write_together(
    open_backend: Opener,
    barrier: Any,  # noqa: ANN401 - of threads or of processes
    learnings: Sequence[Learning],
) -> list[bool]:
    """Open a backend and write when all the others have got one; whether receipts say new."""
    try:
        backend = open_backend()
    except BaseException:
        barrier.abort()  # the others need not wait for this one
        raise
    barrier.wait()
    return [is_new(backend, backend.write(one)) for one in learnings]
