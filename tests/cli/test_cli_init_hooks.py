"""`grove init --hooks`, `--rules` and `--uninstall` as processes, in a project and out of it again."""

import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parents[2] / "plugin"
PROGRAM = str(Path(sys.executable).with_name("grove"))
RULE = "Bash(grove *)"
PLAIN = "Bash|TaskUpdate|TodoWrite|mcp__.*"
FILES = "Read|Edit|Write|MultiEdit|NotebookEdit"


def run(world, *words, code=0, cwd=None, **variables):
    """Runs `grove init` unwatched: it may write to the client's settings."""
    process = world.start("init", *words, cwd=cwd, **variables)
    out, err = process.communicate(timeout=60)
    assert process.returncode == code, err.decode()
    return out.decode(), err.decode()


def run_json(world, *words, code=0, **variables):
    return json.loads(run(world, *words, "--json", code=code, **variables)[0])


def tree(folder):
    """Every entry of a folder with its bytes, grove's own directory apart."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if ".grove" not in path.parts
    }


@pytest.fixture
def local(world):
    return world.project / ".claude" / "settings.local.json"


@pytest.fixture
def shared(world):
    return world.project / ".claude" / "settings.json"


def hooks_of(path):
    return json.loads(path.read_text())["hooks"]


# --- hooks --------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("--hooks",), ("--hooks", "claude-code")])
def test_the_hooks_are_those_of_the_plugin_with_the_program_itself(world, local, words):
    run(world, *words)
    expected = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    for groups in expected.values():
        for group in groups:
            for hook in group["hooks"]:
                assert hook["command"] == "${CLAUDE_PLUGIN_ROOT}/bin/grove-hook"
                hook["command"] = PROGRAM
                hook["args"].insert(0, "hook")
    assert hooks_of(local) == expected
    assert (world.project / ".grove" / "config.toml").exists()


def test_shared_hooks_go_into_the_settings_that_are_committed(world, local, shared):
    run(world, "--hooks", "--shared")
    assert "Stop" in hooks_of(shared)
    assert not local.exists()


def test_what_is_there_stays_and_a_second_run_changes_nothing(world, local):
    local.parent.mkdir()
    text = '{\n    "model": "opus",\n    "hooks": {\n        "Stop": []\n    }\n}\n'
    local.write_text(text)
    out, _ = run(world, "--hooks")
    assert '+                        "command": "' in out
    assert "changed .claude/settings.local.json" in out
    assert local.read_text().startswith(
        '{\n    "model": "opus",\n    "hooks": {\n        "Stop": ['
    )
    world.grove("plugins")  # what is known of the installed plugins is kept from here on
    before = tree(world.folder)
    again = run_json(world, "--hooks")
    assert again["changes"] == []
    assert any("the hooks are there already, nothing changed" in one for one in again["notes"])
    assert not any("--allow-grove" in one for one in again["notes"])
    assert tree(world.folder) == before


def test_the_registered_commands_run(world, local):
    run(world, "--hooks")
    for groups in hooks_of(local).values():
        (hook,) = groups[0]["hooks"]
        done = subprocess.run(
            [hook["command"], *hook["args"]],
            input=json.dumps({"session_id": "session-1", "cwd": str(world.project)}),
            env=world.environment,
            cwd=world.project,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
    assert world.session()["id"] == "session-1"


@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse", "PostToolUseFailure"])
def test_hooks_of_the_shell_are_narrowed_to_the_ticket_systems_in_use(world, local, event):
    world.use_beads()
    run(world, "--hooks")
    shell, others, *of_files = hooks_of(local)[event]
    assert shell["matcher"] == "Bash"
    conditions = [hook["if"] for hook in shell["hooks"]]
    assert conditions == ["Bash(*bd*)", "Bash(*bash*)", "Bash(sh *)"]
    assert others["matcher"] == "TaskUpdate|TodoWrite|mcp__.*"
    assert "if" not in others["hooks"][0]
    assert [group["matcher"] for group in of_files] == [FILES] * (event == "PostToolUse")
    assert all(group["hooks"] == others["hooks"] for group in of_files)


def test_without_a_ticket_system_and_with_too_many_words_nothing_is_narrowed(world, local):
    run(world, "--hooks")
    assert [group["matcher"] for group in hooks_of(local)["PreToolUse"]] == [PLAIN]
    world.use_beads()
    source = (
        "from grove_core import CloseMatcher, Detection, TicketProbe, hookimpl\n"
        "@hookimpl\n"
        "def grove_ticket_probes():\n"
        "    return [TicketProbe(name='many', detect=lambda _: Detection(marker='here'))]\n"
        "@hookimpl\n"
        "def grove_close_matchers():\n"
        "    return [CloseMatcher(system='many', literals=('a', 'b', 'c'), tools=('Ba*',),\n"
        "                         match=lambda *_: ())]\n"
    )
    world.install_plugin("grove_many", source, group="grove.tickets")
    run(world, "--hooks")
    assert [group["matcher"] for group in hooks_of(local)["PreToolUse"]] == [PLAIN]


@pytest.mark.parametrize(
    ("command", "conditions"),
    [
        ("bin/acme.sh close {id}", ["Bash(*acme*)", "Bash(*bd*)", "Bash(*sh*)"]),
        ("bd-tool close {id}", ["Bash(*bd*)", "Bash(*bash*)", "Bash(sh *)"]),
        ("make|just close TICKET={id}", None),
    ],
)
def test_commands_of_a_teams_own_are_among_what_hooks_are_narrowed_to(
    world, local, command, conditions
):
    world.use_beads()
    world.initialise(f'[[ticketing.patterns]]\nname = "acme"\ncommand = "{command}"\n')
    run(world, "--hooks")
    groups = hooks_of(local)["PreToolUse"]
    if conditions is None:
        assert [group["matcher"] for group in groups] == [PLAIN]
    else:
        assert [hook["if"] for hook in groups[0]["hooks"]] == conditions


def test_what_is_off_narrows_nothing(world, local):
    """A system that is off unless switched on wakes no hook, whatever marks it."""
    world.install_plugin("grove_forge", FORGE, group="grove.tickets")
    world.use_beads()
    run(world, "--hooks")
    (shell, _) = hooks_of(local)["PreToolUse"]
    assert "Bash(*forge*)" not in [hook["if"] for hook in shell["hooks"]]
    (world.project / ".grove" / "config.toml").write_text("[ticketing.overrides]\nforge = true\n")
    run(world, "--hooks")
    (shell, _) = hooks_of(local)["PreToolUse"]
    conditions = [hook["if"] for hook in shell["hooks"]]
    assert conditions == ["Bash(*bd*)", "Bash(*forge*)", "Bash(*sh*)"]


FORGE = """
from grove_core import CloseMatcher, Detection, Participation, TicketProbe, hookimpl

@hookimpl
def grove_ticket_probes():
    return [
        TicketProbe(
            name="forge",
            detect=lambda _: Detection(marker="here"),
            participation=Participation.ENABLED,
        )
    ]

@hookimpl
def grove_close_matchers():
    return [CloseMatcher(system="forge", literals=("forge",), tools=("Bash",), match=lambda *_: ())]
"""


def test_a_ticket_system_that_came_later_is_taken_in(world, local):
    run(world, "--hooks")
    world.use_beads()
    before = hooks_of(local)
    run(world, "--hooks")
    after = hooks_of(local)
    assert "if" in after["PreToolUse"][0]["hooks"][0]
    assert {**after, "PreToolUse": 0, "PostToolUse": 0, "PostToolUseFailure": 0} == {
        **before, "PreToolUse": 0, "PostToolUse": 0, "PostToolUseFailure": 0
    }  # fmt: skip


def test_a_dry_run_shows_and_does_nothing(world):
    before = tree(world.project)
    out, _ = run(world, "--hooks", "--rules", "--dry-run")
    assert "+++ b/.claude/settings.local.json" in out
    assert "would be created: .claude/settings.local.json" in out
    assert "would be created: .grove/config.toml" in out
    assert "would be created: .grove/learnings.md" in out
    assert tree(world.project) == before
    assert not (world.project / ".grove").exists()
    assert not (world.grove_home / "program").exists()
    assert not (world.grove_home / "installed").exists()


def test_a_dry_run_and_the_run_name_the_same_files(world):
    dry = run_json(world, "--dry-run")
    real = run_json(world)
    assert sorted(dry["created"]) == sorted(real["created"])
    again, _ = run(world)
    again_dry, _ = run(world, "--dry-run")
    kept = re.findall(r"^kept +(.+)$", again, re.MULTILINE)
    assert re.findall(r"^would be kept: (.+)$", again_dry, re.MULTILINE) == kept
    assert ".grove/learnings.md" in kept


def test_the_permission_rule_is_advice_unless_it_is_asked_for(world, local):
    out, _ = run(world, "--hooks")
    assert "--allow-grove" in out
    assert "permissions" not in json.loads(local.read_text())
    out, _ = run(world, "--hooks", "--allow-grove")
    assert json.loads(local.read_text())["permissions"] == {"allow": [RULE]}
    assert "--allow-grove" not in run(world, "--hooks")[0]


@pytest.mark.parametrize(
    "words",
    [
        ("--hooks", "cursor"),
        ("--shared",),
        ("--allow-grove",),
        ("--uninstall", "--hooks"),
        ("--uninstall", "--rules"),
        ("--uninstall", "--allow-grove"),
    ],
)
def test_options_that_do_not_go_together_are_usage_errors(world, words):
    before = tree(world.project)
    run(world, *words, code=2)
    assert tree(world.project) == before


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{\n  "model": "opus"\n  "env": {}\n}', "line 3, column 3"),
        ('{"hooks": []}', "hooks must be an object"),
    ],
)
def test_settings_that_cannot_be_read_are_named_and_not_touched(world, local, text, where):
    local.parent.mkdir()
    local.write_text(text)
    _, err = run(world, "--hooks", code=1)
    assert f"{local}: {where}" in err
    assert where in run_json(world, "--hooks", code=1)["error"]
    assert local.read_text() == text
    assert not (world.project / ".grove").exists()
    assert not (world.grove_home / "program").exists()


def test_settings_behind_a_link_out_of_the_project_are_not_touched(world, local):
    outside = world.home / "dotfiles.json"
    outside.write_text("{}")
    local.parent.mkdir()
    local.symlink_to(outside)
    _, err = run(world, "--hooks", code=1)
    assert str(outside) in err
    assert outside.read_text() == "{}"
    assert not (world.project / ".grove").exists()


def test_a_link_that_leads_to_nothing_is_refused_and_stays(world, local):
    local.parent.mkdir()
    local.symlink_to("elsewhere.json")
    _, err = run(world, "--hooks", code=1)
    assert f"{local} is a symbolic link to " in err
    assert local.is_symlink()
    assert not (world.project / ".grove").exists()
    run(world, "--uninstall")
    assert local.is_symlink()


def test_a_link_is_not_taken_for_the_file_that_init_made(world, local):
    run(world, "--hooks")
    moved = local.with_name("elsewhere.json")
    local.rename(moved)
    local.symlink_to(moved.name)
    run(world, "--uninstall")
    assert local.is_symlink()
    assert json.loads(moved.read_text()) == {}


def test_a_link_of_the_folder_that_leads_to_nothing_is_refused(world, local):
    local.parent.symlink_to("nowhere")
    _, err = run(world, "--hooks", code=1)
    assert f"{local.parent} is a symbolic link to " in err
    assert not (world.project / ".grove").exists()


# --- what git and the permissions say -----------------------------------------------------------

IGNORED = "git does not ignore .claude/settings.local.json"


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_settings_that_git_does_not_ignore_are_named(world, dry):
    world.make_git()
    out, _ = run(world, "--hooks", *dry)
    (line,) = [one for one in out.splitlines() if IGNORED in one]
    assert "add that line to .gitignore or .git/info/exclude" in line
    assert not (world.project / ".gitignore").exists()


def test_settings_that_git_ignores_are_not_named(world):
    assert IGNORED not in run(world, "--hooks")[0]  # no repository
    run(world, "--uninstall")
    world.make_git()
    assert IGNORED in run(world, "--hooks")[0]
    assert IGNORED not in run(world)[0]
    (world.project / ".gitignore").write_text("*.local.json\n")
    assert IGNORED not in run(world, "--hooks")[0]


@pytest.mark.parametrize(
    "line", ["/.claude/settings.local.json", ".claude/", "settings.local.json"]
)
def test_without_git_its_files_are_read(world, line):
    world.make_git()
    nothing = {"PATH": str(world.others)}
    assert IGNORED in run(world, "--hooks", **nothing)[0]
    (world.project / ".git" / "info").mkdir(exist_ok=True)
    (world.project / ".git" / "info" / "exclude").write_text(f"# mine\n{line}\n")
    assert IGNORED not in run(world, "--hooks", **nothing)[0]


def test_shared_settings_are_to_be_committed(world):
    world.make_git()
    first, again = (run(world, "--hooks", "--shared")[0] for _ in range(2))
    assert "created .claude/settings.json" in first
    assert "git does not ignore" not in first + again


@pytest.mark.parametrize("rule", ["Bash(grove *)", "Bash(grove:*)", "Bash"])
def test_a_permission_is_not_added_beside_a_rule_that_denies_it(world, local, shared, rule):
    shared.parent.mkdir()
    shared.write_text(json.dumps({"permissions": {"deny": [rule]}}))
    out, _ = run(world, "--hooks", "--allow-grove")
    assert f"the client's settings deny {rule}: a deny rule wins" in out
    assert "permissions" not in json.loads(local.read_text())
    _, shown = on_terminal(world, "--hooks", "--shared", answers="y\n")
    assert "--allow-grove" not in shown
    assert "[y/N]" not in shown


def test_a_rule_that_denies_one_command_is_named_and_leaves_the_others(world, local):
    local.parent.mkdir()
    local.write_text(json.dumps({"permissions": {"deny": ["Bash(grove skip:*)", "Bash(rm *)"]}}))
    out, _ = run(world, "--hooks", "--allow-grove")
    assert "the client's settings deny Bash(grove skip:*): a deny rule wins" in out
    assert json.loads(local.read_text())["permissions"]["allow"] == [RULE]


# --- what is there already ----------------------------------------------------------------------


def test_nothing_is_added_beside_the_plugin(world, local):
    installed = world.home / ".claude" / "plugins" / "installed_plugins.json"
    installed.parent.mkdir(parents=True)
    installed.write_text(
        json.dumps({"version": 2, "plugins": {"grove@here": [{"installPath": str(PLUGIN)}]}})
    )
    settings = world.home / ".claude" / "settings.json"
    settings.write_text('{"enabledPlugins": {"grove@here": true}}')
    out, _ = run(world, "--hooks", "--allow-grove")
    assert f"grove's plugin is installed ({PLUGIN})" in out
    assert not local.exists()
    assert (world.project / ".grove").exists()


def test_nothing_is_added_beside_the_plugin_that_this_session_was_started_with(world, local):
    search = f"{PLUGIN / 'bin'}{os.pathsep}{world.environment['PATH']}"
    out, _ = run(world, "--hooks", PATH=search)
    assert "grove's plugin is installed" in out
    assert not local.exists()


def test_nothing_is_added_beside_hooks_in_another_settings_file(world, local):
    run(world, "--hooks", "--shared")
    out, _ = run(world, "--hooks")
    assert "stand in .claude/settings.json already" in out
    assert not local.exists()


def test_hooks_of_a_colleague_whose_program_is_not_here_do_not_count(world, local, shared):
    shared.parent.mkdir()
    hook = {"type": "command", "command": "/home/colleague/bin/grove", "args": ["hook", "stop"]}
    shared.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    run(world, "--hooks")
    assert "Stop" in hooks_of(local)


# --- rules --------------------------------------------------------------------------------------


def test_the_rule_file_is_that_of_the_plugin(world):
    run(world, "--rules")
    written = world.project / ".claude" / "rules" / "grove.md"
    assert written.read_bytes() == (PLUGIN / "rules" / "compound-gate.md").read_bytes()
    assert not (world.project / ".claude" / "settings.local.json").exists()


def test_a_changed_rule_file_is_never_overwritten(world):
    written = world.project / ".claude" / "rules" / "grove.md"
    run(world, "--rules")
    written.write_text("mine\n")
    assert "kept" in run(world, "--rules")[0]
    assert "kept" in run(world, "--uninstall")[0]
    assert written.read_text() == "mine\n"


# --- uninstall ----------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [("--hooks",), ("--hooks", "--shared", "--allow-grove")])
def test_uninstall_leaves_the_project_and_the_home_as_they_were(world, local, shared, words):
    local.parent.mkdir()
    local.write_bytes(b'\xef\xbb\xbf{\r\n\t"env": {"GR\xc3\xb6\xc3\x9fe": "1e3"},"n": 1e3 }')
    before = tree(world.project)
    run(world, *words, "--rules")
    assert tree(world.project) != before
    run(world, "--rules")
    out, _ = run(world, "--uninstall")
    assert tree(world.project) == before
    assert "kept .grove: the learnings are yours" in out
    assert (world.project / ".grove" / "learnings.md").exists()
    assert {path.name for path in world.grove_home.iterdir()} <= {"cache"}


def test_uninstall_by_dry_run_takes_nothing_back(world):
    run(world, "--hooks", "--rules")
    before = tree(world.project)
    document = run_json(world, "--uninstall", "--dry-run")
    assert {one["action"] for one in document["changes"]} == {"remove"}
    assert [Path(one["path"]).name for one in document["changes"]] == [
        "settings.local.json",
        "grove.md",
        "program",
    ]
    assert tree(world.project) == before
    assert (world.grove_home / "installed").exists()


def test_the_program_stays_known_while_another_project_uses_it(world):
    other = world.others / "second"
    other.mkdir(parents=True)
    run(world, "--hooks")
    run(world, cwd=other)
    first, _ = run(world, "--uninstall")
    assert (world.grove_home / "program").exists()
    assert "grove-home/program" not in first
    out, _ = run(world, "--uninstall", cwd=other)
    assert f"removed {world.grove_home / 'program'}" in out
    assert "nothing to take back" not in out
    assert not (world.grove_home / "program").exists()


def test_a_file_that_cannot_be_taken_back_is_named_and_tried_again(world, local):
    run(world, "--hooks", "--rules")
    text = local.read_text()
    local.write_text(text[:-3])
    out, complaint = run(world, "--uninstall", code=1)
    assert ("settings.local.json" in complaint, "nothing to take back" in out) == (True, False)
    assert "Mend what is named, then run this again" in out
    document = run_json(world, "--uninstall", code=1)
    assert "settings.local.json" in document["error"]
    assert not (world.project / ".claude" / "rules").exists()
    local.write_text(text)
    run(world, "--uninstall")
    assert not (world.project / ".claude").exists()


def test_init_says_which_program_hooks_run(world, local):
    assert "connect your agent" in run(world)[0]
    run(world, "--hooks")
    again, _ = run(world)
    assert "hooks will run " in again
    assert "run grove here already" in again
    text = local.read_text()
    local.write_text(re.sub(r'"command": "[^"]*"', '"command": "/other/bin/grove"', text))
    other, _ = run(world)
    assert "hooks run /other/bin/grove, as the client's settings say; with grove init" in other


def test_hooks_that_are_not_on_record_are_known_by_their_command(world, local, shared):
    run(world, "--hooks")
    local.rename(shared)
    run(world, "--uninstall")
    assert "Stop" in hooks_of(shared)

    local.write_bytes(shared.read_bytes())
    document = run_json(world, "--uninstall")
    assert json.loads(local.read_text()) == {}
    assert "Stop" in hooks_of(shared)
    assert any("--shared" in note for note in document["notes"])
    run(world, "--uninstall", "--shared")
    assert json.loads(shared.read_text()) == {}


def test_there_may_be_nothing_to_take_back(world):
    before = tree(world.folder)
    out, _ = run(world, "--uninstall")
    assert "nothing to take back" in out
    assert tree(world.folder) == before


# --- questions ----------------------------------------------------------------------------------


def on_terminal(world, *words, answers=""):
    """Runs `grove init` on a terminal; gives its exit code and all that it shows."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "grove_core._entry", "init", *words],
        cwd=world.project,
        env={**world.environment, "TERM": "dumb"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    os.write(main, answers.encode())
    shown = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(main)
    return process.wait(timeout=60), re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())


def test_on_a_terminal_the_changes_are_shown_and_asked_for(world, local):
    code, shown = on_terminal(world, "--hooks", answers="y\nn\n")
    assert code == 0
    assert shown.count("+++ b/.claude/settings.local.json") == 1
    assert "Make these changes? [Y/n]" in shown
    assert f"permission rule {RULE}? [y/N]" in shown
    assert "permissions" not in json.loads(local.read_text())
    assert "--allow-grove" not in shown


def test_on_a_terminal_no_means_no(world, local):
    code, shown = on_terminal(world, "--hooks", answers="n\n")
    assert code == 1
    assert "nothing was changed" in shown
    assert list(world.project.iterdir()) == []
    assert not local.parent.exists()
    assert not (world.grove_home / "program").exists()
    assert not (world.grove_home / "installed").exists()


def test_on_a_terminal_the_permission_rule_is_offered(world, local):
    code, _ = on_terminal(world, "--hooks", answers="y\ny\n")
    assert code == 0
    assert json.loads(local.read_text())["permissions"] == {"allow": [RULE]}
    code, shown = on_terminal(world, "--uninstall", answers="n\n")
    assert code == 1
    assert local.exists()
    code, shown = on_terminal(world, "--uninstall", answers="y\n")
    assert code == 0
    assert "Make these changes?" in shown
    assert not local.exists()


def test_yes_asks_nothing(world, local):
    code, shown = on_terminal(world, "--hooks", "--yes")
    assert code == 0
    assert "?" not in shown.replace("diff", "")
    assert local.exists()
    assert on_terminal(world, "--rules", "-y")[0] == 0
