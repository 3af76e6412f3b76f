"""Doing things in processes of their own, which have in common only what is stored."""

from collections.abc import Callable, Sequence
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from time import monotonic
from typing import TYPE_CHECKING, Final
from warnings import catch_warnings, simplefilter

import pytest

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

_SECONDS: Final = 60.0


def side_by_side_in_processes(
    openers: Sequence[Callable[[], Callable[[], object]]],
) -> list[object]:
    """Do things in a forked process each, all at once."""
    if "fork" not in get_all_start_methods():
        pytest.skip("processes cannot be forked on this system")
    barrier = get_context("fork").Barrier(len(openers))

    def prepared(opener: Callable[[], Callable[[], object]]) -> Callable[[], object]:
        def work() -> object:
            try:
                ready = opener()
            except BaseException:
                # Nobody has to wait for this one.
                barrier.abort()
                raise
            barrier.wait(_SECONDS)
            return ready()

        return work

    started: list[tuple[ForkProcess, Connection]] = []
    end = monotonic() + _SECONDS
    try:
        started.extend(map(_start, map(prepared, openers)))
        return [_answer(process, receiver, end) for process, receiver in started]
    finally:
        for process, receiver in started:
            process.kill()
            process.join()
            process.close()
            receiver.close()


def _start(work: Callable[[], object]) -> "tuple[ForkProcess, Connection]":
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_tell, args=(work, sender))
    with catch_warnings():
        # Of other threads: the test runner may have some, and the new process needs none of them.
        simplefilter("ignore", DeprecationWarning)
        process.start()
    sender.close()
    return process, receiver


def _tell(work: Callable[[], object], sender: Connection) -> None:
    try:
        answer = work()
    except BaseException as error:  # noqa: BLE001 - whatever it is, the test has to know
        answer = f"{type(error).__name__}: {error}"
    sender.send(answer)


def _answer(process: "ForkProcess", receiver: Connection, end: float) -> object:
    if not receiver.poll(max(0.0, end - monotonic())):
        return f"it was not finished after {_SECONDS:g} seconds"
    try:
        return receiver.recv()
    except EOFError:
        process.join()
        return f"it died with exit code {process.exitcode}"
