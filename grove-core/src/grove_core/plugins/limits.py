"""Time limits for calls into plugins.

A call runs in a thread of its own. Python cannot stop a thread, so a call that is late goes on by
itself; the thread is a daemon, and the process ends without waiting for it.
"""

import time
from collections.abc import Callable
from threading import Thread
from typing import Final, TypeVar

from attrs import frozen

from grove_core.errors import PluginError
from grove_core.model.value import Value

T = TypeVar("T")

_LEAST_SECONDS: Final = 0.01


class TimeLimitError(PluginError):
    """A plugin took longer than it may."""


class NoTimeLeftError(PluginError):
    """A plugin was not called, since everybody's time is used up."""


@frozen(kw_only=True, eq=False, repr=False)
class TimeLimits(Value):
    """How long plugins may take, in seconds.

    Attributes:
        load: To import one plugin, and again to register it.
        registration: To answer one registration hook.
        life_cycle: To answer one life-cycle hook.
    """

    load: float = 1.0
    registration: float = 0.5
    life_cycle: float = 0.5


class Deadline:
    """The moment when all calls of a process together must have come to an end."""

    def __init__(self, at: float | None = None) -> None:
        """Set the moment.

        Args:
            at: Seconds of the monotonic clock; ``None`` for no deadline.
        """
        self.at = at

    def clip(self, seconds: float) -> float:
        """Shorten a call's time limit to what is left.

        Args:
            seconds: How long the call may take by itself.

        Returns:
            How long it may take now.

        Raises:
            NoTimeLeftError: The moment has passed.
        """
        if self.at is None:
            return seconds
        left = self.at - time.monotonic()
        if left <= 0:
            raise NoTimeLeftError("was not called: no time was left")
        return min(seconds, max(left, _LEAST_SECONDS))


def call_limited(function: Callable[[], T], seconds: float) -> T:
    """Call a function and wait for it for a limited time.

    The function runs in another thread, each call in a new one: what belongs to a thread, such as
    a SQLite connection opened with the defaults, cannot be used in the next call.

    Args:
        function: What to call.
        seconds: How long to wait.

    Returns:
        The function's result.

    Raises:
        TimeLimitError: It was not done in time; it may still be running.
        PluginError: It tried to end the process (``SystemExit``, ``KeyboardInterrupt``).
        Exception: Whatever else the function raised.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(function())
        except BaseException as error:  # noqa: BLE001 - it is raised again in the caller's thread
            errors.append(error)

    thread = Thread(target=run, name="grove-plugin", daemon=True)
    thread.start()
    thread.join(seconds)
    if results:
        return results[0]
    if not errors:
        raise TimeLimitError(f"took longer than {seconds:.3g} seconds")
    if isinstance(errors[0], Exception):
        raise errors[0]
    # Raised as they are, they would end the process or look like the user's own Ctrl-C.
    raise PluginError(f"raised {type(errors[0]).__name__}") from errors[0]
