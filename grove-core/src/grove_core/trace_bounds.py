"""The bound of a session's trace: the beginning and the newest events are kept."""

MOST_EVENTS = 500
KEPT_FROM_START = 10
LONGEST_DETAIL = 300
"""Characters."""


def surplus(events: int) -> int:
    """Tell how many events have to go, those after the first ten first.

    Args:
        events: How many there are.

    Returns:
        How many are beyond the bound.
    """
    return max(0, events - MOST_EVENTS)
