"""Whatever git does to branches and clones, all learnings and events are there at the end."""

import pytest
from scale import turned_up

from grove_core import StorageLayout

SPREAD = StorageLayout.SPREAD
HISTORIES = [(SPREAD, one) for one in range(turned_up(6, 1000))]
HISTORIES += [(StorageLayout.SINGLE, one) for one in range(turned_up(6, 200))]


@pytest.mark.parametrize(("layout", "seed"), HISTORIES)
def test_histories_end_with_everything_everywhere(start, layout, seed):
    history = start(layout, seed)
    for number in range(history.random.randint(4, 9)):
        history.step(number)
    history.finish()
    history.judge()
