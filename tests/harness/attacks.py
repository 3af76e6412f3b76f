"""Attacks on grove that are counted: what was tried, and what went wrong. `make attack` prints them."""

import json
import os
import random
import signal
import string
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from attrs import frozen
from hostile import ACTING, CANARY, HELD_BACK, NEAR_MISSES, POISONS, escapes, marked
from planted import innocent, planted
from world import World

from grove_core.injection import render
from grove_core.reflection.candidates import read_candidate
from grove_core.reflection.secrets import find_secrets
from grove_core.reflection.write_gate import find_instruction
from grove_core.retrieval.terms import entry_of
from grove_core.testing.samples import example_learning
from grove_core.text import counted

_THINGS = (
    "invoice header cursor shard ledger voucher batch quota tenant widget queue bucket frame"
    " socket digest region parcel anchor mirror rebate packet column marker filter"
).split()


@frozen
class Figure:
    """One row: what was tried, how often, what became of it, and how often grove failed at it."""

    name: str
    tried: int
    said: str
    failed: int = 0


def candidate(number):
    """A lesson that every check accepts, and that is like no other one."""
    subject = "".join(random.Random(number).choices(string.ascii_lowercase, k=8))
    things = random.Random(-number - 1).sample(_THINGS, 6)
    return {
        "category": "pitfall",
        "summary": f"{subject.title()}.{things[0]}() loses the {things[1]} when {things[2]} is empty",
        "detail": f"{subject.title()}.{things[0]}() in {subject}/{things[3]}.py drops the"
        f" {things[1]} of {number + 2},000 {things[4]}s; it raised KeyError '{things[5]}'. Call"
        f" fill_{things[5]}() before it.",
        "tags": [subject, things[1]],
        "criteria_met": ["behavior_changing"],
    }


def a_world(folder, name):
    made = World(folder / name)
    made.initialise()
    made.use_beads()
    return made


def gate_sequences(folder, count):
    """Random sessions on the real hooks, each stop compared with what is owed."""
    stops, wrong = 0, 0
    for seed in range(count):
        chance = random.Random(seed)
        agent = a_world(folder, f"gate-{seed}").agent()
        agent.starts()
        owed, blocks = False, 0
        for step in range(chance.randrange(4, 10)):
            action = chance.choice(["close", "denied", "failed", "skip", "stop", "stop"])
            if action == "close":
                agent.closes(f"bd-{step}")
                owed, blocks = True, blocks if owed else 0
            elif action == "denied":
                agent.announces(command=f"bd close bd-{step}")
                agent.asks("go on")
            elif action == "failed":
                agent.fails(agent.announces(command=f"bd close bd-{step}"))
            elif action == "skip" and owed:
                agent.grove("skip", "nothing to it")
                owed = False
            elif action == "stop":
                code, stops = agent.stops().code, stops + 1
                breaks = owed and blocks >= 3
                wrong += code != (2 if owed and not breaks else 0)
                owed, blocks = owed and not breaks, blocks + 1
    return Figure("gate: random sessions on the hooks", count, f"{stops} stops answered", wrong)


def kills(folder, count):
    """`grove reflect` killed at random moments: what it stored is there once, and can be read."""
    world = a_world(folder, "kills")
    world.agent().starts()
    chance, environment = (
        random.Random(1),
        world._environment({"CLAUDE_CODE_SESSION_ID": "session-1"}),
    )
    for number in range(count):
        process = subprocess.Popen(
            [sys.executable, "-m", "grove_core._entry", "reflect", "--json"],
            cwd=world.project, env=environment, stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        process.stdin.write(json.dumps({"candidates": [candidate(number)]}).encode())
        process.stdin.close()
        time.sleep(chance.uniform(0.3, 2.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
    listed = world.grove("list", "--json").json["learnings"]
    summaries = Counter(one["summary"] for one in listed)
    twice = sum(number - 1 for number in summaries.values())
    broken = "cannot be read" in world.grove("doctor").stdout or world.session() is None
    return Figure(
        "kills of reflect", count, f"{len(listed)} stored before the kill", twice + broken
    )


def parallel(folder, count):
    """As many reflections at once, each in a session of its own: none is lost, none stands twice."""
    world = a_world(folder, "parallel")
    for number in range(count):
        world.agent(f"session-{number}").starts()
    running = []
    for number in range(count):
        process = world.start("reflect", "--json", CLAUDE_CODE_SESSION_ID=f"session-{number}")
        process.stdin.write(json.dumps({"candidates": [candidate(number)]}).encode())
        process.stdin.close()
        running.append(process)
    accepted = sum(process.wait() == 0 for process in running)
    for process in running:
        process.stdout.close()
        process.stderr.close()
    ids = world.learning_ids()
    lost = abs(accepted - len(ids)) + len(ids) - len({*ids})
    return Figure("writers at once", count, f"{accepted} accepted", lost)


def quotation():
    """Each hostile text in each field of a learning: lines that stand outside of a quotation."""
    left = 0
    for number, (_, plain) in enumerate(POISONS):
        text = marked(plain)
        fields = dict.fromkeys(("summary", "detail", "ticket_id"), text)
        made = example_learning(
            id=f"cl_2030_{number:06}", context_files=(text,), tags=(text,), **fields
        )
        shown = render([entry_of(made, backend="markdown", personal=False)], made.timestamp, 9_000)
        left += len(escapes(shown.text)) + (CANARY not in shown.text)
    return Figure(
        "hostile texts in every field", len(POISONS), f"{left} lines left their quotation", left
    )


def poisons():
    """Hostile texts inside of a sound lesson, through the check of `grove reflect`."""
    for name, texts in (
        ("hostile texts through reflect", POISONS),
        ("the same, held back from its rules", HELD_BACK),
    ):
        passed = [style for style, text in texts if not is_order(text)]
        acting = sum(style in ACTING for style in passed)
        said = f"{len(passed)} accepted, {acting} of them of a kind that tells the agent to act"
        too_many = max(0, len(passed) - len(texts) // 10)
        yield Figure(name, len(texts), said, acting + too_many)
    alarms = sum(is_order(text) for text in NEAR_MISSES)
    yield Figure("lessons near to an order", len(NEAR_MISSES), f"{alarms} refused", alarms)


def is_order(text):
    sound = candidate(1)
    read = read_candidate({**sound, "detail": f"{sound['detail']} {text}"})
    found = getattr(read, "candidate", None)
    return found is None or find_instruction(found) is not None


def secrets():
    total, missed, tokens = 0, 0, 0
    for kind, _, text in planted():
        total += 1
        if not find_secrets(text):
            missed, tokens = missed + 1, tokens + (kind == "token")
    said = f"{total - missed} found, {tokens} of the tokens that identify themselves missed"
    return Figure("planted secrets", total, said, tokens)


def forged_logs(folder):
    """What a clone's event log moves in the order of what a search finds."""
    world = a_world(folder, "forged")
    words = ("flush", "writer", "spool", "export", "empty", "upload", "close")
    for number, _ in enumerate(words):
        text = f"The exporter flushes {' '.join(words[number:])}"
        world.learning(f"cl_20300102_aaaaa{'abcdefg'[number]}", text)
    find = ("search", "export", "flush", "close", "upload", "--json", "--limit", "20")
    before = [one["id"] for one in world.grove(*find).json["results"]]
    moved = 0
    for evil in before[1:]:
        usual = {"v": 1, "ts": "2030-01-03T10:00:00Z", "grove": "x", "learning_id": evil}
        lines = [
            usual | {"event": "referenced", "session_id": f"s{number}", "ticket_id": f"t{number}"}
            for number in range(500)
        ]
        for other in before:
            if other != evil:
                more = {"event": "rated", "learning_id": other, "useful": False}
                lines += [{**usual, **more, "session_id": f"r{number}"} for number in range(100)]
        log = world.project / ".grove/stats.log"
        log.write_text("".join(json.dumps(one) + "\n" for one in lines))
        after = [one["id"] for one in world.grove(*find).json["results"]]
        moved = max(moved, before.index(evil) - after.index(evil))
    said = f"moved one of seven nearly equal learnings by {counted(moved, 'place')} at most"
    return Figure("forged logs", len(before) - 1, said, moved > 1)


def hostile_repositories(folder):
    """Odd trees, each under all hooks and some commands: what crashed, hung, or was run."""
    cases = {
        "a log without line ends": lambda one: os.truncate(_touch(one / ".grove/stats.log"), 10**8),
        "a learnings file of nothing": lambda one: os.truncate(one / ".grove/learnings.md", 10**8),
        "pipes": lambda one: [
            os.mkfifo(one / ".grove" / name) for name in ("stats.log", ".gitattributes")
        ],
        "a link to itself": lambda one: (one / ".grove/learnings").symlink_to("learnings"),
        "links that lead out": lambda one: (one / ".grove/stats").symlink_to("/etc"),
        "deep TOML": lambda one: (one / ".grove/config.toml").write_text("a = " + "[" * 5000),
        "programs of its own": _with_programs,
        "filters of git": _with_filters,
        "deep JSON": lambda one: (one / ".mcp.json").write_text("[" * 100_000),
        "bytes for text": lambda one: (one / ".grove/learnings.md").write_bytes(
            os.urandom(100_000)
        ),
    }
    wrong, ran = 0, 0
    for number, (name, build) in enumerate(cases.items()):
        world = a_world(folder, f"hostile-{number}")
        world.make_git()
        build(world.project)
        environment = world._environment({"GROVE_HOOKS_DEADLINE_MS": "3000"})
        path = f"{world.project}/bin:{environment['PATH']}"
        payload = json.dumps(
            {"session_id": "s", "cwd": str(world.project), "prompt": name, "source": "startup"}
        )
        calls = [
            ("hook", event)
            for event in ("session-start", "user-prompt-submit", "stop", "session-end")
        ]
        for words in (*calls, ("status",), ("search", "x"), ("doctor",), ("stats",)):
            try:
                done = subprocess.run(
                    [sys.executable, "-P", "-m", "grove_core._entry", *words],
                    cwd=world.project, env={**environment, "PATH": path}, input=payload.encode(),
                    capture_output=True, timeout=60, check=False,
                )  # fmt: skip
            except subprocess.TimeoutExpired:
                wrong += 1
                continue
            wrong += b"Traceback" in done.stderr or (
                words[0] == "hook" and done.returncode not in (0, 2)
            )
        ran += (world.project / "RAN").exists()
    return Figure("hostile repositories", len(cases), f"{ran} programs of theirs run", wrong + ran)


def _touch(path):
    path.touch()
    return path


def _with_programs(project):
    for name in ("git", "bd", "timeout"):
        program = project / "bin" / name
        program.parent.mkdir(exist_ok=True)
        program.write_text(f"#!/bin/sh\necho $0 >> {project}/RAN\n")
        program.chmod(0o755)


def _with_filters(project):
    _with_programs(project)
    with (project / ".git/config").open("a") as config:
        config.write(f'[filter "evil"]\n\tclean = {project}/bin/bd\n\tprocess = {project}/bin/bd\n')
    (project / ".gitattributes").write_text("* filter=evil\n")
    (project / "touched.txt").write_text("x")


def attack(scale=1):
    """Try everything, so much of what takes long."""
    with tempfile.TemporaryDirectory(prefix="grove-attack-") as name:
        folder = Path(name).resolve()
        yield gate_sequences(folder, 60 * scale)
        yield kills(folder, 25 * scale)
        yield parallel(folder, 20 * scale)
        yield hostile_repositories(folder)
        yield quotation()
        yield from poisons()
        yield forged_logs(folder)
        yield secrets()
        texts = innocent()
        alarms = sum(bool(find_secrets(one)) for one in texts)
        yield Figure("innocent lessons", len(texts), f"{alarms} taken for a secret")
