"""Telling real stops from the reports of several sets of hooks about the same one."""

from attrs import evolve

from grove_core.model.session import StopCount


def count_stop(
    count: StopCount, set_of_hooks: str, prompt_id: str | None
) -> tuple[StopCount, bool]:
    """Count a report of a stop.

    A client that holds grove's hooks twice, as a plugin and in its settings, reports every stop
    twice. Whichever set has reported the most stops of a prompt has just told of a new one.

    Args:
        count: The count so far.
        set_of_hooks: Which set reports.
        prompt_id: The prompt of the stop; without one, every report is taken for a stop.

    Returns:
        The new count, and whether this is the first report of its stop.
    """
    if prompt_id is None:
        return count, True
    seen = count.seen if prompt_id == count.prompt_id else {}
    number = seen.get(set_of_hooks, 0) + 1
    is_new = number > max(seen.values(), default=0)
    return evolve(count, prompt_id=prompt_id, seen={**seen, set_of_hooks: number}), is_new
