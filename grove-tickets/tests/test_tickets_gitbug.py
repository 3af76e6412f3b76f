"""git-bug: which bug is meant, which is selected, and what can be said about a close."""

import json
import os
import re
import subprocess

import pytest

from grove_core import Confirmation, Ticket, TicketClose, ToolResult
from grove_tickets import gitbug

YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN
BUG = "2f153ca71b9be2b9dd37bd24a2e8d6ce3fd0a1f5a1cf1eb3b1c47e3a2b7b9d10"
# Each command with what it closes: an id, `*` for one not known yet, `^` before one opened again.
COMMANDS = [
    ("git-bug bug status close 2f153ca", "2f153ca"),
    ("git bug bug status close 2f153ca", "2f153ca"),
    ("git bug status close 2f153ca", "2f153ca"),
    ("git-bug status close 2f153ca", "2f153ca"),
    ("git bug bug status close", "*"),
    ("git bug bug status close $BUG", "*"),
    ("git bug bug status close 2f153ca && git push", "2f153ca"),
    ("git --no-pager bug bug status close 2f153ca", "2f153ca"),
    ("git -c color.ui=never bug bug status close 2f153ca", "2f153ca"),
    ("/usr/bin/git bug bug status close 2f153ca", "2f153ca"),
    ("git bug bug select 2f153ca && git bug bug status close", "*"),
    ("git bug bug ls status:open -f id | xargs -n1 git bug bug status close", "*"),
    ("git bug bug status open 2f153ca", "^2f153ca"),
    ("git bug status open", "^*"),
    ("git bug bug status close a1 && git bug bug status open a1", "a1 ^a1"),
    ("git bug bug status 2f153ca", ""),
    ("git bug bug status", ""),
    ("git bug bug status close --help", ""),
    ("git bug bug status close 2f153ca -h", ""),
    ("git --help bug bug status close", ""),
    ("git bug bug 'status:close'", ""),
    ("git bug ls status:closed", ""),
    ("git bug bug show 2f153ca --format json", ""),
    ("git bug bug rm 2f153ca", ""),
    ("git bug bug comment new 2f153ca -m 'bug status close 2f153ca'", ""),
    ("git bug bug new -t 'git bug bug status close 2f153ca'", ""),
    ("git commit -m 'git bug bug status close 2f153ca'", ""),
    ("git commit -m bug && git status close", ""),
    ("git status bug close", ""),
    ("git log bug status close", ""),
    ("git", ""),
    ("git bug", ""),
]


def git(directory, *arguments):
    subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", *arguments],
        cwd=directory,
        env={"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull},
        check=True,
        capture_output=True,
    )  # fmt: skip


@pytest.fixture
def repository(project):
    git(project, "init", "--quiet")
    git(project, "commit", "--quiet", "--allow-empty", "-m", "x")
    return project


def close(ticket_id="2f153ca", directory=None):
    return TicketClose(system="gitbug", ticket_id=ticket_id, directory=directory)


def shown(found):
    return " ".join(f"{'^' * one.reopens}{one.ticket_id or '*'}" for one in found)


@pytest.mark.parametrize(("command", "expected"), COMMANDS)
def test_closes(command, expected, bash, make_context):
    found = gitbug.closes(bash(command), make_context())
    assert shown(found) == expected
    (matcher,) = gitbug.grove_close_matchers()
    words = set(re.findall(r"\w+", json.dumps(command)))
    assert not found or any(words.issuperset(each.split()) for each in matcher.literals)


@pytest.mark.parametrize(
    ("command", "directory"),
    [
        ("git bug bug status close 2f153ca", None),
        ("cd sub && git bug bug status close 2f153ca", "{project}/sub"),
        ("git -C sub bug bug status close 2f153ca", "{project}/sub"),
        ("git -C sub -C deep bug bug status close 2f153ca", "{project}/sub/deep"),
        ("cd sub && git -C /x bug bug status close 2f153ca", "/x"),
        ("git -C . bug bug status close 2f153ca", None),
        ("git --git-dir=/x/.git bug bug status close 2f153ca", "/x"),
        ("git --git-dir /x/.git bug bug status close 2f153ca", "/x"),
        ("GIT_DIR=/x/.git git-bug bug status close 2f153ca", "/x"),
        ("git -C $X bug bug status close 2f153ca", None),
    ],
)
def test_directory(command, directory, bash, project, make_context):
    (found,) = gitbug.closes(bash(command), make_context())
    assert found == close(directory=directory and directory.format(project=project))


class TestDetection:
    def test_nothing(self, make_context):
        assert gitbug.detect(make_context()) is None

    def test_a_repository_without_bugs(self, repository, make_context):
        assert gitbug.detect(make_context(repository)) is None

    def test_a_reference(self, repository, make_context):
        git(repository, "update-ref", f"refs/bugs/{BUG}", "HEAD")
        assert gitbug.detect(make_context()).marker == str(repository / ".git/refs/bugs")

    def test_packed_references_leave_the_tool_s_own_files(self, repository, make_context):
        (repository / ".git/git-bug").mkdir()
        git(repository, "update-ref", f"refs/bugs/{BUG}", "HEAD")
        git(repository, "pack-refs", "--all", "--prune")
        assert gitbug.detect(make_context()) is not None

    def test_a_branch_of_that_name_is_none(self, repository, make_context):
        git(repository, "branch", "bugs")
        assert gitbug.detect(make_context()) is None

    def test_from_a_sub_directory_and_a_work_tree(self, repository, tmp_path, make_context):
        git(repository, "update-ref", f"refs/bugs/{BUG}", "HEAD")
        deep = repository / "a" / "b"
        deep.mkdir(parents=True)
        git(repository, "worktree", "add", "--quiet", str(tmp_path / "tree"))
        for cwd in (deep, tmp_path / "tree"):
            assert gitbug.detect(make_context(cwd)).marker == str(repository / ".git/refs/bugs")

    def test_descriptors(self):
        (probe,) = gitbug.grove_ticket_probes()
        assert probe.paths == ()


class TestCurrentTicket:
    @pytest.mark.parametrize("name", ["git-bug/select/bugs", "git-bug/select"])
    def test_the_selected_bug(self, name, repository, tmp_path, make_context):
        assert gitbug.current_ticket(make_context()) is None
        path = repository / ".git" / name
        path.parent.mkdir(parents=True)
        path.write_text(BUG)
        git(repository, "worktree", "add", "--quiet", str(tmp_path / "tree"))
        for cwd in (repository, tmp_path / "tree"):
            assert gitbug.current_ticket(make_context(cwd)) == Ticket(
                ticket_id="2f153ca", source="gitbug"
            )

    @pytest.mark.parametrize("content", ["", "2f153ca", "../" * 20, "x y"])
    def test_what_is_no_id(self, content, repository, make_context):
        path = repository / ".git/git-bug/select/bugs"
        path.parent.mkdir(parents=True)
        path.write_text(content)
        assert gitbug.current_ticket(make_context()) is None

    def test_outside_git(self, make_context):
        assert gitbug.current_ticket(make_context()) is None


@pytest.mark.parametrize(
    ("result", "answer"),
    [
        (ToolResult(succeeded=True, response={"stdout": "", "stderr": ""}), UNKNOWN),
        (None, UNKNOWN),
        (ToolResult(succeeded=False, error="Exit code 1"), NO),
        # Behind `| cat` or `|| true` a failure counts as a success.
        (
            ToolResult(
                succeeded=True,
                response={
                    "stdout": "",
                    "stderr": 'Error: you must provide a bug id or use the "select" command first',
                },
            ),
            NO,
        ),
        (ToolResult(succeeded=True, response={"stdout": "Error: bug doesn't exist"}), NO),
        (
            ToolResult(succeeded=True, response={"stderr": "git: 'bug' is not a git command."}),
            NO,
        ),
        (ToolResult(succeeded=True, response={"stdout": "1 test: Error: file not found"}), UNKNOWN),
    ],
)
def test_confirm(result, answer, make_context):
    assert gitbug.confirm(close(), result, make_context()) is answer
