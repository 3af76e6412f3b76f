"""Time limits for calls into plugins."""

import os
import time
from collections.abc import Callable
from functools import partial
from threading import Lock, Thread
from typing import Final, TypeVar

from grove_core.errors import PluginError

T = TypeVar("T")

WORKER_NAME: Final = "grove-plugin"
_LEAST_SECONDS: Final = 0.01
# By the clock a call may take so many times its limit, but no longer than is reasonable to wait.
_CLOCK_FACTOR: Final = 20
_CLOCK_SECONDS: Final = 10.0
# Of what is left by the clock: one that hangs leaves time for the others and for the answer.
_CLOCK_SHARE: Final = 0.5


class TimeLimitError(PluginError):
    """A plugin took longer than it may."""


class NoTimeLeftError(PluginError):
    """A plugin was not called, since everybody's time is used up."""


class TimeLimits:
    """How long plugins may take, in seconds of processor time."""

    def __init__(self, load: float = 1, registration: float = 0.5, life_cycle: float = 0.5) -> None:
        self.load, self.registration, self.life_cycle = load, registration, life_cycle


class Deadline:
    """When all calls of a process together must have come to an end."""

    def __init__(self, at: float | None = None, work: float | None = None) -> None:
        self.at = at
        self.work = work

    def limits(self, seconds: float) -> tuple[float, float]:
        """The processor time that a call may use, and how long it may take by the clock."""
        work, clock = seconds, clock_limit(seconds)
        if self.work is not None:
            work = min(work, _left(self.work - time.thread_time()))
        if self.at is not None:
            clock = min(clock, _CLOCK_SHARE * _left(self.at - time.monotonic()))
        return max(work, _LEAST_SECONDS), max(clock, _LEAST_SECONDS)


_NEVER: Final = Deadline()


def clock_limit(seconds: float) -> float:
    """How long a call may take by the clock if it may use so much processor time."""
    return max(seconds, min(_CLOCK_FACTOR * seconds, _CLOCK_SECONDS))


def _left(seconds: float) -> float:
    if seconds <= 0:
        raise NoTimeLeftError("was not called: no time was left")
    return seconds


def call_limited(function: Callable[[], T], seconds: float, deadline: Deadline = _NEVER) -> T:
    """Call a function in another thread and wait for it for a limited time."""
    work, clock = deadline.limits(seconds)
    results: list[T] = []
    errors: list[BaseException] = []
    done = Lock()
    done.acquire()
    try:
        worker = _idle.pop()
    except IndexError:
        worker = _Worker()

    def run() -> None:
        try:
            results.append(function())
        except BaseException as error:  # noqa: BLE001 - it is raised again in the caller's thread
            errors.append(error)
        _idle.append(worker)
        done.release()

    try:
        _wait(worker, run, done, work, clock)
    except BaseException:
        _late.append(done)
        raise
    if not errors:
        return results[0]
    if isinstance(errors[0], Exception):
        raise errors[0]
    # Raised as they are, they would end the process or look like the user's own Ctrl-C.
    raise PluginError(f"raised {type(errors[0]).__name__}") from errors[0]


def is_any_late() -> bool:
    """Return whether a call that is not waited for any more still runs."""
    _late[:] = [one for one in _late if one.locked()]
    return bool(_late)


class _Worker:
    """A thread that makes one call after the other."""

    def __init__(self) -> None:
        self._calls: list[Callable[[], None]] = []
        self._there_is_one = Lock()
        self._there_is_one.acquire()
        thread = Thread(target=self._work, name=WORKER_NAME, daemon=True)
        thread.start()
        self.used = _processor_clock(thread)

    def make(self, call: Callable[[], None]) -> None:
        """Make a call next."""
        self._calls.append(call)
        self._there_is_one.release()

    def _work(self) -> None:
        while self._there_is_one.acquire():
            self._calls.pop()()  # nothing that it holds lives until the next one


def _wait(worker: _Worker, call: Callable[[], None], done: Lock, work: float, clock: float) -> None:
    """Have a call made and wait until it says that it is done, or is late."""
    used_before, until = worker.used(), time.monotonic() + clock
    worker.make(call)
    work_left, clock_left = work, clock
    while not done.acquire(timeout=max(min(work_left, clock_left), _LEAST_SECONDS)):
        work_left = work - (worker.used() - used_before)
        clock_left = until - time.monotonic()
        if clock_left <= 0:
            raise TimeLimitError(f"took longer than {_in_words(clock)}")
        if work_left <= 0:
            raise TimeLimitError(f"used more than {_in_words(work)} of processor time")


def _in_words(seconds: float) -> str:
    rounded = round(seconds, 2 if seconds < 1 else 1)
    return f"{rounded:g} second{'' if rounded == 1 else 's'}"


# The latest first: what a plugin keeps for a thread mostly finds its thread again.
_idle: Final[list[_Worker]] = []
_late: Final[list[Lock]] = []
os.register_at_fork(after_in_child=_idle.clear)


def _processor_clock(thread: Thread) -> Callable[[], float]:
    """Find the clock for a thread's processor time, or for that of all threads."""
    if hasattr(time, "pthread_getcpuclockid") and thread.ident is not None:
        return partial(time.clock_gettime, time.pthread_getcpuclockid(thread.ident))
    return time.process_time
