"""Choosing what to show, showing it once, and telling the right log."""

from datetime import timedelta

import pytest
from core_worlds import NOW, a_learning, a_session, events_in, git, own_git_only, put

from grove_core.model.learning import Confidence, LearningStatus, Scope
from grove_core.model.memory import Detection, Query
from grove_core.plugins.descriptors import Area, BackendSpec, TicketProbe
from grove_core.project import Project
from grove_core.services import recall as recall_module
from grove_core.services.recall import query_for_work, recall, remember, repeat
from grove_core.testing import InMemoryBackend


def taught(name, **fields):
    # What says nearly the same as another one is not shown beside it.
    own = " ".join(f"{name}word{number}" for number in range(12))
    given = {
        "summary": f"What {name} taught us",
        "detail": f"In many words: {own}.",
        "tags": ("redis",),
        "confidence": Confidence.HIGH,
    }
    return a_learning(f"cl_{name}", **given, **fields)


@pytest.fixture(autouse=True)
def own_settings_only(tmp_path, monkeypatch):
    own_git_only(monkeypatch, tmp_path)
    monkeypatch.setattr(recall_module, "STATUS_SECONDS", 30.0)
    monkeypatch.setattr(recall_module, "HISTORY_SECONDS", 30.0)
    monkeypatch.setattr(recall_module, "SEARCH_SECONDS", 30.0)


@pytest.fixture
def backends():
    return {area: InMemoryBackend("markdown") for area in (Area.PROJECT, Area.PERSONAL)}


@pytest.fixture
def project(tmp_path, plugins_of, backends):
    root = tmp_path / "project"
    (root / ".grove").mkdir(parents=True)
    # Its scores are those of the specification: 1 for a tag.
    (root / ".grove" / "config.toml").write_text('[retrieval]\nengine = "rules"\n')
    made = Project(root, {"GROVE_HOME": str(tmp_path / "home")}, NOW)
    found = Detection(marker="x")
    made.plugins = plugins_of(
        TicketProbe(name="beads", detect=lambda _: found, paths=(".beads",)),
        BackendSpec(
            name="markdown", detect=lambda _: found, open=lambda context: backends[context.area]
        ),
    )
    return made


@pytest.fixture
def session(project):
    made = a_session()
    put(project.sessions, made)
    return made


def write(backends, *learnings):
    for one in learnings:
        area = Area.PERSONAL if one.scope is Scope.PERSONAL else Area.PROJECT
        backends[area].write(one)


REDIS = Query(tags=("redis",))


def show(project, session, query=REDIS, limit=5, max_chars=4000):
    project.finder.refresh()
    found = recall(project, session, query, limit=limit, max_chars=max_chars, via="prompt")
    remember(project, session, found)
    return project.sessions.get(session.id)


def test_after_a_compaction_what_was_shown_is_shown_again_in_its_order(project, session, backends):
    assert repeat(project, session, 4000).text == ""
    write(backends, taught("b"), taught("a", timestamp=NOW - timedelta(days=1)))
    after = show(project, session)
    write(backends, taught("c"))
    assert repeat(project, after, 4000).shown == ("cl_b", "cl_a")
    backends[Area.PROJECT].set_status("cl_b", LearningStatus.SUPERSEDED)
    project.finder.refresh()
    assert repeat(project, after, 4000).shown == ("cl_a",)
    assert len(events_in(project.files.events_file)) == 2


def test_branch_files_and_commits_describe_the_work(project):
    git("init", "-q", "-b", "main", cwd=project.root)
    (project.root / "old.py").write_text("1\n")
    git("add", "old.py", cwd=project.root)
    git("commit", "-q", "-m", "first", cwd=project.root)
    assert query_for_work(project, None).is_empty
    git("checkout", "-q", "-b", "feature/redis-cache_layer", cwd=project.root)
    (project.root / "committed.py").write_text("1\n")
    git("add", "committed.py", cwd=project.root)
    git("commit", "-q", "-m", "Add the cache", cwd=project.root)
    (project.root / "old.py").write_text("2\n")
    (project.root / "new.py").write_text("1\n")
    (project.root / ".beads").mkdir()
    (project.root / ".beads" / "x").write_text("1\n")
    (project.root / ".grove" / "learnings.md").write_text("1\n")
    query = query_for_work(project, None)
    assert query.text.split() == ["redis", "cache", "layer", "Add", "the", "cache"]
    assert query.files == ("old.py", "new.py", "committed.py")
