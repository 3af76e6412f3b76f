"""Total Recall's own command run by the real client, with a model that is scripted.

The commands and skills here are written anew from what Total Recall's are known to do.
"""

import json
import re
import subprocess
from datetime import datetime
from pathlib import Path

import pytest
import run as harness
from core_worlds import write_file
from fake_api import Scripts
from hosts import Call
from hosts.api import text_of
from scenario import CANDIDATE, CLOSE, FINISHED, reflection, stops

from grove_backend_totalrecall.command import log_by_claude

NOTE = "**Pitfall** (grove:cl_20300102_aaaaaa): OrderReport.rows() runs one query per order"
PROMPT = "Add one line to today's file below memory/daily, and nothing else:\n\n$ARGUMENTS\n"
DAY = "# {day}\n\n## Decisions\n\n## Corrections\n\n## Commitments\n\n## Open Loops\n\n## Notes\n"
ARGUMENTS = re.compile("<command-args>(.*?)</command-args>", re.DOTALL)


class Obedient(Scripts):
    """Plays its turns, but where the command was called it logs what it was handed.

    The script's key ``log`` is the file's path.
    """

    def reply(self, body):
        handed = ARGUMENTS.search(text_of(body["messages"][0]["content"]))
        if handed is None or not body.get("tools"):
            return super().reply(body)
        path = Path(self.spec["log"])
        line = f"{DAY.format(day=path.stem)}[14:32] {handed.group(1)}\n"
        turns = [Call("Write", {"file_path": str(path), "content": line}), "Logged."]
        return "recall-log", turns[sum(one["role"] == "assistant" for one in body["messages"])]


def today(root):
    return root / "memory" / "daily" / f"{datetime.now().astimezone():%Y-%m-%d}.md"


def make_memory(root):
    for folder in ("daily", "registers"):
        (root / "memory" / folder).mkdir(parents=True)
    write_file(root / "memory" / "SCHEMA.md", "# Memory\n\nKept by Total Recall.\n")


def install_standalone(project, _):
    make_memory(project.root)
    write_file(project.root / ".claude/commands/recall-log.md", PROMPT)
    write_file(
        project.root / ".claude/rules/total-recall.md", "# Total Recall\n\nKeep what lasts.\n"
    )


def install_plugin(project, claude):
    """Really installs a plugin named `recall` from a marketplace in a folder."""
    make_memory(project.root)
    market = project.home / "market"
    described = {"name": "recall", "description": "Memory", "version": "1.1.0"}
    front = "name: recall-log\ndescription: Log a note\ndisable-model-invocation: true\n"
    write_file(market / "recall/.claude-plugin/plugin.json", json.dumps(described))
    write_file(market / "recall/skills/recall-log/SKILL.md", f"---\n{front}---\n{PROMPT}")
    plugins = [{"name": "recall", "source": "./recall", "description": "Memory"}]
    listed = {"name": "recall-marketplace", "owner": {"name": "Dev"}, "plugins": plugins}
    write_file(market / ".claude-plugin/marketplace.json", json.dumps(listed))
    for words in (("marketplace", "add", market), ("install", "recall@recall-marketplace")):
        subprocess.run(
            [claude, "plugin", *words],
            cwd=project.root,
            env=environment_of(project, "http://127.0.0.1:9"),
            capture_output=True,
            check=True,
        )


def environment_of(project, url):
    return harness.clean_environment(project.run({}), url)


@pytest.fixture
def connected(project, claude):
    """A project with grove's hooks, where `claude` is on PATH."""
    program = project.home / "programs" / "claude"
    program.parent.mkdir()
    program.symlink_to(claude)
    project.path = f"{program.parent}:{project.path}"
    project.command("grove", "init", "--hooks", "--allow-grove", "--quiet")
    return project


def sessions(project):
    """The sessions that grove has noticed."""
    return {path.stem for path in (project.home / ".grove" / "sessions").glob("*.json")}


@pytest.mark.parametrize(
    "path", ["reports/orders.py", "memory/registers/decisions.md", "CLAUDE.local.md", "../x.md"]
)
def test_nothing_but_the_logs_may_be_written(connected, claude, path):
    install_standalone(connected, claude)
    connected.commit()
    model = Obedient({"log": str((connected.root / path).resolve())})
    environment = environment_of(connected, model.url)
    outcome = log_by_claude(
        NOTE, command="/recall-log", root=connected.root, environment=environment, seconds=60
    )
    model.close()
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


@pytest.mark.parametrize("install", [install_standalone, install_plugin])
def test_a_reflection_is_logged_by_the_command(connected, claude, install):
    """The client runs grove, which runs the client."""
    install(connected, claude)
    configured(connected)
    log = today(connected.root)
    transcript = connected.play(
        [CLOSE, FINISHED, REFLECT, FINISHED],
        plugin_dir=None,
        script={"log": str(log)},
        model=Obedient,
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
