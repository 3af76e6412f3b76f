"""Starts ``grove`` in forked children of a process that has imported everything already.

Reads requests, one JSON object a line, and writes one answer a line. A child is like a process of
its own in all that counts here: its own id, descriptors, locks, environment and death; but it
begins in a millisecond, so that thousands can be had where fresh processes would be hundreds.
"""

import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
import tempfile
import traceback
from contextlib import contextmanager
from pathlib import Path

import deadly

LONGEST_SECONDS = 60
_CALL = {
    "tool_name": "Bash",
    "tool_use_id": "toolu_1",
    "tool_input": {"command": "bd close bd-1"},
    "tool_response": {"stdout": "", "stderr": ""},
}
_FIRST_TIMES = (
    (("hook", "session-start"), {"source": "startup"}),
    (("hook", "pre-tool-use"), _CALL),
    (("hook", "post-tool-use"), _CALL),
    (("hook", "user-prompt-submit"), {"prompt": "go on"}),
    (("hook", "stop"), {}),
    (("observe", "a note"), {}),
    (("reflect",), {"nothing_learned": "it was the first time"}),
    (("ref", "unknown"), {}),
    (("skip", "for the first time"), {}),
)


def preload(*packages):
    """Imports all modules that `grove` itself may need, which touches no project and no home.

    The kit for plugins' authors stays out: its broken examples print, leave and tamper when imported.
    """
    for name in packages:
        package = importlib.import_module(name)
        for module in pkgutil.iter_modules(package.__path__, f"{name}."):
            if module.name == "grove_core.testing":
                continue
            if module.ispkg:
                preload(module.name)
            else:
                importlib.import_module(module.name)


def warm_up():
    """Does what children do, once, so that none of them pays for first times of libraries."""
    with tempfile.TemporaryDirectory() as folder, at_home(folder), silenced():
        for words, payload in _FIRST_TIMES:
            stdin = memory_file(json.dumps({"session_id": "warm", **payload}).encode())
            os.dup2(stdin, 0)
            os.close(stdin)
            act({"words": words})
    gc.collect()
    gc.freeze()


@contextmanager
def at_home(folder):
    """A home and a project that nobody else has."""
    before = dict(os.environ)
    project = Path(folder, "project")
    for marker in (".grove", ".beads"):
        (project / marker).mkdir(parents=True)
    os.environ.clear()
    os.environ.update(
        HOME=folder,
        GROVE_HOME=f"{folder}/home",
        GROVE_HOOKS_DEADLINE_MS="60000",
        CLAUDE_CODE_SESSION_ID="warm",
        PATH=before["PATH"],
    )
    os.chdir(project)
    yield
    os.chdir("/")
    os.environ.clear()
    os.environ.update(before)


@contextmanager
def silenced():
    """Standard streams that lead nowhere, and are what they were afterwards."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    saved = [os.dup(number) for number in range(3)]
    for number in range(3):
        os.dup2(nowhere, number)
    yield
    sys.stdout.flush()
    for number, copy in enumerate(saved):
        os.dup2(copy, number)
        os.close(copy)
    os.close(nowhere)


def memory_file(content=b""):
    """A file without a name, for a child's standard streams."""
    descriptor = os.memfd_create("stream")
    os.write(descriptor, content)
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def content_of(descriptor):
    """What was written to a file without a name, which is then closed."""
    content = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    os.close(descriptor)
    return content.decode("utf-8", "replace")


def serve(request):
    """Runs one request in a child and tells what became of it."""
    streams = [memory_file(request.get("stdin", "").encode()), memory_file(), memory_file()]
    names = memory_file()
    child = os.fork()
    if child == 0:
        be_born(request, streams, names)
    _, status = os.waitpid(child, 0)
    os.close(streams[0])
    return {
        "code": os.waitstatus_to_exitcode(status),
        "stdout": content_of(streams[1]),
        "stderr": content_of(streams[2]),
        "changes": content_of(names).splitlines(),
    }


def be_born(request, streams, names):
    """The life of a child; it never returns."""
    code = 70
    try:
        signal.alarm(LONGEST_SECONDS)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.environ.clear()
        os.environ.update(request["environment"])
        os.chdir(request["cwd"])
        changes = deadly.Changes(request.get("number", 0), half=request.get("half", False))
        changes.arm()
        code = act(request)
        sys.stdout.flush()
        changes.disarm()
        os.write(names, "\n".join(changes.names).encode())
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def act(request):
    """Runs a function of a module of this folder, or ``grove`` itself."""
    if "function" in request:
        module, _, name = request["function"].partition(":")
        answer = getattr(importlib.import_module(module), name)(*request["arguments"])
        sys.stdout.write(json.dumps(answer))
        return 0
    from grove_core._entry import main

    sys.argv = ["grove", *request["words"]]
    try:
        return main()
    except SystemExit as end:
        return end.code or 0


def main():
    answers = os.fdopen(os.dup(1), "wb", buffering=0)
    preload("grove_core", "grove_tickets", "grove_backend_markdown")
    warm_up()
    for line in sys.stdin.buffer:
        answers.write(json.dumps(serve(json.loads(line))).encode() + b"\n")


if __name__ == "__main__":
    main()
