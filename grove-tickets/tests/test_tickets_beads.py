"""beads: where its store lies, which issue is in progress, and whether a close happened."""

import json

import pytest

from grove_core import Confirmation, Ticket, TicketClose, ToolResult
from grove_tickets import beads

confirm = beads.grove_close_matchers()[0].confirm
YES, NO, UNKNOWN = Confirmation.YES, Confirmation.NO, Confirmation.UNKNOWN
FAILURE = ToolResult(succeeded=False, error="Exit code 1")


def success(stdout="", stderr=""):
    return ToolResult(succeeded=True, response={"stdout": stdout, "stderr": stderr})


def close(ticket_id="bd-1", directory=None):
    directory = None if directory is None else str(directory)
    return TicketClose(system="beads", ticket_id=ticket_id, directory=directory)


def make_store(parent, *names):
    directory = parent / ".beads"
    directory.mkdir(parents=True)
    for name in names:
        if "." in name or name == "redirect":
            (directory / name).write_text("{}")
        else:
            (directory / name).mkdir()
    return directory


@pytest.fixture
def store(project):
    return make_store(project, "metadata.json")


def marker(context):
    detection = beads.detect(context)
    return None if detection is None else detection.marker


class TestDetection:
    @pytest.mark.parametrize(
        ("name", "is_found"),
        [
            ("metadata.json", True),
            ("config.yaml", True),
            ("beads.db", True),
            ("dolt", True),
            ("embeddeddolt", True),
            ("acme.db", True),
            ("README.md", False),
            ("redirect", False),
        ],
    )
    def test_what_makes_a_store(self, name, is_found, project, make_context):
        assert beads.detect(make_context()) is None
        found = make_store(project, name)
        assert marker(make_context()) == (str(found) if is_found else None)

    def test_the_nearest_one_up_to_the_top_of_the_repository(self, project, git, make_context):
        outer, deep = make_store(project, "config.yaml"), project / "a" / "b"
        deep.mkdir(parents=True)
        assert marker(make_context(deep)) == str(outer)
        git("init", "-q", cwd=project / "a")
        assert marker(make_context(deep)) is None
        inner = make_store(project / "a", "config.yaml")
        assert marker(make_context(deep)) == str(inner)

    def test_the_variable_comes_first(self, project, tmp_path, make_context):
        own = make_store(project, "config.yaml")
        named = make_store(tmp_path / "other", "beads.db")
        assert marker(make_context(BEADS_DIR=str(named))) == str(named)
        assert marker(make_context(BEADS_DIR="/nowhere")) == str(own)

    def test_a_redirect_is_followed_once_and_ignored_where_it_dangles(
        self, project, tmp_path, make_context
    ):
        own = make_store(project, "config.yaml")
        make_store(tmp_path / "third", "beads.db")
        target = make_store(tmp_path / "other", "beads.db")
        (own / "redirect").write_text("# moved\n\n../other/.beads\n")
        (target / "redirect").write_text("../third/.beads\n")
        assert marker(make_context()) == str(target)
        (own / "redirect").write_text("../gone/.beads\n")
        assert marker(make_context()) == str(own)

    def test_a_work_tree_shares_the_main_store_unless_it_has_a_database(
        self, project, repository, tmp_path, git, make_context
    ):
        tree = tmp_path / "tree"
        main = make_store(project, "metadata.json")
        git("add", "-A")
        git("commit", "-q", "-m", "store")
        git("worktree", "add", "-q", tree)
        (tree / "below").mkdir()
        assert marker(make_context(tree / "below")) == str(main)
        (tree / ".beads" / "embeddeddolt").mkdir()
        assert marker(make_context(tree)) == str(tree / ".beads")
        target = make_store(tmp_path / "other", "beads.db")
        (tree / ".beads" / "redirect").write_text("../other/.beads")
        assert marker(make_context(tree)) == str(target)

    def test_a_work_tree_whose_main_tree_has_no_store(
        self, repository, tmp_path, git, make_context
    ):
        git("worktree", "add", "-q", tmp_path / "tree")
        own = make_store(tmp_path / "tree", "config.yaml")
        assert marker(make_context(tmp_path / "tree")) == str(own)

    def test_a_work_tree_of_a_bare_repository(self, repository, tmp_path, git, make_context):
        git("clone", "-q", "--bare", repository, tmp_path / "bare.git")
        git("worktree", "add", "-q", tmp_path / "tree", cwd=tmp_path / "bare.git")
        expected = make_store(tmp_path / "bare.git", "config.yaml")
        assert marker(make_context(tmp_path / "tree")) == str(expected)

    def test_a_submodule_is_a_repository_of_its_own(self, repository, tmp_path, git, make_context):
        make_store(repository, "config.yaml")
        git("clone", "-q", repository, tmp_path / "inner")
        git("submodule", "-q", "add", tmp_path / "inner", "sub")
        assert marker(make_context(repository / "sub")) is None
        own = make_store(repository / "sub", "config.yaml")
        assert marker(make_context(repository / "sub")) == str(own)

    def test_a_broken_git_file(self, project, make_context):
        (project / ".git").write_text("nonsense \x00")
        expected = make_store(project, "config.yaml")
        assert marker(make_context()) == str(expected)


class TestConfirmFromOutput:
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
            assert confirm(close(), success(text), make_context()) is YES
            assert confirm(close("bd-2"), success(text), make_context()) is UNKNOWN
            is_open = success(text.replace("closed", "open"))
            assert confirm(close(), is_open, make_context()) is UNKNOWN

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
    def test_of_a_server(self, response, answer, make_context):
        result = ToolResult(succeeded=True, response=response)
        assert confirm(close(), result, make_context()) is answer


class TestConfirmFromFiles:
    @pytest.mark.parametrize("name", ["issues.jsonl", "beads.jsonl"])
    @pytest.mark.parametrize("result", [success(), FAILURE, None])
    def test_an_export_proves_a_close_and_nothing_else(
        self, result, name, store, write_jsonl, make_context
    ):
        expected = NO if result is FAILURE else UNKNOWN
        for status, answer in (("open", expected), ("closed", YES), ("open", expected)):
            write_jsonl(store / name, ["torn {", {"id": "bd-1", "status": status}])
            assert confirm(close(), result, make_context()) is answer
            assert confirm(close("1"), result, make_context()) is answer

    def test_the_store_of_another_directory(self, store, project, write_jsonl, make_context):
        other = make_store(project / "other", "beads.db")
        write_jsonl(other / "issues.jsonl", [{"id": "bd-1", "status": "closed"}])
        context = make_context(BEADS_DIR=str(store))
        assert confirm(close(directory=other.parent), success(), context) is YES
        assert confirm(close(), success(), context) is UNKNOWN


READ = "list --json --readonly"
NOTE = 'echo "$@" > "$HOME/asked"'


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
    def test_answers(self, answer, confirmation, store, install, make_context):
        context = make_context(PATH=install("bd", f"echo '{answer}'"))
        assert confirm(close(), success(), context) is confirmation

    def test_what_it_says_comes_before_an_export_that_lags(
        self, store, write_jsonl, install, make_context
    ):
        write_jsonl(store / "issues.jsonl", [{"id": "bd-1", "status": "closed"}])
        path = install("bd", """echo '[{"id": "bd-1", "status": "open"}]'""")
        assert confirm(close(), None, make_context(PATH=path)) is NO

    def test_how_it_is_asked(self, store, project, install, make_context):
        sub = project / "sub"
        sub.mkdir()
        daemon = "$BEADS_NO_DAEMON $BEADS_AUTO_START_DAEMON $BEADS_DOLT_AUTO_START"
        path = install("bd", f'echo "$PWD" "$@" {daemon} > "$HOME/asked"; exit 1')
        context = make_context(PATH=path, HOME=str(project))
        # An id that looks like a flag is handed on as a value.
        assert confirm(close("--db=x", sub), success(), context) is UNKNOWN
        assert (project / "asked").read_text() == f"{sub} {READ} --all --id=--db=x 1 false 0\n"

    @pytest.mark.parametrize(
        "script", ["exit 1", "kill -9 $$", "head -c 100000 /dev/zero", "\0ELF"]
    )
    def test_failures(self, script, store, install, make_context):
        context = make_context(PATH=install("bd", script))
        assert confirm(close(), success(), context) is UNKNOWN
        assert confirm(close(), FAILURE, context) is NO

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
            ('{"dolt_mode": "proxied-server"}', "", False),
            ('{"dolt_mode": "something new"}', "", False),
            ('["dolt_mode"]', "", False),
            ("[" * 40_000, "", False),
            ('{"x": "' + "x" * 70_000 + '"}', "", False),
        ],
    )
    def test_only_a_running_server_on_this_machine_is_asked(
        self, metadata, host, is_asked, store, install, make_context
    ):
        (store / "metadata.json").write_text(metadata)
        path = install("bd", NOTE)
        context = make_context(PATH=path, HOME=str(store), BEADS_DOLT_SERVER_HOST=host)
        assert confirm(close(), success(), context) is UNKNOWN
        assert beads.current_ticket(context) is None
        assert (store / "asked").exists() == is_asked

    def test_without_a_store_nothing_is_asked(self, install, project, make_context):
        context = make_context(PATH=install("bd", NOTE), HOME=str(project))
        assert confirm(close(), success(), context) is UNKNOWN
        assert beads.current_ticket(context) is None
        assert not (project / "asked").exists()


ISSUE = {"id": "bd-1", "title": "T", "description": "D", "status": "open", "labels": ["x"]}
TICKET = Ticket(ticket_id="bd-1", source="beads", title="T", description="D", labels=("x",))


class TestCurrentTicket:
    def test_the_one_touched_last_until_it_is_closed(self, store, write_jsonl, make_context):
        assert beads.current_ticket(make_context()) is None
        (store / "last-touched").write_text("bd-1\n")
        write_jsonl(store / "issues.jsonl", [{"id": "bd-2"}, ISSUE])
        assert beads.current_ticket(make_context()) == TICKET
        write_jsonl(store / "issues.jsonl", [{**ISSUE, "status": "closed"}])
        assert beads.current_ticket(make_context()) is None

    def test_without_an_export_bd_is_asked(self, store, install, project, make_context):
        (store / "last-touched").write_text("bd-9\n")
        path = install("bd", f"{NOTE}; echo '{json.dumps([ISSUE])}'")
        context = make_context(PATH=path, HOME=str(project))
        assert beads.current_ticket(context) == TICKET
        assert (project / "asked").read_text() == f"{READ} --status in_progress\n"
