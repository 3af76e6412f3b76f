"""A team with clones of one repository shares learnings over one server, through `grove` itself."""

import json
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from lessons import load
from processes import end_left_over
from scale import turned_up
from world import World

MEMBERS = ("ann", "bob", "cem")[: turned_up(2, 3)]
EACH = turned_up(3, 6)
LONGEST_ROUNDS = 20


class Person(World):
    """Somebody with a machine of their own, whose commands run while others' do."""

    def grove(self, *words, **more):
        return super().grove(*words, real=True, **more)


@pytest.fixture(scope="module")
def lessons():
    """Learnings that agents have written, of several projects, so that hardly two are alike."""
    kept = [one.candidate for one in load("training") if one.label == "keep" and not one.secrets]
    return [{**one, "scope": "team"} for one in kept[:: len(kept) // (len(MEMBERS) * EACH)]]


@pytest.fixture
def origin(world):
    """A repository of a project that uses grove."""
    # What is worth keeping is not the question here.
    world.initialise('[gate.write_gate]\nmode = "off"\n')
    (world.project / "shop.py").write_text("def orders():\n    return []\n")
    world.make_git()
    return world.project


@pytest.fixture
def team(world, origin, tmp_path, team_server, request):
    """People on machines of their own, each with a clone and with the server in their settings."""

    def member(name):
        folder = tmp_path / name
        subprocess.run(
            ["git", "clone", "-q", "--template=", str(origin), str(folder / "project")],
            env=world.environment,
            check=True,
        )
        person = Person(folder)
        person.grove_home.mkdir()
        # Other tests use the server, too.
        settings = {"url": team_server.entry["url"], "project": request.node.name}
        lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
        (person.grove_home / "config.toml").write_text("\n".join(["[backends.mcp]", *lines]))
        return person

    people = [member(name) for name in MEMBERS]
    yield people
    # What brings a machine into line behind a session has its own time limit.
    assert [end_left_over(person.home, grace_seconds=30) for person in people] == [[]] * len(people)


def learnings_of(person, *options):
    """What a person's machine has: how many learnings of each id."""
    done = person.grove("list", "--json", *options)
    assert done.code == 0, done.stderr
    return Counter(one["id"] for one in done.json["learnings"])


def works(person, lessons):
    """Starts a session, and reflects and searches until all is delivered."""
    agent = person.agent(f"session-of-{person.folder.name}")
    agent.starts()
    written = []
    for lesson in lessons:
        done = agent.reflects(lesson)
        assert done.code == 0, done.stderr
        written += [one["id"] for one in done.json["accepted"]]
        assert agent.grove("search", lesson["summary"]).code == 0
    for _ in range(LONGEST_ROUNDS):
        if person.grove("maintain", "flush").code == 0:
            return written
    raise AssertionError(person.grove("maintain", "flush").stderr)


def in_line(person, ids, *options):
    """Brings a machine into line, until it has these learnings; gives those that it has."""
    for _ in range(LONGEST_ROUNDS):
        assert person.grove("maintain", "flush").code == 0
        found = learnings_of(person, *options)
        if found == Counter(ids):
            break
    return found


def test_what_one_learns_all_have(team, lessons):
    with ThreadPoolExecutor(len(team)) as pool:
        shares = [lessons[at :: len(team)][:EACH] for at in range(len(team))]
        written = [one for ids in pool.map(works, team, shares) for one in ids]
    assert len(written) == len(set(written)) == len(MEMBERS) * EACH
    for person in team:
        assert in_line(person, written, "--all") == Counter(written)
