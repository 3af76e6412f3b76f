"""A project, a home and a recorder for each real client."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import hosts
import pytest
from attrs import frozen

RECORDER = Path(hosts.__file__).parent / "recorder.py"


@frozen
class Stage:
    """Where one client is run; what its hooks were told is in `records`."""

    client: hosts.clients.Client
    project: Path
    home: Path
    records: Path

    def record(self, **answers):
        """Have hooks record all events, and answer some."""
        self.records.mkdir(exist_ok=True)
        (self.records / "answers.json").write_text(json.dumps(answers))
        words = (sys.executable, str(RECORDER), str(self.records))
        events = self.client.events
        self.client.install_hooks(self.home, {one: shlex.join([*words, one]) for one in events})

    def recorded(self, event):
        """What hooks were told at an event, in order."""
        files = sorted(self.records.glob(f"{event}-*.json"))
        return [json.loads(file.read_text()) for file in files]

    def play(self, *script, **options):
        return hosts.play(self.client, script, self.project, home=self.home, **options)


def stage_for(client, folder):
    if client.missing:
        pytest.skip(client.missing)
    stage = Stage(client, folder / "project", folder / "home", folder / "records")
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
