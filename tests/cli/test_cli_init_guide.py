"""`grove init` on a terminal without options: it shows, asks, and does nothing before it may."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

PROGRAM = str(Path(sys.executable).with_name("grove"))
RULE = "Bash(grove *)"
SECONDS = 30
SETTINGS = ".claude/settings.local.json"
CTRL_C, END_OF_INPUT = "\x03", "\x04"
QUESTIONS = (
    "Hooks for Claude Code (own, team, none) [own]:",
    f"permission rule {RULE}? [y/N]:",
    "as a rule for the agent, .claude/rules/grove.md? [y/N]:",
    "Set grove up like this? (yes, no, show) [yes]:",
)


def converse(world, *words, answers=()):
    """Runs `grove init` on a terminal, answers each question in turn, and gives code and screen."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "grove_core._entry", "init", *words],
        cwd=world.project,
        env={**world.environment, "TERM": "dumb"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        # Ctrl-C is for the process whose terminal it is.
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no threads
    )
    os.close(terminal)
    shown, rest = "", list(answers)
    try:
        while part := _read(main, impatient=not rest and CTRL_C in answers):
            shown += part
            if rest and re.search(r"\]: $", shown):
                os.write(main, rest.pop(0).encode())
        assert process.wait(timeout=60) in (0, 1)
    finally:
        process.kill()
        process.wait()
        os.close(main)
    assert rest == [], shown
    return process.returncode, re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r", "")


def _read(descriptor, *, impatient=False):
    """What comes next; a question that nobody answers must not last for ever.

    Python may miss a Ctrl-C that comes between a question and the waiting for its answer: whoever
    is impatient presses it again.
    """
    for _ in range(SECONDS):
        if select.select([descriptor], [], [], 1)[0]:
            break
        if impatient:
            os.write(descriptor, CTRL_C.encode())
    else:
        pytest.fail("it waits for an answer")
    try:
        return os.read(descriptor, 65_536).decode()
    except OSError:  # nobody holds the other end any more
        return ""


def everything(world):
    """All that init could have changed; caches apart, which say nothing."""
    return {
        str(path.relative_to(world.folder)): path.read_bytes() if path.is_file() else None
        for path in world.folder.rglob("*")
        if path != world.grove_home and not path.is_relative_to(world.grove_home / "cache")
    }


@pytest.fixture
def project(world):
    world.use_beads()
    world.make_git()
    return world


def hooks_of(path):
    return json.loads(path.read_text())["hooks"]


def test_who_agrees_to_everything_that_is_proposed_is_set_up(project):
    code, shown = converse(project, answers=["\n"] * 4)
    assert code == 0
    positions = [shown.index(question) for question in QUESTIONS]
    assert positions == sorted(positions)
    for word in (
        f"This sets grove up in {project.project}. Nothing is written before you agree.",
        "To be committed:\n  .grove/config.toml\n",
        "Tickets      beads (found ",
        "Learnings    markdown (.grove/learnings.md), for the team; markdown (",
        f"({project.grove_home}/personal-learnings.md), personal ones",
        "Merges       ",
        f"  create {SETTINGS}\n",
        "Next: commit .grove, and start a session of the client here",
    ):
        assert word in shown, word
    assert len(hooks_of(project.project / SETTINGS)) == 8
    assert "permissions" not in json.loads((project.project / SETTINGS).read_text())
    assert (project.project / ".grove" / "config.toml").exists()
    assert (project.grove_home / "program").read_text() == f"{PROGRAM}\n"
    assert "merge.grove.driver" in project.git("config", "--list")
    assert not (project.project / ".claude" / "rules").exists()


def test_the_answers_are_what_the_options_are(project, tmp_path):
    code, _ = converse(project, answers=["team\n", "y\n", "y\n", "yes\n"])
    assert code == 0
    asked = everything(project)
    other = type(project)(tmp_path / "other")
    other.use_beads()
    other.make_git()
    process = other.start("init", "--hooks", "--shared", "--allow-grove", "--rules")
    assert process.communicate(timeout=60)[1] == b""
    ours = {name for name in asked if not name.startswith(("project/.git/", "tmp", "grove-home"))}
    for name in ours:
        content = everything(other)[name.removeprefix("other/")]
        assert content == asked[name], name
    settings = json.loads((project.project / ".claude" / "settings.json").read_text())
    assert settings["permissions"] == {"allow": [RULE]}
    assert (project.project / ".claude" / "rules" / "grove.md").exists()


def test_without_hooks_it_says_how_to_get_them_later(project):
    code, shown = converse(project, answers=["none\n", "\n"])
    assert code == 0
    assert "(yes, no) [yes]:" in shown
    assert "connect your agent: grove init --hooks" in shown
    assert (project.project / ".grove" / "config.toml").exists()
    assert not (project.project / ".claude").exists()


def test_the_change_is_shown_to_whoever_wants_to_see_it(project):
    code, shown = converse(project, answers=["\n", "\n", "\n", "show\n", "no\n"])
    assert code == 1
    assert f"+++ b/{SETTINGS}" in shown
    assert '"command": "' in shown


@pytest.mark.parametrize("letters", [("n\n", "n\n"), ("None\n", "NO\n")])
def test_a_letter_is_enough_for_a_word(project, letters):
    before = everything(project)
    code, screen = converse(project, answers=letters)
    assert (code, "Error" in screen) == (1, False), screen
    assert everything(project) == before


def test_a_mistyped_answer_is_asked_for_again(project):
    code, shown = converse(project, answers=["mine\n", "none\n", "\n"])
    assert code == 0
    assert "'mine' is not one of 'own', 'team', 'none'" in shown


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("leaving", [CTRL_C, END_OF_INPUT], ids=["ctrl-c", "end of input"])
def test_whoever_leaves_at_a_question_has_changed_nothing(project, leaving, number):
    before = everything(project)
    code, shown = converse(project, answers=[*["\n"] * number, leaving])
    assert code == 1
    assert shown.endswith("\ngrove: nothing was changed\n")
    assert everything(project) == before


def test_no_means_no(project):
    before = everything(project)
    code, shown = converse(project, answers=["\n", "\n", "\n", "no\n"])
    assert code == 1
    assert "grove: nothing was changed" in shown
    assert everything(project) == before


def test_ctrl_c_while_it_writes_leaves_no_half(project):
    """A git that presses Ctrl-C when it is asked to register the merge driver."""
    program = project.others / "bin" / "git"
    program.parent.mkdir(parents=True)
    program.write_text(
        "#!/bin/sh\n"
        'case "$*" in *"--local merge.grove.driver"*) kill -INT 0 $PPID ;; esac\n'
        'exec /usr/bin/git "$@"\n'
    )
    program.chmod(0o755)
    project.environment["PATH"] = f"{program.parent}{os.pathsep}{project.environment['PATH']}"
    code, shown = converse(project, answers=["\n"] * 4)
    assert (code, "Next: commit .grove" in shown) == (0, True), shown
    assert len(hooks_of(project.project / SETTINGS)) == 8
    process = project.start("init", "--uninstall", "--yes")
    process.communicate(timeout=60)
    assert process.returncode == 0
    assert not (project.project / ".claude").exists()
    assert "merge.grove" not in project.git("config", "--list")


def test_what_is_set_up_is_not_asked_about_again(project):
    converse(project, answers=["\n"] * 4)
    before = everything(project)
    code, shown = converse(project)
    assert code == 0
    assert "]:" not in shown
    assert everything(project) == before


def test_a_colleague_who_has_cloned_it_is_asked_for_what_is_missing(project):
    converse(project, answers=["none\n", "\n"])
    code, shown = converse(project, answers=["\n"] * 4)
    assert code == 0
    assert "To be committed" not in shown
    assert len(hooks_of(project.project / SETTINGS)) == 8


def test_where_hooks_run_already_they_are_not_offered(project):
    process = project.start("init", "--hooks")
    process.communicate(timeout=60)
    (project.project / ".grove" / "config.toml").unlink()
    code, shown = converse(project, answers=["\n"])
    assert code == 0
    assert f"Claude Code runs grove here already (local {project.project / SETTINGS})." in shown
    assert QUESTIONS[0] not in shown


def test_a_permission_that_is_there_is_not_asked_for(project):
    (project.home / ".claude").mkdir()
    settings = {"permissions": {"allow": [RULE]}}
    (project.home / ".claude" / "settings.json").write_text(json.dumps(settings))
    code, shown = converse(project, answers=["\n"] * 3)
    assert code == 0
    assert "permission rule" not in shown


@pytest.mark.parametrize("words", [("--yes",), ("--json",), ("-q",), ("--dry-run",)])
def test_who_answers_beforehand_is_not_asked(project, words):
    code, shown = converse(project, *words)
    assert code == 0
    assert "]:" not in shown
    assert not (project.project / ".claude").exists()
    assert (project.project / ".grove").exists() is (words != ("--dry-run",))


def test_without_a_terminal_nothing_is_asked(project):
    with project.watched():
        process = project.start("init")
        out, err = process.communicate(b"n\n", timeout=60)
    assert (process.returncode, err) == (0, b"")
    assert b"created .grove/config.toml" in out
    assert not (project.project / ".claude").exists()


def test_a_terminal_that_hangs_up_changes_nothing(project):
    before = everything(project)
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "grove_core._entry", "init"],
        cwd=project.project,
        env={**project.environment, "TERM": "dumb"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
    )
    os.close(terminal)
    shown = ""
    try:
        while QUESTIONS[0] not in shown:
            shown += _read(main)
        process.send_signal(signal.SIGHUP)
        assert process.wait(timeout=60) != 0
    finally:
        process.kill()
        process.wait()
        os.close(main)
    assert everything(project) == before
