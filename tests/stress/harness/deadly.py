"""Fault injection: every function of the operating system that changes a file is counted.

A process that has called ``arm`` kills itself with SIGKILL before its n-th change, or in the middle
of it, when half of the bytes of a write are on disk.
"""

import os
import signal

# What the standard library's own modules call under these names as well (pathlib, shutil, tempfile).
_ALWAYS = (
    "write", "pwrite", "fsync", "ftruncate", "replace", "rename", "link", "symlink", "unlink",
    "mkdir", "rmdir", "chmod", "fchmod", "utime",
)  # fmt: skip
_OPENED_TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_TO_NEW_NAME = ("replace", "rename", "link", "symlink")
_WITH_BYTES = ("write", "pwrite")
_REAL = {name: getattr(os, name) for name in (*_ALWAYS, "open")}


class Changes:
    """Counts the changes of this process, and ends it when its time has come.

    Args:
        number: Before which change the process dies, from 1; 0 for never.
        half: Whether it dies in the middle of that change instead.
    """

    def __init__(self, number=0, *, half=False):
        self.number = number
        self.half = half
        self.names = []

    def arm(self):
        """From now on, changes are counted."""
        for name in _ALWAYS:
            setattr(os, name, self._counted(name))
        os.open = self._open

    def disarm(self):
        """Changes are no longer counted."""
        for name, real in _REAL.items():
            setattr(os, name, real)

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
        self.names.append(f"{name} {_target(name, arguments)}")
        if len(self.names) != self.number:
            return
        if self.half and name in _WITH_BYTES:
            descriptor, data, *offset = arguments
            _REAL[name](descriptor, bytes(data)[: len(data) // 2], *offset)
        os.kill(os.getpid(), signal.SIGKILL)


def _target(name, arguments):
    """The name of the file that is changed; of a new name for a file, that one."""
    path = arguments[1] if name in _TO_NEW_NAME else arguments[0]
    if isinstance(path, int):
        path = os.readlink(f"/proc/self/fd/{path}")
    return os.path.basename(os.fsdecode(path))
