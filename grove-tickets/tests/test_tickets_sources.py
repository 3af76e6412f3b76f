"""What a system says it reads is all that its answers depend on, files and variables."""

import json
import os
from importlib import import_module

import pytest

SYSTEMS = "backlog beads br gitbug github gitlab jira linear taskmaster tasks tissue tk".split()


def write(path, content=""):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content) + "\n"
    path.write_text(text)


def on_branch(name):
    def change(project):
        (project / ".git" / "refs").mkdir(parents=True, exist_ok=True)
        (project / ".git" / "objects").mkdir(exist_ok=True)
        write(project / ".git/HEAD", f"ref: refs/heads/{name}\n")

    return change


def issue(path, **fields):
    fields = {"id": "a-1", "title": "Orders", "status": "in_progress", **fields}
    return lambda project: write(project / path, fields)


def tk_ticket(**fields):
    values = {"id": "a-1", "status": "in_progress", **fields}
    head = "".join(f"{name}: {value}\n" for name, value in values.items())
    return lambda project: write(project / ".tickets/a-1.md", f"---\n{head}---\n# Orders\n")


def backlog_task(status):
    text = f"---\nid: task-1\ntitle: Orders\nstatus: {status}\n---\n"

    def change(project):
        write(project / "backlog/config.yml", 'project_name: "x"\n')
        write(project / "backlog/tasks/task-1 - Orders.md", text)

    return change


def taskmaster_task(status):
    task = {"id": 1, "title": "Orders", "status": status}
    return lambda project: write(
        project / ".taskmaster/tasks/tasks.json", {"master": {"tasks": [task]}}
    )


def beads_touched(title):
    def change(project):
        write(project / ".beads/metadata.json", {})
        issue(".beads/issues.jsonl", title=title)(project)
        write(project / ".beads/last-touched", "a-1\n")

    return change


def br_store(title):
    def change(project):
        write(project / ".beads/beads.db")
        issue(".beads/issues.jsonl", title=title)(project)

    return change


def selected_bug(number):
    return lambda project: (
        on_branch("main")(project),
        write(project / ".git/git-bug/select/bugs", number * 40),
    )


def task_of_the_client(status):
    path = "../home/.claude/tasks/s-1/1.json"
    return lambda project: write(project / path, {"id": "1", "subject": "x", "status": status})


def linear_on(branch):
    return lambda project: (on_branch(branch)(project), write(project / ".linear.toml"))


# For each system: states of a project one after the other, each with another answer.
STATES = {
    "backlog": [backlog_task("To Do"), backlog_task("In Progress")],
    "beads": [beads_touched("One"), beads_touched("Another")],
    "br": [br_store("One"), br_store("Another")],
    "gitbug": [selected_bug("a"), selected_bug("b")],
    "github": [on_branch("main"), on_branch("12-orders"), on_branch("13-orders")],
    "gitlab": [on_branch("main"), on_branch("12-orders")],
    "jira": [on_branch("ABC-12-orders"), on_branch("ABC-13-orders")],
    "linear": [linear_on("main"), linear_on("abc-12-orders")],
    "taskmaster": [taskmaster_task("pending"), taskmaster_task("in-progress")],
    "tasks": [task_of_the_client("pending"), task_of_the_client("in_progress")],
    "tissue": [
        issue(".tissue/issues.jsonl", type="issue", title="One"),
        issue(".tissue/issues.jsonl", type="issue", title="Another"),
    ],
    "tk": [tk_ticket(), tk_ticket(status="closed")],
}
VARIABLES = {
    "backlog": ["BACKLOG_CWD"],
    "beads": ["BEADS_DIR"],
    "br": ["BEADS_DIR", "BEADS_JSONL", "BEADS_CACHE_DIR"],
    "jira": ["JIRA_CONFIG_FILE", "XDG_CONFIG_HOME", "HOME"],
    "linear": ["LINEAR_TEAM_ID"],
    "taskmaster": ["TASKMASTER_TAG"],
    "tasks": ["CLAUDE_CODE_TASK_LIST_ID", "CLAUDE_CONFIG_DIR", "HOME"],
    "tissue": ["TISSUE_STORE"],
    "tk": ["TICKETS_DIR"],
}


class Watched(dict):
    """An environment that remembers what it was asked for."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.asked = set()

    def get(self, name, default=None):
        self.asked.add(name)
        return super().get(name, default)

    def __getitem__(self, name):
        self.asked.add(name)
        return super().__getitem__(name)


def probe_of(system):
    return import_module(f"grove_tickets.{system}").grove_ticket_probes()[0]


def answers(system, context):
    probe = probe_of(system)
    return probe.detect(context), probe.current_ticket(context)


def look(paths):
    """Times, sizes and inodes, as grove looks at them."""

    def status(path):
        try:
            found = os.stat(path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino

    return {
        path: status(path)
        for one in paths
        for path in (one, *(sorted(one.iterdir()) if one.is_dir() else ()))
    }


def test_every_system_but_those_that_run_a_program_is_looked_at():
    assert STATES.keys() == set(SYSTEMS)
    assert probe_of("taskwarrior").sources is None


@pytest.mark.parametrize("system", SYSTEMS)
def test_another_answer_comes_with_another_look(project, make_context, system):
    context = make_context(session_id="s-1")
    sources = probe_of(system).sources
    before, seen = answers(system, context), look(sources(context))
    for change in STATES[system]:
        change(project)
        after = answers(system, context)
        assert after != before
        # What a first look names is enough to see that there is more to look at.
        assert look(seen.keys()) != seen
        before, seen = after, look(sources(context))


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_paths_are_absolute(project, make_context, system):
    STATES[system][-1](project)
    paths = probe_of(system).sources(make_context(session_id="s-1"))
    assert all(path.is_absolute() for path in paths)


@pytest.mark.parametrize("system", VARIABLES)
def test_the_variables_that_matter_are_asked_for(make_context, system):
    context = make_context(session_id="s-1")
    environment = Watched(context.environment)
    object.__setattr__(context, "environment", environment)
    probe_of(system).sources(context)
    assert set(VARIABLES[system]) <= environment.asked


def test_bd_is_asked_where_its_files_do_not_tell(project, make_context):
    sources = probe_of("beads").sources
    beads_touched("One")(project)
    assert sources(make_context()) is not None
    (project / ".beads/last-touched").unlink()
    assert sources(make_context()) is None
