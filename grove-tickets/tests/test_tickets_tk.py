"""tk: which ticket is meant, which is in progress, and whether it is closed."""

import os

import pytest

from grove_core import Confirmation, Ticket, TicketClose, ToolResult
from grove_tickets import tk

confirm = tk.grove_close_matchers()[0].confirm
YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN
SUCCESS = ToolResult(succeeded=True, response={"stdout": "Updated nw-5c46 -> closed\n"})
FAILURE = ToolResult(succeeded=False, error="Exit code 1\nError: ticket 'x' not found")
FILE = """\
---
id: {id}
status: {status}
deps: []
links: []
created: 2026-01-02T03:04:05Z
type: task
priority: 2
assignee: {assignee}
tags: [ui, backend]
---
# Fix: the "thing" # now

Some text
that goes on

## Design

Another section
"""


@pytest.fixture
def write(project):
    def create(ticket_id, status, assignee="Ada", directory=project / ".tickets"):
        directory.mkdir(parents=True, exist_ok=True)
        path = directory / f"{ticket_id}.md"
        path.write_text(FILE.format(id=ticket_id, status=status, assignee=assignee))
        return path

    return create


def close(ticket_id="nw-5c46", directory=None):
    directory = None if directory is None else str(directory)
    return TicketClose(system="tk", ticket_id=ticket_id, directory=directory)


class TestDetection:
    def test_the_variable_comes_first(self, project, tmp_path, write, make_context):
        write("a-1", "open")
        (tmp_path / "elsewhere").mkdir()
        context = make_context(TICKETS_DIR=str(tmp_path / "elsewhere"))
        assert tk.detect(context).marker == str(tmp_path / "elsewhere")
        assert tk.detect(make_context(TICKETS_DIR="../elsewhere")) is not None
        assert tk.detect(make_context(TICKETS_DIR="/nowhere")) is None


class TestCurrentTicket:
    # `tk` writes the name as it is, and `@` begins no value in YAML.
    @pytest.mark.parametrize("assignee", ["Ada Lovelace", "@ada", "[a", "a: b: c"])
    def test_the_one_in_progress(self, assignee, make_context, write):
        write("a-1", "open")
        assert tk.current_ticket(make_context()) is None
        write("a-2", "in_progress", assignee)
        assert tk.current_ticket(make_context()) == Ticket(
            ticket_id="a-2",
            source="tk",
            title='Fix: the "thing" # now',
            description="Some text\nthat goes on",
            labels=("ui", "backend"),
        )

    def test_of_several_the_one_changed_last(self, make_context, write):
        for seconds, ticket_id in ((5, "a-1"), (9, "a-2"), (7, "a-3")):
            os.utime(write(ticket_id, "in_progress"), (seconds, seconds))
        assert tk.current_ticket(make_context()).ticket_id == "a-2"

    def test_files_that_are_no_tickets(self, project, make_context, write):
        write("a-1", "in_progress")
        store = project / ".tickets"
        (store / "README.md").write_text("status: in_progress\n")
        (store / "b-1.md").write_text("---\nstatus: in_progress\n")
        (store / "b-2.md").write_bytes(b"---\nstatus: in_progress\n---\n" + b"x" * 300_000)
        (store / "b-3.md").mkdir()
        assert tk.current_ticket(make_context()).ticket_id == "a-1"


class TestConfirm:
    @pytest.mark.parametrize("result", [SUCCESS, FAILURE, None])
    @pytest.mark.parametrize(
        ("status", "answer"), [("closed", YES), ("open", NO), ("in_progress", NO)]
    )
    def test_the_file_decides(self, status, answer, result, make_context, write):
        write("nw-5c46", status, "@ada")
        assert confirm(close(), result, make_context()) is answer

    @pytest.mark.parametrize(
        ("typed", "answer"),
        [("6-2", NO), ("nw-5c46", YES), ("nw", UNKNOWN), ("zz", NO), ("NW-5C46", NO)],
    )
    def test_parts_of_an_id(self, typed, answer, make_context, write):
        write("nw-5c46", "closed")
        write("nw-7777", "open")
        # An exact id beats one that holds it.
        write("nw-5c46-2", "open")
        assert confirm(close(typed), SUCCESS, make_context()) is answer

    def test_another_directory(self, project, make_context, write):
        write("nw-1", "open")
        write("nw-1", "closed", directory=project / "sub" / ".tickets")
        assert confirm(close("nw-1", project / "sub"), SUCCESS, make_context()) is YES
        assert confirm(close("nw-1"), SUCCESS, make_context()) is NO
        context = make_context(TICKETS_DIR=str(project / "sub" / ".tickets"))
        assert confirm(close("nw-1"), SUCCESS, context) is YES
