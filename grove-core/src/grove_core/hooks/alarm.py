"""The alarm of hooks' short ways: what hangs is left to the full way, until the state is written.

After that the full way must not follow, and work goes on without what is left to do.
"""

# `signal` imports enum, which costs more than a whole short way.
import _signal  # type: ignore[import-not-found]
import faulthandler
import os

_SECONDS = 1.0
_LONGEST_SECONDS = 5.0


class Late(Exception):  # noqa: N818 - it is caught where every other fault is as well
    """The short way takes too long."""


def start() -> None:
    """Set the alarm."""
    _signal.signal(_signal.SIGALRM, _give_up)
    _signal.setitimer(_signal.ITIMER_REAL, _SECONDS)
    # No Python code runs while a disk does not answer; a thread of C then ends the process, with
    # exit code 1, which blocks nothing.
    faulthandler.dump_traceback_later(_LONGEST_SECONDS, exit=True, file=2)


def written() -> None:
    """Take note that the state is being written: too late for the full way from here on."""
    if _signal.getsignal(_signal.SIGALRM) is _give_up:
        _signal.signal(_signal.SIGALRM, _leave)
        _signal.setitimer(_signal.ITIMER_REAL, _SECONDS)


def stop() -> None:
    """Stop the alarm."""
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL)
    faulthandler.cancel_dump_traceback_later()


def _give_up(number: int, frame: object) -> None:
    del number, frame
    raise Late


def _leave(number: int, frame: object) -> None:
    del number, frame
    os._exit(0)
