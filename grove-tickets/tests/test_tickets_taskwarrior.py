"""Taskwarrior: which tasks are meant, which is active, and whether one was completed."""

import json
import os
import re
import shutil
import subprocess

import pytest

from grove_core import Confirmation, Participation, Ticket, TicketClose, ToolResult
from grove_tickets import taskwarrior

YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN
FAILURE = ToolResult(succeeded=False, error="Exit code 1")
# Each command with what it closes: an id, `*` for one not known yet, `^` before one opened again.
COMMANDS = [
    ("task 12 done", "12"),
    ("task done 12", "12"),
    ("task 12 do", "12"),
    ("task don 12", "12"),
    ("task do 12", "12"),
    ("task 1,3 done", "1 3"),
    ("task 1 3 done", "1 3"),
    ("task 1-3 done", "1-3"),
    ("task 2,4-6 done", "2 4-6"),
    ("task done 1 2,3", "1 2 3"),
    ("task done 1 see issue 2", "1 2"),
    ("task 7 done finished 8", "7"),
    ("task 7 done 'all of 8'", "7"),
    ("task rc.confirmation=off 7 done 'finished'", "7"),
    ("task 7 rc.confirmation:off done", "7"),
    ("task 7 done rc.verbose=nothing", "7"),
    ("task rc:/x/taskrc 7 done", "7"),
    ("yes | task 7 done", "7"),
    ("TASKRC=/x task 7 done", "7"),
    ("/usr/bin/task 7 done", "7"),
    ("task 7 done || true", "7"),
    ("task 7 done -- and more", "7"),
    ("task uuid:05f9e7de done", "uuid:05f9e7de"),
    ("task 05f9e7de done", "05f9e7de"),
    (
        "task 05f9e7de-1111-4222-8333-444455556666 done",
        "05f9e7de-1111-4222-8333-444455556666",
    ),
    ("task id:7 done", "id:7"),
    ("task 7 project:home done", "7"),
    ("task +next project:x done", "*"),
    ("task -blocked done", "*"),
    ("task /milk/ done", "*"),
    ("task project:x.y do", "*"),
    ("task due.before:today done", "*"),
    ("task '(' +a or +b ')' done", "*"),
    ("task $ID done", "*"),
    ("task done $ID", "*"),
    ('task "$(task +ACTIVE ids)" done', "*"),
    ("task +ACTIVE uuids | xargs -I{} task {} done", "*"),
    ("task 12 modify status:completed", "12"),
    ("task 12 mod status:completed", "12"),
    ("task 12 modify stat:completed", "12"),
    ("task 12 modify status=completed", "12"),
    ("task 12 modify +shipped status:completed 'new title'", "12"),
    ("task status:pending 12 modify status:completed", "12"),
    ("task project:x modify status:completed", "*"),
    ("task modify 12 status:completed", "12"),
    ("task 12 modify status:pending", "^12"),
    ("task 12 done; task 12 mod status:pending", "12 ^12"),
    ("task 12 delete", ""),
    ("task 12 start", ""),
    ("task 12 stop", ""),
    ("task 13 start done", ""),
    ("task 12 modify status:pendin", ""),
    ("task 12 modify status:Completed", ""),
    ("task 12 modify -- status:completed", ""),
    ("task 12 modify status:deleted", ""),
    ("task 12 modify project:done", ""),
    ("task 12 annotate done", ""),
    ("task 12 append done", ""),
    ("task 12 info", ""),
    ("task 12 DONE", ""),
    ("task 12 dones", ""),
    ("task 12 d", ""),
    ("task add do the thing", ""),
    ("task add 'task 12 done'", ""),
    ("task log already done", ""),
    ("task list done", ""),
    ("task list status:completed", ""),
    ("task status:completed list", ""),
    ("task status:completed count", ""),
    ("task completed", ""),
    ("task 12 duplicate status:completed", ""),
    ("task done", ""),
    ("task done +next", ""),
    ("task do", ""),
    ("task help done", ""),
    ("task --help", ""),
    ("task undo", ""),
    ("task", ""),
    # go-task has the same name.
    ("task build", ""),
    ("task lint test done", ""),
    ("task build:done", ""),
    ("task build -- 12 done", ""),
    ("task -d sub build -- 12 done", ""),
    ("echo task 12 done", ""),
    ("tasks 12 done", ""),
    ("git commit -m 'task 12 done'", ""),
]


def close(ticket_id="12"):
    return TicketClose(system="taskwarrior", ticket_id=ticket_id)


def shown(found):
    return " ".join(f"{'^' * one.reopens}{one.ticket_id or '*'}" for one in found)


def printed(text):
    return ToolResult(succeeded=True, response={"stdout": text, "stderr": ""})


@pytest.mark.parametrize(("command", "expected"), COMMANDS)
def test_closes(command, expected, bash, make_context):
    found = taskwarrior.closes(bash(command), make_context())
    assert shown(found) == expected
    (matcher,) = taskwarrior.grove_close_matchers()
    words = set(re.findall(r"\w+", json.dumps(command)))
    assert not found or any(words.issuperset(each.split()) for each in matcher.literals)


class TestDetection:
    def test_nothing(self, project, make_context):
        (project / "Taskfile.yml").write_text("version: 3")
        assert taskwarrior.detect(make_context()) is None

    @pytest.mark.parametrize("name", [".taskrc", ".task", ".config/task/taskrc"])
    def test_in_the_home_directory(self, name, tmp_path, make_context):
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
        assert probe.participation is Participation.ENABLED
        assert probe.paths == ()


# What 2.6.2 prints.
COMPLETED = """\
Completed task 12 'Say "it's done"'.
Completed 1 task.
The project 'x' has changed.  Project 'x' is 7% complete (13 of 14 tasks remaining).
"""
SOME_COMPLETED = """\
This command will alter 3 tasks.
Task 9 'Title 9' is neither pending nor waiting.
Completed task 10 'Title 10'.
Completed task 11 'Title 11'.
Completed 2 tasks.
"""
REFUSED = """\
This command will alter 3 tasks.
  - End will be set to '2026-11-22'.
  - Status will be changed from 'pending' to 'completed'.
Complete task 10 'Title 10'? (yes/no/all/quit) Task not completed.
Completed 0 tasks.
"""
MODIFIED = "Modifying task 12 'Title'.\nModified 1 task.\n"
NOT_MODIFIED = (
    "Modify task 10 'Title 10'? (yes/no/all/quit) Task not modified.\nModified 0 tasks.\n"
)


@pytest.mark.parametrize(
    ("text", "ticket_id", "answer"),
    [
        (COMPLETED, "12", YES),
        (COMPLETED, "id:12", YES),
        (COMPLETED, "1", UNKNOWN),
        (COMPLETED, "uuid:05f9e7de", YES),
        (COMPLETED, None, YES),
        (SOME_COMPLETED, "9", NO),
        (SOME_COMPLETED, "10", YES),
        (SOME_COMPLETED, "9-11", YES),
        (SOME_COMPLETED, None, YES),
        (REFUSED, "10", NO),
        (REFUSED, "10-12", NO),
        (REFUSED, None, NO),
        (MODIFIED, "12", YES),
        (NOT_MODIFIED, "10-12", NO),
        (COMPLETED + NOT_MODIFIED, "12", YES),
        ("\x1b[1mCompleted\x1b[0m task 12 'x'.\nCompleted 1 task.\n", "12", YES),
        ("", "12", UNKNOWN),
        ("", None, UNKNOWN),
        ("Completed task 1 of 12", "12", UNKNOWN),
        ("Completed task 0 '1'.\nCompleted 1 task.\n", "1-999999999", UNKNOWN),
    ],
)
def test_what_was_printed(text, ticket_id, answer, make_context):
    assert taskwarrior.confirm(close(ticket_id), printed(text), make_context()) is answer


def test_a_failure_that_says_nothing(make_context):
    assert taskwarrior.confirm(close(), FAILURE, make_context()) is NO
    assert taskwarrior.confirm(close(), None, make_context()) is UNKNOWN


@pytest.fixture
def fake_task(tmp_path):
    """Put a shell script in place of ``task``; its arguments are written to a file."""
    directory = tmp_path / "bin"
    directory.mkdir()
    (tmp_path / "home" / ".task").mkdir(parents=True)

    def install(script):
        program = directory / "task"
        program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/arguments\n{script}\n')
        program.chmod(0o755)
        return os.pathsep.join([str(directory), "/usr/bin", "/bin"])

    return install


ACTIVE = [
    {
        "id": 6,
        "description": "Older",
        "start": "20261122T054301Z",
        "status": "pending",
        "uuid": "a",
    },
    {
        "id": 7,
        "description": "Newer",
        "start": "20261122T054302Z",
        "status": "pending",
        "uuid": "b",
        "annotations": [
            {"entry": "20261122T054302Z", "description": "first"},
            {"description": "x"},
        ],
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
        "script", ["echo '[]'", "echo '{}'", "echo no", "exit 1", "sleep 5 & sleep 5", "echo '[1]'"]
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
        assert taskwarrior.confirm(close(ticket_id), printed(""), context) is answer
        assert taskwarrior.confirm(close("12"), printed(""), context) is UNKNOWN


@pytest.mark.skipif(shutil.which("task") is None, reason="Taskwarrior is not installed")
class TestTheRealTool:
    @pytest.fixture
    def run(self, tmp_path, make_context):
        (tmp_path / "taskrc").write_text(f"data.location={tmp_path}/data\nconfirmation=no\n")
        (tmp_path / "data").mkdir()
        context = make_context(TASKRC=str(tmp_path / "taskrc"), PATH=os.environ["PATH"])

        def task(*arguments):
            done = subprocess.run(
                ["task", *arguments],
                env=dict(context.environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            return ToolResult(
                succeeded=done.returncode == 0,
                response={"stdout": done.stdout, "stderr": done.stderr},
            )

        version = task("_version").response["stdout"].strip()
        if not re.fullmatch(r"\d+\.\d+\.\d+", version):
            pytest.skip("this `task` is not Taskwarrior")
        task.context = context
        for title in ("One", "Two", "Three", "Four"):
            task("add", title, "+tagged")
        task("list")  # which makes all files
        return task

    def test_done(self, run):
        result = run("2", "done")
        assert taskwarrior.confirm(close("2"), result, run.context) is YES
        again = run("2", "done")
        assert taskwarrior.confirm(close("2"), again, run.context) is NO

    def test_many_without_a_terminal(self, run):
        result = run("1-4", "done")
        assert taskwarrior.confirm(close("1-4"), result, run.context) is NO

    def test_asking_changes_nothing(self, run, tmp_path):
        run("3", "start")
        run("2", "done")
        uuid = run("_get", "4.uuid").response["stdout"].strip()
        before = {path: path.read_bytes() for path in tmp_path.rglob("*.data")}
        ticket = taskwarrior.current_ticket(run.context)
        assert ticket == Ticket(
            ticket_id="3", source="taskwarrior", title="Three", labels=("tagged",)
        )
        assert taskwarrior.confirm(close(uuid), None, run.context) is NO
        assert {path: path.read_bytes() for path in tmp_path.rglob("*.data")} == before
        run(uuid, "done")
        assert taskwarrior.confirm(close(f"uuid:{uuid[:8]}"), None, run.context) is YES
