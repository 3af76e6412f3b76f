"""The watchdog answers for a hook that passes its deadline: exit code 0 and nothing printed."""

import faulthandler
import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import Final

_GRACE_SECONDS: Final = 0.5
_SIGNALS: Final = {signal.ITIMER_PROF: signal.SIGPROF, signal.ITIMER_REAL: signal.SIGALRM}


class Watchdog:
    """Ends the process when its time is up, with alarms of the kernel."""

    def __init__(self, last_words: Callable[[], None], stderr: int | None = None) -> None:
        """Arm nothing yet."""
        self._last_words = last_words
        self._stderr = 2 if stderr is None else stderr

    def start(self, work: float, clock: float) -> None:
        """Start or restart: so many seconds of processor time, and so many by the clock."""
        for timer, seconds in ((signal.ITIMER_PROF, work), (signal.ITIMER_REAL, clock)):
            signal.signal(_SIGNALS[timer], self._bark)
            signal.setitimer(timer, max(seconds, 0.001))  # none would stop the timer
        # No Python code runs, this class's neither, while a plugin's C code holds Python's lock; a
        # thread of C then ends the process with exit code 1, which blocks nothing.
        late = max(clock, 0) + _GRACE_SECONDS
        faulthandler.dump_traceback_later(late, exit=True, file=self._stderr)

    def cancel(self) -> None:
        """Stop the alarms."""
        for timer in _SIGNALS:
            signal.setitimer(timer, 0)
        faulthandler.cancel_dump_traceback_later()

    def _bark(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        try:
            self._last_words()
        finally:
            # Not sys.exit: whatever hangs must not get a word in.
            os._exit(0)
