"""beads_rust: what `br` closes, where its store lies, and whether a close really happened."""

import os
import subprocess
from pathlib import Path

import pytest

from grove_core import Confirmation, Ticket, TicketClose, ToolResult
from grove_tickets import br

YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN


def written(close: TicketClose) -> str:
    return f"{'reopen ' if close.reopens else ''}{close.ticket_id or '*'}"


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("br close br-1", "br-1"),
        ("br close br-1 br-2 --reason done", "br-1 br-2"),
        ("br close -r 'see br-9' br-1 -f", "br-1"),
        ("br close br-1 -rdone --suggest-next --robot", "br-1"),
        ("br close br-1 --session x --agent-name y --harness z --model m", "br-1"),
        ("br close br-1 --bypass-policy --bypass-reason x --transition-comment y", "br-1"),
        ("br close -- br-1", "br-1"),
        ("br close", "*"),
        ("br close $ID", "*"),
        ("br --json --db x.db --actor me close br-1", "br-1"),
        ("br -q --lock-timeout 100 close br-1 --no-auto-flush", "br-1"),
        ("br close br-1 --db=x.db --json -vv", "br-1"),
        ("br update br-1 -s closed", "br-1"),
        ("br update br-1 -sCLOSED", "br-1"),
        ("br update --status=Closed br-1 br-2 --notes closed", "br-1 br-2"),
        ("br update -s closed", "*"),
        ("br epic close-eligible", "*"),
        ("br reopen br-1", "reopen br-1"),
        ("br reopen br-1 br-2 -r 'not done'", "reopen br-1 reopen br-2"),
        ("br update br-1 -s open", "reopen br-1"),
        ("br update br-1 --status in_progress", "reopen br-1"),
        ("br close br-1 && br reopen br-1", "br-1 reopen br-1"),
        ("br reopen br-1; br close br-1", "reopen br-1 br-1"),
    ],
)
def test_closes(command, expected, bash, make_context):
    found = br.closes(bash(command), make_context())
    assert " ".join(written(one) for one in found) == expected


@pytest.mark.parametrize(
    "command",
    [
        "br done br-1",
        "br close br-1 --help",
        "br help close br-1",
        "br list --status closed --json",
        "br ready",
        "br show br-1",
        "br create 'br close br-1'",
        "br update br-1 --notes closed",
        "br update br-1 -s $STATUS",
        "br update br-1 -s tombstone",
        "br update br-1 --claim",
        "br delete br-1",
        "br comments add br-1 closed",
        "br epic status",
        "br epic close-eligible --dry-run",
        "br defer br-1",
        "br sync --flush-only",
        "br",
        "bd close br-1",
        "echo br close br-1",
    ],
)
def test_does_not_close(command, bash, make_context):
    assert br.closes(bash(command), make_context()) == ()


@pytest.mark.parametrize(
    ("command", "directory"),
    [
        ("br close br-1", None),
        ("cd sub && br close br-1", "sub"),
        ("br --db x.db close br-1", None),
        ("br --db sub/.beads/beads.db close br-1", "sub"),
        ("BEADS_DIR=sub/.beads br close br-1", "sub"),
    ],
)
def test_directory(command, directory, bash, project, make_context):
    (found,) = br.closes(bash(command), make_context())
    assert found.directory == (None if directory is None else str(project / directory))


def store(parent: Path, *names: str, directory: str = ".beads") -> Path:
    path = parent / directory
    path.mkdir(parents=True)
    for name in names or ("beads.db", "issues.jsonl"):
        (path / name).write_text("")
    return path


def marker(context) -> str | None:
    detection = br.detect(context)
    return None if detection is None else detection.marker


class TestDetection:
    def test_nothing(self, make_context):
        assert br.detect(make_context()) is None

    @pytest.mark.parametrize("export", ["issues.jsonl", "beads.jsonl"])
    @pytest.mark.parametrize("directory", [".beads", "_beads"])
    def test_from_a_sub_directory(self, export, directory, project, make_context):
        found = store(project, "beads.db", export, directory=directory)
        deep = project / "a" / "b"
        deep.mkdir(parents=True)
        assert marker(make_context(deep)) == str(found)

    @pytest.mark.parametrize("names", [("beads.db",), ("issues.jsonl",), ("metadata.json", "x")])
    def test_a_store_of_another_kind(self, names, project, make_context):
        store(project, *names)
        assert br.detect(make_context()) is None

    def test_the_nearest_directory_counts_whatever_it_holds(self, project, make_context):
        store(project)
        store(project / "a", "config.yaml")
        assert br.detect(make_context(project / "a")) is None

    def test_a_variable_comes_first(self, project, make_context):
        store(project)
        other = store(project / "other")
        assert marker(make_context(BEADS_DIR=str(other))) == str(other)
        assert marker(make_context(BEADS_DIR="missing/.beads")) is None

    def test_redirects_are_followed(self, project, make_context):
        end = store(project / "c")
        (store(project / "b", "x") / "redirect").write_text("../../c/.beads\n")
        (store(project / "a", "x") / "redirect").write_text("../../b/.beads\n")
        assert marker(make_context(project / "a")) == str(end)

    def test_redirects_in_a_circle(self, project, make_context):
        (store(project / "b") / "redirect").write_text("../../a/.beads\n")
        (store(project / "a") / "redirect").write_text("../../b/.beads\n")
        assert br.detect(make_context(project / "a")) is None

    def test_a_redirect_to_itself(self, project, make_context):
        own = store(project)
        (own / "redirect").write_text(".")
        assert marker(make_context()) == str(own)

    def test_a_linked_work_tree_shares_the_store(self, project, tmp_path, make_context):
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        for arguments in (
            ["init", "--quiet"],
            [*identity, "commit", "--quiet", "--allow-empty", "-m", "x"],
            ["worktree", "add", "--quiet", str(tmp_path / "tree")],
        ):
            subprocess.run(["git", *arguments], cwd=project, env=environment, check=True)
        main = store(project)
        tree = make_context(tmp_path / "tree")
        assert marker(tree) == str(main)
        own = store(tmp_path / "tree", "issues.jsonl")
        assert marker(tree) == str(main)
        (own / "beads.db").write_text("")
        assert marker(tree) == str(own)


def issue(ticket_id: str, status: str, updated_at: str = "2026-01-01", **fields):
    return {"id": ticket_id, "status": status, "updated_at": updated_at, **fields}


@pytest.fixture
def export(project, write_jsonl):
    path = store(project)

    def write(*issues, age: float = 0):
        (path / "issues.jsonl").write_text("")
        write_jsonl(path / "issues.jsonl", issues)
        changed = (path / "issues.jsonl").stat().st_mtime + age
        os.utime(path / "beads.db", (changed, changed))
        return path

    return write


class TestCurrentTicket:
    def test_none(self, export, make_context):
        export(issue("br-1", "open"), issue("br-2", "closed", description="in_progress"))
        assert br.current_ticket(make_context()) is None

    def test_no_store(self, make_context):
        assert br.current_ticket(make_context()) is None

    def test_the_one_that_was_updated_last(self, export, make_context):
        details = {"title": "Parser", "description": "It is slow.", "labels": ["perf"]}
        export(
            issue("br-1", "in_progress", "2026-01-01"),
            issue("br-2", "in_progress", "2026-01-03", **details),
            issue("br-3", "in_progress", "2026-01-02"),
        )
        assert br.current_ticket(make_context()) == Ticket(
            ticket_id="br-2",
            source="br",
            title="Parser",
            description="It is slow.",
            labels=("perf",),
        )

    @pytest.mark.parametrize(("touched", "expected"), [("br-1", "br-1"), ("br-3", "br-2")])
    def test_the_one_that_was_touched_last(self, touched, expected, export, make_context):
        path = export(
            issue("br-1", "in_progress", "2026-01-01"),
            issue("br-2", "in_progress", "2026-01-03"),
            issue("br-3", "open"),
        )
        (path / "last-touched").write_text(f"{touched}\n")
        assert br.current_ticket(make_context()).ticket_id == expected

    def test_the_touched_one_may_lie_in_a_cache(self, export, tmp_path, make_context):
        export(issue("br-1", "in_progress"), issue("br-2", "in_progress", "2027-01-01"))
        (tmp_path / "last-touched").write_text("br-1")
        context = make_context(BEADS_CACHE_DIR=str(tmp_path))
        assert br.current_ticket(context).ticket_id == "br-1"


def confirm(context, text: str | None, ticket_id: str | None = "br-1", *, succeeded: bool = True):
    close = TicketClose(system="br", ticket_id=ticket_id)
    result = None
    if text is not None and succeeded:
        result = ToolResult(succeeded=True, response={"stdout": text, "stderr": ""})
    elif text is not None:
        result = ToolResult(succeeded=False, error=f"Exit code 1\n{text}")
    return br.confirm(close, result, context)


@pytest.mark.parametrize(
    ("text", "ticket_id", "expected"),
    [
        ("✓ Closed br-1: Parser (done)", "br-1", YES),
        ("Closed br-1: Parser (done)", "BR-1", YES),
        ("✓ Closed proj-1a2b: Parser", "1a2b", YES),
        ("✓ Closed br-1.2: Parser", "br-1.2", YES),
        ("✓ Closed br-2: Parser", "br-1", UNKNOWN),
        ("✓ Closed br-2: Parser", None, YES),
        ("⚠ Skipped br-1: already closed", "br-1", YES),
        ("Skipped br-1: blocked by: br-2", "br-1", NO),
        ("✓ Closed br-1: x\nSkipped br-2: blocked by: br-3", "br-2", NO),
        ("✓ Closed br-1: x\n✓ Reopened br-1: x", "br-1", NO),
        ("✓ Reopened br-1: x\n✓ Closed br-1: x", "br-1", YES),
        ("Updated br-1: Parser\n  status: open → closed", "br-1", YES),
        ("Updated br-1: Parser\n  status: closed → open", "br-1", NO),
        ("Updated br-1: Parser\n  notes: closed", "br-1", UNKNOWN),
        ("Error: refusing to close via `br update --status closed`: x", "br-1", NO),
        ('[{"id":"br-1","title":"x","status":"closed","closed_at":"x"}]', "br-1", YES),
        ('{"closed":[{"id":"br-1","status":"closed"}],"skipped":[]}', "br-1", YES),
        ('[{"id":"br-1","status":"open"}]', "br-1", NO),
        ("error: unexpected argument '--x' found", "br-1", NO),
        ("", "br-1", UNKNOWN),
        ("", None, UNKNOWN),
    ],
)
def test_confirm_by_output(text, ticket_id, expected, make_context):
    assert confirm(make_context(), text, ticket_id) is expected


class TestConfirmByTheExport:
    def test_closed(self, export, make_context):
        export(issue("br-1", "open"), issue("br-1", "closed"), issue("br-10", "open"))
        assert confirm(make_context(), None) is YES
        assert confirm(make_context(), "") is YES
        assert confirm(make_context(), "x", succeeded=False) is YES

    def test_open(self, export, make_context):
        export(issue("br-1", "open"), issue("br-10", "closed"))
        assert confirm(make_context(), "| cat") is NO

    def test_an_issue_that_it_does_not_know(self, export, make_context):
        export(issue("br-2", "closed", title="br-1"))
        assert confirm(make_context(), "") is NO

    def test_a_part_of_an_id(self, export, make_context):
        export(issue("br-1a2b", "closed"))
        assert confirm(make_context(), "", "1a2b") is YES
        assert confirm(make_context(), "", "1a") is UNKNOWN

    def test_an_export_that_lags_behind_the_database(self, export, make_context):
        export(issue("br-1", "closed"), age=60)
        assert confirm(make_context(), "") is UNKNOWN
        assert confirm(make_context(), "x", succeeded=False) is NO

    def test_an_export_elsewhere(self, export, tmp_path, make_context):
        export(issue("br-1", "open"))
        (tmp_path / "x.jsonl").write_text('{"id":"br-1","status":"closed"}\n')
        assert confirm(make_context(BEADS_JSONL=str(tmp_path / "x.jsonl")), "") is YES

    def test_the_output_knows_better(self, export, make_context):
        export(issue("br-1", "open"))
        assert confirm(make_context(), "✓ Closed br-1: x") is YES
