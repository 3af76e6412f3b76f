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


def test_what_a_removed_work_tree_had_not_committed_is_offered_to_the_main_one(shop, candidate):
    linked = shop.others / "linked"
    shop.git("worktree", "add", "-q", "-b", "topic", str(linked))

    def accepted(number):
        agent = shop.agent(f"linked-{number}")
        agent.starts(cwd=str(linked))
        (one,) = agent.reflects(candidate(number)).json["accepted"]
        assert one["location"].startswith(str(linked))
        return one["id"]

    committed = accepted(1)
    shop.git("-C", str(linked), "add", ".grove")
    shop.git("-C", str(linked), "commit", "-qm", "Learn")
    lost = accepted(2)
    assert shop.grove("status", "--json").json["left_behind"] == []
    shop.git("worktree", "remove", "--force", str(linked))
    assert shop.grove("status", "--json").json["left_behind"] == [lost]
    assert "1 learning of a removed work tree" in shop.grove("status").stdout
    assert {lost, committed}.isdisjoint(shop.learning_ids())
    dry = shop.grove("maintain", "flush", "--dry-run", "--json").json
    assert [one["id"] for one in dry["waiting"]] == [lost]
    done = shop.grove("maintain", "flush", "--json").json
    assert [one["learning_id"] for one in done["delivered"]] == [lost]
    assert lost in shop.learning_ids()
    assert list((shop.grove_home / "worktrees").iterdir()) == []
    assert shop.grove("status", "--json").json["left_behind"] == []


def test_a_submodule_is_a_project_of_its_own_and_keeps_no_copies(shop):
    library = shop.others / "library"
    shop.git("clone", "-q", str(shop.project), str(library))
    shop.git("-C", str(library), "rm", "-rq", ".grove")
    shop.git("-C", str(library), "commit", "-qm", "Without grove")
    allowed = ("-c", "protocol.file.allow=always")
    shop.git(*allowed, "submodule", "add", "-q", str(library), "library")
    inner = shop.project / "library"
    assert (inner / ".git").is_file()
    shop.lent.append(inner)
    why = "Sums of floats were off by a cent in March; shop/price.py rounds."
    assert shop.grove("init", "--json", cwd=inner).json["root"] == str(inner)
    assert shop.grove("add", "Prices are kept in cents", "--why", why, cwd=inner).code == 0
    assert shop.grove("list", "--json", cwd=inner).json["count"] == 1 + 1  # and the user's own
    assert not (shop.grove_home / "worktrees").exists()
