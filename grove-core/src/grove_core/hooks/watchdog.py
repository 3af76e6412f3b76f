"""The watchdog answers for a hook that passes its deadline: exit code 0 and nothing printed."""

import faulthandler
import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import Final

_GRACE_SECONDS: Final = 0.5


class Watchdog:
    """Ends the process when its time is up, with a real-time alarm of the kernel."""

    def __init__(self, last_words: Callable[[], None], stderr: int | None = None) -> None:
        """Arm nothing yet.

        Args:
            last_words: Called before the process ends; it must be quick.
            stderr: Where the traceback goes when not even they can be said.
        """
        self._last_words = last_words
        self._stderr = 2 if stderr is None else stderr

    def start(self, seconds: float) -> None:
        """Start or restart the alarm.

        Args:
            seconds: Time until the process ends.
        """
        signal.signal(signal.SIGALRM, self._bark)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        # No Python code runs, this class's neither, while a plugin's C code holds Python's lock; a
        # thread of C then ends the process with exit code 1, which blocks nothing.
        faulthandler.dump_traceback_later(seconds + _GRACE_SECONDS, exit=True, file=self._stderr)

    def cancel(self) -> None:
        """Stop the alarm."""
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()

    def _bark(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        try:
            self._last_words()
        finally:
            # Not sys.exit: whatever hangs must not get a word in.
            os._exit(0)
