"""Time limits for calls into plugins.

A call runs in a thread of its own. Python cannot stop a thread, so a call that is late goes on by
itself; the thread is a daemon, and the process ends without waiting for it.
"""

from collections.abc import Callable
from threading import Thread
from typing import TypeVar

from attrs import frozen

from grove_core.errors import PluginError

T = TypeVar("T")


class TimeLimitError(PluginError):
    """A plugin took longer than it may."""


@frozen(kw_only=True)
class TimeLimits:
    """How long plugins may take, in seconds.

    Attributes:
        load: To import one plugin, and again to register it.
        registration: To answer one registration hook.
        life_cycle: To answer one life-cycle hook.
    """

    load: float = 1.0
    registration: float = 0.5
    life_cycle: float = 0.5


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
        raise TimeLimitError(f"took longer than {seconds:g} seconds")
    if isinstance(errors[0], Exception):
        raise errors[0]
    # Raised as they are, they would end the process or look like the user's own Ctrl-C.
    raise PluginError(f"raised {type(errors[0]).__name__}") from errors[0]
