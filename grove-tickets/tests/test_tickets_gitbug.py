"""git-bug: where bugs are found, and which is selected."""

import pytest

from grove_core import Ticket
from grove_tickets import gitbug

BUG = "2f153ca71b9be2b9dd37bd24a2e8d6ce3fd0a1f5a1cf1eb3b1c47e3a2b7b9d10"


def test_a_reference_gives_it_away_from_a_sub_directory_and_a_work_tree_too(
    repository, git, tmp_path, make_context
):
    git("branch", "bugs")
    assert gitbug.detect(make_context()) is None
    git("update-ref", f"refs/bugs/{BUG}", "HEAD")
    deep = repository / "a" / "b"
    deep.mkdir(parents=True)
    git("worktree", "add", "-q", tmp_path / "tree")
    for cwd in (repository, deep, tmp_path / "tree"):
        assert gitbug.detect(make_context(cwd)).marker == str(repository / ".git/refs/bugs")
    # Packed references leave the tool's own files.
    (repository / ".git/git-bug").mkdir()
    git("pack-refs", "--all", "--prune")
    assert gitbug.detect(make_context()) is not None
    (probe,) = gitbug.grove_ticket_probes()
    assert probe.paths == ()


@pytest.mark.parametrize("name", ["git-bug/select/bugs", "git-bug/select"])
def test_the_selected_bug(name, repository, git, tmp_path, make_context):
    assert gitbug.current_ticket(make_context()) is None
    path = repository / ".git" / name
    path.parent.mkdir(parents=True)
    path.write_text(BUG)
    git("worktree", "add", "-q", tmp_path / "tree")
    selected = Ticket(ticket_id="2f153ca", source="gitbug")
    for cwd in (repository, tmp_path / "tree"):
        assert gitbug.current_ticket(make_context(cwd)) == selected


@pytest.mark.parametrize("content", ["", "2f153ca", "../" * 20, "x y"])
def test_what_is_no_id_of_a_bug(content, on_branch, project, make_context):
    assert gitbug.current_ticket(make_context()) is None
    on_branch("main")
    path = project / ".git/git-bug/select/bugs"
    path.parent.mkdir(parents=True)
    path.write_text(content)
    assert gitbug.current_ticket(make_context()) is None
