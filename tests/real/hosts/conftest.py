"""A project and a home for each real client, and hooks that run an adapter without grove."""

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import hosts
import pytest
from attrs import frozen
from core_worlds import write_file, write_program
from hosts.hook import spec_of

from grove_core import HostContext


@frozen
class Stage:
    """Where one client is run."""

    client: hosts.Client
    folder: Path

    @property
    def project(self):
        return self.folder / "project"

    @property
    def home(self):
        return self.folder / "home"

    @property
    def calls(self):
        return self.folder / "calls"

    @property
    def spec(self):
        return spec_of(self.client.name)

    @property
    def context(self):
        """How grove's adapter is asked about this client."""
        program = str(self.folder / "bin" / "grove")
        return HostContext(
            root=self.project,
            environment={"HOME": str(self.home)},
            program=program,
            gate_words=("",),
        )

    def install_hooks(self, **replies):
        """Have the client run the adapter, which replies to some calls of hooks."""
        self.calls.mkdir()
        (self.calls / "replies.json").write_text(json.dumps(replies))
        script = f'exec {sys.executable} {hosts.__path__[0]}/hook.py "$@"'
        write_program(Path(self.context.program), script)
        for file in self.spec.setup(self.context).files:
            before = file.path.read_text() if file.path.exists() else ""
            write_file(file.path, file.put(before))

    def called(self, event):
        """How the adapter has read what hooks were told at an event."""
        files = sorted(self.calls.glob(f"{event}-*"))
        return [pickle.loads(file.read_bytes()) for file in files]

    def play(self, *script, environment=None, **options):
        path = f"{Path(self.context.program).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {"PATH": path, "HOOK_FOLDER": str(self.calls), **(environment or {})}
        return hosts.play(
            self.client, script, self.project, home=self.home, environment=environment, **options
        )


def stage_for(client, folder):
    if client.missing:
        pytest.skip(client.missing)
    stage = Stage(client, folder)
    subprocess.run(["git", "init", "-q", str(stage.project)], check=True)
    stage.home.mkdir()
    client.configure(stage.home, stage.project)
    return stage


@pytest.fixture(params=hosts.CLIENTS, ids=lambda client: client.name)
def stage(request, tmp_path):
    return stage_for(request.param, tmp_path)


@pytest.fixture
def codex(tmp_path):
    return stage_for(hosts.CODEX, tmp_path)
