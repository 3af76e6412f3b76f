"""Where each system is found: real directories, real work trees, a real submodule."""

import os
import subprocess
from pathlib import Path

import pytest

from grove_core import Participation
from grove_tickets import beads, session, tasks, tissue

GIT_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_ALLOW_PROTOCOL": "file",
}


def git(directory: Path, *arguments: str) -> None:
    subprocess.run(
        ["git", *arguments], cwd=directory, env=GIT_ENVIRONMENT, check=True, capture_output=True
    )


def repository(directory: Path) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    git(directory, "init", "--quiet")
    (directory / "file").write_text("x")
    git(directory, "add", ".")
    git(directory, "commit", "--quiet", "-m", "x")
    return directory


def store(parent: Path, *names: str) -> Path:
    directory = parent / ".beads"
    directory.mkdir(parents=True)
    for name in names:
        if "." in name or name == "redirect":
            (directory / name).write_text("{}")
        else:
            (directory / name).mkdir()
    return directory


def marker(detection) -> str | None:
    return None if detection is None else detection.marker


@pytest.fixture
def deep(project) -> Path:
    directory = project / "a" / "b"
    directory.mkdir(parents=True)
    return directory


class TestTissue:
    def test_nothing(self, make_context):
        assert tissue.detect(make_context()) is None

    def test_from_a_sub_directory(self, project, deep, make_context):
        (project / ".tissue").mkdir()
        assert marker(tissue.detect(make_context(deep))) == str(project / ".tissue")

    def test_a_file_of_that_name_is_no_store(self, project, make_context):
        (project / ".tissue").write_text("")
        assert tissue.detect(make_context()) is None

    def test_the_variable_comes_after_the_walk(self, project, tmp_path, make_context):
        named = tmp_path / "elsewhere"
        named.mkdir()
        context = make_context(TISSUE_STORE=str(named))
        assert marker(tissue.detect(context)) == str(named)
        (project / ".tissue").mkdir()
        assert marker(tissue.detect(context)) == str(project / ".tissue")

    def test_a_variable_that_leads_nowhere(self, make_context):
        assert tissue.detect(make_context(TISSUE_STORE="/nowhere")) is None

    def test_each_work_tree_has_its_own(self, project, tmp_path, make_context):
        (project / ".tissue").mkdir()
        (project / ".tissue" / "issues.jsonl").write_text("")
        repository(project)
        git(project, "worktree", "add", "--quiet", str(tmp_path / "wt"))
        context = make_context(tmp_path / "wt")
        assert marker(tissue.detect(context)) == str(tmp_path / "wt" / ".tissue")


class TestBeads:
    @pytest.mark.parametrize(
        "name", ["metadata.json", "config.yaml", "dolt", "embeddeddolt", "beads.db", "acme.db"]
    )
    def test_what_makes_a_store(self, name, project, make_context):
        expected = store(project, name)
        assert marker(beads.detect(make_context())) == str(expected)

    @pytest.mark.parametrize("name", ["issues.jsonl", "redirect", "README.md", "hooks"])
    def test_what_makes_none(self, name, project, make_context):
        store(project, name)
        assert beads.detect(make_context()) is None

    def test_nothing(self, make_context):
        assert beads.detect(make_context()) is None

    def test_outside_git_all_directories_upwards(self, project, deep, make_context):
        expected = store(project, "config.yaml")
        assert marker(beads.detect(make_context(deep))) == str(expected)

    def test_never_above_the_top_of_the_repository(self, project, deep, make_context):
        store(project, "config.yaml")
        repository(deep)
        assert beads.detect(make_context(deep)) is None

    def test_from_a_sub_directory_of_a_repository(self, project, deep, make_context):
        expected = store(project, "config.yaml")
        repository(project)
        assert marker(beads.detect(make_context(deep))) == str(expected)

    def test_the_nearest_one(self, project, deep, make_context):
        store(project, "config.yaml")
        repository(project)
        expected = store(deep, "config.yaml")
        assert marker(beads.detect(make_context(deep))) == str(expected)

    def test_the_variable_comes_first(self, project, tmp_path, make_context):
        store(project, "config.yaml")
        named = store(tmp_path / "other", "beads.db")
        assert marker(beads.detect(make_context(BEADS_DIR=str(named)))) == str(named)

    def test_a_variable_that_leads_nowhere(self, project, make_context):
        expected = store(project, "config.yaml")
        assert marker(beads.detect(make_context(BEADS_DIR="/nowhere"))) == str(expected)

    def test_redirect(self, project, tmp_path, make_context):
        target = store(tmp_path / "other", "beads.db")
        (store(project) / "redirect").write_text("# moved\n\n../other/.beads\n")
        assert marker(beads.detect(make_context())) == str(target)

    def test_one_hop_only(self, project, tmp_path, make_context):
        store(tmp_path / "third", "beads.db")
        middle = store(tmp_path / "other", "beads.db")
        (middle / "redirect").write_text("../third/.beads\n")
        (store(project) / "redirect").write_text("../other/.beads\n")
        assert marker(beads.detect(make_context())) == str(middle)

    def test_a_dangling_redirect_is_ignored(self, project, make_context):
        expected = store(project, "config.yaml")
        (expected / "redirect").write_text("../gone/.beads\n")
        assert marker(beads.detect(make_context())) == str(expected)

    def test_a_work_tree_shares_the_main_store(self, project, tmp_path, make_context):
        expected = store(project, "metadata.json")
        repository(project)
        git(project, "worktree", "add", "--quiet", str(tmp_path / "wt"))
        below = tmp_path / "wt" / "below"
        below.mkdir()
        assert (tmp_path / "wt" / ".beads" / "metadata.json").is_file()
        assert marker(beads.detect(make_context(below))) == str(expected)

    def test_a_work_tree_with_a_database_of_its_own(self, project, tmp_path, make_context):
        store(project, "metadata.json")
        repository(project)
        git(project, "worktree", "add", "--quiet", str(tmp_path / "wt"))
        (tmp_path / "wt" / ".beads" / "embeddeddolt").mkdir()
        assert marker(beads.detect(make_context(tmp_path / "wt"))) == str(tmp_path / "wt/.beads")

    @pytest.mark.parametrize("name", ["x.backup.db", "vc.db"])
    def test_no_database_of_its_own(self, name, project, tmp_path, make_context):
        expected = store(project, "metadata.json")
        repository(project)
        git(project, "worktree", "add", "--quiet", str(tmp_path / "wt"))
        (tmp_path / "wt" / ".beads" / name).write_text("")
        assert marker(beads.detect(make_context(tmp_path / "wt"))) == str(expected)

    def test_a_redirected_work_tree(self, project, tmp_path, make_context):
        store(project, "metadata.json")
        target = store(tmp_path / "other", "beads.db")
        repository(project)
        git(project, "worktree", "add", "--quiet", str(tmp_path / "wt"))
        (tmp_path / "wt" / ".beads" / "redirect").write_text("../other/.beads")
        assert marker(beads.detect(make_context(tmp_path / "wt"))) == str(target)

    def test_a_work_tree_whose_main_tree_has_no_store(self, project, tmp_path, make_context):
        repository(project)
        git(project, "worktree", "add", "--quiet", str(tmp_path / "wt"))
        expected = store(tmp_path / "wt", "config.yaml")
        assert marker(beads.detect(make_context(tmp_path / "wt"))) == str(expected)

    def test_a_work_tree_of_a_bare_repository(self, project, tmp_path, make_context):
        repository(project)
        git(tmp_path, "clone", "--quiet", "--bare", str(project), "bare.git")
        git(tmp_path / "bare.git", "worktree", "add", "--quiet", str(tmp_path / "wt"))
        expected = store(tmp_path / "bare.git", "config.yaml")
        assert marker(beads.detect(make_context(tmp_path / "wt"))) == str(expected)

    def test_a_submodule_is_a_repository_of_its_own(self, project, tmp_path, make_context):
        store(project, "config.yaml")
        repository(project)
        inner = repository(tmp_path / "inner")
        git(project, "submodule", "--quiet", "add", str(inner), "sub")
        assert (project / "sub" / ".git").is_file()
        assert beads.detect(make_context(project / "sub")) is None
        expected = store(project / "sub", "config.yaml")
        assert marker(beads.detect(make_context(project / "sub"))) == str(expected)

    def test_a_broken_git_file(self, project, make_context):
        (project / ".git").write_text("nonsense \x00")
        expected = store(project, "config.yaml")
        assert marker(beads.detect(make_context())) == str(expected)


class TestTasks:
    def test_the_list_of_the_session(self, tmp_path, make_context):
        directory = tmp_path / "home/.claude/tasks/s-1"
        directory.mkdir(parents=True)
        context = make_context(session_id="s-1")
        (directory / ".lock").write_text("")
        assert tasks.detect(context) is None
        (directory / "1.json").write_text("{}")
        assert marker(tasks.detect(context)) == str(directory)
        assert tasks.detect(make_context(session_id="s-2")) is None

    def test_variables(self, tmp_path, make_context):
        directory = tmp_path / "config/tasks/shared"
        directory.mkdir(parents=True)
        (directory / "7.json").write_text("{}")
        context = make_context(
            session_id="s-1",
            CLAUDE_CONFIG_DIR=str(tmp_path / "config"),
            CLAUDE_CODE_TASK_LIST_ID="shared",
        )
        assert marker(tasks.detect(context)) == str(directory)

    @pytest.mark.parametrize("session_id", ["", "..", "../s-1", "/etc"])
    def test_names_that_are_no_list(self, session_id, tmp_path, make_context):
        directory = tmp_path / "home/.claude/s-1"
        directory.mkdir(parents=True)
        (directory / "1.json").write_text("{}")
        assert tasks.detect(make_context(session_id=session_id)) is None


def test_a_session_is_always_there(make_context):
    found = session.detect(make_context())
    assert found.marker == "the session itself"
    assert found.note == "a session is a unit of work by itself"


def test_descriptors():
    probes = {
        probe.name: probe
        for module in (tissue, beads, tasks, session)
        for probe in module.grove_ticket_probes()
    }
    assert list(probes) == ["tissue", "beads", "tasks", "session"]
    assert probes["tissue"].paths == (".tissue",)
    assert probes["beads"].paths == (".beads",)
    assert probes["tasks"].participation is Participation.ACTIVE
    assert [name for name, probe in probes.items() if probe.per_session] == ["session"]
    assert not hasattr(session, "grove_close_matchers")
    (matcher,) = tasks.grove_close_matchers()
    assert matcher.once_per_prompt
