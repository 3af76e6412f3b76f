"""What a call announces, without repetitions."""

from collections.abc import Iterable

from grove_core import TicketClose


def announced(closes: Iterable[TicketClose]) -> tuple[TicketClose, ...]:
    """Drop repetitions from what a call would close and open again.

    Args:
        closes: Closes and reopenings in the order in which they would happen.

    Returns:
        The same; of equal ones the last stays, so that a close after a reopening counts.
    """
    last_first = dict.fromkeys(reversed(tuple(closes)))
    return tuple(reversed(last_first))
