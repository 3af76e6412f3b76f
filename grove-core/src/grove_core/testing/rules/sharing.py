"""Rules of memory backends for several sessions at work at once, and for what asking leaves."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path
from threading import Barrier
from typing import Any, ClassVar, Final
from warnings import catch_warnings, simplefilter

import pytest

from grove_core.model.learning import Learning
from grove_core.model.memory import Capability, Filters, Query
from grove_core.testing.rules.reading import (
    CALLS,
    EVERYTHING,
    Opener,
    expect_only,
    fetch,
    ids_of,
    is_new,
)
from grove_core.testing.samples import example_learning

_SECONDS: Final = 60.0
_THREADS: Final = 8
_PROCESSES: Final = 4
_LEARNINGS: Final = 48
_QUESTIONS: Final[Mapping[Capability | str, Callable[[Any], object]]] = {
    "opening": lambda backend: (backend.name, backend.capabilities),
    "ping": lambda backend: backend.ping(),
    "search for everything": lambda backend: backend.search(Query(), EVERYTHING),
    "search for words": lambda backend: backend.search(Query(text="kerosene"), Filters()),
    **{one: call for one, call in CALLS.items() if one is not Capability.SET_STATUS},
    Capability.SYNCHRONISE: lambda backend: backend.freshness(),
}


class ConcurrencyRules:
    """What happens when several sessions work at once."""

    shared_between_processes: ClassVar[bool] = True

    def test_parallel_writers_lose_nothing(self, open_backend: Opener) -> None:
        """Eight writers at once, of one learning and of their own: each is there once."""
        common, *learnings = [example_learning(number) for number in range(_LEARNINGS)]
        parts = [[common, *learnings[place::_THREADS]] for place in range(_THREADS)]
        barrier = Barrier(_THREADS, timeout=_SECONDS)
        with ThreadPoolExecutor(_THREADS) as threads:
            answers = [*threads.map(partial(_write_together, open_backend, barrier), parts)]
        assert all(all(own) for _, *own in answers), "not every receipt says new"
        assert any(first for first, *_ in answers), "no receipt says that it is new"
        expect_only(open_backend, [common, *learnings])

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


class TracesRules:
    """What a backend leaves behind."""

    def test_asking_leaves_nothing_behind(self, open_backend: Opener, tmp_path: Path) -> None:
        """Opening and asking make and change nothing in a project, whatever was there before."""
        declared = open_backend().capabilities
        before = _look_at(tmp_path)
        for name, ask in _QUESTIONS.items():
            if isinstance(name, str) or name in declared:
                # It may be refused: other rules say how.
                with suppress(Exception):
                    ask(open_backend())
                assert _look_at(tmp_path) == before, f"made or changed by {name}"


def _look_at(folder: Path) -> dict[Path, bytes | None]:
    """Read all files of a test but grove's own and git's; ``None`` for a folder."""
    return {
        one: one.read_bytes() if one.is_file() else None
        for one in folder.rglob("*")
        if {"home", ".git"}.isdisjoint(one.relative_to(folder).parts)
    }


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
