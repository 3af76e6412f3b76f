"""Two people and their agents, a project, and a database between them."""

import time

import pytest

from grove_core.testing.samples import example_learning

SECONDS = 30


class Member:
    """Somebody with a machine and a clone of the project."""

    def __init__(self, world, url):
        self.world = world
        world.initialise(
            '[backends]\nprimary = "postgres"\n[backends.postgres]\nproject = "shop"\n'
        )
        world.use_beads()
        world.grove_home.mkdir()
        (world.grove_home / "config.toml").write_text(f'[backends.postgres]\nurl = "{url}"\n')

    def grove(self, *words, code=0, **others):
        done = self.world.grove(*words, **others)
        assert code in (done.code, None), done.stderr or done.stdout
        return done

    def json(self, *words, **others):
        return self.grove(*words, "--json", **others).json

    def trusts(self):
        self.grove("trust", "--yes")
        return self

    def learns(self, number, candidate, **fields):
        """A session in which a ticket is closed and something is learned; gives the receipt."""
        agent = self.world.agent(f"session-{number}")
        agent.starts()
        self.world.start_ticket(f"bd-{number}", title="Orders are slow")
        agent.closes(f"bd-{number}")
        agent.is_blocked()
        done = agent.reflects(candidate(number, **fields))
        assert done.code == 0, done.stdout + done.stderr
        (result,) = done.json["accepted"]
        agent.is_let_go()
        return result

    def waiting(self):
        (server,) = self.json("status", code=None)["servers"]
        return server["waiting"]


@pytest.fixture
def member(world, database):
    """Makes members of a team, who have agreed to the project's name in the database."""

    def one(name, url=database.url):
        return Member(type(world)(world.folder / name), url)

    return one


def until(holds):
    """Waits for what a process in the background does."""
    end = time.monotonic() + SECONDS
    while not (found := holds()):
        assert time.monotonic() < end
        time.sleep(0.1)
    return found


def test_what_one_agent_learns_another_is_told(member, candidate):
    alice, bob = member("alice").trusts(), member("bob").trusts()
    assert alice.learns(1, candidate)["status"] == "stored"
    summary = candidate(1)["summary"]

    # Bob's next session has the database asked behind its back; the one after that knows.
    assert bob.world.agent("monday").starts() == ""
    learning_id = until(lambda: bob.grove("list", "-q").stdout).strip()
    assert summary in bob.world.agent("tuesday").starts()
    bob.grove("ref", learning_id, "--how", "it named the cure", CLAUDE_CODE_SESSION_ID="tuesday")

    bob.grove("maintain", "archive", learning_id)
    alice.grove("maintain", "flush")
    assert alice.json("show", learning_id)["status"] == "archived"
    assert alice.json("list")["learnings"] == []


def test_a_clone_asks_for_no_rows_before_it_is_trusted(member, database, open_store):
    open_store(database).add([example_learning()])
    until(lambda: database.statements()[-1:] == ["COMMIT"])
    before = database.statements()
    stranger = member("stranger")
    stranger.world.agent().starts()
    stranger.grove("search", "orders")
    stranger.grove("maintain", "flush")
    assert stranger.json("list")["learnings"] == []
    refused = stranger.grove("backends", "postgres", "migrate", code=1)
    assert "backends.postgres.project is not set" in refused.stderr
    assert database.statements() == before
    stranger.trusts().grove("maintain", "flush")
    assert len(stranger.json("list")["learnings"]) == 1


def test_while_the_database_is_down_work_goes_on(member, own_server, candidate):
    database = own_server.database()
    alice = member("alice", database.url).trusts()
    first = alice.learns(1, candidate)
    assert first["status"] == "stored"
    own_server.stop()
    another = {
        "summary": "LoginForm.clean() must never log the session token of a shop's customer",
        "detail": "logging.debug() in LoginForm.clean() wrote `token=` to web.log on 2026-02-03.",
        "tags": ["login", "logging"],
    }
    second = alice.learns(2, candidate, **another)
    assert second["status"] == "queued"
    told = alice.world.agent("again").starts()
    assert another["summary"] in told
    assert candidate(1)["summary"] in told
    doctor = {one["name"]: one for one in alice.json("doctor", code=None)["checks"]}
    assert doctor["primary backend"]["status"] == "warning"
    assert "learnings: 2" in doctor["primary backend"]["detail"]
    assert "cannot reach the database" in doctor["primary backend"]["detail"]

    own_server.start()
    alice.grove("maintain", "flush")
    assert not alice.waiting()
    bob = member("bob", database.url).trusts()
    bob.grove("maintain", "flush")
    assert len(bob.json("list")["learnings"]) == 2


def test_no_output_shows_a_password(member, database, server, candidate):
    alice = member("alice").trusts()
    alice.learns(1, candidate)
    commands = ["backends", "plugins", "doctor", "status", "config", "config validate", "debug"]
    commands += ["backends postgres migrate", "maintain flush"]
    for words in commands:
        for options in ((), ("--json",)):
            done = alice.world.grove(*words.split(), *options)
            assert server.password not in done.stdout + done.stderr, words
            assert database.url not in done.stdout + done.stderr, words
    files = [*alice.world.grove_home.rglob("*"), *alice.world.project.rglob("*")]
    holding = [
        path.name
        for path in files
        if path.is_file() and database.url in path.read_text(errors="replace")
    ]
    assert holding == ["config.toml"]
