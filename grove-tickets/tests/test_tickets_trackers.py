"""Trackers elsewhere and Taskwarrior: where they are found, the ticket that a branch names, and what confirms a close."""

import json

import pytest
from attrs import evolve
from core_worlds import write_file

from grove_core import Confirmation, EnabledWhen, Ticket, TicketClose, ToolResult
from grove_tickets import gitbug, github, gitlab, jira, linear, taskwarrior
from grove_tickets.states import DoneSettings

confirm_linear = linear.grove_close_matchers()[0].confirm
confirm_jira = jira.grove_close_matchers()[0].confirm


def test_jira_is_off_unless_enabled_and_found_by_its_configuration(project, tmp_path, make_context):
    (probe,) = jira.grove_ticket_probes()
    assert probe.enabled_when is EnabledWhen.OVERRIDDEN
    assert jira.detect(make_context()).marker == "ticketing.overrides.jira"
    file = write_file(tmp_path / "home/.config/.jira/.config.yml")
    assert jira.detect(make_context()).marker == str(file)
    (project / "jira.yml").write_text("")
    context = make_context(JIRA_CONFIG_FILE="jira.yml")
    assert jira.detect(context).marker == str(project / "jira.yml")


@pytest.mark.parametrize("name", ["linear.toml", ".linear.toml", ".config/linear.toml"])
def test_linear_is_found_at_the_top_of_the_work_tree(name, on_branch, project, make_context):
    (probe,) = linear.grove_ticket_probes()
    assert probe.enabled_when is EnabledWhen.DETECTED
    deep = project / "a" / "b"
    deep.mkdir(parents=True)
    on_branch("main")
    assert linear.detect(make_context(deep)) is None
    write_file(project / name)
    assert linear.detect(make_context(deep)).marker == str(project / name)


def test_outside_a_repository_linear_is_found_only_in_the_directory_itself(project, make_context):
    (project / ".linear.toml").write_text("")
    (project / "a").mkdir()
    assert linear.detect(make_context()).marker == str(project / ".linear.toml")
    assert linear.detect(make_context(project / "a")) is None


@pytest.mark.parametrize(
    ("branch", "team", "expected"),
    [
        ("ENG-123", "", ("ENG-123", "ENG-123")),
        ("feature/ENG-123-title", "", ("ENG-123", "ENG-123")),
        ("eng-123-title", "", (None, "ENG-123")),
        ("user/eng-123-title", 'team_id = "ENG"', (None, "ENG-123")),
        ("user/fix-2-eng-123", 'team_id = "ENG"', (None, "ENG-123")),
        ("user/ops-123-title", 'team_id = "ENG"', (None, None)),
        ("AB_C-9-title", 'team_id = "ENG"', ("AB_C-9", None)),
        ("ENG2-9_title", 'team_id = "ENG"', (None, None)),
        ("main", "", (None, None)),
        ("v1-12", 'team_id = "ENG"', (None, None)),
        ("ENG-0", "", (None, None)),
    ],
)
def test_the_key_is_named_by_the_branch(branch, team, expected, on_branch, project, make_context):
    for system in (jira, linear):
        assert system.current_ticket(make_context()) is None
    on_branch(branch)
    (project / ".linear.toml").write_text(f"project = 'x'\n{team}\n")
    for system, key in zip((jira, linear), expected, strict=True):
        ticket = key and Ticket(ticket_id=key, source=system.SYSTEM)
        assert system.current_ticket(make_context()) == ticket


def test_an_issue_that_moved_is_closed_where_the_state_counts_as_done(make_context):
    moved = ToolResult(succeeded=True, response='✓ Issue transitioned to state "Shipped"')
    close = TicketClose(system="jira", ticket_id="A-1")
    context = evolve(make_context(), settings=DoneSettings(done=("Shipped",)))
    assert confirm_jira(close, moved, context) is Confirmation.YES
    assert confirm_jira(close, moved, make_context()) is Confirmation.NO


def test_after_a_reopening_the_issue_is_not_closed(make_context):
    reopening = TicketClose(system="linear", ticket_id="ENG-1", reopens=True)
    updated = ToolResult(succeeded=True, response={"stdout": "✓ Updated issue ENG-1: Parser\n"})
    assert confirm_linear(reopening, updated, make_context()) is Confirmation.NO


confirm_github = github.grove_close_matchers()[0].confirm
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
        return confirm_github(close, None if text is None else printed(text), context)

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
        assert confirm_github(close, failed, make_context()) is NO
        assert self.confirm(make_context()) is NO


def test_a_failed_call_closes_what_it_says(make_context):
    failed = ToolResult(succeeded=False, error="Exit code 1\n✓ Closed issue o/r#12 (Parser)")
    for number, answer in ((12, YES), (13, NO)):
        close = TicketClose(system="github", ticket_id=f"#{number}")
        assert confirm_github(close, failed, make_context()) is answer


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
    write_file(repository / ".git" / name, BUG)
    git("worktree", "add", "-q", tmp_path / "tree")
    selected = Ticket(ticket_id="2f153ca", source="gitbug")
    for cwd in (repository, tmp_path / "tree"):
        assert gitbug.current_ticket(make_context(cwd)) == selected


@pytest.mark.parametrize("content", ["", "2f153ca", "../" * 20, "x y"])
def test_what_is_no_id_of_a_bug(content, on_branch, project, make_context):
    assert gitbug.current_ticket(make_context()) is None
    on_branch("main")
    write_file(project / ".git/git-bug/select/bugs", content)
    assert gitbug.current_ticket(make_context()) is None


confirm_taskwarrior = taskwarrior.grove_close_matchers()[0].confirm


def task_close(ticket_id="12"):
    return TicketClose(system="taskwarrior", ticket_id=ticket_id)


class TestDetection:
    @pytest.mark.parametrize("name", [".taskrc", ".task", ".config/task/taskrc"])
    def test_in_the_home_directory(self, name, project, tmp_path, make_context):
        # Of a tool of the same name.
        (project / "Taskfile.yml").write_text("version: 3")
        assert taskwarrior.detect(make_context()) is None
        path = tmp_path / "home" / name
        path.mkdir(parents=True)
        assert taskwarrior.detect(make_context()).marker == str(path)

    @pytest.mark.parametrize("variable", ["TASKRC", "TASKDATA"])
    def test_variables(self, variable, tmp_path, make_context):
        path = tmp_path / "elsewhere"
        context = make_context(**{variable: str(path)})
        assert taskwarrior.detect(context) is None
        path.mkdir()
        assert taskwarrior.detect(context).marker == str(path)

    def test_it_must_be_switched_on(self):
        (probe,) = taskwarrior.grove_ticket_probes()
        assert probe.enabled_when is EnabledWhen.OVERRIDDEN
        assert probe.paths == ()


@pytest.fixture
def fake_task(tmp_path, install):
    """Put a shell script in place of ``task``; its arguments are written to a file."""
    (tmp_path / "home" / ".task").mkdir(parents=True)
    return lambda script: install("task", f'echo "$@" > {tmp_path}/arguments\n{script}')


ACTIVE = [
    {"id": 6, "description": "Older", "start": "20261122T054301Z", "uuid": "a"},
    {
        "id": 7,
        "description": "Newer",
        "start": "20261122T054302Z",
        "uuid": "b",
        "annotations": [{"description": "first"}, {"description": "x"}],
        "tags": ["t7", "t8"],
    },
]


class TestAsking:
    def test_the_active_task(self, fake_task, tmp_path, make_context):
        path = fake_task(f"echo '{json.dumps(ACTIVE)}'")
        assert taskwarrior.current_ticket(make_context(PATH=path)) == Ticket(
            ticket_id="7",
            source="taskwarrior",
            title="Newer",
            description="first\nx",
            labels=("t7", "t8"),
        )
        arguments = (tmp_path / "arguments").read_text().split()
        assert {"rc.gc=off", "rc.hooks=off", "rc.confirmation=off", "rc.recurrence=off"} <= set(
            arguments
        )
        assert arguments[-2:] == ["+ACTIVE", "export"]

    @pytest.mark.parametrize(
        "script", ["echo '[]'", "echo '{}'", "echo no", "exit 1", "echo '[1]'"]
    )
    def test_no_answer(self, script, fake_task, make_context):
        context = make_context(PATH=fake_task(script))
        assert taskwarrior.current_ticket(context) is None

    def test_no_configuration_is_made_where_there_is_none(self, fake_task, make_context, tmp_path):
        script = f'echo "$TASKRC" > {tmp_path}/configuration; echo "[]"'
        context = make_context(PATH=fake_task(script))
        taskwarrior.current_ticket(context)
        assert (tmp_path / "configuration").read_text() == "/dev/null\n"
        (tmp_path / "home" / ".taskrc").touch()
        taskwarrior.current_ticket(context)
        assert (tmp_path / "configuration").read_text() == "\n"

    def test_nothing_is_asked_where_there_are_no_tasks(self, fake_task, tmp_path, make_context):
        context = make_context(PATH=fake_task("echo '[]'"))
        (tmp_path / "home" / ".task").rmdir()
        assert taskwarrior.current_ticket(context) is None
        assert not (tmp_path / "arguments").exists()

    @pytest.mark.parametrize(("status", "answer"), [("completed", YES), ("pending", NO)])
    @pytest.mark.parametrize("ticket_id", ["uuid:05f9e7de", "05f9e7de"])
    def test_a_uuid_stays_the_same(self, ticket_id, status, answer, fake_task, make_context):
        path = fake_task(f"""echo '[{{"id":0,"status":"{status}"}}]'""")
        context = make_context(PATH=path)
        assert confirm_taskwarrior(task_close(ticket_id), printed(""), context) is answer
        assert confirm_taskwarrior(task_close("12"), printed(""), context) is UNKNOWN
