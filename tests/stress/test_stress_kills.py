"""Death at every write, in whatever is stored: a reader finds the old or the new state.

The reference locks nothing and gives all writers of a file the same temporary file.
"""

from signal import SIGKILL

import pytest
from moments import Remains, deaths, tear

pytestmark = pytest.mark.stress

OPERATIONS = [
    "a new session",
    "a known session",
    "the first events",
    "further events",
    "the first learning",
    "a further learning",
    "a status",
    "a queued learning",
    "a learning queued twice",
    "a delivery",
    "words for the fast path",
    "a flag for the fast path",
    "the cache of plugins",
    "the configuration",
    "a log that is full",
]
LEARNINGS = "learnings.md"
# Several lines in one write: the kernel may have taken the first of them when the process dies.
LINES = ["the first events", "further events"]


@pytest.mark.parametrize("name", OPERATIONS)
def test_death_at_any_write_leaves_the_old_or_the_new_state(nursery, beads, keep, name):
    def step(what, **death):
        return nursery.call(beads, "storage_operations:run", what, name, **death)

    def look():
        seen = step("look")
        assert seen.code == 0, seen.stderr
        return seen.json

    assert step("prepare").code == 0
    old = look()
    back = keep(beads)
    whole = step("act")
    assert whole.code == 0, whole.stderr
    new = look()
    assert step("act").code == 0
    again = look()

    found, remains = [], Remains(beads.folder)
    for moment in deaths(whole.changes, never_torn=[LEARNINGS]):
        back()
        assert step("act", **moment.death).code == -SIGKILL, moment
        seen = look()
        found.append(seen)
        remains.grow_old()
        repeated = step("act")
        assert repeated.code == 0, f"{moment}: {repeated.stderr}"
        if moment.half and name in LINES:
            assert seen == new[: len(seen)], moment
            # Written once more, an event is an exact repeat, which reading drops.
            assert look() == list(dict.fromkeys([*seen, *new[len(old) :]])), moment
        else:
            assert seen in (old, new), moment
            assert look() == (again if seen == new else new), moment
        assert remains.names() == [], moment
    assert old in found
    assert len(found) >= 2


@pytest.mark.parametrize("name", ["the first learning", "a further learning", "a delivery"])
def test_a_torn_learning_is_whole_when_it_is_written_again(nursery, beads, keep, name):
    """The kernel may take half of a write: what waits in the outbox must not be lost by that."""

    def step(what, **death):
        done = nursery.call(beads, "storage_operations:run", what, name, **death)
        assert done.code == (-SIGKILL if death else 0), done.stderr
        return done

    step("prepare")
    step("look")
    back = keep(beads)
    changes = step("act").changes
    new = step("look").json
    back()
    step("act", **tear(changes, LEARNINGS).death)
    step("act")
    assert step("look").json == new
