"""Every key that a command prints is documented, and every documented key is printed by one."""

import json
import re
import shutil
import sys
from pathlib import Path

import pytest
from statistics_examples import rich_example
from world import World

from grove_backend_postgres.commands import migrate_document
from grove_core.cli.schema import sections
from grove_core.stats.document import statistics_document
from grove_core.stats.insights import insights_of
from grove_core.storage.codec import to_jsonable

ROOT = Path(__file__).parents[2]
PACKAGES = ("grove_core", "grove_eval", "grove_backend_mcp", "grove_backend_postgres")
INTERCHANGE = Path(__file__).parents[1] / "data" / "interchange"
COLLECTION = ROOT / "docs" / "examples" / "shop-and-blog"
MEMORY_SERVER = ROOT / "grove-backend-mcp" / "tests" / "servers" / "fake_memory.py"
LEARNING = {
    "category": "pitfall",
    "summary": "OrderReport.rows() runs one query per order unless items are prefetched",
    "detail": "OrderReport.rows() reads order.items in a loop, 40 s for 4,000 orders;"
    " prefetch_related('items') cures it.",
    "criteria_met": ["behavior_changing"],
    "tags": ["orders", "N Plus One"],
    "context_files": ["reports/orders.py"],
}


def documented():
    """The keys of each section; a list of learnings has the keys of `grove show`."""
    found = {
        title: set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))
        for package in PACKAGES
        for title, text in sections(package).items()
    }
    past = {key for key in found["grove show"] if key.startswith(("superseded_by", "history"))}
    decay = {key for key in found["grove show"] if key.startswith("decay")}
    listed = found["grove show"] - past
    found["grove list"] |= {f"learnings[].{key}" for key in listed}
    found["grove search"] |= {f"results[].{key}" for key in listed - decay}
    found["grove review"] |= {f"learnings[].{key}" for key in listed - decay}
    found["grove maintain list"] |= {f"explained[].{key}" for key in decay}
    curated = [key for key in found["grove maintain"] if key.startswith("going_stale[].")]
    for name in ("archived", "corrected", "never_used"):
        found["grove maintain"] |= {key.replace("going_stale", name, 1) for key in curated}
    session = {key for key in found["grove status"] if key.startswith("session.")}
    found["grove status"] |= {f"live_sessions[].{key.removeprefix('session.')}" for key in session}
    tickets = {key for key in session if key.startswith(("session.ticket.", "session.closed[]."))}
    found["grove sessions"] |= {key.replace("session.", "sessions[].", 1) for key in tickets}
    retrieval = {key for key in found["grove why"] if key.startswith("retrieval.")}
    found["grove debug"] |= {key.replace("retrieval", "retrievals[]", 1) for key in retrieval}
    pending = {key for key in found["grove sessions"] if key.startswith("sessions[].pending[].")}
    for title, prefix in (("grove debug", ""), ("grove clean", "kept[].")):
        found[title] |= {key.replace("sessions[].", prefix, 1) for key in pending}
    return found


def keys_of(value, known, prefix=""):
    """The keys of a document, written as the page writes them."""
    found = set()
    for name, child in value.items():
        key = f"{prefix}{name}"
        if f"{key}{{}}" in known:
            named = f"{key}{{}}"
            found.add(named)
            if any(other.startswith(f"{named}.") for other in known):
                for item in child.values():
                    found |= keys_of(item, known, f"{named}.")
        elif isinstance(child, list):
            found.add(f"{key}[]")
            for item in child:
                if isinstance(item, dict):
                    found |= keys_of(item, known, f"{key}[].")
        else:
            found.add(key)
            # The value of a setting may be of any type, which its plugin says.
            if isinstance(child, dict) and key not in {"settings[].value", "settings[].default"}:
                found |= keys_of(child, known, f"{key}.")
    return found


class Project(World):
    """A scratch project in which everything has happened that a command can tell of."""

    def __init__(self, folder):
        super().__init__(folder)
        (self.project / ".tissue").mkdir()
        (self.project / ".git").mkdir()
        self.lent.append(self.project / ".claude")
        self.install_plugin("broken", "raise RuntimeError('it is broken')\n")

    def json(self, *arguments, stdin=""):
        return self.grove(*arguments, "--json", stdin=stdin).json

    def ticket(self, number, status):
        line = {"type": "issue", "id": f"shop-{number}", "title": "Slow", "status": status}
        line |= {"body": "Orders report takes 40 seconds", "tags": ["orders"]}
        with (self.project / ".tissue" / "issues.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")


def curate(project, found, learning_id):
    """Learnings of all kinds that curation looks at, and what `grove maintain` says of them."""
    old, new = "2020-01-02T10:00:00Z", "2200-01-02T10:00:00Z"
    names = ("cl_stale", "cl_wrong", "cl_old", "cl_new", "cl_gone", "cl_unused")
    for name in names:
        project.learning(name, f"The lesson {name}", created=old if name == "cl_stale" else new)
    shown = {"v": 1, "ts": old, "event": "surfaced", "grove": "0", "learning_id": "cl_unused"}
    with (project.project / ".grove" / "stats.log").open("a") as file:
        for number in range(5):
            file.write(json.dumps({**shown, "session_id": f"past-{number}"}) + "\n")
    said = {
        "nothing_learned": "only a correction",
        "corrections": [{"id": "cl_wrong", "why": "no"}],
    }
    project.json("reflect", stdin=json.dumps(said))
    project.json("maintain", "supersede", "cl_old", "--by", "cl_new")
    archive = ("maintain", "archive", "cl_gone", "cl_nothing", learning_id)
    found["grove maintain archive"] = [project.json(*archive), project.json(*archive)]
    project.json("maintain", "restore", learning_id)
    found["grove maintain"] = [project.json("maintain")]
    found["grove maintain list"] = [project.json("maintain", "list", "--explain")]
    outbox = project.grove_home / "outbox"
    outbox.mkdir()
    learning = project.json("show", "cl_new")
    kept = {
        key: learning[key] for key in ("category", "summary", "detail", "session_id", "timestamp")
    }
    for name, fields in (("cl_one", {}), ("cl_two", {"scope": "ephemeral"})):
        document = {"learning": {"id": name, **kept, **fields}, "root": str(project.project)}
        (outbox / f"{name}.json").write_text(json.dumps(document))
    (outbox / "cl_broken.json").write_text("{")
    found["grove maintain flush"] = [project.json("maintain", "flush")]
    found["grove maintain index"] = [project.json("maintain", "index")]
    for path in outbox.iterdir():
        path.unlink()


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What every command prints, once with nothing to tell and once with everything."""
    project = Project(tmp_path_factory.mktemp("json"))
    found = {"grove init": [project.json("init")], "grove status": [project.json("status")]}
    found["grove init"].append(project.json("init", "--hooks", "--rules"))
    found["grove init --uninstall"] = [project.json("init", "--uninstall")]
    found["grove tickets"] = [project.json("tickets")]
    project.ticket(1, "in_progress")
    monday = project.agent("monday")
    monday.starts()
    call = monday.announces(command="tissue status shop-1 closed")
    project.ticket(1, "closed")
    monday.succeeds(call)
    monday.stops()
    found["grove sessions"] = [project.json("sessions")]
    found["grove trace"] = [project.json("trace")]
    found["grove debug"] = [project.json("debug")]
    found["grove clean"] = [project.json("clean", "--orphans", "--dry-run")]
    refused = project.json("reflect", stdin=json.dumps({"candidates": [{"summary": "no"}]}))
    found["grove observe"] = [project.json("observe", "rows() is called twice")]
    (project.project / ".grove" / "config.toml").write_text('[gate]\nsession = "maybe"\n')
    project.ticket(2, "in_progress")
    found["grove status"].append(project.json("status"))
    found["grove reflect --brief"] = [project.json("reflect", "--brief")]
    stored = project.json("reflect", stdin=json.dumps({"candidates": [LEARNING], "odd": 1}))
    found["grove reflect"] = [refused, stored]
    found["grove reflect --dry-run"] = [dry_run(project)]
    assert "accepted" in stored, stored
    learning_id = stored["accepted"][0]["id"]
    monday.ends()
    project.agent("tuesday").starts()
    found["grove ref"] = [project.json("ref", learning_id, "cl_gone")]
    found["grove skip"] = [project.json("skip", "nothing new in it")]
    found["grove reflect --brief"].append(project.json("reflect", "--brief"))
    found["grove status"].append(project.json("status"))
    found["grove tickets"].append(project.json("tickets"))
    found["grove tickets match"] = [project.json("tickets", "match", "tissue status shop-7 closed")]
    curate(project, found, learning_id)
    words = ("--why", "Sums of floats were off by a cent in March.")
    found["grove add"] = [project.json("add", "Prices are whole cents everywhere", *words)]
    project.environment["EDITOR"] = "sed -i s/active/archived/"
    found["grove rm"] = []  # as `grove maintain archive`
    found["grove edit"] = [project.json("edit", found["grove add"][0]["id"])]
    found["grove show"] = [project.json("show", learning_id)]
    found["grove review"] = [
        project.json("review"),
        project.json("review", learning_id, "cl_nobody", "--useful"),
    ]
    found["grove list"] = [project.json("list", "--all")]
    found["grove list --rejected"] = [project.json("list", "--rejected")]
    found["grove search"] = [project.json("search", "orders")]
    found["grove backends"] = [project.json("backends")]
    found["grove plugins"] = [project.json("plugins")]
    checks = ("plugins", "check")
    found["grove plugins check"] = [project.json(*checks, one) for one in ("broken", "tissue")]
    found["grove pause"] = [project.json("pause", "1h")]
    found["grove resume"] = [project.json("resume")]
    found["grove schema"] = [project.json("schema", *one) for one in ((), ("stats",))]
    found["grove doctor"] = [project.json("doctor")]
    found["grove config"] = [project.json("config")]
    found["grove config get"] = [
        project.json("config", "get", key) for key in ("gate.session", "ticketing.discovery")
    ]
    found["grove trust"] = trust(project)
    found["grove config path"] = [project.json("config", "path")]
    found["grove config validate"] = [project.json("config", "validate")]
    found["grove config set"] = [project.json("config", "set", "gate.session", "never")]
    found["grove config unset"] = [project.json("config", "unset", "gate.session")]
    found["grove why"] = [
        project.json("why", *ids, "--session-id", "tuesday")
        for ids in ((), (learning_id, "cl_nothing"))
    ]
    found["grove debug"].append(project.json("debug", "tuesday"))
    found["grove debug --set-gate"] = [project.json("debug", "tuesday", "--set-gate", "idle")]
    sessions = project.grove_home / "sessions"
    for name in ("broken.json", "monday.json.corrupt-1"):
        (sessions / name).write_text("{")
    found["grove sessions"].append(project.json("sessions"))
    found["grove debug"].append(project.json("debug", "monday"))
    found["grove clean"].append(project.json("clean", "--before", "0d"))
    found["grove stats"] = [project.json("stats"), statistics_of_a_rich_project()]
    found["grove page"] = [project.json("page")]
    found["grove cost"] = [project.json("cost")]
    found["grove digest"] = [project.json("digest", "--since", "2020-01-01")]
    evaluate(project, found)
    exchange(project, found)
    merge(project, found)
    ask_servers(tmp_path_factory.mktemp("server"), found)
    found["grove backends postgres migrate"] = [migrate_document(["1 tables"], dry_run=True)]
    return found


def ask_servers(scratch, found):
    """Servers with all operations there are between them, and one in use."""
    project = Project(scratch)
    configuration = project.grove_home / "config.toml"
    configuration.parent.mkdir(exist_ok=True)
    found["grove backends mcp map"], found["grove backends mcp probe"] = [], []
    for kind in ("columns", "notes", "graph"):
        server = {
            "command": sys.executable,
            "args": [MEMORY_SERVER, kind, project.others / "memory.json"],
        }
        lines = [f"{name} = {json.dumps(value, default=str)}" for name, value in server.items()]
        configuration.write_text("\n".join(["[backends.mcp]", *lines]))
        for word in ("map", "probe"):
            found[f"grove backends mcp {word}"].append(project.json("backends", "mcp", word))
    found["grove backends discover"] = [project.json("backends", "discover")]
    found["grove status"].append(project.json("status"))


def evaluate(project, found):
    """An engine that injects and one that does not, with and without judgments."""
    files = ["--corpus", COLLECTION / "corpus.jsonl", "--queries", COLLECTION / "queries.jsonl"]
    judged = [*files, "--qrels", COLLECTION / "qrels.tsv"]
    engines = ["--engine", "bm25", "--engine", "default"]
    found["grove eval run"] = [project.json("eval", "run", *judged, *engines)]
    found["grove eval noise"] = [project.json("eval", "noise", *one) for one in (files, judged)]


def exchange(project, found):
    """What other programs have kept, with a secret in an event, and learnings for others."""
    older = project.others / "older"
    shutil.copytree(INTERCHANGE / "older-grove", older)
    secret = "AKIA" + "IOSFODNN7REALKEY"
    event = {"v": 1, "ts": "2026-02-10T10:00:00Z", "grove_version": "0.10.0", "event": "skip"}
    event |= {"session_id": "s1", "reason": f"only {secret} changed", "decider": "user"}
    with (older / "stats.log").open("a") as file:
        file.write(f"\n{json.dumps(event)}\n")
    found["grove import"] = [
        project.json("import", "older-grove", older),
        project.json("import", "jsonl", INTERCHANGE / "basic.jsonl"),
    ]
    output = project.others / "out.jsonl"
    found["grove export"] = [
        project.json("export", "--format", "jsonl", *words) for words in ((), ("--output", output))
    ]


ASKING = """
import grove_core as grove

@grove.hookimpl
def grove_memory_backends():
    asked = grove.TrustRequest(subject="server", source="server.json", content="serve")
    spec = grove.BackendSpec(
        name="asking", detect=lambda _: None, open=lambda _: None, trust=lambda _: [asked]
    )
    return [spec]
"""


def trust(project):
    """A request of a backend: before it is trusted, when it is, and when it is not any more."""
    project.install_plugin("asking", ASKING, "grove.backends")
    return [project.json("trust", *words) for words in ((), ("--yes",), ("--revoke",))]


def merge(project, found):
    """What a merge has spoilt, and another layout."""
    entry = next((project.project / ".grove" / "learnings").glob("*.md"))
    before = entry.read_text()
    theirs = before.replace("Origin:** ", "Origin:** ticket shop-9 | ")
    entry.write_text(f"<<<<<<< HEAD\n{before}=======\n{theirs}>>>>>>> ours\n")
    found["grove maintain repair"] = [project.json("maintain", "repair")]
    entry.write_text(before)
    found["grove maintain migrate"] = [project.json("maintain", "migrate", "--layout", "spread")]


def dry_run(project):
    """One candidate that is stored already, one that is refused, one that would be accepted."""
    other = {
        "category": "convention",
        "summary": "Exports stream rows through csv.writer: a list of all rows does not fit",
        "detail": "shop/export.py hands a generator to StreamingHttpResponse. With 200,000 orders a"
        " list needs 3 GB, and the worker is killed without a message; test_export_memory keeps it"
        " below 100 MB, so never build one there.",
        "tags": ["export"],
        "criteria_met": ["decision_rationale"],
        "surplus": 1,
    }
    candidates = [LEARNING, {**LEARNING, "tags": ["other"]}, other]
    sent = json.dumps({"candidates": candidates, "odd": 1})
    return project.json("reflect", "--dry-run", stdin=sent)


def statistics_of_a_rich_project():
    """What `grove stats --json` prints where everything there is has happened."""
    statistics = rich_example()
    insights = insights_of(statistics)
    return json.loads(json.dumps(to_jsonable(statistics_document(statistics, insights))))


@pytest.mark.parametrize("title", documented())
def test_just_the_documented_keys_are_printed(title, printed):
    known = documented()[title]
    keys = set().union(*(keys_of(document, known) for document in printed[title]))
    assert keys == known


RUN_BY_OTHERS = {"hook", "serve", "statusline"}


def test_every_command_has_a_section():
    from grove_core.cli.main import COMMANDS

    # Of a group that does nothing by itself each command has one.
    covered = {title.split()[1] for title in documented()}
    assert COMMANDS.keys() - RUN_BY_OTHERS <= covered


def test_a_command_that_fails_says_why(tmp_path):
    project = Project(tmp_path)
    assert set(project.json("show", "cl_nothing")) == {"error"}
