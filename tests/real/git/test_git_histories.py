"""Whatever git does to branches and clones, all learnings and events are there at the end."""

import pytest
from scale import turned_up


@pytest.mark.parametrize("seed", range(turned_up(6, 1000)))
def test_histories_end_with_everything_everywhere(start, seed):
    history = start(seed)
    for number in range(history.random.randint(4, 9)):
        history.step(number)
    history.finish()
    history.judge()
