"""Every key that a command prints is documented, and every documented key is printed by one."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "json-output.md"
GROVE = Path(sys.executable).with_name("grove")
BROKEN_PLUGIN = "grove_broken-1.dist-info"
LEARNING = {
    "category": "pitfall",
    "summary": "OrderReport.rows() runs one query per order unless items are prefetched",
    "detail": "OrderReport.rows() reads order.items in a loop; prefetch_related('items') cures it.",
    "criteria_met": ["behavior_changing"],
    "tags": ["orders", "N Plus One"],
    "context_files": ["reports/orders.py"],
}


def documented():
    """The keys of each section; a list of learnings has the keys of `grove show`."""
    found = {}
    for section in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]:
        title, _, body = section.partition("\n")
        found[title.strip()] = set(re.findall(r"^\| `([^`]+)` \|", body, re.MULTILINE))
    for title, prefix in (("grove list", "learnings[]"), ("grove search", "results[]")):
        found[title] |= {f"{prefix}.{key}" for key in found["grove show"]}
    session = {key for key in found["grove status"] if key.startswith("session.")}
    found["grove status"] |= {f"live_sessions[].{key.removeprefix('session.')}" for key in session}
    tickets = {key for key in session if key.startswith(("session.ticket.", "session.closed[]."))}
    found["grove sessions"] |= {key.replace("session.", "sessions[].", 1) for key in tickets}
    debt = {key for key in found["grove sessions"] if key.startswith("sessions[].debts[].")}
    for title, prefix in (("grove debug", ""), ("grove clean", "kept[].")):
        found[title] |= {key.replace("sessions[].", prefix, 1) for key in debt}
    return found


def keys_of(value, known, prefix=""):
    """The keys of a document, written as the page writes them."""
    found = set()
    for name, child in value.items():
        key = f"{prefix}{name}"
        if f"{key}{{}}" in known:
            found.add(f"{key}{{}}")
        elif isinstance(child, list):
            found.add(f"{key}[]")
            for item in child:
                if isinstance(item, dict):
                    found |= keys_of(item, known, f"{key}[].")
        else:
            found.add(key)
            if isinstance(child, dict):
                found |= keys_of(child, known, f"{key}.")
    return found


class Project:
    """A scratch project in which everything has happened that a command can tell of."""

    def __init__(self, scratch):
        self.root = scratch / "shop"
        self.site = scratch / "site"
        (self.root / ".tissue").mkdir(parents=True)
        (self.root / ".git").mkdir()
        broken = self.site / BROKEN_PLUGIN
        broken.mkdir(parents=True)
        (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: grove-broken\nVersion: 1\n")
        (broken / "entry_points.txt").write_text("[grove.plugins]\nbroken = grove_broken\n")
        (scratch / "home").mkdir()
        self.environment = {
            "HOME": str(scratch / "home"),
            "PATH": f"{GROVE.parent}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(self.site),
        }

    def run(self, *arguments, stdin=""):
        return subprocess.run(
            [GROVE, *arguments],
            cwd=self.root,
            env=self.environment,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )

    def json(self, *arguments, stdin=""):
        return json.loads(self.run(*arguments, "--json", stdin=stdin).stdout)

    def ticket(self, number, status):
        line = {"type": "issue", "id": f"shop-{number}", "title": "Slow", "status": status}
        line |= {"body": "Orders report takes 40 seconds", "tags": ["orders"]}
        with (self.root / ".tissue" / "issues.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")

    def hook(self, event, session, **payload):
        return self.run(
            "hook",
            event,
            stdin=json.dumps({"session_id": session, "cwd": str(self.root), **payload}),
        )

    def close(self, number, session):
        call = {
            "tool_name": "Bash",
            "tool_use_id": f"call-{number}",
            "tool_input": {"command": f"tissue status shop-{number} closed"},
        }
        self.hook("pre-tool-use", session, **call)
        self.ticket(number, "closed")
        self.hook("post-tool-use", session, **call, tool_response={})


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What every command prints, once with nothing to tell and once with everything."""
    project = Project(tmp_path_factory.mktemp("json"))
    found = {"grove init": [project.json("init")], "grove status": [project.json("status")]}
    found["grove init"].append(project.json("init", "--hooks", "--rules"))
    found["grove init --uninstall"] = [project.json("init", "--uninstall")]
    found["grove completion"] = [project.json("completion", "bash")]
    found["grove tickets"] = [project.json("tickets")]
    project.ticket(1, "in_progress")
    project.hook("session-start", "monday")
    project.close(1, "monday")
    project.hook("stop", "monday")
    found["grove sessions"] = [project.json("sessions")]
    found["grove trace"] = [project.json("trace")]
    found["grove debug"] = [project.json("debug")]
    found["grove clean"] = [project.json("clean", "--orphans", "--dry-run")]
    refused = project.json("reflect", stdin=json.dumps({"candidates": [{"summary": "no"}]}))
    found["grove observe"] = [project.json("observe", "rows() is called twice")]
    (project.root / ".grove" / "config.toml").write_text('[gate]\nsession = "maybe"\n')
    project.ticket(2, "in_progress")
    found["grove status"].append(project.json("status"))
    found["grove reflect --brief"] = [project.json("reflect", "--brief")]
    stored = project.json("reflect", stdin=json.dumps({"candidates": [LEARNING], "odd": 1}))
    found["grove reflect"] = [refused, stored]
    assert "accepted" in stored, stored
    learning_id = stored["accepted"][0]["id"]
    project.hook("session-end", "monday")
    project.hook("session-start", "tuesday")
    found["grove ref"] = [project.json("ref", learning_id)]
    found["grove skip"] = [project.json("skip", "nothing new in it")]
    found["grove reflect --brief"].append(project.json("reflect", "--brief"))
    found["grove status"].append(project.json("status"))
    found["grove tickets"].append(project.json("tickets"))
    found["grove tickets match"] = [project.json("tickets", "match", "tissue status shop-7 closed")]
    found["grove show"] = [project.json("show", learning_id)]
    found["grove list"] = [project.json("list")]
    found["grove search"] = [project.json("search", "orders")]
    found["grove backends"] = [project.json("backends")]
    found["grove plugins"] = [project.json("plugins")]
    found["grove doctor"] = [project.json("doctor")]
    found["grove config"] = [project.json("config")]
    found["grove config get"] = [
        project.json("config", "get", key) for key in ("gate.session", "ticketing.discovery")
    ]
    found["grove config path"] = [project.json("config", "path")]
    found["grove config validate"] = [project.json("config", "validate")]
    found["grove debug --set-gate"] = [project.json("debug", "tuesday", "--set-gate", "idle")]
    sessions = project.root.parent / "home" / ".grove" / "sessions"
    for name in ("broken.json", "monday.json.corrupt-1"):
        (sessions / name).write_text("{")
    found["grove sessions"].append(project.json("sessions"))
    found["grove debug"].append(project.json("debug", "monday"))
    found["grove clean"].append(project.json("clean", "--before", "0d"))
    return found


@pytest.mark.parametrize("title", documented())
def test_just_the_documented_keys_are_printed(title, printed):
    known = documented()[title]
    keys = set().union(*(keys_of(document, known) for document in printed[title]))
    assert keys == known


def test_every_command_has_a_section():
    from grove_core.cli.main import COMMANDS

    assert {f"grove {name}" for name in COMMANDS if name != "hook"} <= set(documented())


def test_a_command_that_fails_says_why(tmp_path):
    project = Project(tmp_path)
    assert set(project.json("show", "cl_nothing")) == {"error"}
