"""A very long session: ten thousand hook calls leave nothing behind but what the trace may hold."""

import json
import os
import re
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

pytestmark = pytest.mark.stress

HARNESS = Path(__file__).parent / "harness"
GROVE = str(Path(sys.executable).with_name("grove"))
# Short turns first, so that the trace is full early.
EARLY_TURNS, EARLY_LENGTH = 80, 25
LATER_TURNS, LATER_LENGTH = 64, 125
ROUNDS, ROUND_TURNS = 10, 8
FULL_FROM = 6
MOST_EVENTS = 500
SLACK_BYTES = 2_000
MOST_GROWTH_BYTES = 2 * 1024 * 1024
# Numbers in texts get longer with the calls; that is no growth.
FIRST_NUMBER = 100_000


def payload(world, number, **fields):
    return {
        "session_id": "session-1",
        "transcript_path": str(world.home / ".claude" / "projects" / "session-1.jsonl"),
        "cwd": str(world.project),
        "prompt_id": f"prompt-{number}",
        "permission_mode": "default",
        **fields,
    }


def tool_call(number, command):
    return {
        "tool_name": "Bash",
        "tool_use_id": f"toolu_{number}",
        "tool_input": {"command": command},
    }


SUCCESS = {"tool_response": {"stdout": "done", "stderr": "", "interrupted": False}}


def calls_of_a_turn(world, number, length):
    """A prompt, many calls that are none of grove's business, a close and two stops.

    In every second turn the close fails. In the others it is confirmed: a reflection is owed and
    asked for in vain, until the breaker opens at the fourth stop.
    """
    yield "user-prompt-submit", payload(world, number, prompt="and now the next one")
    for other in range((length - 5) // 2):
        plain = tool_call(f"{number}-{other:02}", "make test")
        yield "pre-tool-use", payload(world, number, **plain)
        yield "post-tool-use", payload(world, number, **plain, **SUCCESS)
    close = tool_call(number, f"bd close bd-{number}")
    yield "pre-tool-use", payload(world, number, **close)
    if closes(number):
        yield "post-tool-use", payload(world, number, **close, **SUCCESS)
    else:
        failure = {"error": "Exit code 1", "is_interrupt": False}
        yield "post-tool-use-failure", payload(world, number, **close, **failure)
    for _ in range(2):
        yield "stop", payload(world, number, background_tasks=[], stop_hook_active=False)


def closes(number):
    return number % 2 == 0


def turns(world, first, number, length):
    """The calls of this many turns; what is closed in them is closed from the beginning."""
    numbers = range(FIRST_NUMBER + first, FIRST_NUMBER + first + number)
    for one in filter(closes, numbers):
        world.close_ticket(f"bd-{one}")
    return [calls_of_a_turn(world, one, length) for one in numbers]


def is_idle(call):
    """Whether grove has nothing to do for a call."""
    return call[1].get("tool_input", {}).get("command") == "make test"


def start_process(world, event, stdin, output):
    """A true `grove` process with as little around it as possible."""
    streams = [(os.POSIX_SPAWN_DUP2, stdin, 0)]
    streams += [(os.POSIX_SPAWN_DUP2, output, number) for number in (1, 2)]
    words = ["grove", "hook", event]
    return os.posix_spawn(GROVE, words, world.environment, file_actions=streams)


def send(world, event, document):
    """The exit code and what was printed, both streams together."""
    stdin, output = os.memfd_create("stdin"), os.memfd_create("output")
    try:
        os.write(stdin, json.dumps(document).encode())
        os.lseek(stdin, 0, os.SEEK_SET)
        _, status = os.waitpid(start_process(world, event, stdin, output), 0)
        return os.waitstatus_to_exitcode(status), os.pread(output, 10_000, 0).decode()
    finally:
        os.close(stdin)
        os.close(output)


def play(world, turn):
    """Sends a turn's calls: the idle ones side by side, the others one after the other."""
    calls = list(turn)
    idle = [call for call in calls if is_idle(call)]
    prompt, *others = [call for call in calls if not is_idle(call)]
    assert send(world, *prompt) == (0, "")
    with ThreadPoolExecutor(2) as pool:
        answers = pool.map(lambda call: send(world, *call), idle)
        assert Counter(answers) == {(0, ""): len(idle)}
    for event, document in others:
        code, printed = send(world, event, document)
        if event == "stop":
            assert code in (0, 2)
        else:
            assert (code, printed) == (0, "")
    return len(calls)


def files_of(world):
    """All that grove has written; what depends on the machine is named by its kind."""
    folders = (world.grove_home, world.project / ".grove")
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {re.sub(r"-[0-9a-f]{8,}", "-*", str(path.relative_to(world.folder))) for path in found}


KNOWN_FILES = {
    "grove-home/cache/considered/session-1.jsonl",
    "grove-home/cache/fast/session-1",
    "grove-home/cache/plugins-*.json",
    "grove-home/cache/project-*/index.sqlite",
    "grove-home/cache/project-*/open-sessions/session-1",
    "grove-home/cache/project-*/recall.json",
    "grove-home/cache/project-*/stats.sqlite",
    "grove-home/grove.log",
    "grove-home/sessions/session-1.json",
    "project/.grove/config.toml",
    "project/.grove/stats.log",
}


def processes_of(world):
    """Processes that are still there and belong to this world."""
    mark = f"GROVE_HOME={world.grove_home}".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in path.read_bytes().split(b"\0"):
                found.append(path)
    return found


def test_ten_thousand_hook_calls_leave_no_process_no_file_and_no_growth(beads):
    beads.agent().starts()
    early = turns(beads, 0, EARLY_TURNS, EARLY_LENGTH)
    later = turns(beads, EARLY_TURNS, LATER_TURNS, LATER_LENGTH)
    session = beads.grove_home / "sessions" / "session-1.json"
    with beads.watched():
        assert sum(play(beads, turn) for turn in early) == 2_000
        assert len(beads.session()["trace"]["events"]) == MOST_EVENTS
        size = session.stat().st_size
        assert files_of(beads) == KNOWN_FILES
        assert sum(play(beads, turn) for turn in later) == 8_000
    assert files_of(beads) == KNOWN_FILES
    assert processes_of(beads) == []
    assert beads.log("crash.log") == ""
    cycles = [(one["outcome"], one["blocks"]) for one in beads.events("gate")]
    assert cycles == [("breaker", 3)] * ((EARLY_TURNS + LATER_TURNS) // 2)
    assert len(beads.session()["trace"]["events"]) == MOST_EVENTS
    assert abs(session.stat().st_size - size) < SLACK_BYTES


def test_two_thousand_hook_calls_in_one_process_hold_nothing(beads):
    """No descriptor, no thread, and no memory once the trace is full."""
    beads.agent().starts()
    calls = [call for turn in turns(beads, 0, ROUND_TURNS, EARLY_LENGTH) for call in turn]
    assert ROUNDS * len(calls) == 2_000
    path = beads.folder / "calls.json"
    path.write_text(json.dumps(calls))
    done = subprocess.run(
        [sys.executable, HARNESS / "in_one_process.py", path, str(ROUNDS)],
        env=beads.environment,
        cwd=beads.project,
        stdout=subprocess.PIPE,
        check=True,
        text=True,
    )
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(rounds) == ROUNDS
    first, *others = rounds
    for one in others:
        assert one["codes"] == [0, 2]
        assert one["threads"] == 1
        assert one["descriptors"] == first["descriptors"]
    memory = [one["bytes"] for one in rounds[FULL_FROM:]]
    assert max(memory) - min(memory) < MOST_GROWTH_BYTES
