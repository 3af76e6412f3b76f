"""The index behind hooks and commands: whatever becomes of the learnings or of its file, what they
show is right, and nobody sees more of it."""

import os
import re
import shutil
import sqlite3

import pytest

TOPICS = ("redis", "kafka", "oauth")


@pytest.fixture
def project(world):
    """Three learnings that have nothing to do with each other, in a project that is up to date."""
    world.initialise()
    for number, topic in enumerate(TOPICS):
        world.learning(
            f"cl_{topic}",
            f"{topic} needs {topic}tuning before {topic}release",
            detail=f"{topic}one {topic}two {topic}three {topic}four.",
            tags=topic,
            created=f"2030-01-0{number + 1}T10:00:00Z",
        )
    assert shown(world) == {f"cl_{topic}" for topic in TOPICS}
    return world


def shown(world):
    """What a session is shown that nothing else is known of: the newest."""
    shown.sessions += 1
    return set(re.findall(r"\| (cl_\w+) \|", world.agent(f"session-{shown.sessions}").starts()))


shown.sessions = 0


def found(world, *words, cwd=None, problem=""):
    """What a search finds, without how it has fared, which a session changes."""
    done = world.grove("search", "--json", *words, cwd=cwd)
    assert done.code == 0
    assert problem in done.stderr if problem else done.stderr == ""
    fields = ("id", "summary", "detail", "scope")
    return {
        one["id"]: {
            **{name: one[name] for name in fields},
            "relevance": round(one["score"]["relevance"], 9),
            "parts": set(one["score"]["parts"]),
            "reasons": one["score"]["reasons"],
        }
        for one in done.json["results"]
    }


def index_of(world):
    (path,) = world.grove_home.glob("cache/*/index.sqlite")
    return path


def edit(world, old, new):
    text = world.learnings_file.read_text()
    assert text.count(old) == 1
    world.learnings_file.write_text(text.replace(old, new))


# --- the learnings ------------------------------------------------------------------------------


def test_what_a_pull_has_brought_is_shown(project):
    edit(project, "**Status:** active\n- **Criteria:** stable_fact\n- **Tags:** redis", "**Status:** archived\n- **Criteria:** stable_fact\n- **Tags:** redis")  # fmt: skip
    project.learning("cl_pulled", "Somebody else has learnt it", created="2030-02-01T10:00:00Z")
    assert shown(project) == {"cl_kafka", "cl_oauth", "cl_pulled"}


def test_what_somebody_has_archived_by_hand_is_not_shown(project):
    text = project.learnings_file.read_text()
    project.learnings_file.write_text(text.replace("**Status:** active", "**Status:** archived", 2))
    assert shown(project) == {"cl_oauth"}
    assert set(found(project, "redis")) == set()
    project.learnings_file.write_text(text)
    assert shown(project) == {f"cl_{topic}" for topic in TOPICS}


def test_another_text_is_found_by_its_words(project):
    edit(project, "redistwo", "zookeeper")
    assert set(found(project, "zookeeper")) == {"cl_redis"}
    assert set(found(project, "redistwo")) == set()


def test_what_was_removed_is_not_shown(project):
    project.learnings_file.write_text("# Learnings\n")
    assert shown(project) == set()
    project.learnings_file.unlink()
    assert shown(project) == set()
    assert found(project, "redis") == {}


def test_what_a_session_reflects_is_found_at_once(project, candidate):
    agent = project.agent("working")
    agent.starts()
    assert agent.reflects(candidate(1)).code == 0
    (learning_id,) = set(project.learning_ids()) - {f"cl_{topic}" for topic in TOPICS}
    before = index_of(project).read_bytes()
    assert set(found(project, "prefetched")) == {learning_id}
    # It was put in by the command that wrote it.
    assert index_of(project).read_bytes() == before


def test_learnings_of_the_user_are_found_in_every_project(project):
    project.learning("cl_mine", "Postgres needs vacuuming", personal=True)
    (mine,) = found(project, "vacuuming").values()
    assert (mine["id"], mine["scope"]) == ("cl_mine", "personal")
    other = project.others / "another"
    (other / ".grove").mkdir(parents=True)
    assert set(found(project, "vacuuming", cwd=other)) == {"cl_mine"}
    assert found(project, "redis", cwd=other) == {}


def test_a_project_that_was_moved(project):
    before = index_of(project)
    moved = project.others / "moved"
    moved.parent.mkdir(exist_ok=True)
    shutil.copytree(project.project, moved)
    assert set(found(project, "redis", cwd=moved)) == {"cl_redis"}
    assert len(list(project.grove_home.glob("cache/*/index.sqlite"))) == 2
    assert before.exists()


def test_commands_read_nothing_into_the_index_again(project):
    found(project, "redis")
    before = index_of(project).read_bytes()
    for _ in range(2):
        found(project, "kafka")
        shown(project)
    assert index_of(project).read_bytes() == before


# --- its file -----------------------------------------------------------------------------------


def delete(path):
    path.unlink()


def delete_the_folder(path):
    shutil.rmtree(path.parent)


def delete_the_cache(path):
    shutil.rmtree(path.parent.parent)


def put_garbage(path):
    path.write_bytes(b"no index" * 9999)


def zero(path):
    path.write_bytes(b"\0" * path.stat().st_size)


def truncate(path):
    os.truncate(path, path.stat().st_size // 2)


def damage_its_pages(path):
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xa5" * (len(content) - 4096))


def damage_the_terms(path):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE term_data SET block = x'00'")
    connection.commit()
    connection.close()


def spoil_a_document(path):
    connection = sqlite3.connect(path)
    connection.execute("UPDATE learning SET document = '{'")
    connection.commit()
    connection.close()


def put_another_version(path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 4711")
    connection.close()


def put_a_folder(path):
    path.unlink()
    (path / "in" / "it").mkdir(parents=True)


DAMAGES = [
    delete,
    delete_the_folder,
    delete_the_cache,
    put_garbage,
    zero,
    truncate,
    damage_its_pages,
    damage_the_terms,
    spoil_a_document,
    put_another_version,
    put_a_folder,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_whatever_becomes_of_its_file(project, damage):
    everything = {f"cl_{topic}" for topic in TOPICS}
    expected = found(project, "redis")
    assert set(expected) == {"cl_redis"}
    for ask in (lambda: shown(project) == everything, lambda: found(project, "redis") == expected):
        damage(index_of(project))
        assert ask()
        assert found(project, "redis") == expected
        # Whoever asked made it anew, and nobody has to do it again.
        before = index_of(project).read_bytes()
        assert shown(project) == everything
        assert index_of(project).read_bytes() == before
    assert "Traceback" not in project.log()


def test_an_index_that_another_process_holds(project):
    writing = sqlite3.connect(index_of(project), isolation_level=None)
    writing.execute("BEGIN IMMEDIATE")
    try:
        assert shown(project) == {f"cl_{topic}" for topic in TOPICS}
        project.learning("cl_new", "Zookeeper comes to it", created="2030-02-01T10:00:00Z")
        assert set(found(project, "zookeeper")) == {"cl_new"}
    finally:
        writing.execute("ROLLBACK")
        writing.close()
    assert shown(project) == {"cl_kafka", "cl_oauth", "cl_new"}


# --- engines ------------------------------------------------------------------------------------

ENGINES = """
import time
from grove_core import EngineSpec, hookimpl

grove_api = 1

def only_kafka(query, learnings):
    return [(0.9 if one.id == "cl_kafka" else 0.1, ("likes it",)) for one in learnings]

def fail(query, learnings):
    raise RuntimeError("the engine is broken")

def wrong(query, learnings):
    return [2.0 for one in learnings]

@hookimpl
def grove_retrieval_engines():
    return [
        EngineSpec(name="acme", score=only_kafka, floor=0.5),
        EngineSpec(name="failing", score=fail, floor=0.5),
        EngineSpec(name="wrong", score=wrong, floor=0.5),
    ]
"""


def use(world, engine):
    config = world.project / ".grove" / "config.toml"
    config.write_text(f'[retrieval]\nengine = "{engine}"\n')


def test_an_engine_of_a_plugin_decides_what_is_found_and_shown(project):
    project.install_plugin("acme_engine", ENGINES)
    use(project, "acme")
    results = found(project, "redis")
    assert list(results) == ["cl_kafka", "cl_oauth", "cl_redis"]
    assert results["cl_kafka"]["relevance"] == 0.9
    assert results["cl_kafka"]["parts"] == set()
    assert results["cl_kafka"]["reasons"] == ["likes it"]
    context = project.agent("asking").asks("what about redis?")
    assert "cl_kafka" in context
    assert "cl_redis" not in context


@pytest.mark.parametrize(
    ("engine", "problem"),
    [
        ("failing", "score of failing: RuntimeError: the engine is broken"),
        ("wrong", "score of wrong: returned no score from 0 to 1 for each learning"),
        ("unknown", ""),
    ],
)
def test_where_an_engine_cannot_be_used_the_index_serves(project, engine, problem):
    expected = found(project, "redis")
    project.install_plugin("acme_engine", ENGINES)
    use(project, engine)
    assert found(project, "redis", problem=problem) == expected
    assert shown(project) == {f"cl_{topic}" for topic in TOPICS}
    assert engine in project.log()


def test_the_rules_of_the_design_documents(project):
    project.learning("cl_part", "Something else", tags="redis-cluster", detail="Nothing.")
    use(project, "rules")
    results = found(project, "redis")
    assert {name: one["relevance"] for name, one in results.items()} == {
        "cl_redis": 1.0,
        "cl_part": 0.5,
    }
    context = project.agent("asking").asks("redis")
    assert context.index("cl_redis") < context.index("cl_part")
