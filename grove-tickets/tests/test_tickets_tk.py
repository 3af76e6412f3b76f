"""tk: which ticket is meant, which is in progress, and whether it is closed."""

import json
import re

import pytest

from grove_core import Confirmation, Ticket, TicketClose, ToolResult
from grove_tickets import tk

YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN
SUCCESS = ToolResult(succeeded=True, response={"stdout": "Updated nw-5c46 -> closed\n"})
FAILURE = ToolResult(succeeded=False, error="Exit code 1\nError: ticket 'x' not found")
# Each command with what it closes: an id, `*` for one not known yet, `^` before one opened again.
COMMANDS = [
    ("tk close nw-5c46", "nw-5c46"),
    ("tk close 5c4", "5c4"),
    ("tk close nw-1 nw-2", "nw-1"),
    ("tk close ' nw-1 '", "nw-1"),
    ("tk close $ID", "*"),
    ("tk ready | head -1 | xargs tk close", "*"),
    ("for i in a-1 b-2; do tk close $i; done", "a-1 b-2"),
    ("tk status nw-5c46 closed", "nw-5c46"),
    ("tk status nw-5c46 closed extra", "nw-5c46"),
    ("tk super close nw-5c46", "nw-5c46"),
    ("tk super status nw-5c46 closed", "nw-5c46"),
    ("ticket close nw-5c46", "nw-5c46"),
    ("~/.local/bin/tk close nw-5c46", "nw-5c46"),
    ("tk start nw-1 && make && tk close nw-1", "^nw-1 nw-1"),
    ("tk close nw-1; tk reopen nw-1", "nw-1 ^nw-1"),
    ("tk close nw-1; tk reopen nw-1; tk close nw-1", "nw-1 ^nw-1 nw-1"),
    ("tk close nw-1; tk close nw-1; tk close nw-2", "nw-1 nw-1 nw-2"),
    ("tk status nw-1 open", "^nw-1"),
    ("tk status nw-1 in_progress", "^nw-1"),
    ("ticket super reopen nw-1", "^nw-1"),
    ("tk close", ""),
    ("tk close ''", ""),
    ("tk close --help", ""),
    ("tk --help close nw-1", ""),
    ("tk help close", ""),
    ("tk status nw-1", ""),
    ("tk status nw-1 done", ""),
    ("tk status closed nw-1", ""),
    ("tk status nw-1 Closed", ""),
    ("tk status nw-1 $STATUS", ""),
    ("tk closed", ""),
    ("tk closed --limit=5", ""),
    ("tk ls --status=closed", ""),
    ("tk delete nw-1", ""),
    ("tk show nw-1", ""),
    ("tk create 'tk close nw-1' -d 'tk close nw-2'", ""),
    ("tk add-note nw-1 'tk close nw-1'", ""),
    ("tk super", ""),
    ("tk", ""),
    ("tkinter close nw-1", ""),
    ("echo tk close nw-1", ""),
    ("git commit -m 'tk close nw-1'", ""),
]

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


def shown(found):
    return " ".join(f"{'^' * one.reopens}{one.ticket_id or '*'}" for one in found)


@pytest.mark.parametrize(("command", "expected"), COMMANDS)
def test_closes(command, expected, bash, make_context):
    found = tk.closes(bash(command), make_context())
    assert shown(found) == expected
    (matcher,) = tk.grove_close_matchers()
    words = set(re.findall(r"\w+", json.dumps(command)))
    assert not found or any(words.issuperset(each.split()) for each in matcher.literals)


@pytest.mark.parametrize(
    ("command", "directory"),
    [
        ("tk close a-1", None),
        ("cd sub && tk close a-1", "{project}/sub"),
        ("TICKETS_DIR=/x/.tickets tk close a-1", "/x"),
        ("export TICKETS_DIR=../y/.tickets; tk close a-1", "{project}/../y"),
        ("cd sub; TICKETS_DIR=.tickets tk close a-1", "{project}/sub"),
        ("TICKETS_DIR=.tickets tk close a-1", None),
        # Only a directory of the usual name can be told by what it lies in.
        ("TICKETS_DIR=/x/issues tk close a-1", None),
        ("cd /y; TICKETS_DIR=/x/issues tk close a-1", None),
        ("TICKETS_DIR=$X tk close a-1", None),
    ],
)
def test_directory(command, directory, bash, project, make_context):
    (found,) = tk.closes(bash(command), make_context())
    if directory is not None:
        directory = directory.format(project=project).replace("/project/..", "")
    assert found == close("a-1", directory)


class TestDetection:
    def test_nothing(self, project, make_context):
        assert tk.detect(make_context()) is None
        (project / ".tickets").write_text("no directory")
        assert tk.detect(make_context()) is None

    def test_from_a_sub_directory(self, project, write, make_context):
        write("a-1", "open")
        deep = project / "a" / "b"
        deep.mkdir(parents=True)
        assert tk.detect(make_context(deep)).marker == str(project / ".tickets")

    def test_the_variable_comes_first(self, project, tmp_path, write, make_context):
        write("a-1", "open")
        (tmp_path / "elsewhere").mkdir()
        context = make_context(TICKETS_DIR=str(tmp_path / "elsewhere"))
        assert tk.detect(context).marker == str(tmp_path / "elsewhere")
        assert tk.detect(make_context(TICKETS_DIR="../elsewhere")) is not None

    def test_a_variable_that_leads_nowhere(self, write, make_context):
        write("a-1", "open")
        assert tk.detect(make_context(TICKETS_DIR="/nowhere")) is None

    def test_descriptors(self):
        (probe,) = tk.grove_ticket_probes()
        assert probe.paths == (".tickets",)


class TestCurrentTicket:
    def test_none(self, make_context, write):
        assert tk.current_ticket(make_context()) is None
        write("a-1", "open")
        assert tk.current_ticket(make_context()) is None

    # `tk` writes the name as it is, and `@` begins no value in YAML.
    @pytest.mark.parametrize("assignee", ["Ada Lovelace", "@ada", "[a", "a: b: c"])
    def test_the_one_in_progress(self, assignee, make_context, write):
        write("a-1", "open")
        write("a-2", "in_progress", assignee)
        assert tk.current_ticket(make_context()) == Ticket(
            ticket_id="a-2",
            source="tk",
            title='Fix: the "thing" # now',
            description="Some text\nthat goes on",
            labels=("ui", "backend"),
        )

    def test_of_several_the_one_changed_last(self, make_context, write):
        import os

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
        assert tk.confirm(close(), result, make_context()) is answer

    @pytest.mark.parametrize(
        ("typed", "answer"),
        [("5c4", YES), ("nw-5c46", YES), ("nw", UNKNOWN), ("zz", NO), ("NW-5C46", NO)],
    )
    def test_parts_of_an_id(self, typed, answer, make_context, write):
        write("nw-5c46", "closed")
        write("nw-7777", "open")
        assert tk.confirm(close(typed), SUCCESS, make_context()) is answer

    def test_an_exact_id_beats_one_that_holds_it(self, make_context, write):
        write("nw-1", "closed")
        write("nw-12", "open")
        assert tk.confirm(close("nw-1"), SUCCESS, make_context()) is YES

    @pytest.mark.parametrize("ticket_id", ["nw-1", None])
    def test_without_a_file(self, ticket_id, make_context):
        assert tk.confirm(close(ticket_id), SUCCESS, make_context()) is UNKNOWN
        assert tk.confirm(close(ticket_id), None, make_context()) is UNKNOWN
        assert tk.confirm(close(ticket_id), FAILURE, make_context()) is NO

    def test_another_directory(self, project, make_context, write):
        write("nw-1", "open")
        write("nw-1", "closed", directory=project / "sub" / ".tickets")
        assert tk.confirm(close("nw-1", project / "sub"), SUCCESS, make_context()) is YES
        assert tk.confirm(close("nw-1"), SUCCESS, make_context()) is NO

    def test_the_variable(self, tmp_path, make_context, write):
        write("nw-1", "closed", directory=tmp_path / "other")
        context = make_context(TICKETS_DIR=str(tmp_path / "other"))
        assert tk.confirm(close("nw-1"), SUCCESS, context) is YES
