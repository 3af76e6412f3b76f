"""Attacks on grove that are counted: what was tried, and what went wrong. `make attack` prints them."""

import json
import os
import random
import re
import resource
import shutil
import signal
import string
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from attrs import frozen
from core_worlds import write_program
from giants import giants
from git_histories import History
from host_world import WORDS, HostWorld
from hostile import (
    ACTING,
    CANARY,
    HELD_BACK,
    NEAR_MISSES,
    POISONS,
    as_name,
    escapes,
    marked,
)  # fmt: skip
from planted import innocent, planted
from session_server import ServedWorld
from world import Agent, World

from grove_core.injection import render
from grove_core.reflection.candidates import read_candidate
from grove_core.reflection.instructions import find_instruction
from grove_core.reflection.secrets import find_secrets
from grove_core.retrieval.terms import entry_of
from grove_core.services.file_notes import line_of
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
    costs: tuple = ()  # what a command took: its words, MiB, seconds


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


def gate_sequences(folder, count, *, served=False, host=""):
    """Random sessions on the real hooks, each stop compared with what is owed."""
    stops, wrong, kills = 0, 0, 0
    for seed in range(count):
        chance = random.Random(seed)
        world = a_world(folder, f"gate-{served}-{host}-{seed}")
        world = ServedWorld(world, seed) if served else world
        world = HostWorld(world, host) if host else world
        agent = Agent(world, "session-1", {})
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
        if served:
            world.kill()
            kills += world.kills
    if not served:
        name = f"the same in {host}" if host else "gate: random sessions on the hooks"
        return Figure(name, count, f"{stops} stops answered", wrong)
    said = f"{stops} stops answered, the server killed {kills} times"
    return Figure("the same on the session's server", count, said, wrong)


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


@contextmanager
def _small_disk(place):
    """A full disk for a folder, in the way that this machine allows; gives what fills it, and how."""
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", place]
    if not os.geteuid() and not subprocess.run(mount, capture_output=True, check=False).returncode:
        junk = place / "junk"

        def fill(left):
            with junk.open("wb", 0) as file:
                try:
                    while True:
                        file.write(bytes(4096))
                except OSError:
                    file.truncate(max(0, file.tell() - left))

        yield fill, junk.unlink, "a tmpfs of 1 MiB"
        subprocess.run(["umount", place], check=True)
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(left):
        resource.setrlimit(resource.RLIMIT_FSIZE, (left, hard))

    yield (
        limit,
        lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard)),
        "a limit on the size of files",
    )


def full_disks(folder):
    """A disk that is full when a session has to reflect: nothing is lost or stuck when it is not."""
    wrong, stored, how = 0, 0, ""
    cases = [
        (place, left) for place in ("project/.grove", "grove-home") for left in (0, 4096, 16384)
    ]
    for number, (name, left) in enumerate(cases):
        world = World(folder / f"full-{number}")
        place = world.folder / name
        place.mkdir()
        with _small_disk(place) as (fill, free, means):
            how = means
            (world.project / ".grove").mkdir(exist_ok=True)
            world.learnings_file.touch()
            (world.project / ".grove/config.toml").touch()
            world.use_beads()
            agent = world.agent(real=True)  # this process has files of its own to write
            agent.starts()
            agent.closes("bd-1")
            fill(left)
            given = agent.stops(), agent.reflects(candidate(1)), agent.stops()
            free()
            accepted = given[1].code == 0
            stored += accepted
            done = [agent.reflects(candidate(1))] if not accepted else []
            done += [agent.grove("maintain", "flush"), agent.stops()]
            wrong += any("Traceback" in one.stderr for one in (*given, *done))
            wrong += any(one.code for one in done) + (len(world.learning_ids()) != 1)
            wrong += world.session() is None or bool(world.log("crash.log"))
    said = f"{how}; {stored} reflections accepted meanwhile, all stored once it had room"
    return Figure("full disks", len(cases), said, wrong)


@contextmanager
def _read_only(place):
    """A folder that nobody may write to; gives whether that was to be had."""
    if os.geteuid():
        place.chmod(0o555)
        yield True
        place.chmod(0o755)
        return
    steps = (["--bind", place, place], ["-o", "remount,ro,bind", place])
    done = [subprocess.run(["mount", *one], capture_output=True, check=False) for one in steps]
    yield not any(one.returncode for one in done)
    if not done[0].returncode:
        subprocess.run(["umount", place], check=True)


def read_only_disks(folder):
    """A disk that cannot be written: work goes on, what was accepted is delivered afterwards."""
    wrong, tried, stored = 0, 0, 0
    for name in ("project", "grove-home"):
        world = a_world(folder, f"read-only-{name}")
        agent = world.agent()
        agent.starts()
        agent.closes("bd-1")
        with _read_only(world.folder / name) as possible:
            if not possible:
                continue
            given = agent.stops(), agent.reflects(candidate(1)), agent.grove("status")
        accepted, tried = given[1].code == 0, tried + 1
        stored += accepted
        done = [agent.reflects(candidate(1))] if not accepted else []
        done += [agent.grove("maintain", "flush"), agent.stops()]
        wrong += any("Traceback" in one.stderr for one in (*given, *done))
        wrong += any(one.code for one in done) + (len(world.learning_ids()) != 1)
    said = f"{stored} reflections accepted meanwhile, all stored afterwards"
    return Figure("read-only disks", tried, said if tried else "root may not mount here", wrong)


def git_histories(folder, count):
    """Random branches, merges, rebases, picks, squashes and stashes of two clones."""
    wrong, steps = 0, 0
    for seed in range(count):
        place = folder / "history"
        place.mkdir()
        history = History(place, seed)
        try:
            for number in range(history.random.randint(4, 9)):
                history.step(number)
                steps += 1
            history.finish()
            history.judge()
        except AssertionError as error:
            print(f"history {seed}: {error}", file=sys.stderr)
            wrong += 1
        shutil.rmtree(place)
    said = f"{steps} steps, all learnings and events in both clones"
    return Figure("histories of git", count, said, wrong)


def floods(folder):
    """Inputs made to cost much: each is answered in time, and none ends in a traceback."""
    world = a_world(folder, "floods")
    agent = world.agent()
    agent.starts()
    commands = [
        "echo " + "x" * 10_000_000,
        "bd close bd-1; " * 700_000,
        "true\n" * 200_000,
        "$(" * 3_000,
        "{" * 50_000,
        "echo " + "{1,2}" * 40,
        "cat <<A\n" * 2_000,
    ]
    call = {"session_id": "session-1", "cwd": str(world.project), "tool_name": "Bash"}
    call["tool_use_id"] = "t"
    payloads = ({**call, "tool_input": {"command": text}} for text in commands)
    inputs = [("hook pre-tool-use", json.dumps(one).encode()) for one in payloads]
    start = b'{"session_id": "session-1", "a": '
    used = {"learnings_used": [{"id": "x" * 20, "how": "y"}] * 15_000}
    inputs += [
        ("hook stop", start + b"[" * 1_000_000),
        ("hook stop", start + b"[" + b"[]," * 5_000_000 + b"[]]}"),
        ("hook stop", b"\0" * 20_000_000),
        ("hook user-prompt-submit", start + b'"' + b"\xff" * 1_000_000 + b'"}'),
        ("hook stop", start + b"1" * 1_000_000 + b"}"),
        ("reflect --session-id session-1", b'{"candidates": ' + b"[" * 900_000),
        ("reflect --session-id session-1", json.dumps(used).encode()),
    ]
    wrong, longest = 0, 0.0
    for words, data in inputs:
        before = time.monotonic()
        wrong += _fails(world, words, data)
        longest = max(longest, time.monotonic() - before)
    wrong += longest > 60
    return Figure("floods", len(inputs), f"the longest took {longest:.0f} s", wrong)


def _fails(world, words, data, prefix=(), **variables):
    """Whether a program ends in a traceback, never, or with a code that a hook must not have."""
    environment = world._environment({"GROVE_HOOKS_DEADLINE_MS": "3000", **variables})
    try:
        done = subprocess.run(
            [*prefix, sys.executable, "-P", "-m", "grove_core._entry", *words.split()], input=data,
            cwd=world.project, env=environment, capture_output=True, timeout=120, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return True
    odd = words.startswith("hook") and done.returncode not in (0, 2)
    return odd or b"Traceback" in done.stderr


def quotation():
    """Each hostile text in each field of a learning: lines that stand outside of a quotation."""
    left = 0
    for style, plain in POISONS:
        text = marked(plain)
        fields = dict.fromkeys(("summary", "detail", "ticket_id"), text)
        name = as_name(text)
        made = example_learning(id=name, context_files=(text,), tags=(text,), **fields)
        shown = render([entry_of(made, backend="markdown", personal=False)], made.timestamp, 9_000)
        line = line_of(learning_id=name, category="pitfall", summary=text, age="today", named=text)
        wrong = [*escapes(shown.text), *escapes(line)] + ["hidden"] * (CANARY not in shown.text)
        if wrong or "\n" in line:
            print(f"{style}: {wrong or line}", file=sys.stderr)
        left += len(wrong) + ("\n" in line)
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
    return Figure("forged logs", len(before) - 1, said, int(moved > 1))


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
    wrong, ran, strace = 0, 0, shutil.which("strace")
    traced = folder / "traced"
    prefix = [strace, "-f", "-qq", "--seccomp-bpf", "-e", "trace=execve,connect", "-o", traced]
    for number, (name, build) in enumerate(cases.items()):
        world = a_world(folder, f"hostile-{number}")
        world.make_git()
        build(world.project)
        path = f"{world.project}/bin:{world.environment['PATH']}"
        payload = json.dumps(
            {"session_id": "s", "cwd": str(world.project), "prompt": name, "source": "startup"}
        ).encode()
        events = ("session-start", "user-prompt-submit", "stop", "session-end")
        calls = [f"hook {event}" for event in events]
        for words in (*calls, "status", "search x", "doctor", "stats"):
            wrong += _fails(world, words, payload, prefix if strace else (), PATH=path)
            ran += strace is not None and _reached(traced.read_text(errors="replace"), world)
        ran += (world.project / "RAN").exists()
    seen = "seen by strace" if strace else "by what they leave; there is no strace here"
    said = f"{ran} programs of theirs run, none connected to ({seen})"
    return Figure("hostile repositories", len(cases), said, wrong + ran)


def _reached(trace, world):
    """How often a program of the project was run, or a connection made."""
    lines = trace.splitlines()
    own = re.escape(str(world.project))
    ran = sum(re.search(rf'execve\("{own}/.*= 0$', one) is not None for one in lines)
    return ran + sum("AF_INET" in one and "connect(" in one for one in lines)


def _touch(path):
    path.touch()
    return path


def _with_programs(project):
    for name in ("git", "bd", "timeout"):
        write_program(project / "bin" / name, f"echo $0 >> {project}/RAN")


def _with_filters(project):
    _with_programs(project)
    with (project / ".git/config").open("a") as config:
        config.write(f'[filter "evil"]\n\tclean = {project}/bin/bd\n\tprocess = {project}/bin/bd\n')
    (project / ".gitattributes").write_text("* filter=evil\n")
    (project / "touched.txt").write_text("x")


def commands_on_giants(folder, *, every):
    """Commands on files of a size that no person writes."""
    submission = json.dumps({"candidates": [candidate(1)]})
    costs, faults = giants(folder, submission, every=every)
    over = [one for one in costs if one[1] > 300 or one[2] > 60]
    largest, longest = (max(one[number] for one in costs) for number in (1, 2))
    said = f"at most {largest} MiB and {longest:.0f} s of processor time; {faults} tracebacks or leftovers"
    return Figure("commands on giant files", len(costs), said, len(over) + faults, tuple(costs))


def attack(scale=1):
    """Try everything, so much of what takes long."""
    with tempfile.TemporaryDirectory(prefix="grove-attack-") as name:
        folder = Path(name).resolve()
        yield gate_sequences(folder, 60 * scale)
        yield gate_sequences(folder, 10 * scale, served=True)
        for host in WORDS:
            yield gate_sequences(folder, 10 * scale, host=host)
        yield kills(folder, 25 * scale)
        yield parallel(folder, 20 * scale)
        yield full_disks(folder)
        yield read_only_disks(folder)
        yield git_histories(folder, 6 * scale)
        yield hostile_repositories(folder)
        yield floods(folder)
        yield commands_on_giants(folder, every=scale > 1)
        yield quotation()
        yield from poisons()
        yield forged_logs(folder)
        yield secrets()
        texts = innocent()
        alarms = sum(bool(find_secrets(one)) for one in texts)
        yield Figure("innocent lessons", len(texts), f"{alarms} taken for a secret")
