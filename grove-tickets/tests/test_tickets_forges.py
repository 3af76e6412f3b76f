"""GitHub and GitLab: where they are found, the branch's issue, and commits that close later."""

import pytest

from grove_core import Confirmation, EnabledWhen, Ticket, TicketClose, ToolResult
from grove_tickets import github, gitlab

confirm = github.grove_close_matchers()[0].confirm
current_ticket = github.grove_ticket_probes()[0].current_ticket
YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN


def printed(text):
    return ToolResult(succeeded=True, response={"stdout": text, "stderr": ""})


@pytest.mark.parametrize("system", [github, gitlab])
def test_found_in_every_repository_but_off_unless_enabled(system, on_branch, project, make_context):
    (probe,) = system.grove_ticket_probes()
    assert probe.detect(make_context()) is None
    assert probe.current_ticket(make_context()) is None
    on_branch("12-slow")
    (project / "sub").mkdir()
    assert probe.detect(make_context(project / "sub")).marker == str(project / ".git")
    assert probe.enabled_when is EnabledWhen.OVERRIDDEN
    ticket = Ticket(ticket_id="#12", source=system.SYSTEM)
    assert probe.current_ticket(make_context()) == ticket


@pytest.mark.parametrize(
    ("branch", "number"),
    [
        ("12-title", "12"),
        ("12", "12"),
        ("12_title", "12"),
        ("issue-12", "12"),
        ("issues/12-title", "12"),
        ("Issue-12-title", "12"),
        ("fix/12-title", "12"),
        ("fix-12", "12"),
        ("feature/GH-12-x", "12"),
        ("user/feat/12/title", "12"),
        ("main", None),
        ("v1-12", None),
        ("release/2.0", None),
        ("release/12", None),
        ("2024-01-02-x", None),
        ("3d-view", None),
        ("python-3-12", None),
        ("dependabot/npm/12-x", None),
        ("fix/1.2", None),
        ("012-x", None),
    ],
)
def test_the_issue_is_named_by_the_branch(branch, number, on_branch, make_context):
    on_branch(branch)
    expected = None if number is None else Ticket(ticket_id=f"#{number}", source="github")
    assert current_ticket(make_context()) == expected


def test_no_branch_no_ticket(repository, git, make_context):
    git("checkout", "-q", "--detach")
    assert current_ticket(make_context()) is None


class TestCommit:
    """Words in a commit message count on the default branch only."""

    def confirm(self, context, text="", ticket_id="#12"):
        close = TicketClose(system="github", ticket_id=ticket_id, certain=False)
        return confirm(close, None if text is None else printed(text), context)

    def test_on_the_usual_default_branch(self, repository, make_context):
        assert self.confirm(make_context(), "[main 1a2b3c4] Fixes #12") is YES
        assert self.confirm(make_context(), "[main (root-commit) 1a2b3c4] x") is YES
        assert self.confirm(make_context()) is UNKNOWN
        assert self.confirm(make_context(), None) is UNKNOWN
        nothing = "On branch main\nnothing to commit, working tree clean"
        assert self.confirm(make_context(), nothing) is NO

    def test_on_another_branch(self, repository, git, make_context):
        git("checkout", "-q", "-b", "12-parser")
        assert self.confirm(make_context(), "[12-parser 1a2b3c4] Fixes #12") is NO
        assert self.confirm(make_context()) is NO
        # It may have been checked out after the commit.
        assert self.confirm(make_context(), None) is UNKNOWN
        # A merge that is only queued is no commit.
        assert self.confirm(make_context(), ticket_id="pr#30") is UNKNOWN

    def test_on_the_branch_that_the_clone_calls_the_default_one(
        self, repository, git, make_context
    ):
        git("branch", "trunk")
        git("update-ref", "refs/remotes/origin/trunk", "HEAD")
        git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
        assert self.confirm(make_context()) is NO
        git("checkout", "-q", "trunk")
        (repository / "sub").mkdir()
        assert self.confirm(make_context(repository / "sub")) is UNKNOWN

    def test_in_a_linked_work_tree(self, repository, git, tmp_path, make_context):
        git("worktree", "add", "-q", "-b", "12-x", tmp_path / "tree")
        assert self.confirm(make_context(tmp_path / "tree")) is NO
        assert self.confirm(make_context()) is UNKNOWN

    def test_when_the_commit_failed_or_there_is_no_repository(self, make_context):
        close = TicketClose(system="github", ticket_id="#12", certain=False)
        failed = ToolResult(succeeded=False, error="Exit code 1\nhook refused")
        assert confirm(close, failed, make_context()) is NO
        assert self.confirm(make_context()) is NO


def test_a_failed_call_closes_what_it_says(make_context):
    failed = ToolResult(succeeded=False, error="Exit code 1\n✓ Closed issue o/r#12 (Parser)")
    for number, answer in ((12, YES), (13, NO)):
        close = TicketClose(system="github", ticket_id=f"#{number}")
        assert confirm(close, failed, make_context()) is answer
