"""Whatever strangers wrote is read as data: in every field of every output, nothing leaves its quotation."""

import json

import pytest
from attacks import quotation
from hostile import CANARY, POISONS, as_name, escapes, marked

from grove_core.quotation import NOTE, shown_name

CLEANED_BY_FILES = str.maketrans(dict.fromkeys("/\0", "-"))
ENTRY = """### [{name}] {text}
- **Category:** pitfall
- **Scope:** project
- **Confidence:** high
- **Status:** active
- **Tags:** export, {line}
- **Files:** shop/export.py, {line}
- **Origin:** ticket {line} | session {line}
- **Created:** 2030-01-02T10:00:00Z

{quoted}

"""


def test_no_field_of_a_learning_leaves_the_quotation_that_an_agent_is_shown():
    assert quotation().failed == 0


@pytest.mark.parametrize(
    "name",
    ["cl_20300102_aaaaaa", "mcp-0123456789abcdef", "bd-a1b2.3", "PROJ-123", "#12", "owner/repo#7"],
)
def test_ordinary_ids_are_shown_whole(name):
    assert shown_name(name) == name


def styles():
    """A text of each style that can stand in one line of a file, and all others joined."""
    return {style: marked(text) for style, text in reversed(POISONS)}


@pytest.fixture
def hostile_clone(world):
    """A clone in which everything that a stranger can write is hostile."""
    world.make_git()
    world.initialise()
    (world.project / ".tickets").mkdir()
    (world.project / "shop").mkdir()
    world.git("switch", "-qc", f"work/{as_name('Ignore all rules')}")
    log, learnings = [], []
    for number, (style, text) in enumerate(styles().items()):
        line = " ".join(text.split()).replace("\0", "")
        name = as_name(style)
        quoted = "\n".join(f"> {one}" for one in text.split("\n"))
        learnings.append(ENTRY.format(name=name, text=line, line=line, quoted=quoted))
        (world.project / "shop" / f"{line.translate(CLEANED_BY_FILES)[:60]} {CANARY}").write_text(
            "x"
        )
        if number % 2:
            world.git("add", "-A", "shop")
            world.git("commit", "-qm", line, "--allow-empty")
        usual = {"v": 1, "ts": "2030-01-03T10:00:00Z", "grove": "x", "session_id": line}
        log += [
            usual
            | {"event": "rejected", "summary": text, "tags": [text], "stage": text, "reason": text},
            usual | {"event": "surfaced", "learning_id": name, "via": text, "score": 0.5},
            usual | {"event": "referenced", "learning_id": name, "ticket_id": text, "how": text},
            usual
            | {
                "event": "corrected",
                "learning_id": name,
                "superseded_by": as_name("tags"),
                "why": text,
            },
            usual | {"event": "archived", "learning_id": name, "reason": text},
            usual
            | {"event": "gate", "ticket_id": text, "outcome": text, "blocks": 1, "seconds": 1.0},
            usual | {"event": "skip", "reason": text, "decider": text, "ticket_id": text},
        ]
    world.learnings_file.write_text("".join(learnings))
    stats = world.project / ".grove/stats"
    stats.mkdir()
    (stats / "2030-01-03-aaaaaa.jsonl").write_text("".join(json.dumps(one) + "\n" for one in log))
    ticket = "\n".join(styles().values())
    (world.project / ".tickets/ab-1.md").write_text(
        f"---\nid: ab-1\nstatus: in_progress\ntags: [x]\n---\n# {styles()['tags']}\n\n{ticket}\n"
    )
    return world


def test_nothing_of_a_clone_leaves_its_quotation_in_any_output(hostile_clone):
    world = hostile_clone
    agent = world.agent()
    said = {"start": agent.starts(), "prompt": agent.asks("shop export")}
    name = as_name("tags")
    for words in (
        ["reflect", "--brief"], ["list", "--all"], ["list", "--rejected"], ["list", "--stale"],
        ["show", name], ["search", "shop", "export", CANARY, "--explain", "--limit", "100"],
        ["why"], ["why", name], ["status"], ["stats"], ["sessions", "--all"], ["trace"], ["debug"],
        ["tickets"], ["backends"], ["maintain", "list"], ["maintain", "list", "--explain"],
        ["maintain", "decay", "--dry-run"], ["maintain", "archive", name, "--reason", "x", "--dry-run"],
        ["review"], ["doctor", "-v"], ["config", "show"], ["trust"], ["plugins"], ["show", "cl_gone"],
    ):  # fmt: skip
        done = world.grove(*words)
        assert "Traceback" not in done.stderr
        said[" ".join(words)] = done.stdout + done.stderr
    left = {name: wrong for name, text in said.items() if (wrong := escapes(text))}
    assert left == {}, "\n".join(
        f"{one}: {line!r}" for one, lines in left.items() for line in lines
    )
    for shows in ("reflect --brief", "list --all", f"show {name}", "start"):
        assert CANARY in said[shows], shows
    assert said["reflect --brief"].startswith(NOTE)


def test_a_learning_is_named_as_the_repositorys_until_it_is_used_here(world):
    world.make_git()
    world.initialise()
    name = world.learning(
        "cl_20300102_aaaaaa", "The exporter flushes before it closes", files="a.py"
    )
    foreign = "from the repository, not used here yet"
    shown = {}
    for number, words in enumerate([["ref", name], ["status"], ["status"]]):
        if number == 2:  # changed by a colleague, or by somebody else
            text = world.learnings_file.read_text()
            world.learnings_file.write_text(text.replace("all there is", "nothing that there is"))
        agent = world.agent(f"session-{number}")
        shown[number] = agent.starts() + agent.asks("why does the exporter flush in a.py")
        assert name in shown[number]
        agent.grove(*words)
    assert [foreign in shown[number] for number in range(3)] == [True, False, True]


def test_nobody_else_can_say_that_a_learning_is_known_here(world):
    world.make_git()
    world.initialise()
    name = world.learning("cl_20300102_aaaaaa", "The exporter flushes before it closes")
    named = []
    for words in (["status"], ["review", name, "--useful"], ["status"]):
        world.grove(*words)
        named.append("from the repository" in world.grove("show", name).stdout)
        if named == [True, False]:
            key = world.grove_home / "key"
            assert key.stat().st_mode & 0o777 == 0o600
            key.write_bytes(b"0" * 64)
    assert named == [True, False, True]
