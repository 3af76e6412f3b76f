"""Environments with core alone, and with everything.

In each of them every command does its work or says what to install, and every hook lets the work go
on.
"""

import json

import pytest

ENVIRONMENTS = ["core_alone", "everything"]
BACKEND, TICKETS = "grove-backend-markdown", "grove-tickets"
INSTALLED = {
    "core_alone": set(),
    "everything": {BACKEND, TICKETS},
}
SESSION = "monday"
EVENTS = {
    "session-start": {"source": "startup"},
    "user-prompt-submit": {"prompt": "Go on with the report"},
    "pre-tool-use": {},
    "post-tool-use": {"tool_response": {"stdout": "", "stderr": "", "interrupted": False}},
    "post-tool-use-failure": {"error": "Exit code 1"},
    "task-completed": {"task_id": "1", "task_subject": "All of it"},
    "stop": {"stop_hook_active": False, "background_tasks": []},
    "session-end": {"reason": "other"},
}
TOOLS = [
    ("Bash", {"command": "bd close bd-1"}),
    ("TaskUpdate", {"taskId": "1", "status": "completed"}),
    ("mcp__beads__close", {"issue_id": "bd-1"}),
]
# Every command, with what it is called with and the packages without which it cannot do its work.
COMMANDS = {
    "init": ((), set()),
    "status": ((), set()),
    "reflect": (("--session-id", SESSION), {BACKEND}),
    "skip": (("nothing was learned here", "--session-id", SESSION), set()),
    "observe": (("the export is slow, too", "--session-id", SESSION), set()),
    "ref": (("ID", "--session-id", SESSION), {BACKEND}),
    "search": (("orders",), set()),
    "list": ((), set()),
    "show": (("ID",), {BACKEND}),
    "stats": ((), set()),
    "review": ((), set()),
    "import": (("--help",), set()),
    "export": (("--format", "jsonl"), set()),
    "maintain": ((), set()),
    "tickets": ((), set()),
    "backends": ((), set()),
    "plugins": ((), set()),
    "sessions": ((), set()),
    "trace": ((SESSION,), set()),
    "why": (("--session-id", SESSION), set()),
    "debug": ((SESSION,), set()),
    "clean": (("--before", "30d", "--dry-run"), set()),
    "config": (("show",), set()),
    "trust": ((), set()),
    "eval": (("--help",), set()),
    "doctor": ((), {BACKEND, TICKETS}),
    "completion": (("bash",), set()),
    "merge-driver": (("--help",), set()),
    "hook": (("stop",), set()),
}
# Where commands that do their work all the same name what is not installed.
NAMED_BY = {
    BACKEND: ("status", "backends"),
    TICKETS: ("status", "tickets"),
}


@pytest.fixture(params=ENVIRONMENTS)
def place(request, project_of):
    """The name of an environment, and a scratch project that uses it."""
    return request.param, project_of(request.getfixturevalue(request.param))


def commands(project):
    code = "import json; from grove_core.cli.main import COMMANDS; print(json.dumps([*COMMANDS]))"
    return json.loads(project.python(code).stdout)


def run(project, name, candidate, learning_id):
    words = [learning_id if word == "ID" else word for word in COMMANDS[name][0]]
    stdin = json.dumps({"candidates": [candidate]}) if name == "reflect" else ""
    return project.grove(name, *words, stdin=stdin)


def complaint_about(name, done, missing):
    """What is wrong with how a command ended; nothing when all is well."""
    needed = COMMANDS[name][1] & missing
    said = done.stdout + done.stderr
    if "Traceback" in said:
        return "ends in a traceback"
    if done.code != (1 if needed else 0):
        return f"ends with {done.code}"
    unnamed = [one for one in sorted(needed) if one not in said]
    # Whether an id exists cannot be told without a backend.
    if unnamed and name not in ("ref", "show"):
        return f"does not name {unnamed}"
    hints = [one for one in missing if name in NAMED_BY[one] and one not in said]
    return f"does not name {hints}" if hints else ""


def test_every_command_is_in_the_table(project_of, core_alone):
    assert commands(project_of(core_alone)) == list(COMMANDS)


def test_every_command_works_or_says_what_to_install(place, candidate):
    name, project = place
    missing = {BACKEND, TICKETS} - INSTALLED[name]
    assert project.grove("init").code == 0
    assert project.hook("session-start", session=SESSION, source="startup").code == 0
    complaints = {}
    learning_id = "cl_20260206_k3f9a2"
    for command in COMMANDS:
        done = run(project, command, candidate, learning_id)
        if complaint := complaint_about(command, done, missing):
            complaints[command] = (complaint, done)
        if command == "reflect" and done.code == 0:
            learning_id = project.grove("list", "--quiet").stdout.strip()
    assert complaints == {}
    assert not (project.grove_home / "crash.log").exists()


def test_every_hook_lets_the_work_go_on(place):
    _, project = place
    for number, (tool, tool_input) in enumerate(TOOLS):
        call = {"tool_name": tool, "tool_input": tool_input, "tool_use_id": f"toolu_{number}"}
        for event, fields in EVENTS.items():
            if number and event not in ("pre-tool-use", "post-tool-use", "stop"):
                continue
            done = project.hook(event, **call, **fields)
            assert (done.code, done.stderr) == (0, ""), (event, done)
    assert not (project.grove_home / "crash.log").exists()
    assert not (project.grove_home / "grove.log").exists()
    assert not (project.root / ".grove").exists()
