"""Files of a size that no person writes, and what commands take of memory and time on them."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from world import World

_ENTRY = """### [cl_20300102_{0:06}] The exporter {0} flushes shard {0} before it closes
- **Category:** pitfall
- **Status:** active
- **Tags:** orders, export
- **Files:** shop/a{1}.py
- **Created:** 2030-01-02T10:00:00Z

> {2}

"""
_SMALL = """### [cl_20300102_{0:06}] The exporter {0} flushes first
- **Category:** pitfall
- **Created:** 2030-01-02T10:00:00Z

> It loses {0} rows of shop/a{1}.py.

"""
_ONE = "cl_20300102_000003"
_CALL = {"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "bd close bd-1"}}
_HOOKS = {
    "session-start": {"source": "startup"},
    "user-prompt-submit": {
        "prompt": "why does the exporter flush in shop/a1.py and lose the shard"
    },
    "pre-tool-use": _CALL,
    "post-tool-use": {**_CALL, "tool_response": {"stdout": "", "stderr": "", "interrupted": False}},
    "stop": {"background_tasks": [], "stop_hook_active": False},
    "session-end": {"reason": "other"},
}
_COMMANDS = (
    "status", "maintain index --rebuild", "search exporter flush shard", f"show {_ONE}", "list",
    "list --rejected", "stats", "stats --html -", "why", f"why {_ONE}", "doctor", "export",
    "page", "digest", "cost", "review", f"ref {_ONE}", "reflect --brief", "reflect", "maintain list",
    "maintain decay", f"maintain archive {_ONE} --reason x", "maintain repair",
    "maintain migrate --layout spread",
)  # fmt: skip
_FEWER = ("status", "list --rejected", "stats --html -", "maintain list", f"show {_ONE}", "doctor")
_LONGEST_SECONDS = 240  # of a busy machine


def _entries(path, count, form, padding=""):
    with path.open("w") as file:
        for number in range(count):
            file.write(form.format(number, number % 500, f"Ledger {number}. {padding}"))


def _events(path, size):
    event = {"v": 1, "ts": "2030-01-03T10:00:00Z", "event": "surfaced", "grove": "x", "score": 0.5}
    with path.open("w") as file:
        number = 0
        while file.tell() < size:
            for number in range(number, number + 1000):  # noqa: B020 - it goes on
                more = {"learning_id": f"cl_20300102_{number % 70_000:06}", "via": "start"}
                file.write(json.dumps({**event, **more, "session_id": f"s{number // 5}"}) + "\n")


def _zeros(path, size):
    path.touch()
    os.truncate(path, size)


def _prose(path, size):
    line = "In the beginning the exporter flushed its writer, and nothing was lost.\n" * 1000
    with path.open("w") as file:
        for _ in range(size // len(line)):
            file.write(line)


def _build(grove, name):
    learnings, log = grove / "learnings.md", grove / "stats.log"
    if name == "long entries":
        _entries(learnings, 60_000, _ENTRY, "It is lost when the voucher is empty. " * 20)
        _events(log, 80_000_000)
    elif name == "short entries":
        _entries(learnings, 290_000, _SMALL)
        _zeros(log, 400 << 20)
    elif name == "prose":
        _prose(learnings, 400 << 20)
    else:
        _zeros(learnings, 1 << 30)
        _zeros(log, 1 << 30)


def giants(folder, submission, *, every):
    """What each command took at most: words, MiB, seconds; and the faults."""
    names = ["long entries", "short entries", *(["prose", "zeros"] if every else [])]
    costs, faults = {}, 0
    for name in names:
        world = World(folder / name.replace(" ", "-"))
        world.initialise()
        world.make_git()
        world.grove_home.mkdir()  # without it nothing that was read is kept for the next command
        _build(world.project / ".grove", name)
        place = {"session_id": "s", "cwd": str(world.project)}
        # First those that find nothing in the cache; a start would have another process fill it.
        wanted = _COMMANDS if every or name == names[0] else _FEWER
        calls = [(one, submission if one == "reflect" else "") for one in wanted]
        calls += [(f"hook {one}", json.dumps({**place, **more})) for one, more in _HOOKS.items()]
        for words, stdin in calls:
            memory, seconds, fault = _measured(world, words.split(), stdin)
            known = costs.get(words, (0, 0.0))
            costs[words] = max(known[0], memory), max(known[1], seconds)
            if fault:
                print(f"{name}: {words}: {fault}", file=sys.stderr)
            faults += bool(fault)
        faults += _left(world)
        for path in (world.project / ".grove").iterdir():
            path.unlink() if path.is_file() else None
    return [(words, *cost) for words, cost in costs.items()], faults


def _measured(world, words, stdin):
    """The peak of memory of a command and all it has started, its processor time, and its fault."""
    with (world.folder / "in").open("w+b") as given, (world.folder / "err").open("w+b") as said:
        given.write(stdin.encode())
        given.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "grove_core._entry", *words], cwd=world.project,
            env=world._environment({"GROVE_HOOKS_DEADLINE_MS": "3000"}),
            stdin=given, stdout=subprocess.DEVNULL, stderr=said,
        )  # fmt: skip
        peak, until = 0, time.monotonic() + _LONGEST_SECONDS
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            found = [_memory(one) for one in _tree(process.pid)]
            peak = max([peak, sum(now for now, _ in found), *(most for _, most in found)])
            if time.monotonic() > until:
                process.kill()
            time.sleep(0.03)
        _, status, usage = ended
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()
    if sys.platform != "linux":
        peak = usage.ru_maxrss >> 10  # which, on Linux, begins with that of this process
    late = process.returncode < 0 or (words[0] == "hook" and process.returncode not in (0, 2))
    fault = text.decode(errors="replace") if late or b"Traceback" in text else ""
    return peak >> 10, usage.ru_utime + usage.ru_stime, fault or ("killed" if late else "")


def _tree(process):
    """A process and its descendants, as far as the system tells."""
    found = [process]
    for one in found:
        try:
            for thread in os.listdir(f"/proc/{one}/task"):
                found += map(int, Path(f"/proc/{one}/task/{thread}/children").read_text().split())
        except OSError:
            continue
    return found


def _memory(process):
    """What a process has now, and had at most, in KiB."""
    try:
        text = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0, 0
    found = dict(re.findall(r"^(VmRSS|VmHWM):\s+(\d+)", text, re.MULTILINE))
    return int(found.get("VmRSS", 0)), int(found.get("VmHWM", 0))


def _left(world):
    """How many processes that work in a world are still there; a background's end is waited for."""
    until = time.monotonic() + 130
    while True:
        found = 0
        for one in Path("/proc").glob("[0-9]*"):
            try:
                found += str(world.folder) in os.readlink(one / "cwd")
            except OSError:
                continue
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.5)
