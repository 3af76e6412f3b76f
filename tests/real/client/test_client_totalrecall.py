"""Total Recall's own command run by the real client, with a model that is scripted.

The commands and skills here are written anew from what Total Recall's are known to do.
"""

import json
import re
import subprocess
from datetime import datetime
from pathlib import Path

import fake_api
import pytest
import run as harness
from attrs import define
from scenario import CANDIDATE, CLOSE, FINISHED, reflection, stops
from transcript import read_json_lines

from grove_backend_totalrecall.command import log_by_claude

NOTE = "**Pitfall** (grove:cl_20300102_aaaaaa): OrderReport.rows() runs one query per order"
FORMS = {"standalone": "/recall-log", "plugin": "/recall:recall-log"}
PROMPT = "Add one line to today's file below memory/daily, and nothing else:\n\n$ARGUMENTS\n"
DAY = "# {day}\n\n## Decisions\n\n## Corrections\n\n## Commitments\n\n## Open Loops\n\n## Notes\n"
ARGUMENTS = re.compile("<command-args>(.*?)</command-args>", re.DOTALL)


class Obedient(fake_api.Script):
    """Plays its turns, but where the command was called it logs what it was handed.

    The script's key ``log`` is the file's path. When there is a ``note``, it writes that instead,
    and when there is a ``call``, it makes that one first.
    """

    def reply(self, body):
        handed = ARGUMENTS.search(fake_api.text_of(body["messages"][0]["content"]))
        if handed is None or not body.get("tools"):
            return super().reply(body)
        write = {"tool": "Write", "input": self.what_to_write(handed.group(1))}
        turns = [*self.spec.get("call", ()), write, {"text": "Logged."}]
        turn = sum(message["role"] == "assistant" for message in body["messages"])
        return "recall-log", turn, turns[turn]

    def what_to_write(self, note):
        path = Path(self.spec["log"])
        text = DAY.format(day=path.stem)
        return {"file_path": str(path), "content": f"{text}[14:32] {self.spec.get('note', note)}\n"}


@define
class Client:
    """A project with Total Recall, and all that the client needs to be run in it by grove."""

    root: Path
    environment: dict
    requests: Path
    script: dict

    @property
    def log(self):
        return Path(self.script["log"])

    def logs(self, command, note=NOTE, **variables):
        environment = {**self.environment, **variables}
        return log_by_claude(
            note, command=command, root=self.root, environment=environment, seconds=60
        )

    def bodies(self):
        """What the model was asked."""
        lines = read_json_lines(self.requests)
        return [line["body"] for line in lines if "conversation" in line]

    def asked(self):
        """What the model was told first, and which tools it was offered."""
        (body, *_) = self.bodies()
        names = {tool["name"] for tool in body["tools"]}
        return fake_api.text_of(body["messages"][0]["content"]), names


def today(root):
    return root / "memory" / "daily" / f"{datetime.now().astimezone():%Y-%m-%d}.md"


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def make_memory(root):
    for folder in ("daily", "registers"):
        (root / "memory" / folder).mkdir(parents=True)
    write(root / "memory" / "SCHEMA.md", "# Memory\n\nKept by Total Recall.\n")


def install_standalone(project):
    make_memory(project.root)
    write(project.root / ".claude/commands/recall-log.md", PROMPT)
    write(project.root / ".claude/rules/total-recall.md", "# Total Recall\n\nKeep what lasts.\n")


def install_plugin(project, claude):
    """Really installs a plugin named `recall` from a marketplace in a folder."""
    make_memory(project.root)
    market = project.home / "market"
    described = {"name": "recall", "description": "Memory", "version": "1.1.0"}
    front = "name: recall-log\ndescription: Log a note\ndisable-model-invocation: true\n"
    write(market / "recall/.claude-plugin/plugin.json", json.dumps(described))
    write(market / "recall/skills/recall-log/SKILL.md", f"---\n{front}---\n{PROMPT}")
    plugins = [{"name": "recall", "source": "./recall", "description": "Memory"}]
    listed = {"name": "recall-marketplace", "owner": {"name": "Dev"}, "plugins": plugins}
    write(market / ".claude-plugin/marketplace.json", json.dumps(listed))
    for words in (("marketplace", "add", market), ("install", "recall@recall-marketplace")):
        subprocess.run(
            [claude, "plugin", *words],
            cwd=project.root,
            env=environment_of(project, port=9),
            capture_output=True,
            check=True,
        )


def install(form, project, claude):
    if form == "standalone":
        install_standalone(project)
    else:
        install_plugin(project, claude)


def environment_of(project, port):
    options = harness.Run(script={}, cwd=project.root, out=project.out, path=project.path)
    return harness.clean_environment(options, project.home, port)


@pytest.fixture
def connected(project, claude):
    """A project with grove's hooks, where `claude` is on PATH."""
    program = project.home / "programs" / "claude"
    program.parent.mkdir()
    program.symlink_to(claude)
    project.path = f"{program.parent}:{project.path}"
    project.command("grove", "init", "--hooks", "--allow-grove", "--quiet")
    return project


@pytest.fixture
def client(connected, monkeypatch):
    """The same with a scripted API that the client finds by its environment."""
    monkeypatch.setattr(fake_api, "Script", Obedient)
    connected.out.mkdir()
    script = {"log": str(today(connected.root)), "turns": [{"text": "I have logged it."}]}
    requests = connected.out / "requests.jsonl"
    server = fake_api.serve(script, requests)
    environment = environment_of(connected, server.server_address[1])
    yield Client(connected.root, environment, requests, script)
    server.shutdown()
    server.server_close()


def sessions(project):
    """The sessions that grove has noticed."""
    return {path.stem for path in (project.home / ".grove" / "sessions").glob("*.json")}


@pytest.mark.parametrize(
    "path", ["reports/orders.py", "memory/registers/decisions.md", "CLAUDE.local.md", "../x.md"]
)
def test_nothing_but_the_logs_may_be_written(connected, client, path):
    install_standalone(connected)
    connected.commit()
    client.script["log"] = str((connected.root / path).resolve())
    outcome = client.logs("/recall-log")
    assert not outcome.logged
    assert outcome.why.startswith("the client did not permit Write ")
    assert connected.changed() == set()
    assert not (connected.root.parent / "x.md").exists()


REFLECT = reflection(CANDIDATE, "--json")


def configured(project):
    config = project.home / ".grove" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    with config.open("a") as file:
        file.write('\n[backends.total-recall]\nvia = "claude"\n')


def stored(project):
    (found,) = json.loads(project.command("grove", "list", "--json"))["learnings"]
    return found


@pytest.mark.parametrize("form", FORMS)
def test_a_reflection_is_logged_by_the_command(connected, claude, monkeypatch, form):
    """The client runs grove, which runs the client."""
    monkeypatch.setattr(fake_api, "Script", Obedient)
    install(form, connected, claude)
    configured(connected)
    log = today(connected.root)
    transcript = connected.play(
        [CLOSE, FINISHED, REFLECT, FINISHED], plugin_dir=(), script={"log": str(log)}
    )
    assert transcript["final_text"] == "Finished."
    assert stops(transcript) == [2, 0]
    learning = stored(connected)
    assert learning["summary"] == CANDIDATE["summary"]
    assert learning["detail"] == CANDIDATE["detail"]
    line = f"[14:32] **Pitfall** (grove:{learning['id']}): {CANDIDATE['summary']}\n"
    assert log.read_text().endswith(f"\n{line}")
    assert sessions(connected) == set(transcript["session_ids"])
    assert connected.outcomes() == [("reflected", 1)]
