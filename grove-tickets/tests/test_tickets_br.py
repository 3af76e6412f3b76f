"""beads_rust: where its store lies, which issue is in progress, and whether a close happened."""

import os

import pytest

from grove_core import Confirmation, Ticket, TicketClose, ToolResult
from grove_tickets import br

confirm = br.grove_close_matchers()[0].confirm
YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN


def make_store(parent, *names, directory=".beads"):
    path = parent / directory
    path.mkdir(parents=True)
    for name in names or ("beads.db", "issues.jsonl"):
        (path / name).write_text("")
    return path


def marker(context):
    detection = br.detect(context)
    return None if detection is None else detection.marker


class TestDetection:
    @pytest.mark.parametrize("export", ["issues.jsonl", "beads.jsonl"])
    @pytest.mark.parametrize("directory", [".beads", "_beads"])
    def test_from_a_sub_directory(self, export, directory, project, make_context):
        assert marker(make_context()) is None
        found = make_store(project, "beads.db", export, directory=directory)
        deep = project / "a" / "b"
        deep.mkdir(parents=True)
        assert marker(make_context(deep)) == str(found)

    @pytest.mark.parametrize("names", [("beads.db",), ("issues.jsonl",), ("metadata.json", "x")])
    def test_a_store_of_another_kind(self, names, project, make_context):
        make_store(project / "a", *names)
        assert marker(make_context(project / "a")) is None
        own = make_store(project)
        assert marker(make_context(project / "a")) == str(own)

    def test_a_variable_comes_first(self, project, make_context):
        own, other = make_store(project), make_store(project / "other")
        assert marker(make_context(BEADS_DIR=str(other))) == str(other)
        assert marker(make_context(BEADS_DIR="missing/.beads")) == str(own)

    def test_a_redirect_is_followed_from_the_store(self, project, make_context):
        end = make_store(project / "b")
        (make_store(project / "a", "x") / "redirect").write_text("../../b/.beads\n")
        assert marker(make_context(project / "a")) == str(end)

    def test_a_linked_work_tree_shares_the_store(self, repository, git, tmp_path, make_context):
        git("worktree", "add", "-q", tmp_path / "tree")
        main = make_store(repository)
        own = make_store(tmp_path / "tree", "issues.jsonl")
        assert marker(make_context(tmp_path / "tree")) == str(main)
        (own / "beads.db").write_text("")
        assert marker(make_context(tmp_path / "tree")) == str(own)


def issue(ticket_id, status, updated_at="2026-01-01", **fields):
    return {"id": ticket_id, "status": status, "updated_at": updated_at, **fields}


@pytest.fixture
def export(project, write_jsonl):
    path = make_store(project)

    def write(*issues, age=0):
        (path / "issues.jsonl").write_text("")
        write_jsonl(path / "issues.jsonl", issues)
        changed = (path / "issues.jsonl").stat().st_mtime + age
        os.utime(path / "beads.db", (changed, changed))
        return path

    return write


class TestCurrentTicket:
    def test_none(self, project, export, make_context):
        export(issue("br-1", "open"), issue("br-2", "closed", description="in_progress"))
        assert br.current_ticket(make_context()) is None
        assert br.current_ticket(make_context(BEADS_DIR="missing")) is None

    def test_the_one_that_was_updated_last(self, export, make_context):
        details = {"title": "Parser", "description": "It is slow.", "labels": ["perf"]}
        export(
            issue("br-1", "in_progress", "2026-01-01"),
            issue("br-2", "in_progress", "2026-01-03", **details),
            issue("br-3", "in_progress", "2026-01-02"),
        )
        details["labels"] = ("perf",)
        assert br.current_ticket(make_context()) == Ticket(ticket_id="br-2", source="br", **details)

    @pytest.mark.parametrize(("touched", "expected"), [("br-1", "br-1"), ("br-3", "br-2")])
    def test_the_one_that_was_touched_last(self, touched, expected, export, make_context):
        path = export(
            issue("br-1", "in_progress", "2026-01-01"),
            issue("br-2", "in_progress", "2026-01-03"),
            issue("br-3", "open"),
        )
        (path / "last-touched").write_text(f"{touched}\n")
        assert br.current_ticket(make_context()).ticket_id == expected


class TestConfirmByTheExport:
    def confirm(self, context, text, ticket_id="br-1"):
        close = TicketClose(system="br", ticket_id=ticket_id)
        result = None if text is None else ToolResult(succeeded=True, response={"stdout": text})
        return confirm(close, result, context)

    def test_closed(self, export, make_context):
        export(issue("br-1", "open"), issue("br-1", "closed"), issue("br-10", "open"))
        failed = ToolResult(succeeded=False, error="Exit code 1\nx")
        close = TicketClose(system="br", ticket_id="br-1")
        assert self.confirm(make_context(), None) is YES
        assert self.confirm(make_context(), "") is YES
        assert confirm(close, failed, make_context()) is YES

    def test_open_or_not_known_unless_the_output_knows_better(self, export, make_context):
        export(issue("br-1", "open"), issue("br-10", "closed", title="br-2"))
        assert self.confirm(make_context(), "| cat") is NO
        assert self.confirm(make_context(), "", "br-2") is NO
        assert self.confirm(make_context(), "✓ Closed br-1: x") is YES

    def test_a_part_of_an_id(self, export, make_context):
        export(issue("br-1a2b", "closed"))
        assert self.confirm(make_context(), "", "1a2b") is YES
        assert self.confirm(make_context(), "", "1a") is UNKNOWN

    def test_an_export_that_lags_behind_the_database(self, export, make_context):
        export(issue("br-1", "closed"), age=60)
        assert self.confirm(make_context(), "") is UNKNOWN
