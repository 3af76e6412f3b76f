"""When a process dies, and what must not be left of it."""

import os
import shutil
import time
from pathlib import Path

from attrs import define, frozen

TWO_HOURS = 2 * 3600


@frozen
class Moment:
    """Before a process's n-th change, or in the middle of it."""

    number: int
    half: bool
    change: str

    def __str__(self):
        return f"{'in the middle of' if self.half else 'before'} {self.number}: {self.change}"

    @property
    def death(self):
        """How the nursery is told."""
        return {"number": self.number, "half": self.half}


def deaths(changes, *, never_torn=()):
    """Every moment to die at: before each change, and in the middle of each write."""
    for number, change in enumerate(changes, start=1):
        name, _, file = change.partition(" ")
        yield Moment(number, False, change)
        if name in ("write", "pwrite") and file not in never_torn:
            yield Moment(number, True, change)


def tear(changes, file):
    """The moment in the middle of the one write to a file."""
    (torn,) = [one for one in deaths(changes) if one.half and one.change.endswith(f" {file}")]
    return torn


@define
class Remains:
    """Files that nobody may leave behind: temporary ones, and state that was set aside."""

    folder: Path

    def names(self):
        found = [*self.folder.rglob(".*.tmp"), *self.folder.rglob("*.corrupt-*")]
        return sorted(path.name for path in found)

    def grow_old(self):
        """Makes temporary files so old that grove takes them for left behind."""
        then = time.time() - TWO_HOURS
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
