"""beads: which issue is meant, which is in progress, and whether it is closed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from grove_core import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_tickets import beads

YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN


def success(stdout: str = "", stderr: str = "") -> ToolResult:
    return ToolResult(succeeded=True, response={"stdout": stdout, "stderr": stderr})


def failure(error: str = "Exit code 1") -> ToolResult:
    return ToolResult(succeeded=False, error=error)


def close(ticket_id: str | None = "bd-1", directory: Path | None = None) -> TicketClose:
    return TicketClose(
        system="beads", ticket_id=ticket_id, directory=None if directory is None else str(directory)
    )


def change(ticket_id: str, value: str, field: str = "status") -> dict:
    return {"kind": "field_change", "issue_id": ticket_id, "extra": {"field": field, "new_value": value}}  # fmt: skip


@pytest.fixture
def store(project) -> Path:
    directory = project / ".beads"
    directory.mkdir()
    (directory / "metadata.json").write_text("{}")
    return directory


@pytest.mark.parametrize(
    ("command", "ids"),
    [
        ("bd done bd-1 all finished", ["bd-1", "all"]),
        ("bd done bd-1 'all finished'", ["bd-1"]),
        ("bd close -r a -r b bd-1 bd-2", ["bd-1", "bd-2"]),
        ("bd close -fqr reason bd-1", ["bd-1"]),
        ("bd close bd-1 -- bd-2", ["bd-1", "bd-2"]),
        ("bd close", [None]),
        ("bd close ''", [None]),
        ("bd close bd-1 $X bd-$Y", ["bd-1", None]),
        ('bd close bd-1 --reason "$(cat x)"', ["bd-1"]),
        ('bd close bd-1 --reason="$X"', ["bd-1"]),
        ("bd close bd-1 --readonly", []),
        ("bd --readonly close bd-1", []),
        ("bd close bd-1 --dry-run=false", ["bd-1"]),
        ("bd close bd-1 -h", []),
        ("bd close bd-1 -r -h", ["bd-1"]),
        ("bd update bd-1 -s=closed", ["bd-1"]),
        ("bd update bd-1 --status=closed", ["bd-1"]),
        ("bd update -s closed", [None]),
        ("bd update bd-1 -s closed -s open", []),
        ("bd update bd-1 --title closed", []),
        ("bd update bd-1 -s $S", []),
        ("bd todo done bd-1", ["bd-1"]),
        ("bd todo --json done bd-1", ["bd-1"]),
        ("bd todo add x", []),
        ("bd gate", []),
        ("bd gate check", [None]),
        ("bd duplicates", []),
        ("bd duplicates --auto-merge", [None]),
        ("bd mol squash bd-1 --summary x", ["bd-1"]),
        ("bd", []),
        ("bd --json", []),
        ("bd batch", [None]),
        ("bd batch -f missing", [None]),
        ("bd batch -f list", ["bd-8", "bd-9"]),
        ("echo 'close bd-1' | bd batch", ["bd-1"]),
        ('echo "close $X" | bd batch', [None]),
        ('echo "$X" | bd batch', [None]),
        ("bd list | bd batch", [None]),
        ("bd batch <<< 'update bd-1 status=open'", []),
    ],
)  # fmt: skip
def test_closes(command, ids, bash, project, make_context):
    (project / "list").write_text("# x\nclose bd-8 done\n\nupdate bd-9 priority=1 status=closed\n")
    found = beads.closes(bash(command), make_context())
    closed = [one.ticket_id for one in found if not one.reopens]
    assert list(dict.fromkeys(closed)) == ids


@pytest.mark.parametrize(
    ("command", "effects"),
    [
        ("bd reopen bd-1 bd-2 --reason early", [("bd-1", True), ("bd-2", True)]),
        ("bd update bd-1 -s open", [("bd-1", True)]),
        ("bd update bd-1 --status=in_progress", [("bd-1", True)]),
        ("bd update bd-1 --claim", [("bd-1", True)]),
        ("bd update bd-1 --priority 1", []),
        ("bd update bd-1 --status $S", []),
        ("bd close bd-1 && bd reopen bd-1", [("bd-1", False), ("bd-1", True)]),
        ("bd reopen bd-1; bd close bd-1", [("bd-1", True), ("bd-1", False)]),
        ("bd reopen --help bd-1", []),
    ],
)
def test_reopenings_stand_in_order(command, effects, bash, make_context):
    found = beads.closes(bash(command), make_context())
    assert [(one.ticket_id, one.reopens) for one in found] == effects


def test_the_server_opens_again(make_context):
    call = ToolCall(
        name="mcp__beads__reopen", input={"issue_ids": ["bd-1", "bd-2"], "reason": "x"}, cwd="/p"
    )
    found = beads.closes(call, make_context())
    assert [(one.ticket_id, one.reopens) for one in found] == [("bd-1", True), ("bd-2", True)]


@pytest.mark.parametrize(
    ("command", "directory"),
    [
        ("bd close bd-1", None),
        ("cd sub && bd close bd-1", "{project}/sub"),
        ("bd -C sub close bd-1", "{project}/sub"),
        ("cd sub && bd close bd-1 --directory deep", "{project}/sub/deep"),
        ("bd --db /x/.beads/beads.db close bd-1", "/x"),
        ("bd --db=.beads/beads.db close bd-1", None),
        ("BEADS_DIR=/x/.beads bd close bd-1", "/x"),
        ("BEADS_DIR=/x/.beads bd -C sub close bd-1", "{project}/sub"),
        ("cd $X; bd close bd-1", None),
        ("bd -C $X close bd-1", None),
    ],
)
def test_directory(command, directory, bash, project, make_context):
    (found,) = beads.closes(bash(command), make_context())
    expected = None if directory is None else directory.format(project=project)
    assert found == TicketClose(system="beads", ticket_id="bd-1", directory=expected)


@pytest.mark.parametrize(
    ("name", "tool_input", "expected"),
    [
        ("mcp__beads__close", {"issue_id": "bd-1"}, [("bd-1", None)]),
        ("mcp__plugin_x_beads__close", {"issue_id": "bd-1"}, [("bd-1", None)]),
        ("mcp__Beads-mcp__update", {"issue_id": "bd-1", "status": "closed"}, [("bd-1", None)]),
        ("mcp__beads__close", {"issue_id": "bd-1", "workspace_root": "/x"}, [("bd-1", "/x")]),
        ("mcp__beads__close", {"issue_id": "bd-1", "workspace_root": "."}, [("bd-1", None)]),
        ("mcp__beads__close", {"issue_id": 3}, [(None, None)]),
        ("mcp__beads__update", {"issue_id": "bd-1", "status": "open"}, []),
        ("mcp__beads__show", {"issue_id": "bd-1"}, []),
        ("mcp__linear__close", {"issue_id": "bd-1"}, []),
        ("mcp__linear__beads_close", {"issue_id": "bd-1"}, []),
        ("Read", {"issue_id": "bd-1"}, []),
    ],
)
def test_mcp(name, tool_input, expected, make_context):
    found = beads.closes(ToolCall(name=name, input=tool_input, cwd="/p"), make_context())
    assert [(one.ticket_id, one.directory) for one in found if not one.reopens] == expected


@pytest.mark.parametrize("command", [None, 3, ["bd", "close"], {}])
def test_inputs_of_other_shapes(command, make_context):
    call = ToolCall(name="Bash", input={"command": command}, cwd="/p")
    assert beads.closes(call, make_context()) == ()
    assert beads.closes(ToolCall(name="Bash", input={}, cwd="/p"), make_context()) == ()


class TestConfirmFromOutput:
    @pytest.mark.parametrize(
        ("typed", "result", "answer"),
        [
            ("bd-1", success("✓ Closed bd-1 — Title: Closed"), YES),
            ("bd-1", success("\x1b[32m✓\x1b[0m Closed bd-1: done"), YES),
            ("a1b2", success("✓ Closed bd-a1b2 — T"), YES),
            ("bd-1", success("Closed bd-1: T (done)"), YES),
            ("bd-1", success("✓ Closed bd-12 — T"), UNKNOWN),
            ("1", success("✓ Closed bd-11 — T"), UNKNOWN),
            ("bd-1", success("not Closed bd-1"), UNKNOWN),
            ("bd-1", failure("Exit code 1\n✓ Closed bd-1 — T"), YES),
            ("bd-1", success("", "cannot close bd-1: blocked by open issues [bd-2]"), NO),
            ("bd-1", success("", "Error resolving bd-1: no issue"), NO),
            ("bd-1", success("", "cannot close bd-2: blocked"), UNKNOWN),
            ("bd-1", success("cannot close bd-1: x\n✓ Closed bd-1 — T"), YES),
            ("bd-1", success("✓ Updated issue: bd-1 — T"), UNKNOWN),
            ("bd-1", success(), UNKNOWN),
            ("bd-1", failure(), NO),
            ("bd-1", None, UNKNOWN),
            (None, success("✓ Closed bd-1 — T"), YES),
            (None, success("✓ Closed issue o/r#1 (x)"), UNKNOWN),
            (None, success("", "cannot close bd-1: blocked"), NO),
            (None, success(), UNKNOWN),
            (None, failure(), NO),
            (None, None, UNKNOWN),
        ],
    )
    def test_text(self, typed, result, answer, make_context):
        assert beads.confirm(close(typed), result, make_context()) is answer

    @pytest.mark.parametrize(
        "value",
        [
            [{"id": "bd-1", "status": "closed"}],
            {"id": "bd-1", "status": "closed"},
            {"closed": [{"id": "bd-1", "status": "closed"}], "claimed": None},
            {"schema_version": 1, "data": [{"id": "bd-1", "status": "closed"}]},
        ],
    )
    def test_json(self, value, make_context):
        for text in (json.dumps(value), f"note\n{json.dumps(value, indent=2)}\n[not json\n"):
            assert beads.confirm(close(), success(text), make_context()) is YES
            assert beads.confirm(close("bd-2"), success(text), make_context()) is UNKNOWN

    def test_json_of_an_open_issue(self, make_context):
        text = json.dumps([{"id": "bd-1", "status": "open"}])
        assert beads.confirm(close(), success(text), make_context()) is UNKNOWN

    @pytest.mark.parametrize(
        ("response", "answer"),
        [
            ([{"type": "text", "text": '{"id": "bd-1", "status": "closed"}'}], YES),
            ({"content": [{"type": "text", "text": '{"id":"bd-1","status":"closed"}'}]}, YES),
            ({"structuredContent": {"id": "bd-1", "status": "closed"}}, YES),
            ({"isError": True, "content": [{"type": "text", "text": "no"}]}, NO),
            ([{"type": "text", "text": "fine"}], UNKNOWN),
            ("[" * 5000, UNKNOWN),
            (3, UNKNOWN),
        ],
    )
    def test_mcp(self, response, answer, make_context):
        result = ToolResult(succeeded=True, response=response)
        assert beads.confirm(close(), result, make_context()) is answer


class TestConfirmFromFiles:
    @pytest.mark.parametrize("result", [success(), failure(), None])
    def test_the_log_of_changes(self, result, store, write_jsonl, make_context):
        records = [change("bd-1", "in_progress"), "torn {", change("bd-1", "closed"), change("bd-1", "x", "title")]  # fmt: skip
        write_jsonl(store / "interactions.jsonl", records)
        assert beads.confirm(close(), result, make_context()) is YES
        assert beads.confirm(close("1"), result, make_context()) is YES

    def test_the_last_change_counts(self, store, write_jsonl, make_context):
        log = store / "interactions.jsonl"
        write_jsonl(
            log, [change("bd-1", "closed"), change("bd-1", "open"), change("bd-2", "closed")]
        )
        assert beads.confirm(close(), success(), make_context()) is UNKNOWN
        assert beads.confirm(close(), failure(), make_context()) is NO

    @pytest.mark.parametrize("name", ["issues.jsonl", "beads.jsonl"])
    def test_an_export_proves_a_close_and_nothing_else(
        self, name, store, write_jsonl, make_context
    ):
        write_jsonl(store / name, [{"id": "bd-1", "status": "open"}])
        assert beads.confirm(close(), success(), make_context()) is UNKNOWN
        write_jsonl(store / name, [{"id": "bd-1", "status": "closed"}])
        assert beads.confirm(close(), success(), make_context()) is YES

    def test_the_store_of_another_directory(self, store, project, write_jsonl, make_context):
        other = project / "other" / ".beads"
        write_jsonl(other / "issues.jsonl", [{"id": "bd-1", "status": "closed"}])
        (other / "beads.db").write_text("")
        context = make_context(BEADS_DIR=str(store))
        assert beads.confirm(close(directory=other.parent), success(), context) is YES
        assert beads.confirm(close(), success(), context) is UNKNOWN


READ = "list --json --readonly"


class TestConfirmByAsking:
    @pytest.mark.parametrize(
        ("answer", "confirmation"),
        [
            ('[{"id": "bd-1", "status": "closed"}]', YES),
            ('{"id": "bd-1", "status": "closed"}', YES),
            ('{"schema_version": 1, "data": [{"id": "bd-1", "status": "open"}]}', NO),
            ('[{"id": "bd-1", "status": "in_progress"}]', NO),
            ("[]", UNKNOWN),
            ("no json", UNKNOWN),
            ("[[]]", UNKNOWN),
        ],
    )
    def test_answers(self, answer, confirmation, store, fake_bd, make_context):
        path = fake_bd(f"echo '{answer}'")
        assert beads.confirm(close(), success(), make_context(PATH=path)) is confirmation

    def test_how_it_is_asked(self, store, project, fake_bd, make_context):
        sub = project / "sub"
        sub.mkdir()
        daemon = "$BEADS_NO_DAEMON $BEADS_AUTO_START_DAEMON $BEADS_DOLT_AUTO_START"
        path = fake_bd(f'echo "$PWD" "$@" {daemon} > "$HOME/asked"; exit 1')
        context = make_context(PATH=path, HOME=str(project))
        assert beads.confirm(close(directory=sub), success(), context) is UNKNOWN
        assert (project / "asked").read_text() == f"{sub} {READ} --all --id=bd-1 1 false 0\n"

    @pytest.mark.parametrize("script", ["exit 1", "kill -9 $$", "head -c 100000 /dev/zero"])
    def test_failures(self, script, store, fake_bd, make_context):
        context = make_context(PATH=fake_bd(script))
        assert beads.confirm(close(), success(), context) is UNKNOWN
        assert beads.confirm(close(), failure(), context) is NO

    def test_a_program_that_cannot_start(self, store, fake_bd, tmp_path, make_context):
        context = make_context(PATH=fake_bd(""))
        (tmp_path / "bin" / "bd").write_bytes(b"\x7fELF")
        assert beads.confirm(close(), success(), context) is UNKNOWN

    def test_an_id_that_looks_like_a_flag_is_handed_on_as_a_value(
        self, store, fake_bd, project, make_context
    ):
        context = make_context(PATH=fake_bd('echo "$@" > "$HOME/asked"'), HOME=str(project))
        assert beads.confirm(close("--db=x"), success(), context) is UNKNOWN
        assert (project / "asked").read_text() == f"{READ} --all --id=--db=x\n"

    @pytest.mark.parametrize(
        ("metadata", "host", "is_asked"),
        [
            ('{"dolt_mode": "server"}', "", True),
            ('{"dolt_mode": "server", "dolt_server_host": "127.0.0.1"}', "localhost", True),
            ('{"dolt_mode": "server", "dolt_server_host": "::1"}', "", True),
            ('{"dolt_mode": "server", "dolt_server_host": "db.example.com"}', "", False),
            ('{"dolt_mode": "server", "DOLT_SERVER_HOST": "db.example.com"}', "", False),
            ('{"dolt_server_host": "db.example.com", "dolt_server_host": ""}', "", False),
            ('{"dolt_mode": "server"}', "db.example.com", False),
            ('["dolt_mode"]', "", False),
            ("[" * 40_000, "", False),
            ('{"x": "' + "x" * 70_000 + '"}', "", False),
        ],
    )
    def test_only_a_server_on_this_machine_is_asked(
        self, metadata, host, is_asked, store, fake_bd, make_context
    ):
        (store / "metadata.json").write_text(metadata)
        path = fake_bd('echo "$@" > "$HOME/asked"')
        context = make_context(PATH=path, HOME=str(store), BEADS_DOLT_SERVER_HOST=host)
        assert beads.confirm(close(), success(), context) is UNKNOWN
        assert (store / "asked").exists() == is_asked

    @pytest.mark.parametrize("mode", ["proxied-server", "something new"])
    def test_what_might_start_a_server_is_not_asked(
        self, mode, store, fake_bd, project, make_context
    ):
        (store / "metadata.json").write_text(json.dumps({"dolt_mode": mode}))
        context = make_context(PATH=fake_bd('echo "$@" > "$HOME/asked"'), HOME=str(project))
        assert beads.confirm(close(), success(), context) is UNKNOWN
        assert beads.current_ticket(context) is None
        assert not (project / "asked").exists()

    def test_what_bd_says_comes_before_a_log_that_knows_no_reopening(
        self, store, write_jsonl, fake_bd, make_context
    ):
        write_jsonl(store / "interactions.jsonl", [change("bd-1", "closed")])
        path = fake_bd("""echo '[{"id": "bd-1", "status": "open"}]'""")
        assert beads.confirm(close(), None, make_context(PATH=path)) is NO

    def test_without_a_store_nothing_is_asked(self, fake_bd, project, make_context):
        context = make_context(PATH=fake_bd('echo x > "$HOME/asked"'), HOME=str(project))
        assert beads.confirm(close(), success(), context) is UNKNOWN
        assert not (project / "asked").exists()


ISSUE = {"id": "bd-1", "title": "T", "description": "D", "status": "open", "labels": ["x"]}
TICKET = Ticket(ticket_id="bd-1", source="beads", title="T", description="D", labels=("x",))


class TestCurrentTicket:
    def test_the_one_touched_last(self, store, write_jsonl, make_context):
        (store / "last-touched").write_text("bd-1\n")
        write_jsonl(store / "issues.jsonl", [{"id": "bd-2"}, ISSUE])
        assert beads.current_ticket(make_context()) == TICKET

    def test_a_closed_one_is_over(self, store, write_jsonl, make_context):
        (store / "last-touched").write_text("bd-1\n")
        write_jsonl(store / "issues.jsonl", [{**ISSUE, "status": "closed"}])
        assert beads.current_ticket(make_context()) is None

    def test_without_an_export_bd_is_asked(self, store, fake_bd, project, make_context):
        (store / "last-touched").write_text("bd-9\n")
        path = fake_bd(f'echo "$@" > "$HOME/asked"; echo \'{json.dumps([ISSUE])}\'')
        context = make_context(PATH=path, HOME=str(project))
        assert beads.current_ticket(context) == TICKET
        assert (project / "asked").read_text() == f"{READ} --status in_progress\n"

    def test_nothing_to_ask(self, store, make_context):
        assert beads.current_ticket(make_context()) is None

    def test_no_store(self, make_context):
        assert beads.current_ticket(make_context()) is None

    def test_a_slow_bd_is_ended_with_all_it_started(self, store, fake_bd, project, make_context):
        context = make_context(
            PATH=fake_bd('sleep 60 & echo $! > "$HOME/pid"; wait'), HOME=str(project)
        )
        assert beads.current_ticket(context) is None
        process = (project / "pid").read_text().strip()
        state = subprocess.run(["ps", "-o", "stat=", "-p", process], capture_output=True, text=True, check=False).stdout  # fmt: skip
        assert state.strip() in {"", "Z", "Z+"} or state.startswith("Z")


def test_importing_a_system_is_cheap():
    """Hooks import every ticket module; what is heavy waits until it is needed."""
    code = (
        "import sys, grove_tickets.beads, grove_tickets.tissue, grove_tickets.tasks\n"
        "import grove_tickets.session\n"
        "print(*sorted({'tree_sitter', 'subprocess', 'shutil', 'grove_tickets.shell'} & set(sys.modules)))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ)).stdout  # fmt: skip
    assert output.strip() == ""
