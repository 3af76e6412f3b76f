"""Making many objects that stay, without Python looking for cycles among them."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collecting() -> Iterator[None]:
    """Switch the garbage collector off for a while.

    Learnings make no cycles, and looking for some takes a quarter of the time of reading a hundred
    thousand. Whoever finds the collector on switches it on again, so threads may do this at once.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
