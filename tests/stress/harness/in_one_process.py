"""Many hook calls in one process, as a client that holds grove in itself would make them.

Reads one JSON array of calls (event, payload) from a file, makes them round after round, and
prints after each round what the process holds: descriptors, threads, and memory in pages.
"""

import json
import os
import sys
import threading
from pathlib import Path

from grove_core.hooks.fast import run


def measure():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {
        "descriptors": sorted(os.readlink(one) for one in _links()),
        "threads": threading.active_count(),
        "bytes": pages * os.sysconf("SC_PAGE_SIZE"),
    }


def _links():
    for name in os.listdir("/proc/self/fd"):
        path = f"/proc/self/fd/{name}"
        if os.path.exists(path):
            yield path


def call(event, payload):
    stdin = os.memfd_create("payload")
    os.write(stdin, json.dumps(payload).encode())
    os.lseek(stdin, 0, os.SEEK_SET)
    os.dup2(stdin, 0)
    os.close(stdin)
    return run([event])


def main():
    calls = json.loads(Path(sys.argv[1]).read_text())
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(nowhere, stream)
    for _ in range(int(sys.argv[2])):
        codes = [call(event, payload) for event, payload in calls]
        answers.write(json.dumps({"codes": sorted(set(codes)), **measure()}) + "\n")


if __name__ == "__main__":
    main()
