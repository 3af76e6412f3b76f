"""A very long session: many hook calls leave nothing behind but what the trace may hold."""

import os
import re
import threading
from collections import Counter

from scale import turned_up

TURNS, LENGTH = turned_up(70, 800), turned_up(3, 25)
FULL_FROM = 62  # turns until the trace is full
MOST_EVENTS = 500
SLACK_BYTES = 2_000
# Numbers in texts get longer with the calls; that is no growth.
FIRST_NUMBER = 100_000


def takes_a_turn(agent, number):
    """A prompt, many calls that are none of grove's business, a close and two stops.

    In every second turn the close fails. In the others it is confirmed: a reflection is owed and
    asked for in vain, until the breaker opens at the fourth stop.
    """
    agent.asks("and now the next one", prompt_id=f"prompt-{number}")
    for _ in range(LENGTH):
        agent.succeeds(agent.announces(command="make test"), "done")
    call = agent.announces(command=f"bd close bd-{number}")
    if number % 2:
        agent.fails(call)
    else:
        agent.world.close_ticket(f"bd-{number}")
        agent.succeeds(call)
    return [agent.stops(prompt_id=f"prompt-{number}-{stop}").code for stop in range(2)]


def files_of(world):
    """All that grove has written; what depends on the machine is named by its kind."""
    folders = (world.grove_home, world.project / ".grove")
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {re.sub(r"-[0-9a-f]{8,}", "-*", str(path.relative_to(world.folder))) for path in found}


def held():
    """What this process holds: descriptors and threads."""
    return len(os.listdir("/proc/self/fd")), threading.active_count()


def test_a_long_session_leaves_no_file_no_growth_and_holds_nothing(beads):
    agent = beads.agent()
    agent.starts()
    session = beads.grove_home / "sessions" / "session-1.json"
    codes = Counter()
    for turn in range(TURNS):
        codes.update(takes_a_turn(agent, FIRST_NUMBER + turn))
        if turn == FULL_FROM:
            size, files = session.stat().st_size, files_of(beads)
            before = held()
            assert len(beads.session()["trace"]["events"]) == MOST_EVENTS
    assert len(beads.session()["trace"]["events"]) == MOST_EVENTS
    assert abs(session.stat().st_size - size) < SLACK_BYTES
    assert files_of(beads) == files
    assert held() == before
    assert codes[2] == 3 * (TURNS // 2)
    cycles = [(one["outcome"], one["blocks"]) for one in beads.events("gate")]
    assert cycles[: TURNS // 2 - 1] == [("breaker", 3)] * (TURNS // 2 - 1)
    assert beads.log("crash.log") == ""
