"""The watchdog answers for a hook that passes its deadline: exit code 0 and nothing printed."""

import os
import signal
from collections.abc import Callable
from types import FrameType


class Watchdog:
    """Ends the process when its time is up, with a real-time alarm of the kernel."""

    def __init__(self, last_words: Callable[[], None]) -> None:
        """Arm nothing yet.

        Args:
            last_words: Called before the process ends; it must be quick.
        """
        self._last_words = last_words

    def start(self, seconds: float) -> None:
        """Start or restart the alarm.

        Args:
            seconds: Time until the process ends.
        """
        signal.signal(signal.SIGALRM, self._bark)
        signal.setitimer(signal.ITIMER_REAL, seconds)

    def cancel(self) -> None:
        """Stop the alarm."""
        signal.setitimer(signal.ITIMER_REAL, 0)

    def _bark(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        try:
            self._last_words()
        finally:
            # Not sys.exit: whatever hangs must not get a word in.
            os._exit(0)
