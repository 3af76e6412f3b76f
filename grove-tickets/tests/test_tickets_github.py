"""GitHub: what `gh`, its MCP server and commit messages close, and whether it really happened."""

import os
import subprocess
from pathlib import Path

import pytest

from grove_core import Confirmation, Participation, Ticket, TicketClose, ToolCall, ToolResult
from grove_tickets import github

YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN


def git(directory: Path, *arguments: str) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "user.name",
        "GIT_CONFIG_VALUE_0": "a",
        "GIT_CONFIG_KEY_1": "user.email",
        "GIT_CONFIG_VALUE_1": "a@example.org",
    }
    subprocess.run(
        ["git", *arguments], cwd=directory, env=environment, check=True, capture_output=True
    )


@pytest.fixture
def repository(project) -> Path:
    git(project, "init", "--quiet", "--initial-branch=main")
    git(project, "commit", "--quiet", "--allow-empty", "-m", "x")
    return project


def written(close: TicketClose) -> str:
    sign = "reopen " if close.reopens else ""
    return f"{sign}{close.ticket_id or '*'}{'' if close.certain else '@later'}"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("gh issue close 12", "#12"),
        ("gh issue close '#12'", "#12"),
        ("gh issue close 12 --comment 'done in #30' --reason 'not planned'", "#12"),
        ("gh issue close -c 'see 7' -rcompleted 12", "#12"),
        ("gh issue close --reason=completed --comment=13 12", "#12"),
        ("gh issue close 12 --duplicate-of 9", "#12"),
        ("gh issue close -- 12", "#12"),
        ("gh issue close 12 -R o/r", "o/r#12"),
        ("gh issue close 12 -Ro/r", "o/r#12"),
        ("gh issue close 12 --repo=o/r", "o/r#12"),
        ("gh -R o/r issue close 12", "o/r#12"),
        ("gh issue --repo o/r close 12", "o/r#12"),
        ("gh issue close 12 -R ghe.example.com/o/r", "o/r#12"),
        ("gh issue close 12 -R https://github.com/o/r", "o/r#12"),
        ("gh issue close 12 -R git@github.com:o/r.git", "o/r#12"),
        ("GH_REPO=o/r gh issue close 12", "o/r#12"),
        ("export GH_REPO=o/r; gh issue close 12", "o/r#12"),
        ("gh issue close https://github.com/o/r/issues/12", "o/r#12"),
        ("gh issue close 'https://github.com/o/r/issues/12#issuecomment-1'", "o/r#12"),
        ("gh issue close https://ghe.example.com/o/r/issues/12 -R a/b", "o/r#12"),
        ("gh issue close $N", "*"),
        ("gh issue close https://github.com/o/r/issues/$N", "*"),
        ("gh issue close 12 -R $REPO", "*"),
        ("for n in 1 2; do gh issue close $n; done", "#1 #2"),
        ("gh issue list --json number -q '.[].number' | xargs -n1 gh issue close", "*"),
        ("gh issue close 12 && gh issue close 13", "#12 #13"),
        ("/usr/bin/gh issue close 12 2>&1 | cat", "#12"),
        ("GH_TOKEN=x timeout 30 gh issue close 12 || true", "#12"),
        ("gh issue reopen 12", "reopen #12"),
        ("gh issue reopen 12 -c 'not fixed'", "reopen #12"),
        ("gh issue close 12; gh issue reopen 12", "#12 reopen #12"),
        ("gh issue close 12; gh issue reopen 12; gh issue close 12", "#12 reopen #12 #12"),
        ("gh pr close 30", "pr#30"),
        ("gh pr close 30 --delete-branch -c 'superseded by 31'", "pr#30"),
        ("gh pr close https://github.com/o/r/pull/30", "o/r#30"),
        ("gh pr close feature-x", "*"),
        ("gh pr reopen 30", "reopen pr#30"),
        ("gh pr merge 30 --squash --delete-branch", "pr#30"),
        ("gh pr merge -sd 30", "pr#30"),
        ("gh pr merge 30 -m -t 'Fix #12' -b 'closes #13'", "pr#30"),
        ("gh pr merge '#30' --rebase --admin", "pr#30"),
        ("gh pr merge -R o/r 30 -m", "o/r#30"),
        ("gh pr merge https://github.com/o/r/pull/30 --merge", "o/r#30"),
        ("gh pr merge --squash", "*"),
        ("gh pr merge feature-x --merge", "*"),
        ("gh pr merge 30 --auto --squash", "pr#30@later"),
        ("gh pr merge --auto --merge", "*@later"),
        ("gh pr merge 30 --auto=false --merge", "pr#30"),
    ],
)
def test_gh_closes(command, expected, bash, make_context):
    found = github.closed_by_shell(bash(command), make_context())
    assert " ".join(written(one) for one in found) == expected


@pytest.mark.parametrize(
    "command",
    [
        "gh issue close",
        "gh issue close 12 13",
        "gh issue close abc",
        "gh issue close 12 --help",
        "gh help issue close",
        "gh issue help close",
        "gh issue list --state closed",
        "gh issue list -s closed --search 'close 12'",
        "gh issue view 12 --json state",
        "gh issue comment 12 -b 'closes #13'",
        "gh issue comment 12 --body 'gh issue close 12'",
        "gh issue edit 12 --add-label closed",
        "gh issue create --title 'close 12' --body 'Fixes #12'",
        "gh issue develop 12 --checkout",
        "gh issue delete 12 --yes",
        "gh issue pin 12",
        "gh issue status",
        "gh pr merge 30 --disable-auto",
        "gh pr merge 30 31",
        "gh pr merge -R o/r --squash",
        "gh pr merge --help",
        "gh pr close",
        "gh pr list --state merged",
        "gh pr view 30 --json state,mergedAt",
        "gh pr checks 30",
        "gh pr review 30 --approve -b 'closes #12'",
        "gh pr comment 30 -b 'merge'",
        "gh pr ready 30",
        "gh pr create --fill",
        "gh pr checkout 30",
        "gh search issues --state closed 'close 12'",
        "gh run list",
        "gh repo view",
        "gh alias set done 'issue close'",
        "gh",
        "gh issue",
        "gh --version",
        "echo gh issue close 12",
        "grep -r 'gh issue close 12' docs",
        "git commit -m 'gh issue close 12'",
        "# gh issue close 12",
        "cat > run.sh <<'EOF'\ngh issue close 12\nEOF",
        "ghx issue close 12",
    ],
)
def test_gh_does_not_close(command, bash, make_context):
    assert github.closed_by_shell(bash(command), make_context()) == ()


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("gh api -X PATCH repos/o/r/issues/12 -f state=closed", "o/r#12"),
        ("gh api --method PATCH /repos/o/r/issues/12 -f state=closed -f state_reason=x", "o/r#12"),
        ("gh api -XPATCH repos/o/r/issues/12 --raw-field state=closed", "o/r#12"),
        ("gh api --method=patch repos/o/r/issues/12 --field=state=closed", "o/r#12"),
        ("gh api repos/{owner}/{repo}/issues/12 -X PATCH -F state=closed --jq .state", "#12"),
        ("gh api repos/:owner/:repo/issues/12 -X PATCH -F state=closed", "#12"),
        ("gh api https://api.github.com/repos/o/r/issues/12 -X PATCH -f state=closed", "o/r#12"),
        ("gh api repos/o/r/issues/12 -f state=closed", "o/r#12"),
        ("gh api -X PATCH repos/o/r/issues/$N -f state=closed", "*"),
        ("gh api -X PATCH repos/$R/issues/12 -f state=closed", "*"),
        ("gh api -X PATCH repos/o/r/issues/12 --input - <<< '{\"state\": \"closed\"}'", "o/r#12"),
        ('gh api -X PATCH repos/o/r/issues/12 --input - <<E\n{"state":"closed"}\nE', "o/r#12"),
        ("echo '{\"state\":\"open\"}' | gh api -X PATCH repos/o/r/issues/1 --input -", "reopen o/r#1"),
        ("gh api -X PATCH repos/o/r/issues/12 -f state=open", "reopen o/r#12"),
        ("gh api -X PATCH repos/{owner}/{repo}/pulls/30 -f state=closed", "pr#30"),
        ("gh api -X PATCH repos/o/r/pulls/30 -f state=closed", "o/r#30"),
        ("gh api -X PUT repos/{owner}/{repo}/pulls/30/merge", "pr#30"),
        ("gh api -X PUT repos/o/r/pulls/30/merge -f merge_method=squash", "o/r#30"),
        (
            "gh api graphql -f query='mutation { closeIssue(input: {issueId: \"I_1\"}) { x } }'",
            "*",
        ),
        (
            "gh api graphql -F id=X -f query='\nmutation($id: ID!) {\n  closePullRequest(x: $id)\n}'",
            "*",
        ),
        ("gh api graphql -f query='mutation { mergePullRequest(input: {pullRequestId: 1}) {x} }'", "*"),
        ("gh api graphql -f query='mutation { updateIssue(input: {id: 1, state: CLOSED}) {x} }'", "*"),
        ("gh api graphql -f query='mutation { reopenIssue(input: {issueId: 1}) { x } }'", "reopen *"),
        (
            "gh api graphql -f query='mutation{enablePullRequestAutoMerge(input:{x:1}){x}}'",
            "*@later",
        ),
        (
            'gh api graphql -f query="mutation { closeIssue(input: {issueId: \\"$ID\\"}) { x } }"',
            "*",
        ),
    ],
)  # fmt: skip
def test_api_closes(command, expected, bash, make_context):
    found = github.closed_by_shell(bash(command), make_context())
    assert " ".join(written(one) for one in found) == expected


@pytest.mark.parametrize(
    "command",
    [
        "gh api repos/o/r/issues/12",
        "gh api repos/o/r/issues?state=closed",
        "gh api -X GET repos/o/r/issues -f state=closed",
        "gh api -X GET repos/o/r/issues/12 -f state=closed",
        "gh api -X PATCH repos/o/r/issues/12 -f title=closed",
        "gh api -X PATCH repos/o/r/issues/12 -f body='state=closed'",
        "gh api -X PATCH repos/o/r/issues/12 --input change.json",
        "gh api -X PATCH repos/o/r/issues/12 --input - <<< 'state: closed'",
        "gh api -X DELETE repos/o/r/issues/12/lock",
        "gh api -X POST repos/o/r/issues/12/comments -f body='closed' -f state=closed",
        "gh api -X PATCH repos/o/r/milestones/1 -f state=closed",
        "gh api repos/o/r/pulls/30/merge",
        "gh api -X PUT repos/o/r/pulls/30/reviews/1 -f state=closed",
        "gh api -X PATCH repos/o/r/issues/12 -f state=closed --help",
        "gh api graphql -f query='query { issue(number: 12) { closedAt state } }'",
        "gh api graphql -f query='{ closeIssue(input: {}) { x } }'",
        "gh api graphql -f query='mutation { addComment(input: {body: \"closeIssue(x)\"}) { x } }'",
        "gh api graphql -f query='mutation { # closeIssue(\n addStar(input: {}) { x } }'",
        "gh api graphql -f query='mutation { updateIssue(input: {id: 1, title: \"x\"}) { x } }'",
        "gh api graphql -F query=@close.graphql",
        "gh api graphql",
        "gh api",
    ],
)
def test_api_does_not_close(command, bash, make_context):
    assert github.closed_by_shell(bash(command), make_context()) == ()


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("Fixes #12", "#12"),
        ("fix #12", "#12"),
        ("FIXED #12", "#12"),
        ("Closes: #12", "#12"),
        ("close #1, closes #2, closed #3", "#1 #2 #3"),
        ("resolve #1 and resolves #2 and resolved #3", "#1 #2 #3"),
        ("fixes #1\nfixes #2", "#1 #2"),
        ("Fixes #12, #13", "#12"),
        ("Closes o/r#13.", "o/r#13"),
        ("Closes my-org/my.repo#13", "my-org/my.repo#13"),
        ("Fixes GH-12", "#12"),
        ("Fixes https://github.com/o/r/issues/12", "o/r#12"),
        ("fix: #12 the parser", "#12"),
        ("Fix parser (closes #12)", "#12"),
        ("fix parser, see #12", ""),
        ("fix parser for #12", ""),
        ("Fixes issue #12", ""),
        ("fix(#12): parser", ""),
        ("prefix #12, bug-fix #13, fixing #14, closing #15", ""),
        ("Fixes #12a, fixes #b", ""),
        ("Refs #12, part of #13, addresses #14", ""),
        ("Fixes: bd-12", ""),
    ],
)
@pytest.mark.parametrize(
    "form",
    [
        "git commit -m {}",
        "git commit -am 'Refactor' -m {}",
        "git commit --message={} --no-verify",
        "git -C . commit --allow-empty --message {} --signoff",
        "git commit -S -m {} --author 'Fixes #99 <a@example.org>'",
        "git add -A && git commit -qm {} && git push",
        "git merge --no-ff -m {} feature",
        'M={}; git commit -m "$M"',
        "git commit -F - <<'EOF'\n{}\nEOF",
        "printf '%s' {} | git commit -F -",
    ],
)  # fmt: skip
def test_words_in_a_message(form, message, expected, bash, make_context):
    text = message if "EOF" in form else f"'{message}'"
    found = github.closed_by_shell(bash(form.format(text)), make_context())
    assert [written(one) for one in found] == [f"{one}@later" for one in expected.split()]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("git commit -m x --trailer 'Closes: #12' --trailer Fixes=#13", "#12@later #13@later"),
        ("git commit -F message.txt", "#7@later"),
        ("git -C sub commit -F ../message.txt", "#7@later"),
        ("git commit -Skey -m 'Fixes #12'", "#12@later"),
        ("git commit -F /dev/stdin <<< 'Fixes #12'", "#12@later"),
        ("git commit -m \"$(cat <<'EOF'\nParser\n\nFixes #12\nEOF\n)\"", "#12@later"),
        ("git commit -F missing.txt", ""),
        ("git commit -F sub", ""),
        ("git commit -F pipe", ""),
        ("git commit -m 'Fixes #12' --dry-run", ""),
        ("git commit --help -m 'Fixes #12'", ""),
        ("git commit -C 'Fixes #12'", ""),
        ("git commit --amend --no-edit", ""),
        ("git commit", ""),
        ('git commit -m "Fixes #$N"', ""),
        ("git log --grep 'Fixes #12'", ""),
        ("git tag -m 'Fixes #12' v1", ""),
        ("git notes add -m 'Fixes #12'", ""),
        ("git stash push -m 'Fixes #12'", ""),
        ("git merge --abort -m 'Fixes #12'", ""),
        ("git -c user.name='Fixes #12' status", ""),
        ("git show --format='Fixes #12'", ""),
        ("gitk commit -m 'Fixes #12'", ""),
    ],
)  # fmt: skip
def test_git(command, expected, bash, project, make_context):
    (project / "sub").mkdir()
    os.mkfifo(project / "pipe")
    (project / "message.txt").write_text("Parser\n\nFixes #7\n")
    found = github.closed_by_shell(bash(command), make_context())
    assert " ".join(written(one) for one in found) == expected


@pytest.mark.parametrize(
    ("command", "directory"),
    [
        ("gh issue close 12", None),
        ("cd sub && gh issue close 12", "sub"),
        ("git -C sub commit -m 'Fixes #12'", "sub"),
        ("cd sub && git -C .. -C other commit -m 'Fixes #12'", "other"),
        ("(cd sub && git commit -m 'Fixes #12')", "sub"),
        ("git -C $X commit -m 'Fixes #12'", None),
    ],
)
def test_directory(command, directory, bash, project, make_context):
    (found,) = github.closed_by_shell(bash(command), make_context())
    assert found.directory == (None if directory is None else str(project / directory))


ISSUE = {"owner": "o", "repo": "r", "issue_number": 12}
PULL_REQUEST = {"owner": "o", "repo": "r", "pullNumber": 30}


@pytest.mark.parametrize(
    ("tool", "tool_input", "expected"),
    [
        ("mcp__github__issue_write", {**ISSUE, "method": "update", "state": "closed"}, "o/r#12"),
        ("mcp__github__update_issue", {**ISSUE, "state": "closed"}, "o/r#12"),
        ("mcp__GitHub__update_issue_state", {**ISSUE, "state": "closed"}, "o/r#12"),
        ("mcp__plugin_x_github__update_issue", {**ISSUE, "state": "closed"}, "o/r#12"),
        ("mcp__github-ent__update_issue", {"issue_number": "12", "state": "closed"}, "#12"),
        ("mcp__github__update_issue", {**ISSUE, "state": "open"}, "reopen o/r#12"),
        ("mcp__github__merge_pull_request", PULL_REQUEST, "o/r#30"),
        ("mcp__github__merge_pull_request", {"pull_number": 30}, "pr#30"),
        ("mcp__github__update_pull_request", {**PULL_REQUEST, "state": "closed"}, "o/r#30"),
        ("mcp__github__update_pull_request", {**PULL_REQUEST, "title": "closed"}, ""),
        ("mcp__github__update_issue", {**ISSUE, "title": "closed"}, ""),
        ("mcp__github__issue_write", {"method": "create", "title": "x", "state": "closed"}, ""),
        ("mcp__github__update_issue_state", {**ISSUE, "state": "closed", "is_suggestion": True}, ""),
        ("mcp__github__list_issues", {"owner": "o", "repo": "r", "state": "CLOSED"}, ""),
        ("mcp__github__search_issues", {**ISSUE, "state": "closed"}, ""),
        ("mcp__github__add_issue_comment", {**ISSUE, "body": "closes #13"}, ""),
        ("mcp__github__pull_request_read", PULL_REQUEST, ""),
        ("mcp__linear__update_issue", {**ISSUE, "state": "closed"}, ""),
        ("mcp__gitlab__update_issue", {**ISSUE, "state": "closed"}, ""),
        ("github__update_issue", {**ISSUE, "state": "closed"}, ""),
        ("mcp__github__update_issue", {**ISSUE, "state": ["closed"]}, ""),
    ],
)  # fmt: skip
def test_server(tool, tool_input, expected, make_context):
    call = ToolCall(name=tool, input=tool_input, cwd="/x")
    found = github.closed_by_server(call, make_context())
    assert " ".join(written(one) for one in found) == expected


def close(ticket_id: str | None, *, certain: bool = True) -> TicketClose:
    return TicketClose(system="github", ticket_id=ticket_id, certain=certain)


def printed(text: str, *, on: str = "stderr") -> ToolResult:
    return ToolResult(succeeded=True, response={"stdout": "", "stderr": "", on: text})


@pytest.mark.parametrize(
    ("text", "ticket_id", "expected"),
    [
        ("✓ Closed issue o/r#12 (Parser)", "#12", YES),
        ("✓ Closed issue #12 (Parser)", "#12", YES),
        ("\x1b[0;31m✓\x1b[0m Closed issue o/r#12 (Parser)", "o/r#12", YES),
        ("✓ Closed issue O/R#12 (Parser)", "o/r#12", YES),
        ("✓ Closed issue a/b#12 (Parser)", "o/r#12", UNKNOWN),
        ("✓ Closed issue o/r#12 (Parser)", "#13", UNKNOWN),
        ("✓ Closed issue o/r#12 (Parser)", None, YES),
        ("! Issue o/r#12 (already open) is already closed", "#12", YES),
        ("! Issue #12 (Parser) is already closed", "#12", YES),
        ("! Issue o/r#12 (Parser) is already open", "#12", NO),
        ("✓ Reopened issue o/r#12 (Parser)", "#12", NO),
        ("✓ Closed issue o/r#12 (P)\n✓ Reopened issue o/r#12 (P)", "#12", NO),
        ("✓ Reopened issue o/r#12 (P)\n✓ Closed issue o/r#12 (P)", "#12", YES),
        ("✓ Closed pull request o/r#30 (Parser)", "pr#30", YES),
        ("✓ Merged pull request #30 (Parser)", "pr#30", YES),
        ("✓ Squashed and merged pull request o/r#30 (Parser)", "o/r#30", YES),
        ("✓ Rebased and merged pull request o/r#30 (Parser)", None, YES),
        ("! Pull request o/r#30 was already merged", "pr#30", YES),
        ("✓ Pull request o/r#30 will be automatically merged when all requirements are met", "pr#30", NO),
        ("✓ Pull request #30 will be added to the merge queue for main when ready", "pr#30", NO),
        ("X Pull request o/r#30 is not mergeable: the base branch policy prohibits it.", "pr#30", NO),
        ("GraphQL: Could not resolve to an Issue with the number of 12. (repository.issue)", "#12", NO),
        ("GraphQL: Could not resolve to an Issue with the number of 99. (repository.issue)", "#12", UNKNOWN),
        ("GraphQL: Pull Request is not mergeable (mergePullRequest)", "pr#30", NO),
        ("gh: Not Found (HTTP 404)", "o/r#12", NO),
        ("error connecting to api.github.com\ncheck your internet connection", "#12", NO),
        ('no pull requests found for branch "x"', None, NO),
        ("unknown flag: --x\n\nUsage:  gh issue close {<number> | <url>} [flags]", "#12", NO),
        ("unknown shorthand flag: 'x' in -x", "#12", NO),
        ("accepts 1 arg(s), received 2", "#12", NO),
        ("GraphQL: x\n✓ Closed issue o/r#12 (P)", "#12", YES),
        ("", "#12", UNKNOWN),
        ("closed", "#12", UNKNOWN),
    ],
)  # fmt: skip
def test_confirm_by_text(text, ticket_id, expected, make_context):
    assert github.confirm(close(ticket_id), printed(text), make_context()) is expected


@pytest.mark.parametrize(
    ("text", "ticket_id", "expected"),
    [
        ('{"url":"https://x","number":12,"state":"closed"}', "o/r#12", YES),
        ('{"number":12,"state":"open"}', "o/r#12", NO),
        ('{"number":13,"state":"closed"}', "o/r#12", UNKNOWN),
        ('{"data":{"closeIssue":{"issue":{"number":12,"state":"CLOSED"}}}}', None, YES),
        ('{"sha":"1a2b","merged":true,"message":"Pull Request successfully merged"}', "o/r#30", YES),
        ('{"merged":false}', "o/r#30", NO),
    ],
)  # fmt: skip
def test_confirm_by_json(text, ticket_id, expected, make_context):
    assert github.confirm(close(ticket_id), printed(text, on="stdout"), make_context()) is expected


def test_a_failed_call_closes_nothing_unless_it_says_so(make_context):
    context = make_context()
    failed = ToolResult(succeeded=False, error="Exit code 1\n✓ Closed issue o/r#12 (Parser)")
    assert github.confirm(close("#12"), failed, context) is YES
    assert github.confirm(close("#13"), failed, context) is NO
    assert github.confirm(close("#12"), None, context) is UNKNOWN


def test_a_tool_that_says_error(make_context):
    refused = ToolResult(succeeded=True, response={"isError": True, "content": []})
    assert github.confirm(close("o/r#12"), refused, make_context()) is NO


class TestCommit:
    """Words in a commit message count on the default branch only."""

    def confirm(self, context, text: str | None = "") -> Confirmation:
        result = None if text is None else printed(text, on="stdout")
        return github.confirm(close("#12", certain=False), result, context)

    def test_on_the_usual_default_branch(self, repository, make_context):
        assert self.confirm(make_context(), "[main 1a2b3c4] Fixes #12") is YES
        assert self.confirm(make_context(), "[main (root-commit) 1a2b3c4] x") is YES
        assert self.confirm(make_context()) is UNKNOWN
        assert self.confirm(make_context(), None) is UNKNOWN

    def test_on_another_branch(self, repository, make_context):
        git(repository, "checkout", "--quiet", "-b", "12-parser")
        assert self.confirm(make_context(), "[12-parser 1a2b3c4] Fixes #12") is NO
        assert self.confirm(make_context()) is NO
        # It may have been checked out after the commit.
        assert self.confirm(make_context(), None) is UNKNOWN

    def test_on_the_branch_that_the_clone_calls_the_default_one(
        self, repository, project, make_context
    ):
        git(repository, "branch", "trunk")
        git(repository, "update-ref", "refs/remotes/origin/trunk", "HEAD")
        git(repository, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
        assert self.confirm(make_context()) is NO
        git(repository, "checkout", "--quiet", "trunk")
        sub = project / "sub"
        sub.mkdir()
        assert self.confirm(make_context(sub)) is UNKNOWN

    def test_in_a_linked_work_tree(self, repository, tmp_path, make_context):
        git(repository, "worktree", "add", "--quiet", "-b", "12-x", str(tmp_path / "tree"))
        assert self.confirm(make_context(tmp_path / "tree")) is NO
        assert self.confirm(make_context()) is UNKNOWN

    def test_when_nothing_was_committed(self, repository, make_context):
        text = "On branch main\nnothing to commit, working tree clean"
        assert self.confirm(make_context(), text) is NO

    def test_the_text_of_a_pull_request_never_counts(self, repository, make_context):
        text = "Creating pull request\nhttps://github.com/o/r/pull/30\n"
        assert self.confirm(make_context(), text) is NO
        offered = "remote:      https://github.com/o/r/pull/new/12-parser"
        assert self.confirm(make_context(), offered) is UNKNOWN

    def test_when_the_commit_failed(self, repository, make_context):
        failed = ToolResult(succeeded=False, error="Exit code 1\nhook refused")
        assert github.confirm(close("#12", certain=False), failed, make_context()) is NO

    def test_outside_a_repository(self, make_context):
        assert self.confirm(make_context()) is NO

    def test_a_merge_that_is_only_queued_is_no_commit(self, repository, make_context):
        git(repository, "checkout", "--quiet", "-b", "12-parser")
        queued = close("pr#30", certain=False)
        assert github.confirm(queued, printed(""), make_context()) is UNKNOWN


def test_found_in_every_repository_but_off_unless_enabled(repository, make_context):
    sub = repository / "sub"
    sub.mkdir()
    detection = github.detect(make_context(sub))
    assert detection is not None
    assert detection.marker == str(repository / ".git")
    (probe,) = github.grove_ticket_probes()
    assert probe.participation is Participation.ENABLED


def test_not_found_elsewhere(make_context):
    assert github.detect(make_context()) is None
    assert github.current_ticket(make_context()) is None


@pytest.mark.parametrize(
    ("branch", "number"),
    [
        ("12-title", "12"),
        ("12", "12"),
        ("12_title", "12"),
        ("issue-12", "12"),
        ("issue/12", "12"),
        ("issues/12-title", "12"),
        ("Issue-12-title", "12"),
        ("fix/12-title", "12"),
        ("fix-12", "12"),
        ("feature/GH-12-x", "12"),
        ("gh-12", "12"),
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
def test_current_ticket_is_named_by_the_branch(branch, number, project, make_context):
    git(project, "init", "--quiet", f"--initial-branch={branch}")
    expected = None if number is None else Ticket(ticket_id=f"#{number}", source="github")
    assert github.current_ticket(make_context()) == expected


def test_no_branch_no_ticket(repository, make_context):
    git(repository, "checkout", "--quiet", "--detach")
    assert github.current_ticket(make_context()) is None
