"""Taskwarrior: which tasks are meant, which is active, and whether one was completed."""

import json

import pytest

from grove_core import Confirmation, EnabledWhen, Ticket, TicketClose, ToolResult
from grove_tickets import taskwarrior

confirm = taskwarrior.grove_close_matchers()[0].confirm
YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN


def close(ticket_id="12"):
    return TicketClose(system="taskwarrior", ticket_id=ticket_id)


def printed(text):
    return ToolResult(succeeded=True, response={"stdout": text, "stderr": ""})


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
        assert confirm(close(ticket_id), printed(""), context) is answer
        assert confirm(close("12"), printed(""), context) is UNKNOWN
