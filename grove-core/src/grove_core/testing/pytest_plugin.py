"""Fixtures for the tests of plugins: pytest loads this module in every session."""

import os
import shutil
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

# A rule that is broken shows what it compared.
pytest.register_assert_rewrite("grove_core.testing.rules", "grove_core.testing.watching")

# Set where a hook of git runs the tests: each leads git to another repository.
_OF_A_HOOK = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
)
Payload = dict[str, Any]

_USE_ID: Final = "toolu_{:024d}"
_PROMPT_ID: Final = "00000000-0000-4000-8000-{:012d}"
_QUIET: Final = {
    "stdout": "",
    "stderr": "",
    "interrupted": False,
    "isImage": False,
    "noOutputExpected": False,
}


class Payloads:
    """Makes the payloads of one session, in the order in which they are asked for."""

    def __init__(self, project: Path, session_id: str = "session-1") -> None:
        """Begin a session."""
        self.project = project
        self.session_id = session_id
        self.prompt_id = _PROMPT_ID.format(0)
        self._prompts = count(1)
        self._calls = count(1)

    def session_start(self, source: str = "startup", **fields: Any) -> Payload:  # noqa: ANN401
        """Start the session, or go on with it."""
        return self._payload("SessionStart", source=source, **fields)

    def user_prompt_submit(self, prompt: str, **fields: Any) -> Payload:  # noqa: ANN401
        """Ask the agent for something; what follows belongs to this prompt."""
        self.prompt_id = _PROMPT_ID.format(next(self._prompts))
        return self._in_prompt("UserPromptSubmit", prompt=prompt, **fields)

    def pre_tool_use(self, tool: str = "Bash", **tool_input: Any) -> Payload:  # noqa: ANN401
        """Announce a call of a tool."""
        return self._in_prompt(
            "PreToolUse",
            tool_name=tool,
            tool_input=tool_input,
            tool_use_id=_USE_ID.format(next(self._calls)),
        )

    def post_tool_use(
        self,
        call: Mapping[str, Any],
        response: Any = None,  # noqa: ANN401 - of each tool another
        **shell_answer: Any,  # noqa: ANN401
    ) -> Payload:
        """Say that a call has worked."""
        answer = {**_QUIET, **shell_answer} if response is None else response
        return {
            **call,
            "hook_event_name": "PostToolUse",
            "tool_response": answer,
            "duration_ms": 20,
        }

    def post_tool_use_failure(self, call: Mapping[str, Any], error: str = "Exit code 1") -> Payload:
        """Say that a call has failed."""
        return {
            **call,
            "hook_event_name": "PostToolUseFailure",
            "error": error,
            "is_interrupt": False,
            "duration_ms": 20,
        }

    def stop(self, **fields: Any) -> Payload:  # noqa: ANN401
        """Let the agent want to end its turn."""
        return self._in_prompt(
            "Stop",
            **{
                "stop_hook_active": False,
                "last_assistant_message": "Finished.",
                "background_tasks": [],
                "session_crons": [],
                **fields,
            },
        )

    def session_end(self, reason: str = "other", **fields: Any) -> Payload:  # noqa: ANN401
        """End the session."""
        return self._payload("SessionEnd", prompt_id=self.prompt_id, reason=reason, **fields)

    def _in_prompt(self, event: str, **fields: Any) -> Payload:  # noqa: ANN401
        known = {"prompt_id": self.prompt_id, "permission_mode": "default"}
        return self._payload(event, **{**known, **fields})

    def _payload(self, event: str, **fields: Any) -> Payload:  # noqa: ANN401
        transcript = self.project.parent / "home" / ".claude" / f"{self.session_id}.jsonl"
        return {
            "session_id": self.session_id,
            "transcript_path": str(transcript),
            "cwd": str(self.project),
            "hook_event_name": event,
            **fields,
        }


@pytest.fixture
def grove_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a home of its own for a test, so that nothing of the user's is read or written."""
    home = tmp_path / "home"
    folder = home / ".grove"
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", os.fspath(home))
    monkeypatch.setenv("GROVE_HOME", os.fspath(folder))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", os.fspath(home / ".claude"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


@pytest.fixture
def grove_project(tmp_path: Path, grove_home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a project that uses grove, and a git repository of it where git is installed."""
    del grove_home  # so that git reads no settings of the user's
    for name in _OF_A_HOOK:
        monkeypatch.delenv(name, raising=False)
    project = tmp_path / "project"
    (project / ".grove").mkdir(parents=True)
    (project / ".grove" / "config.toml").touch()
    if shutil.which("git"):
        from subprocess import run

        run(["git", "init", "-q", "--template="], cwd=project, check=True)
        # git before 2.28 knows no option for the branch.
        run(["git", "symbolic-ref", "HEAD", "refs/heads/main"], cwd=project, check=True)
    return project


@pytest.fixture
def grove_payloads(grove_project: Path) -> Payloads:
    """Make what the client sends to hooks in a session in the project."""
    return Payloads(project=grove_project)
