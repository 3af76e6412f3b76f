"""Two people and their agents, a project, and a database between them."""

import time

import pytest
from cutting_proxy import silent_server

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
        return self.json("backends", "postgres", "status", code=None)["here"]["waiting"]


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


def test_a_search_finds_what_has_not_come_here_yet(member, candidate):
    alice, bob = member("alice").trusts(), member("bob").trusts()
    learned = alice.learns(1, candidate)
    (hit,) = bob.json("search", "what makes exporting orders slow")["results"]
    assert hit["id"] == learned["id"]
    assert bob.json("show", learned["id"])["summary"] == candidate(1)["summary"]


def test_a_clone_asks_for_no_rows_before_it_is_trusted(member, database, candidate):
    member("alice").trusts().learns(1, candidate)
    before = database.statements()
    stranger = member("stranger")
    stranger.world.agent().starts()
    stranger.grove("search", "orders")
    stranger.grove("maintain", "flush")
    assert stranger.json("list")["learnings"] == []
    refused = stranger.grove("backends", "postgres", "status", code=1)
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
    document = alice.json("backends", "postgres", "status", code=1)
    assert document["fault"].startswith("cannot reach the database")
    assert document["here"]["learnings"] == 2
    doctor = {one["name"]: one for one in alice.json("doctor", code=None)["checks"]}
    assert doctor["primary backend"]["status"] == "warning"

    own_server.start()
    alice.grove("maintain", "flush")
    assert alice.waiting() == []
    bob = member("bob", database.url).trusts()
    bob.grove("maintain", "flush")
    assert len(bob.json("list")["learnings"]) == 2


def test_the_address_may_come_from_the_environment(member, database, server, candidate):
    alice = member("alice", f"postgresql://{database.name}@127.0.0.1:{server.port}/{database.name}")
    alice.world.environment["PGPASSWORD"] = server.password
    assert alice.trusts().learns(1, candidate)["status"] == "stored"

    bob = member("bob", "postgresql://nobody@127.0.0.1:1/nothing")
    bob.world.environment["GROVE_BACKENDS_POSTGRES_URL"] = database.url
    bob.world.environment["GROVE_BACKENDS_POSTGRES_PROJECT"] = "shop"
    bob.grove("maintain", "flush")
    assert len(bob.json("list")["learnings"]) == 1
    shown = [
        bob.grove(*words, code=None).stdout for words in (["config"], ["backends"], ["doctor"])
    ]
    assert server.password not in "".join(shown)


def test_migrate_tells_what_it_does(member, database):
    alice = member("alice").trusts()
    planned = alice.json("backends", "postgres", "migrate", "--dry-run")
    assert planned["dry_run"]
    assert planned["migrations"][0] == "1 tables"
    before = alice.json("backends", "postgres", "status")["server"]
    assert (before["tables"], before["pending_migrations"][0]) == (0, "tables")
    assert "no tables yet" in alice.grove("backends", "postgres", "status").stdout

    said = alice.grove("backends", "postgres", "migrate").stdout.splitlines()
    assert said[:3] == [
        "applied 1 tables",
        "applied 2 full-text search",
        "applied 3 row-level security",
    ]
    after = alice.json("backends", "postgres", "status")["server"]
    assert after["tables"] == after["tables_wanted"]
    assert after["row_level_security_applies"]
    assert said[-1] == "applied 6 notes on statuses"
    assert all(line.startswith("left out ") for line in said[3:-1])


def test_a_database_that_has_moved(member, database, server, candidate):
    """What still waited for the old address is told, and goes to the new one when asked to."""
    alice = member("alice", "postgresql://grove:hush@127.0.0.1:1/before").trusts()
    learned = alice.learns(1, candidate)
    assert learned["status"] == "queued"
    configuration = alice.world.grove_home / "config.toml"
    configuration.write_text(f'[backends.postgres]\nurl = "{database.url}"\n')

    refused = alice.grove("maintain", "flush", code=1)
    assert "before at 127.0.0.1:1" in refused.stderr
    doctor = {one["name"]: one for one in alice.json("doctor", code=None)["checks"]}
    assert doctor["primary backend"]["status"] == "warning"
    assert "grove backends postgres bring" in str(doctor["primary backend"])
    (warning,) = alice.json("backends", "postgres", "status")["warnings"]
    assert "grove backends postgres bring" in warning
    assert database.ask("SELECT count(*) FROM grove.learning") == [(0,)]

    (found,) = alice.json("backends", "postgres", "bring")["elsewhere"]
    assert found["waiting"] == [learned["id"]]
    said = alice.grove("backends", "postgres", "bring", found["name"]).stdout
    assert said.startswith("1 brought from shop in the database before at 127.0.0.1:1")
    alice.grove("maintain", "flush")
    assert database.ask("SELECT id FROM grove.learning") == [(learned["id"],)]
    for words in (["maintain", "flush"], ["backends", "postgres", "bring"], ["doctor"]):
        done = alice.grove(*words, code=None)
        assert "before at" not in done.stdout + done.stderr
        assert "hush" not in done.stdout + done.stderr


def test_hooks_do_not_wait_for_a_server_that_says_nothing(member, candidate):
    """Nor does anything of theirs knock; only what a person runs, and what runs behind their back."""
    with silent_server() as port:
        alice = member("alice", f"postgresql://grove@127.0.0.1:{port}/team").trusts()
        agent = alice.world.agent("monday")
        for _ in range(2):
            began = time.monotonic()
            agent.starts()
            assert time.monotonic() - began < 5
        began = time.monotonic()
        alice.world.start_ticket("bd-1", title="Orders are slow")
        agent.closes("bd-1")
        agent.is_blocked()
        assert time.monotonic() - began < 10


def test_no_output_shows_a_password(member, database, server, candidate):
    alice = member("alice").trusts()
    alice.learns(1, candidate)
    commands = ["backends", "plugins", "doctor", "status", "config", "config validate", "debug"]
    commands += ["backends postgres status", "backends postgres migrate", "maintain flush"]
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
