"""What lies in a project, and which of it is a backend's own."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

from grove_core.model.learning import LearningStatus
from grove_core.model.memory import Capability
from grove_core.testing.rules.reading_back import Opener
from grove_core.testing.samples import example_learning

Look: TypeAlias = Mapping[Path, str | bytes]
"""What lies in folders, by path: the content of a file, or in words what else it is."""

_A_FOLDER: Final = "a folder"


def look_at(*folders: Path, without: Path | None = None) -> Look:
    """Look at everything in folders; no link is followed."""
    found: dict[Path, str | bytes] = {}
    for place, inner, names in (one for folder in folders for one in os.walk(folder)):
        inner[:] = [one for one in inner if one != ".git" and Path(place, one) != without]
        paths = [Path(place, one) for one in (*inner, *names)]
        found |= {path: _what_is(path) for path in paths}
    return found


def _what_is(path: Path) -> str | bytes:
    if path.is_symlink():
        return f"a link to {path.readlink()}"
    if path.is_dir():
        return _A_FOLDER
    try:
        return path.read_bytes() if path.is_file() else "no plain file"
    except OSError as error:
        return f"unreadable: {error.strerror}"


def differences(before: Look, after: Look) -> list[Path]:
    """Name what is new, gone or changed, in order."""
    everything = {*before, *after}
    return sorted(one for one in everything if before.get(one) != after.get(one))


def written_by(open_backend: Opener, *folders: Path, without: Path | None = None) -> Sequence[Path]:
    """Write a learning, give it another status, and see what that has written in some folders."""
    before = look_at(*folders, without=without)
    backend, learning = open_backend(), example_learning()
    backend.write(learning)
    if Capability.SET_STATUS in backend.capabilities:
        backend.set_status(learning.id, LearningStatus.ARCHIVED)
    after = look_at(*folders, without=without)
    changed = differences(before, after)
    return [one for one in changed if after.get(one) and isinstance(after[one], bytes)]


@contextmanager
def replaced(path: Path, replace: Callable[[Path, Path], object]) -> Iterator[None]:
    """Put something else in the place of a file or folder for a while."""
    with TemporaryDirectory() as elsewhere:
        real = Path(elsewhere) / path.name
        shutil.move(path, real)
        try:
            replace(path, real)
            yield
        finally:
            remove(path)
            shutil.move(real, path)


def remove(path: Path) -> None:
    """Remove a file, a link or a folder with all that is in it, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def whatever_it_says(call: Callable[[], object]) -> None:
    """Do something that may be refused, in whatever way: other rules say how."""
    with suppress(Exception):
        call()
