"""tissue: which issue is meant, which is in progress, and whether it is closed."""

import pytest

from grove_core import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_tickets import tissue
from grove_tickets.states import CancelledSettings

confirm = tissue.grove_close_matchers()[0].confirm
YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN
SUCCESS = ToolResult(succeeded=True, response={"stdout": "acme-1", "stderr": ""})
FAILURE = ToolResult(succeeded=False, error="Exit code 1\nissue not found")


def issue(ticket_id: str, status: str, revision: str = "01A", **fields):
    return {
        "type": "issue",
        "id": ticket_id,
        "rev": revision,
        "status": status,
        "updated_at": 1,
        **fields,
    }


@pytest.fixture
def write(project, write_jsonl):
    def append(*records, directory=project):
        write_jsonl(directory / ".tissue" / "issues.jsonl", records)

    return append


def close(ticket_id: str | None = "acme-1", directory=None) -> TicketClose:
    directory = None if directory is None else str(directory)
    return TicketClose(system="tissue", ticket_id=ticket_id, directory=directory)


def marker(context):
    detection = tissue.detect(context)
    return None if detection is None else detection.marker


class TestDetection:
    def test_the_variable_comes_after_the_walk(self, project, tmp_path, make_context):
        assert marker(make_context(TISSUE_STORE="/nowhere")) is None
        (tmp_path / "elsewhere").mkdir()
        context = make_context(TISSUE_STORE=str(tmp_path / "elsewhere"))
        assert marker(context) == str(tmp_path / "elsewhere")
        (project / ".tissue").mkdir()
        assert marker(context) == str(project / ".tissue")

    def test_each_work_tree_has_its_own(self, repository, git, tmp_path, make_context, write):
        write(issue("acme-1", "open"))
        git("add", "-A")
        git("commit", "-q", "-m", "store")
        git("worktree", "add", "-q", tmp_path / "tree")
        assert marker(make_context(tmp_path / "tree")) == str(tmp_path / "tree" / ".tissue")


class TestCurrentTicket:
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
        assert tissue.current_ticket(make_context()) is None
        write(issue("acme-1", "open"))
        assert tissue.current_ticket(make_context()) is None
        write(
            issue("acme-1", "in_progress", "01B", updated_at=5),
            issue("acme-2", "in_progress", updated_at=9),
            issue("acme-3", "in_progress", updated_at=7),
        )
        assert tissue.current_ticket(make_context()).ticket_id == "acme-2"


class TestConfirm:
    @pytest.mark.parametrize("result", [SUCCESS, FAILURE, None])
    @pytest.mark.parametrize(
        ("status", "answer"), [("closed", YES), ("duplicate", NO), ("open", NO), ("paused", NO)]
    )
    def test_the_store_decides(self, status, answer, result, make_context, write):
        write(issue("acme-1", "open"), issue("acme-1", status, "01B"), issue("acme-12", "open"))
        assert confirm(close(), result, make_context()) is answer

    def test_a_duplicate_counts_where_the_settings_say_so(self, make_context, write):
        write(issue("acme-1", "duplicate"))
        call = ToolCall(name="Bash", input={"command": "tissue status acme-1 duplicate"}, cwd="/p")
        counting = make_context(settings=CancelledSettings(cancelled_counts=True))
        assert not tissue.closes(call, make_context())
        assert [one.ticket_id for one in tissue.closes(call, counting)] == ["acme-1"]
        assert confirm(close(), SUCCESS, counting) is YES

    def test_a_revision_beats_time_and_both_beat_the_order_of_lines(self, make_context, write):
        write(issue("acme-1", "closed", updated_at=2), issue("acme-1", "open", updated_at=1))
        assert confirm(close(), SUCCESS, make_context()) is YES
        write(issue("acme-1", "open", "01C"), issue("acme-1", "closed", "01B", updated_at=3))
        assert confirm(close(), SUCCESS, make_context()) is NO

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
        assert confirm(close(typed), SUCCESS, make_context()) is answer

    def test_another_directory(self, project, make_context, write):
        write(issue("acme-1", "open"))
        write(issue("acme-1", "closed"), directory=project / "sub")
        context = make_context()
        assert confirm(close(directory=project / "sub" / "deep"), SUCCESS, context) is YES
        assert confirm(close(), SUCCESS, context) is NO
        (project / ".tissue").rename(project / ".other")
        context = make_context(TISSUE_STORE=str(project / "sub" / ".tissue"))
        assert confirm(close(), None, context) is YES

    def test_a_named_store_below_which_the_tool_found_another(self, project, make_context, write):
        write(issue("acme-1", "closed"))
        context = make_context()
        assert confirm(close(directory="/nowhere"), SUCCESS, context) is YES
