"""Every ticket system of grove-tickets keeps the contract that others are held to."""

import importlib
import json
from importlib.metadata import entry_points  # noqa: TID253 - no hook runs this

import pytest
from core_worlds import git, write_file

from grove_core import ToolCall
from grove_core.testing import TicketContract
from grove_core.testing.rules import tickets


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Patience with a machine that is busy."""
    monkeypatch.setattr(tickets, "_SECONDS", 80.0)


def shell(*lines):
    """Shell text and the ids it closes, from `text -> id id`."""
    pairs = (line.rpartition(" -> ") for line in lines)
    return [(text, ids.split()) for text, _, ids in pairs]


def tool(name, ids, **fields):
    return (ToolCall(name=name, input=fields), ids)


def use_tissue(project):
    issue = {"id": "shop-1", "title": "Slow", "status": "in_progress", "tags": ["a"]}
    write_file(project / ".tissue/issues.jsonl", json.dumps(issue) + "\n")


def use_beads(project, marker="config.yaml"):
    issue = {"id": "shop-1", "title": "Slow", "status": "in_progress", "labels": ["a"]}
    write_file(project / ".beads/issues.jsonl", json.dumps(issue) + "\n")
    write_file(project / ".beads" / marker)


def use_br(project):
    use_beads(project, "beads.db")


def use_tasks(project):
    task = {"id": "1", "subject": "Slow", "description": "Very", "status": "in_progress"}
    write_file(project.parent / ".claude/tasks/session-1/1.json", json.dumps(task))


def use_backlog(project):
    text = "---\nid: TASK-1\ntitle: Slow\nstatus: In Progress\nlabels: [a]\n---\nVery\n"
    config = 'project_name: "shop"\nstatuses: ["To Do", "In Progress", "Done"]\n'
    write_file(project / "backlog/config.yml", config)
    write_file(project / "backlog/tasks/task-1 - Slow.md", text)


def use_taskmaster(project):
    tasks = {"master": {"tasks": [{"id": 1, "title": "Slow", "status": "in-progress"}]}}
    write_file(project / ".taskmaster/tasks/tasks.json", json.dumps(tasks))
    write_file(project / ".taskmaster/state.json", '{"currentTag": "master"}')


def use_taskwarrior(project):
    write_file(project.parent / ".taskrc", "data.location=~/.task\n")


def use_tk(project):
    text = "---\nid: sh-1abc\nstatus: in_progress\ntags: [a]\n---\n# Slow\n\nVery\n"
    write_file(project / ".tickets/sh-1abc.md", text)


def use_gitbug(project):
    git("init", "-q", cwd=project)
    (project / ".git" / "refs" / "bugs").mkdir()


def use_branch(project):
    git("init", "-q", "-b", "12-slow-orders", cwd=project)


def use_linear(project):
    git("init", "-q", "-b", "shop-12-slow-orders", cwd=project)
    write_file(project / ".linear.toml", 'team_id = "SHOP"\n')


SYSTEMS = {
    "tissue": (use_tissue, shell("tissue status shop-1 closed -> shop-1"), ["tissue list"]),
    "beads": (
        use_beads,
        [
            *shell("bd close shop-1 shop-2 -> shop-1 shop-2", "bd update a-1 -s closed -> a-1"),
            tool("mcp__beads__close", ["shop-1"], issue_id="shop-1"),
        ],
        ["bd list --status closed", "bd show shop-1", "bd reopen shop-1"],
    ),
    "br": (use_br, shell("br close shop-1 -> shop-1"), ["br list", "br show shop-1"]),
    "tasks": (
        use_tasks,
        [tool("TaskUpdate", ["1"], taskId="1", status="completed")],
        [ToolCall(name="TaskUpdate", input={"taskId": "1", "status": "in_progress"})],
    ),
    "session": (None, [], ["bd close shop-1"]),
    "backlog": (
        use_backlog,
        shell("backlog task edit 1 -s Done -> 1"),
        ["backlog task list", "backlog task edit 1 -s 'In Progress'"],
    ),
    "taskmaster": (
        use_taskmaster,
        shell("task-master set-status 1 done -> 1"),
        ["task-master list", "task-master next"],
    ),
    "taskwarrior": (use_taskwarrior, shell("task 1 done -> 1"), ["task list", "task 1 start"]),
    "tk": (use_tk, shell("tk close sh-1abc -> sh-1abc"), ["tk ls", "tk start sh-1abc"]),
    "gitbug": (use_gitbug, shell("git bug bug status close 1a2b3c -> 1a2b3c"), ["git bug"]),
    "github": (
        use_branch,
        shell("gh issue close 12 -> #12", "gh pr merge 7 -> pr#7"),
        ["gh issue list", "gh pr view 7", "gh issue comment 12 -b 'close it'"],
    ),
    "gitlab": (use_branch, shell("glab issue close 12 -> #12"), ["glab issue list"]),
    "jira": (None, shell("jira issue move SHOP-1 Done -> SHOP-1"), ["jira issue list"]),
    "linear": (use_linear, shell("linear issue update SHOP-1 -s Done -> SHOP-1"), ["linear me"]),
}


def contract_of(name):
    use, calls, others = SYSTEMS[name]
    (entry_point,) = entry_points(group="grove.tickets", name=name)

    class Contract(TicketContract):
        plugin = importlib.import_module(entry_point.value)
        closes = calls
        leaves = others

        @pytest.fixture
        def used_project(self, tmp_path):
            if use is None:
                pytest.skip(f"{name} has no files in a project")
            project = tmp_path / "home" / "used project"
            project.mkdir(parents=True)
            use(project)
            return project

    Contract.__name__ = Contract.__qualname__ = f"Test{name.capitalize()}"
    return Contract


for _name in SYSTEMS:
    _contract = contract_of(_name)
    globals()[_contract.__name__] = _contract
del _contract


def test_every_installed_system_is_in_the_table():
    ours = {one.name for one in entry_points(group="grove.tickets")}
    assert ours == set(SYSTEMS)
