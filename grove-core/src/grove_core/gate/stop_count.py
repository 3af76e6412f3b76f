"""Telling real stops from the reports of several sets of hooks about the same one."""

from datetime import datetime, timedelta
from typing import Final

from attrs import evolve

from grove_core.model.session import StopCount

# As long as a client waits for its hooks at a stop: later than that, it is another stop.
SAME_STOP: Final = timedelta(seconds=10)


def count_stop(
    count: StopCount, set_of_hooks: str, prompt_id: str | None, now: datetime
) -> tuple[StopCount, bool]:
    """Take notice of a report of a stop.

    A client that holds grove's hooks twice, as a plugin and in its settings, reports every stop
    twice, side by side. A report is an echo of the latest stop if another set of hooks has told of
    it just now, and this one has not yet.

    Args:
        count: The latest stop.
        set_of_hooks: Which set reports.
        prompt_id: The prompt of the stop, if the client names it.
        now: When, UTC.

    Returns:
        The latest stop now, and whether this is the first report of it.
    """
    is_echo = (
        count.at is not None
        and timedelta(0) <= now - count.at < SAME_STOP
        and prompt_id == count.prompt_id
        and set_of_hooks not in count.reported_by
    )
    if is_echo:
        return evolve(count, reported_by=(*count.reported_by, set_of_hooks)), False
    return StopCount(prompt_id=prompt_id, at=now, reported_by=(set_of_hooks,)), True
