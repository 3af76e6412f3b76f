"""`grove init`: hooks, rules and the guide, in a project and out of it again."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from core_worlds import run_program, write_file
from terminal import on_terminal
from world import listing

from grove_hosts.claude_code.hooks import hook_groups, with_gates

PLUGIN = Path(__file__).parents[2] / "plugin"
PROGRAM = str(Path(sys.executable).with_name("grove"))
PLAIN = "Bash|TaskUpdate|TodoWrite|mcp__.*"
FILES = "Read|Edit|Write|MultiEdit|NotebookEdit"


@pytest.fixture
def world(world):
    """Commands may write to the project's settings of the client."""
    world.lent += [world.project / ".claude", world.project / ".mcp.json"]
    return world


def run(world, *words, code=0, **options):
    done = world.grove("init", *words, **options)
    assert done.code == code, done.stderr
    return done.stdout, done.stderr


def run_json(world, *words, code=0, **variables):
    return json.loads(run(world, *words, "--json", code=code, **variables)[0])


@pytest.fixture
def local(world):
    return world.project / ".claude" / "settings.local.json"


@pytest.fixture
def shared(world):
    return world.project / ".claude" / "settings.json"


def hooks_of(path):
    return json.loads(path.read_text())["hooks"]


def test_a_repository_below_a_project_is_its_own(world):
    inner = world.project / "inner"
    (inner / "src").mkdir(parents=True)
    (world.project / ".grove").mkdir()
    subprocess.run(["git", "init", "-q", inner], check=True)
    world.lent.append(inner)
    out, _ = run(world, cwd=inner / "src")
    assert out.splitlines()[0] == f"project {inner}"
    assert f"note: {world.project} has a .grove, too: that is another project" in out
    assert (inner / ".grove" / "config.toml").is_file()


def test_git_is_asked(world, local):
    subprocess.run(["git", "init", "-q", world.project], check=True)
    (world.project / ".gitignore").write_text("*.jsonl\n")
    out, _ = run(world, "--hooks")
    assert "ignores .grove/stats/DAY.jsonl by the rule *.jsonl (.gitignore, line 1)" in out
    assert "git leaves it out here" in out
    status = ["git", "status", "--porcelain", "--untracked-files=all"]
    found = subprocess.run(status, cwd=world.project, capture_output=True, check=True).stdout
    assert b".grove/config.toml" in found
    assert b".claude" not in found
    attributes = (world.project / ".grove" / ".gitattributes").read_text().splitlines()
    assert attributes == ["*.jsonl merge=union", "stats/* linguist-generated -diff"]


def test_what_is_there_stays_and_a_second_run_changes_nothing(world, local):
    local.parent.mkdir()
    text = '{\n    "model": "opus",\n    "hooks": {\n        "Stop": []\n    }\n}\n'
    local.write_text(text)
    assert '+                        "command": "' in run(world, "--hooks", "--dry-run")[0]
    out, _ = run(world, "--hooks")
    assert '"command": "' not in out
    assert "changed .claude/settings.local.json" in out
    assert local.read_text().startswith(
        '{\n    "model": "opus",\n    "hooks": {\n        "Stop": ['
    )
    world.grove("plugins")  # what is known of the installed plugins is kept from here on
    before = listing(world.folder, apart_from=[world.grove_home / "cache"])
    again = run_json(world, "--hooks")
    assert again["changes"] == []
    assert any("holds the hooks already" in one for one in again["notes"])
    assert listing(world.folder, apart_from=[world.grove_home / "cache"]) == before


def test_a_dry_run_shows_and_does_nothing(world):
    before = listing(world.project, apart_from=[world.project / ".grove"])
    out, _ = run(world, "--hooks", "--rules", "--dry-run")
    assert "+++ .claude/settings.local.json" in out
    assert "would be created: .grove/config.toml" in out
    assert listing(world.project, apart_from=[world.project / ".grove"]) == before
    assert not (world.project / ".grove").exists()
    assert not (world.grove_home / "program").exists()


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{\n  "model": "opus"\n  "env": {}\n}', "line 3, column 3"),
        ('{"hooks": []}', "hooks must be an object"),
    ],
)
def test_settings_that_cannot_be_read_are_named_and_not_touched(world, local, text, where):
    write_file(local, text)
    _, err = run(world, "--hooks", code=1)
    assert f"{local}: {where}" in err
    assert local.read_text() == text
    assert not (world.project / ".grove").exists()
    assert not (world.grove_home / "program").exists()


def test_nothing_is_added_beside_the_plugin(world, local):
    installed = world.home / ".claude" / "plugins" / "installed_plugins.json"
    installed.parent.mkdir(parents=True)
    installed.write_text(
        json.dumps({"version": 2, "plugins": {"grove@here": [{"installPath": str(PLUGIN)}]}})
    )
    settings = world.home / ".claude" / "settings.json"
    settings.write_text('{"enabledPlugins": {"grove@here": true}}')
    out, _ = run(world, "--hooks", "--allow-grove")
    assert f"run already, by plugin {PLUGIN}/hooks/hooks.json" in out
    assert not local.exists()
    assert (world.project / ".grove").exists()


def test_a_status_line_is_added_where_there_is_none(world, local):
    run(world, "--hooks", "--statusline")
    line = json.loads(local.read_text())["statusLine"]
    assert line == {"type": "command", "command": f"{PROGRAM} statusline"}
    run(world, "--uninstall")
    assert not local.exists()
    own = write_file(
        world.home / ".claude" / "settings.json",
        '{"statusLine": {"type": "command", "command": "mine"}}',
    )
    assert f"{own} has a status line" in run(world, "--hooks", "--statusline")[0]
    assert "statusLine" not in json.loads(local.read_text())


def test_a_persons_hooks_for_all_projects_and_the_teams_are_both_written(world):
    world.lent += [world.project / ".codex", world.home]
    own, team = (one / ".codex" / "hooks.json" for one in (world.home, world.project))
    write_file(own, "{} \n")
    for order in ([], ["--shared"]), (["--shared"], []):
        run(world, "--hooks", "codex", *order[0])
        run(world, "--hooks", "codex", *order[1])
        assert [*hooks_of(own)] == [*hooks_of(team)]
        run(world, "--uninstall", "--hooks", "codex", "--shared")
        assert (own.read_text(), team.exists()) == ("{} \n", False)


@pytest.mark.parametrize("host", ["copilot", "gemini", "qwen"])
def test_what_one_project_needs_stays_where_another_sets_up_the_same_file(world, host):
    inner = world.project / "inner"
    (inner / ".grove").mkdir(parents=True)
    world.lent += [inner, world.home]
    world.initialise('[gates.review]\ntools = ["NotebookEdit"]\n')
    run(world, "--hooks", host)
    before = listing(world.home, apart_from=[world.grove_home])
    assert "otebook" in str(before)
    run(world, "--hooks", host, cwd=inner)
    assert listing(world.home, apart_from=[world.grove_home]) == before


def test_a_changed_rule_file_is_never_overwritten(world):
    written = world.project / ".claude" / "rules" / "grove.md"
    run(world, "--rules")
    assert written.read_bytes() == (PLUGIN / "rules" / "compound-gate.md").read_bytes()
    written.write_text("mine\n")
    assert "kept" in run(world, "--rules")[0]
    assert "kept" in run(world, "--uninstall")[0]
    assert written.read_text() == "mine\n"


def test_a_skill_that_several_clients_read_is_written_and_taken_once(world):
    skill = world.project / ".agents" / "skills" / "grove" / "SKILL.md"
    world.lent += [world.project / ".agents", world.home]
    clients = ("--hooks", "codex", "--hooks", "copilot")
    run(world, *clients, "--rules")
    assert "# grove: reflect once" in skill.read_text()
    skill.write_text("grove, in words of mine\n")
    out, _ = run(world, "--uninstall")
    assert out.count("SKILL.md was changed since") == 1
    skill.unlink()
    run(world, *clients, "--rules")
    run(world, "--uninstall")
    assert not (world.project / ".agents").exists()


def test_rules_that_are_committed_go_only_with_what_is_shared(world):
    subprocess.run(["git", "init", "-q", world.project], check=True)
    run(world, "--rules")
    rules = world.project / ".claude" / "rules" / "grove.md"
    subprocess.run(["git", "add", rules], cwd=world.project, check=True)
    out, _ = run(world, "--uninstall")
    assert rules.exists()
    assert "--shared takes grove out of it" in out
    run(world, "--uninstall", "--shared")
    assert not rules.exists()


def test_an_uninstall_leaves_the_rules_of_the_clone_as_they_were(world):
    subprocess.run(["git", "init", "-q", world.project], check=True)
    rules = world.project / ".git" / "info" / "exclude"
    rules.parent.mkdir(exist_ok=True)
    rules.write_text("*.log\n")
    run(world, "--hooks")
    assert rules.read_text() == "*.log\n# by grove init\n/.claude/settings.local.json\n"
    rules.write_text(f"{rules.read_text()}mine\n")
    run(world, "--uninstall")
    assert rules.read_text() == "*.log\nmine\n"


def test_an_uninstall_that_cannot_do_everything_does_nothing(world, local):
    run(world, "--hooks", "--rules")
    text = local.read_text()
    local.write_text(text[:-3])
    before = listing(world.project, apart_from=[world.project / ".grove"])
    _, complaint = run(world, "--uninstall", code=1)
    assert f"{local}: line" in complaint
    assert listing(world.project, apart_from=[world.project / ".grove"]) == before
    local.write_text(text)
    run(world, "--uninstall")
    assert not (world.project / ".claude").exists()


def test_hooks_are_known_by_their_command_and_the_teams_stay(world, local, shared):
    run(world, "--hooks")
    shared.write_bytes(local.read_bytes())
    document = run_json(world, "--uninstall")
    assert not local.exists()
    assert "Stop" in hooks_of(shared)
    assert any("--shared" in note for note in document["notes"])
    run(world, "--uninstall", "--shared")
    assert not shared.exists()


SETTINGS = ".claude/settings.local.json"


QUESTIONS = (
    "Hooks for Claude Code (own, team, none) [own]:",
    "Set grove up like this? [Y/n]:",
)


def converse(world, *answers):
    """The code and the screen of `grove init`, whose questions are answered in turn."""
    return on_terminal(world, "init", answers=[(r"\]: $", one) for one in answers])


@pytest.fixture
def project(world):
    world.use_beads()
    world.make_git()
    return world


def test_who_agrees_to_everything_that_is_proposed_is_set_up(project):
    code, shown = converse(project, *["\n"] * 2)
    assert code == 0
    positions = [shown.index(question) for question in QUESTIONS]
    assert positions == sorted(positions)
    for word in (
        f"  create {SETTINGS}\n",
        "Next: commit .grove, and start a session of the client here",
    ):
        assert word in shown, word
    # All that grove has, and what the installed gate needs to see besides.
    assert len(hooks_of(project.project / SETTINGS)) == 8 + 1
    assert "permissions" not in json.loads((project.project / SETTINGS).read_text())
    assert (project.project / ".grove" / "config.toml").exists()
    assert (project.grove_home / "program").read_text() == f"{PROGRAM}\n"
    assert not (project.project / ".claude" / "rules").exists()


def test_every_event_has_a_hook_that_names_the_program_itself(world, local, shared):
    run(world, "--hooks")
    expected = with_gates(hook_groups(PROGRAM, ()), PROGRAM, (), ["grove:reviewer"])
    assert hooks_of(local) == expected
    assert (world.project / ".grove" / "config.toml").exists()
    (hook,) = hooks_of(local)["SessionStart"][0]["hooks"]
    done = run_program(
        ["sh", "-c", hook["command"]],
        input=json.dumps({"session_id": "session-1", "cwd": str(world.project)}),
        env=world.environment,
        cwd=world.project,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert world.session()["id"] == "session-1"
    run(world, "--uninstall")
    run(world, "--hooks", "--shared")
    assert (hooks_of(shared), local.exists()) == (expected, False)


@pytest.mark.parametrize(
    ("command", "conditions"),
    [
        ("", ["Bash(*bd*)", "Bash(*bash*)", "Bash(sh *)", "Bash(*reviewer*)"]),
        (
            "bin/acme.sh close {id}",
            ["Bash(*acme*)", "Bash(*bd*)", "Bash(*sh*)", "Bash(*reviewer*)"],
        ),
        ("make|just close TICKET={id}", None),
    ],
)
def test_hooks_of_the_shell_are_narrowed_to_what_closes_tickets_here(
    world, local, command, conditions
):
    world.use_beads()
    pattern = f'[[ticketing.patterns]]\nname = "acme"\ncommand = "{command}"\n'
    world.initialise(pattern if command else "")
    run(world, "--hooks")
    for event in ("PreToolUse", "PostToolUse", "PostToolUseFailure"):
        shell, *others = hooks_of(local)[event]
        if conditions is None:
            assert shell["matcher"] == PLAIN
        else:
            assert shell["matcher"] == "Bash"
            assert [hook["if"] for hook in shell["hooks"]] == conditions
            assert others[0]["matcher"] == "TaskUpdate|TodoWrite|mcp__.*"
            assert "if" not in others[0]["hooks"][0]
        assert [one["matcher"] for one in others][-1:] == [FILES] or event != "PostToolUse"


def test_without_the_clients_adapter_it_is_said_what_blocks_it(world):
    only = {"GROVE_PLUGINS": "markdown"}
    complaint = run(world, "--hooks", code=1, **only)[1]
    assert "blocked: GROVE_PLUGINS does not name it" in complaint
    done = world.grove("hook", "session-start", stdin="{}", **only)
    assert "no adapter for claude-code can be used" in done.stderr


def test_options_that_do_not_go_together_are_usage_errors(world):
    for words in (
        ("--hooks", "emacs"),
        ("--shared",),
        ("--allow-grove",),
        ("--server",),
        ("--statusline",),
        ("--uninstall", "--rules"),
    ):
        run(world, *words, code=2)
    assert list(world.project.iterdir()) == []


def test_a_merge_driver_of_an_older_grove_is_taken_out(project):
    """Of 0.1: no command is left that it could run."""
    before = (project.project / ".git" / "config").read_bytes()
    driver = "grove merge-driver %O %A %B -- %P; case $? in 0) ;; 65) exit 1;; esac"
    attributes = project.project / ".grove" / ".gitattributes"
    attributes.parent.mkdir()
    stats = "stats/* linguist-generated -diff\n"
    for text in (f"*.jsonl merge=union\n{stats}", f"*.jsonl merge=ours\n# mine\n{stats}"):
        project.git("config", "merge.grove.name", "learnings of grove, merged entry by entry")
        project.git("config", "merge.grove.driver", driver)
        attributes.write_text(f"{text}learnings.md merge=grove\nlearnings/*.md merge=grove\n")
        run(project)
        assert (project.project / ".git" / "config").read_bytes() == before
        assert attributes.read_text() == text
    project.git("config", "merge.grove.driver", "somebody-elses %A %B")
    run(project)
    assert "somebody-elses" in project.git("config", "--list")


def test_a_no_changes_nothing(project):
    before = listing(project.folder, apart_from=[project.grove_home])
    code, shown = converse(project, "\n", "no\n")
    assert code == 1
    assert shown.endswith("\ngrove: nothing was changed\n")
    assert listing(project.folder, apart_from=[project.grove_home]) == before
