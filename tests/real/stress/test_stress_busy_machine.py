"""The gate holds while everything else wants the processors, too."""

import os
import subprocess
import sys
from contextlib import ExitStack

from scale import turned_up

CLOSES = turned_up(2, 50)
LOOPS_A_CORE = 8


def test_every_close_is_asked_about_and_reflected_on(beads, candidate):
    """With the deadlines that people have, not those of tests."""
    del beads.environment["GROVE_HOOKS_DEADLINE_MS"]
    agent = beads.agent(real=True)
    agent.starts()
    with ExitStack() as stack:
        for _ in range(LOOPS_A_CORE * (os.cpu_count() or 2)):
            busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(busy.wait)
            stack.callback(busy.kill)
        for number in range(CLOSES):
            agent.closes(f"bd-{number}")
            assert f"bd-{number}" in agent.is_blocked()
            assert agent.reflects(candidate(number)).code == 0
            agent.is_let_go(active=True)
    assert len(beads.learning_ids()) == CLOSES
