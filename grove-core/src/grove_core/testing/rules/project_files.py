"""Rules of memory backends for what lies in a project: traces and links."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

import pytest

from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import Capability, Filters, Query
from grove_core.testing.rules.reading import CALLS, EVERYTHING, Opener
from grove_core.testing.samples import example_learning

Look: TypeAlias = Mapping[Path, str | bytes]
"""What lies in folders, by path: the content of a file, or in words what else it is."""

_MOST_PLACES: Final = 20
_QUESTIONS: Final[Mapping[Capability | str, Callable[[Any], object]]] = {
    "opening": lambda backend: (backend.name, backend.capabilities),
    "ping": lambda backend: backend.ping(),
    "search for everything": lambda backend: backend.search(Query(), EVERYTHING),
    "search for words": lambda backend: backend.search(Query(text="kerosene"), Filters()),
    **{one: call for one, call in CALLS.items() if one is not Capability.SET_STATUS},
    Capability.SYNCHRONISE: lambda backend: backend.freshness(),
}


class ProjectFilesRules:
    """What a backend leaves in a project, and what it does where links lead out of it."""

    def test_asking_leaves_nothing_behind(
        self, open_backend: Opener, project_folder: Path, home_folder: Path
    ) -> None:
        """Opening and asking make and change nothing in a project that never ran grove init."""
        # The backend may have been asked already, where it was opened: what it made goes.
        _remove(project_folder / ".grove")
        before, declared = _look_at(project_folder, home_folder), open_backend().capabilities
        for name, ask in _QUESTIONS.items():
            if isinstance(name, str) or name in declared:
                # It may be refused: other rules say how.
                with suppress(Exception):
                    ask(open_backend())
                changed = _differences(before, _look_at(project_folder, home_folder))
                assert changed == [], f"made or changed in the project by {name}"

    def test_writes_stay_in_the_project(
        self, open_backend: Opener, project_folder: Path, home_folder: Path
    ) -> None:
        """Where links lead out of the project, nothing is written to what they lead to."""
        numbers = count(100)
        for place in _written_places(open_backend, project_folder, home_folder):
            for has_copy in (True, False):
                with TemporaryDirectory() as outside, _led_out(place, Path(outside), has_copy):
                    before = _look_at(Path(outside))
                    for learning in (example_learning(next(numbers)), example_learning()):
                        # It may be refused.
                        with suppress(Exception):
                            _write_and_change(open_backend, learning)
                    changed = _differences(before, _look_at(Path(outside)))
                    assert changed == [], f"written through the link {place}"


def _look_at(folder: Path, without: Path | None = None) -> Look:
    """Look at everything in a folder; no link is followed."""
    found: dict[Path, str | bytes] = {}
    for place, inner, names in os.walk(folder):
        inner[:] = [one for one in inner if one != ".git" and Path(place, one) != without]
        found |= {path: _what_is(path) for path in (Path(place, one) for one in (*inner, *names))}
    return found


def _what_is(path: Path) -> str | bytes:
    if path.is_symlink():
        return f"a link to {path.readlink()}"
    return path.read_bytes() if path.is_file() else "no plain file"


def _differences(before: Look, after: Look) -> list[Path]:
    """Name what is new, gone or changed, in order."""
    return sorted(one for one in {*before, *after} if before.get(one) != after.get(one))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _written_places(open_backend: Opener, project: Path, home: Path) -> Sequence[Path]:
    """Write, and find the files in the project that it has written, and the folders around them."""
    before = _look_at(project, home)
    _write_and_change(open_backend, example_learning())
    after = _look_at(project, home)
    files = [one for one in _differences(before, after) if isinstance(after.get(one), bytes)]
    if not files:
        pytest.skip("the backend has no files in its project")
    around = {one for path in files for one in path.parents if one.is_relative_to(project)}
    return sorted({*files, *around} - {project})[:_MOST_PLACES]


def _write_and_change(open_backend: Opener, learning: Learning) -> None:
    open_backend().write(learning)
    if Capability.SET_STATUS in open_backend().capabilities:
        for status in (LearningStatus.ARCHIVED, LearningStatus.ACTIVE):
            open_backend().set_status(learning.id, status)


@contextmanager
def _led_out(place: Path, outside: Path, has_copy: bool) -> Iterator[None]:  # noqa: FBT001
    """Put a link to a copy of a file or folder, or to nothing, in its place for a while."""
    with TemporaryDirectory() as elsewhere:
        real, target = Path(elsewhere) / place.name, outside / place.name
        shutil.move(place, real)
        if has_copy:
            shutil.copytree(real, target) if real.is_dir() else shutil.copy2(real, target)
        try:
            place.symlink_to(target)
            yield
        finally:
            _remove(place)
            shutil.move(real, place)
