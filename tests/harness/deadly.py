"""Processes that die at a chosen write, and what must not be left of them.

A child of the tests' own process counts every function of the operating system that changes a file.
It kills itself with SIGKILL before its n-th change, or in the middle of it, when half of the bytes
of a write are on disk.
"""

import json
import os
import shutil
import signal
import sys
import time
from pathlib import Path

import in_process
from attrs import define, frozen

LONGEST_SECONDS = 300
# What the standard library's own modules call under these names as well (pathlib, shutil, tempfile).
_ALWAYS = (
    "write", "pwrite", "fsync", "ftruncate", "replace", "rename", "link", "symlink", "unlink",
    "mkdir", "rmdir", "chmod", "fchmod", "utime",
)  # fmt: skip
_OPENED_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_TO_NEW_NAME = ("replace", "rename", "link", "symlink")
_WITH_BYTES = ("write", "pwrite")
_REAL = {name: getattr(os, name) for name in (*_ALWAYS, "open")}


@frozen
class Ended:
    """What a child left behind; the code is negative for a signal."""

    code: int
    stderr: str = ""
    changes: tuple = ()


@frozen
class Moment:
    """Before a process's n-th change, or in the middle of it; the 0-th never comes."""

    number: int = 0
    half: bool = False
    change: str = ""

    def __str__(self):
        return f"{'in the middle of' if self.half else 'before'} {self.number}: {self.change}"


def moments(changes, *, never_torn=()):
    """Every moment to die at: before each change, and in the middle of each write."""
    for number, change in enumerate(changes, start=1):
        name, _, file = change.partition(" ")
        yield Moment(number, False, change)
        if name in _WITH_BYTES and file not in never_torn:
            yield Moment(number, True, change)


def run(world, *words, stdin="", death=None, **variables):
    """Runs `grove` in a child that dies at a moment; it begins in a millisecond."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _live(writing, world, words, stdin.encode(), death or Moment(), variables)
    os.close(writing)
    with open(reading, "rb") as pipe:
        content = pipe.read()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return Ended(code, *json.loads(content)) if content else Ended(code)


def _live(writing, world, words, stdin, death, variables):
    """The life of a child; it never returns."""
    code = 70
    try:
        signal.alarm(LONGEST_SECONDS)
        sys.dont_write_bytecode = True
        changes = Changes(death)
        in_process.main = changes.counted_in(in_process.main)
        environment = {**world.environment, **variables}
        done = in_process.call(*words, environment=environment, cwd=world.project, stdin=stdin)
        code = done.code
        answer = json.dumps([done.stderr.decode(), changes.names])
        with open(writing, "w") as pipe:
            pipe.write(answer)
    finally:
        os._exit(code)


class Changes:
    """Counts the changes of this process, and ends it when its time has come."""

    def __init__(self, death):
        self._death = death
        self.names = []

    def counted_in(self, function):
        def call():
            for name in _ALWAYS:
                setattr(os, name, self._counted(name))
            os.open = self._open
            try:
                return function()
            finally:
                for name, real in _REAL.items():
                    setattr(os, name, real)

        return call

    def _counted(self, name):
        def call(*arguments, **options):
            self._count(name, arguments)
            return _REAL[name](*arguments, **options)

        return call

    def _open(self, path, flags, *arguments, **options):
        if flags & _OPENED_TO_WRITE:
            self._count("open", (path,))
        return _REAL["open"](path, flags, *arguments, **options)

    def _count(self, name, arguments):
        if arguments[0] in (0, 1, 2):
            return
        self.names.append(f"{name} {_target(name, arguments)}")
        if len(self.names) != self._death.number:
            return
        if self._death.half and name in _WITH_BYTES:
            descriptor, data, *offset = arguments
            _REAL[name](descriptor, bytes(data)[: len(data) // 2], *offset)
        os.kill(os.getpid(), signal.SIGKILL)


def _target(name, arguments):
    """The name of the file that is changed; of a new name for a file, that one."""
    path = arguments[1] if name in _TO_NEW_NAME else arguments[0]
    if isinstance(path, int):
        path = os.readlink(f"/proc/self/fd/{path}")
    return os.path.basename(os.fsdecode(path))


@define
class Remains:
    """Files that nobody may leave behind: temporary ones, and state that was set aside."""

    folder: Path

    def names(self):
        found = [*self.folder.rglob(".*.tmp"), *self.folder.rglob("*.corrupt-*")]
        return sorted(path.name for path in found)

    def grow_old(self):
        """Makes temporary files so old that grove takes them for left behind."""
        then = time.time() - 7_200
        for path in self.folder.rglob(".*.tmp"):
            os.utime(path, (then, then))


def keep(folder, place):
    """Keeps a folder as it is, and gives a function that brings it back under the same path."""
    saved = place / "kept"
    shutil.copytree(folder, saved, symlinks=True)

    def bring_back():
        for entry in folder.iterdir():
            shutil.rmtree(entry)
        shutil.copytree(saved, folder, dirs_exist_ok=True, symlinks=True)

    return bring_back
