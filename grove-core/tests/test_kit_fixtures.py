"""The kit's fixtures, as the tests of a plugin meet them."""

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from grove_core.testing.pytest_plugin import Payloads

ROOT = Path(__file__).parents[2]
RECORDED = ROOT / "tests" / "data" / "hook-payloads"
# What clients of other versions, and in other modes, leave out.
OPTIONAL = {
    "effort",
    "mcp_server",
    "context_tokens",
    "estimated_cache_write_usd",
    "prompt_cache_likely_expired",
    "seconds_since_last_response",
}

USING_THEM = """
    import json, os, shutil, subprocess, sys
    from pathlib import Path

    def run(project, event, payload):
        command = [sys.executable, "-m", "grove_core._entry", "hook", event]
        return subprocess.run(command, cwd=project, input=json.dumps(payload), text=True,
                              capture_output=True, check=True)

    def said(project, *words):
        return subprocess.run(words, cwd=project, text=True, capture_output=True).stdout

    def test_a_session(grove_project, grove_home, grove_payloads):
        run(grove_project, "session-start", grove_payloads.session_start())
        session = json.loads((grove_home / "sessions" / "session-1.json").read_text())
        assert session["project_root"] == str(grove_project)
        call = grove_payloads.pre_tool_use("Bash", command="tracker close T-1")
        run(grove_project, "pre-tool-use", call)
        run(grove_project, "post-tool-use", grove_payloads.post_tool_use(call, stdout="closed"))
        run(grove_project, "stop", grove_payloads.stop())

    def test_the_home_is_its_own(grove_home, tmp_path):
        assert Path.home() == tmp_path / "home"
        assert os.environ["GROVE_HOME"] == str(grove_home)
        assert grove_home.is_dir()
        assert not [*grove_home.iterdir()]

    def test_settings_of_the_client_are_not_read(grove_project):
        words = (sys.executable, "-m", "grove_core._entry", "init", "--hooks", "--dry-run")
        # What init says where the client's settings do not let grove run.
        assert "--allow-grove" in said(grove_project, *words)

    def test_the_project_is_a_repository_of_its_own(grove_project):
        assert (grove_project / ".grove" / "config.toml").read_text() == ""
        if shutil.which("git"):
            assert said(grove_project, "git", "config", "user.name") == ""
            top = said(grove_project, "git", "rev-parse", "--show-toplevel")
            assert top.strip() == str(grove_project.resolve())
            head = (grove_project / ".git" / "HEAD").read_text()
            assert head.strip() == "ref: refs/heads/main"
            said(grove_project, "git", "add", ".grove")
            assert said(grove_project, "git", "ls-files") == ".grove/config.toml\\n"
            assert (grove_project / ".git" / "index").is_file()
            assert len([*(grove_project / ".git" / "objects").glob("??")]) == 1
"""
OF_A_HOOK = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
)


def pytest_run(folder, source, *arguments, **variables):
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_it.py").write_text(dedent(source))
    words = ["-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=folder,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_plugins_tests_can_use_them_in_a_hook_of_git_too(tmp_path, monkeypatch):
    home, real, other = (tmp_path / one for one in ("real home", "real", "another repository"))
    for folder in (home, real / "git", other):
        folder.mkdir(parents=True)
    (real / "git/config").write_text("[user]\n\tname = The User\n")
    allowed = {"permissions": {"allow": ["Bash(grove *)"]}}
    (real / "settings.json").write_text(json.dumps(allowed))
    monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
    done = pytest_run(
        tmp_path,
        USING_THEM,
        HOME=str(home),
        GROVE_HOME=str(home / "grove"),
        **dict.fromkeys(("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"), str(real)),
        **dict.fromkeys(OF_A_HOOK, str(other / "of git")),
    )
    assert "4 passed" in done.stdout, done.stdout
    assert [*home.iterdir()] == [*other.iterdir()] == []


def test_sessions_of_other_tests_pay_next_to_nothing():
    source = """
        import sys, pytest
        before = set(sys.modules)
        import grove_core.testing.pytest_plugin
        print(*sorted(set(sys.modules) - before))
    """
    command = [sys.executable, "-P", "-c", dedent(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [
        "grove_core",
        "grove_core.testing",
        "grove_core.testing.pytest_plugin",
    ]


@pytest.fixture
def payloads(tmp_path):
    return Payloads(project=tmp_path / "project")


def call_of(payloads, recorded):
    return payloads.pre_tool_use(recorded["tool_name"], **recorded["tool_input"])


MAKERS = {
    "SessionStart-startup": lambda make, _: make.session_start(),
    "SessionStart-resume": lambda make, _: make.session_start("resume"),
    "UserPromptSubmit": lambda make, one: make.user_prompt_submit(one["prompt"]),
    "PreToolUse-Bash": call_of,
    "PreToolUse-Edit": call_of,
    "PreToolUse-mcp": call_of,
    "PostToolUse-Bash": lambda make, one: make.post_tool_use(call_of(make, one), stdout="hi"),
    "PostToolUse-Edit": lambda make, one: make.post_tool_use(
        call_of(make, one), one["tool_response"]
    ),
    "PostToolUseFailure-Bash": lambda make, one: make.post_tool_use_failure(call_of(make, one)),
    "Stop-first": lambda make, _: make.stop(),
    "Stop-after-block": lambda make, _: make.stop(stop_hook_active=True),
    "SessionEnd-other": lambda make, _: make.session_end(),
    "SessionEnd-clear": lambda make, _: make.session_end("clear"),
}
# What differs from session to session.
OWN = {
    "session_id",
    "transcript_path",
    "cwd",
    "prompt_id",
    "tool_use_id",
    "duration_ms",
    "last_assistant_message",
}


@pytest.mark.parametrize("name", MAKERS)
def test_payloads_are_like_recorded_ones(payloads, name):
    recorded = json.loads((RECORDED / f"{name}.json").read_text())["stdin"]
    made = MAKERS[name](payloads, recorded)
    assert made.keys() <= recorded.keys()
    assert recorded.keys() - made.keys() <= OPTIONAL
    for field in made.keys() & recorded.keys():
        assert type(made[field]) is type(recorded[field]), field
        if field not in OWN:
            assert made[field] == recorded[field], field
    assert json.loads(json.dumps(made)) == made
