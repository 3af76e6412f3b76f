"""beads' background processes: those that a person has are used, none is started by looking."""

import json
import time

import pytest
from attrs import evolve
from core_worlds import write_program
from processes import end_left_over
from systems import SYSTEMS

OLD, NEW = (
    next(one for one in SYSTEMS if one.label == label) for label in ("beads 0.49.6", "beads 1.0.5")
)
# The daemon writes whenever it likes.
OLD_WITH_DAEMON = evolve(
    OLD, databases=("project/.beads/*.db*", "project/.beads/daemon.*", "project/.beads/*.jsonl")
)


@pytest.mark.parametrize("system", [OLD_WITH_DAEMON], ids=["0.49.6"])
def test_closes_by_way_of_the_daemon_are_held(shop, system):
    # The project is a copy, which the daemon would refuse.
    shop.variables |= {"BEADS_NO_DAEMON": "0", "BEADS_IGNORE_REPO_MISMATCH": "1"}
    shop.says("bd list")
    until = time.monotonic() + 20
    while (
        '"running"' not in shop.shell("bd daemon status --json").stdout and time.monotonic() < until
    ):
        time.sleep(0.1)
    try:
        worker = shop.worker()
        worker.runs(f"bd close {shop.ids['blocked']} | cat")
        worker.agent.is_let_go()
        worker.runs(f"bd close {shop.ids['second']} | cat")
        assert shop.ids["second"] in worker.agent.is_blocked()
    finally:
        # `bd daemon stop` says that it has, and does not within seconds.
        assert len(end_left_over(shop.world.home, grace_seconds=0)) == 1


@pytest.mark.parametrize("system", [OLD, NEW], ids=["0.49.6", "1.0.5"])
def test_looking_starts_nothing_and_leaves_what_was_touched_last(shop, system):
    del shop.variables["BEADS_NO_DAEMON"]
    touched = shop.project / ".beads" / "last-touched"
    touched.write_text(f"{shop.ids['third']}\n")
    shop.world.grove("tickets", "--json")
    agent = shop.world.agent()
    agent.starts()
    agent.succeeds(agent.announces(command=f"bd close {shop.ids['second']}"))
    # Held or not: a tool that is too slow to say is not believed.
    agent.stops()
    assert touched.read_text() == f"{shop.ids['third']}\n"
    # What is left running, the fixture finds.


@pytest.mark.parametrize("mode", ["server", "proxied-server"])
@pytest.mark.parametrize("system", [NEW], ids=["1.0.5"])
def test_looking_starts_no_database_server(shop, system, mode):
    log = shop.world.others / "dolt.log"
    write_program(shop.programs / "dolt", f'echo "$@" >>"{log}"')
    metadata = shop.project / ".beads" / "metadata.json"
    metadata.write_text(json.dumps({**json.loads(metadata.read_text()), "dolt_mode": mode}))
    shop.world.grove("tickets", "--json")
    agent = shop.world.agent()
    agent.starts()
    agent.succeeds(agent.announces(command=f"bd close {shop.ids['second']}"))
    agent.stops()
    assert not log.exists() or "sql-server" not in log.read_text()
