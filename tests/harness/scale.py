"""How much of what can be done any number of times a run does."""

import os

_LONG = os.environ.get("GROVE_TESTS_LONG") == "1"


def turned_up(usual, long):
    """Choose a number: the usual one, or that of `make test-long`."""
    return long if _LONG else usual
