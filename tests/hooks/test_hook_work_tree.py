"""Hooks leave the work tree as it is: they write to grove's own directory and nowhere else."""

from datetime import UTC, datetime, timedelta

import pytest
from attrs import define
from world import World, signatures

ABOUT = "OrderStore.rows() runs one query per order unless prefetched"
STALE = "cl_20300102_oooooo"


@define
class Watched(World):
    """Every hook leaves each file of the project with its inode, size and times."""

    def hook(self, event, payload, **variables):
        before = signatures(self.project, apart_from=())
        done = super().hook(event, payload, **variables)
        assert signatures(self.project, apart_from=()) == before, event
        return done


@pytest.fixture(params=["single", "spread"])
def shop(tmp_path, request):
    """A repository with a learning that is due, one of the user's own, and one that names a file."""
    world = Watched(tmp_path.resolve())
    world.initialise(f'[storage]\nlayout = "{request.param}"\n')
    world.use_beads()
    old = (datetime.now(UTC) - timedelta(days=200)).strftime("%Y-%m-%dT%H:%M:%SZ")
    world.learning(STALE, "OrderStore.export() needs a header", created=old)
    world.learning("cl_20300102_mmmmmm", "Names are short", personal=True, created=old)
    world.learning("cl_20300102_nnnnnn", ABOUT, files="shop/orders.py")
    (world.project / "shop").mkdir()
    (world.project / "shop" / "orders.py").write_text("rows = 1\n")
    (world.project / ".beads" / "interactions.jsonl").touch()
    world.make_git()
    return world


def test_every_event_of_a_session(shop):
    agent = shop.agent()
    agent.starts()
    assert shop.hidden() == [STALE]
    agent.asks("Why is OrderStore.rows() slow?")
    path = str(shop.project / "shop" / "orders.py")
    agent.send("PostToolUse", **agent.announces("Read", file_path=path), tool_response={})
    agent.fails(agent.announces(command="bd close bd-1"))
    agent.closes("bd-1")
    agent.send("TaskCompleted", task_id="1", task_subject="Orders")
    agent.is_blocked()
    agent.starts("compact")
    assert agent.grove("skip", "only a question").code == 0
    agent.is_let_go(active=True)
    agent.ends()
    assert {"surfaced", "skip", "gate", "dismissed"} <= {one["event"] for one in shop.events()}
    assert not (shop.project / ".grove" / "stats").exists()


def test_a_session_that_asks_a_question_leaves_nothing_for_git(shop):
    shop.git("switch", "-q", "-c", "other")
    (shop.project / ".grove" / "config.toml").write_text("")
    shop.git("commit", "-qam", "Another configuration")
    agent = shop.agent()
    agent.starts()
    assert "OrderStore" in agent.asks("Why is OrderStore.rows() slow?")
    agent.is_let_go()
    agent.ends()
    assert shop.hidden() == [STALE]
    assert shop.git("status", "--porcelain") == ""
    shop.git("switch", "-q", "main")
    assert shop.git("status", "--porcelain") == ""


def test_two_branches_that_learned_merge_without_drivers_and_attributes(shop, candidate):
    """In the layout `single` that holds for events alone."""
    config = (shop.project / ".grove" / "config.toml").read_text()
    committed = ".grove" if "spread" in config else ".grove/stats"
    server = shop.others / "server.git"
    shop.git("init", "-q", "--bare", str(server))
    for number, branch in enumerate(("one", "two")):
        shop.git("switch", "-q", "-c", branch, "main")
        agent = shop.agent(branch)
        agent.starts()
        assert agent.reflects(candidate(number)).code == 0
        shop.git("add", committed)
        shop.git("commit", "-qm", branch)
        shop.git("reset", "-q", "--hard")
        shop.git("push", "-q", str(server), branch)
    tree = shop.git("--git-dir", str(server), "merge-tree", "--write-tree", "one", "two").strip()
    names = shop.git("--git-dir", str(server), "ls-tree", "-r", "--name-only", tree)
    assert names.count(".grove/stats/") == 2
