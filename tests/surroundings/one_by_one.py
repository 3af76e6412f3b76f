"""Answers many hook calls in one process, which is a hundred times as fast as one process for each.

Reads lines of JSON, `[event, payload as text]`, and writes a line each: exit code, standard output,
standard error, both logs, and the size of the largest session. Before each call, `GROVE_HOME`, in
memory where there is such a folder, is made what the folder in the first argument holds, so that
every call finds the same state.
"""

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from grove_core.hooks import fast

IN_MEMORY = Path("/dev/shm")


def main():
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
        os.environ["GROVE_HOME"] = folder
        answer_all(Path(sys.argv[1]), Path(folder))


def answer_all(template, home):
    calls = [json.loads(line) for line in sys.stdin]
    output = os.fdopen(os.dup(1), "w")
    for event, payload in calls:
        restore(template, home)
        done = run(event, payload.encode("utf-8", "surrogatepass"))
        logs = [text_of(home / name) for name in ("grove.log", "crash.log")]
        largest = max(path.stat().st_size for path in (home / "sessions").iterdir())
        output.write(json.dumps([*done, *logs, largest]) + "\n")


def restore(template, home):
    for path in home.rglob("*"):
        if path.is_file() and not (template / path.relative_to(home)).exists():
            path.unlink()
    shutil.copytree(template, home, dirs_exist_ok=True)


def run(event, data):
    """Runs `grove hook` with streams that hold and catch what they would in a process of its own."""
    streams = [os.memfd_create("stream") for _ in range(3)]
    os.write(streams[0], data)
    os.lseek(streams[0], 0, os.SEEK_SET)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    code = fast.run([event])
    texts = [os.pread(number, 1 << 20, 0).decode("utf-8", "replace") for number in (1, 2)]
    for stream in streams:
        os.close(stream)
    return code, *texts


def text_of(path):
    return path.read_text() if path.exists() else ""


if __name__ == "__main__":
    main()
