"""Contexts, calls and small real files for the tests of ticket systems."""

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from grove_core import ProjectContext, ToolCall

MakeContext = Callable[..., ProjectContext]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """An empty project below a directory that belongs to no repository."""
    directory = tmp_path / "project"
    directory.mkdir()
    return directory


@pytest.fixture
def make_context(project: Path, tmp_path: Path) -> MakeContext:
    """Make a context; no program is on its PATH unless the test says so."""

    def make(cwd: Path = project, session_id: str = "", **environment: str) -> ProjectContext:
        home = {"HOME": str(tmp_path / "home"), "PATH": ""}
        return ProjectContext(
            root=project, cwd=cwd, environment={**home, **environment}, session_id=session_id
        )

    return make


@pytest.fixture
def bash(project: Path) -> Callable[[str], ToolCall]:
    """Make a call of the shell that starts in the project."""

    def make(command: str, cwd: Path = project) -> ToolCall:
        return ToolCall(name="Bash", input={"command": command}, cwd=str(cwd))

    return make


@pytest.fixture
def write_jsonl() -> Callable[[Path, Iterable[Any]], None]:
    """Append objects, or raw lines, to a JSON Lines file."""

    def write(path: Path, records: Iterable[Any]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as stream:
            for record in records:
                stream.write((record if isinstance(record, str) else json.dumps(record)) + "\n")

    return write


@pytest.fixture
def fake_bd(tmp_path: Path) -> Callable[[str], str]:
    """Put a shell script in place of ``bd`` and give a PATH on which it comes first."""

    def install(script: str) -> str:
        directory = tmp_path / "bin"
        directory.mkdir(exist_ok=True)
        program = directory / "bd"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        return os.pathsep.join([str(directory), "/usr/bin", "/bin"])

    return install
