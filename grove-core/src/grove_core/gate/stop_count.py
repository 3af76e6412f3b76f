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
    """Take notice of a report of a stop."""
    is_echo = (
        count.at is not None
        and timedelta(0) <= now - count.at < SAME_STOP
        and prompt_id == count.prompt_id
        and set_of_hooks not in count.reported_by
    )
    if is_echo:
        return evolve(count, reported_by=(*count.reported_by, set_of_hooks)), False
    return StopCount(prompt_id=prompt_id, at=now, reported_by=(set_of_hooks,)), True
