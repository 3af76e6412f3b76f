"""tissue: which issue is meant, which is in progress, and whether it is closed."""

import pytest

from grove_core import Confirmation, Ticket, TicketClose, ToolResult
from grove_tickets import tissue

YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN
SUCCESS = ToolResult(succeeded=True, response={"stdout": "acme-1", "stderr": ""})
FAILURE = ToolResult(succeeded=False, error="Exit code 1\nissue not found")


def issue(ticket_id: str, status: str, revision: str = "01A", **fields):
    return {"type": "issue", "id": ticket_id, "rev": revision, "status": status, "updated_at": 1, **fields}  # fmt: skip


@pytest.fixture
def write(project, write_jsonl):
    def append(*records, directory=project):
        write_jsonl(directory / ".tissue" / "issues.jsonl", records)

    return append


def close(ticket_id: str | None = "acme-1", directory=None) -> TicketClose:
    directory = None if directory is None else str(directory)
    return TicketClose(system="tissue", ticket_id=ticket_id, directory=directory)


@pytest.mark.parametrize(
    ("command", "directory"),
    [
        ("tissue status acme-1 closed", None),
        ("cd . && tissue status acme-1 closed", None),
        ("cd sub && tissue status acme-1 closed", "{project}/sub"),
        ("cd sub/.. && tissue status acme-1 closed", None),
        ("cd ~/x && tissue status acme-1 closed", "{home}/x"),
        ("cd $X && tissue status acme-1 closed", None),
        ("tissue --store /x/.tissue status acme-1 closed", "/x"),
        ("tissue --store=y/.tissue status acme-1 closed", "{project}/y"),
        ("tissue --store=.tissue status acme-1 closed", None),
        ("cd sub && tissue --store=.tissue status acme-1 closed", "{project}/sub"),
        ("TISSUE_STORE=/x/.tissue tissue status acme-1 closed", "/x"),
        ("export TISSUE_STORE=/x/.tissue; tissue status acme-1 closed", "/x"),
        ("TISSUE_STORE=$X tissue status acme-1 closed", None),
    ],
)
def test_directory(command, directory, bash, project, make_context):
    (found,) = tissue.closes(bash(command), make_context())
    if directory is not None:
        directory = directory.format(project=project, home=project.parent / "home")
    assert found == TicketClose(system="tissue", ticket_id="acme-1", directory=directory)


@pytest.mark.parametrize(
    ("command", "ids"),
    [
        ("tissue edit --status closed acme-1", ["acme-1"]),
        ("tissue edit acme-1 --title '--a=b' --status duplicate --quiet", ["acme-1"]),
        ("tissue edit acme-1 --status open --status closed", ["acme-1"]),
        ("tissue edit acme-1 --status closed --status open", []),
        ("tissue edit acme-1 acme-2 --status closed", []),
        ("tissue edit acme-1 --status closed --help", []),
        ("tissue edit acme-1 --body closed", []),
        ("tissue edit acme-1 --status", []),
        ("tissue status a closed; tissue status b closed; tissue status a closed", ["a", "b"]),
        ("tissue status acme-1 closed extra", []),
        ("tissue status acme-1", []),
        ("tissue closed acme-1", []),
        ("tissue --json status acme-1 closed", []),
        ("tissue", []),
        ("tissue status $A closed; tissue status $B closed", [None]),
    ],
)
def test_closes(command, ids, bash, make_context):
    found = tissue.closes(bash(command), make_context())
    closed = [one.ticket_id for one in found if not one.reopens]
    assert list(dict.fromkeys(closed)) == ids


@pytest.mark.parametrize(
    ("command", "effects"),
    [
        ("tissue status acme-1 open", [("acme-1", True)]),
        ("tissue status acme-1 paused --json", [("acme-1", True)]),
        ("tissue edit acme-1 --status in_progress", [("acme-1", True)]),
        ("tissue status a closed && tissue status a open", [("a", False), ("a", True)]),
        ("tissue status acme-1 done", []),
        ("tissue edit acme-1 --title x", []),
    ],
)
def test_reopenings_stand_in_order(command, effects, bash, make_context):
    found = tissue.closes(bash(command), make_context())
    assert [(one.ticket_id, one.reopens) for one in found] == effects


class TestCurrentTicket:
    def test_none(self, make_context, write):
        assert tissue.current_ticket(make_context()) is None
        write(issue("acme-1", "open"))
        assert tissue.current_ticket(make_context()) is None

    def test_the_latest_revision_wins(self, make_context, write):
        write(
            issue("acme-1", "open", "01C"),
            issue("acme-1", "in_progress", "01B"),
            issue("acme-2", "open", "01A"),
            issue("acme-2", "in_progress", "01D", title="T", body="B", tags=["x", "y"]),
            "torn {",
            {"type": "comment", "id": "c", "issue_id": "acme-2", "body": "in_progress"},
        )
        assert tissue.current_ticket(make_context()) == Ticket(
            ticket_id="acme-2", source="tissue", title="T", description="B", labels=("x", "y")
        )

    def test_of_several_the_one_updated_last(self, make_context, write):
        write(
            issue("acme-1", "in_progress", updated_at=5),
            issue("acme-2", "in_progress", updated_at=9),
            issue("acme-3", "in_progress", updated_at=7),
        )
        assert tissue.current_ticket(make_context()).ticket_id == "acme-2"


class TestConfirm:
    @pytest.mark.parametrize("result", [SUCCESS, FAILURE, None])
    @pytest.mark.parametrize(
        ("status", "answer"), [("closed", YES), ("duplicate", YES), ("open", NO), ("paused", NO)]
    )
    def test_the_store_decides(self, status, answer, result, make_context, write):
        write(issue("acme-1", "open"), issue("acme-1", status, "01B"), issue("acme-12", "open"))
        assert tissue.confirm(close(), result, make_context()) is answer

    def test_a_revision_beats_the_order_of_lines(self, make_context, write):
        write(issue("acme-1", "closed", "01C"), issue("acme-1", "open", "01B"))
        assert tissue.confirm(close(), SUCCESS, make_context()) is YES

    def test_a_tie_is_decided_by_time(self, make_context, write):
        write(issue("acme-1", "closed", updated_at=2), issue("acme-1", "open", updated_at=1))
        assert tissue.confirm(close(), SUCCESS, make_context()) is YES

    @pytest.mark.parametrize(
        ("typed", "answer"),
        [
            ("acme-k3x9", YES),
            ("ACME-K3X9", YES),
            ("k3x9", YES),
            ("acme-k", YES),
            ("acme", UNKNOWN),
            ("k3", UNKNOWN),
            ("acme-zz", NO),
        ],
    )
    def test_how_ids_may_be_typed(self, typed, answer, make_context, write):
        write(issue("acme-k3x9", "closed"), issue("acme-b2", "open"))
        assert tissue.confirm(close(typed), SUCCESS, make_context()) is answer

    @pytest.mark.parametrize("ticket_id", ["acme-1", None])
    def test_without_a_store(self, ticket_id, make_context):
        assert tissue.confirm(close(ticket_id), SUCCESS, make_context()) is UNKNOWN
        assert tissue.confirm(close(ticket_id), None, make_context()) is UNKNOWN
        assert tissue.confirm(close(ticket_id), FAILURE, make_context()) is NO

    def test_another_directory(self, project, make_context, write):
        write(issue("acme-1", "open"))
        write(issue("acme-1", "closed"), directory=project / "sub")
        context = make_context()
        assert tissue.confirm(close(directory=project / "sub" / "deep"), SUCCESS, context) is YES
        assert tissue.confirm(close(), SUCCESS, context) is NO

    def test_a_named_store_below_which_the_tool_found_another(self, project, make_context, write):
        write(issue("acme-1", "closed"))
        context = make_context()
        assert tissue.confirm(close(directory="/nowhere"), SUCCESS, context) is YES

    def test_the_variable(self, project, tmp_path, make_context, write):
        write(issue("acme-1", "closed"), directory=tmp_path / "other")
        context = make_context(TISSUE_STORE=str(tmp_path / "other" / ".tissue"))
        assert tissue.confirm(close(), None, context) is YES
