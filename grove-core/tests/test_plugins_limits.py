import multiprocessing
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest

from grove_core.errors import PluginError
from grove_core.plugins import limits
from grove_core.plugins.limits import Deadline, NoTimeLeftError, TimeLimitError, call_limited


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_attempt_to_end_the_process_is_an_ordinary_error(kind):
    def fail():
        raise kind

    with pytest.raises(PluginError, match=f"raised {kind.__name__}"):
        call_limited(fail, 5)


def test_calls_share_a_thread_one_by_one():
    """And those within calls, at the same time and in a forked process get one of their own."""
    first, second = (call_limited(threading.get_ident, 5) for _ in range(2))
    assert first == second != threading.get_ident()
    assert call_limited(lambda: call_limited(threading.get_ident, 5), 5) != first
    together = threading.Barrier(3, timeout=60)

    def meet():
        return call_limited(lambda: (together.wait(), threading.get_ident())[1], 60)

    with ThreadPoolExecutor() as pool:
        met = [pool.submit(meet) for _ in range(3)]
        assert len({one.result() for one in met}) == 3
    child = multiprocessing.get_context("fork").Process(target=call_limited, args=(print, 60))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads
        child.start()
    child.join(60)
    assert child.exitcode == 0


def test_what_waits_is_late_by_the_clock_and_its_thread_gets_no_other_call_meanwhile(monkeypatch):
    monkeypatch.setattr(limits, "_late", [])
    release = threading.Event()
    before = call_limited(threading.current_thread, 5)
    with pytest.raises(TimeLimitError, match=r"longer than 0\.05 seconds"):
        call_limited(release.wait, 5, Deadline(time.monotonic() + 0.1))
    assert call_limited(threading.current_thread, 5) is not before
    assert limits.is_any_late()
    release.set()
    ends = time.monotonic() + 60
    while limits.is_any_late():
        assert time.monotonic() < ends
        time.sleep(0.01)
    # It takes calls again once it is through.
    assert call_limited(threading.current_thread, 5) is before


def test_what_works_is_late_by_its_processor_time():
    done = threading.Event()

    def work():
        while not done.is_set():
            pass

    try:
        with pytest.raises(TimeLimitError, match=r"more than 0\.05 seconds of processor time"):
            call_limited(work, 0.05)
        # What the thread that was left behind uses is not counted against others.
        assert call_limited(lambda: time.sleep(0.2), 0.1) is None
    finally:
        done.set()


def test_limits_of_calls_and_how_a_deadline_shortens_them():
    now, used = time.monotonic(), time.thread_time()
    assert [Deadline().limits(seconds) for seconds in (0.3, 5, 60)] == [(0.3, 6), (5, 10), (60, 60)]
    work, clock = Deadline(now + 12, used + 100).limits(5)
    assert (work, 5 < clock <= 6) == (5, True)
    work, clock = Deadline(now + 100, used + 1).limits(5)
    assert (0 < work <= 1, clock) == (True, 10)
    for passed in (Deadline(now), Deadline(now + 100, used)):
        with pytest.raises(NoTimeLeftError, match="no time was left"):
            passed.limits(5)
