"""Rules of memory backends for what lies in a project: traces, links, damage."""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, TypeAlias

import pytest

from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import Capability, Filters, Query
from grove_core.testing.rules.reading import EVERYTHING, Opener, fetch
from grove_core.testing.samples import UNKNOWN_ID, example_learning

Look: TypeAlias = Mapping[Path, str | bytes]
"""What lies in folders, by path: the content of a file, or in words what else it is."""

_MOST_PLACES: Final = 20
_QUESTIONS: Final[Mapping[Capability | str, Callable[[Any], object]]] = {
    "opening": lambda backend: (backend.name, backend.capabilities),
    "ping": lambda backend: backend.ping(),
    "search for everything": lambda backend: backend.search(Query(), EVERYTHING),
    "search for words": lambda backend: backend.search(Query(text="kerosene"), Filters()),
    Capability.GET: lambda backend: backend.get(UNKNOWN_ID),
    Capability.ITERATE: lambda backend: list(backend.iterate()),
    Capability.FILES: lambda backend: backend.files(),
    Capability.CHANGES: lambda backend: backend.changes(""),
    Capability.SYNCHRONISE: lambda backend: backend.freshness(),
}


def _copy(real: Path, target: Path) -> None:
    if real.is_dir():
        shutil.copytree(real, target, symlinks=True)
    else:
        shutil.copy2(real, target)


def _make_another(real: Path, target: Path) -> None:
    if real.is_dir():
        target.mkdir()
        target /= "notes.txt"
    target.write_text("Another program's.\n", encoding="utf-8")


_LINK_TARGETS: Final[Mapping[str, Callable[[Path, Path], object]]] = {
    "a copy of itself": _copy,
    "something of another program's": _make_another,
    "nothing": lambda _real, _target: None,
}
"""By what a link leads to, what makes it: from what the link stands for, and where."""


def _make_unreadable(place: Path, real: Path) -> None:
    shutil.copy2(real, place)
    place.chmod(0)


_DAMAGES: Final[Mapping[str, Callable[[Path, Path], object]]] = {
    "a folder": lambda place, _real: place.mkdir(),
    "a file without permission to read": _make_unreadable,
}
"""By what stands in a file's place, what makes it so."""


class ProjectFilesRules:
    """What a backend leaves in a project, and what it does where that is no longer as it was."""

    def test_asking_leaves_nothing_behind(
        self, open_backend: Opener, project_folder: Path, home_folder: Path
    ) -> None:
        """Opening and asking make and change nothing in a project that never ran grove init."""
        # The backend may have been asked already, where it was opened: what it made goes.
        remove(project_folder / ".grove")
        _expect_no_trace(open_backend, project_folder, home_folder)
        before = look_at(project_folder, without=home_folder)
        for path in _written_by(open_backend, project_folder, without=home_folder):
            path.unlink()
        made = look_at(project_folder, without=home_folder).keys() - before.keys()
        for path in sorted(made):
            remove(path)
        _expect_no_trace(open_backend, project_folder, home_folder)

    def test_writes_stay_in_the_project(
        self, open_backend: Opener, project_folder: Path, home_folder: Path
    ) -> None:
        """Where links lead out of the project, nothing is written to what they lead to."""
        files = _written_by(open_backend, project_folder, without=home_folder)
        numbers = count(100)
        for place, what in product(_places_of(files, project_folder), _LINK_TARGETS):
            found = _written_outside(open_backend, place, _LINK_TARGETS[what], next(numbers))
            name = place.relative_to(project_folder).as_posix()
            assert found == [], f"written through {name}, which is a link to {what}"

    def test_ping_tells_of_files_that_cannot_be_read(
        self, open_backend: Opener, project_folder: Path, home_folder: Path
    ) -> None:
        """Ping does not say that all is well while a file that is needed cannot be read."""
        files = _needed_files(open_backend, project_folder, home_folder)
        well, numbers = open_backend().ping(), count(100)
        written = fetch(open_backend(), example_learning().id)
        for path, what in product(files, _DAMAGES):
            with _replaced(path, _DAMAGES[what]):
                if path.is_file() and os.access(path, os.R_OK):
                    continue  # root may read everything
                health = open_backend().ping()
                warns = not health.ok or health.fix not in {"", well.fix}
                works = partial(_works, open_backend, written, example_learning(next(numbers)))
                assert (health.detail and warns) or works(), f"{path.name} is {what}: {health}"


def look_at(*folders: Path, without: Path | None = None) -> Look:
    """Look at everything in folders; no link is followed."""
    found: dict[Path, str | bytes] = {}
    for place, inner, names in (one for folder in folders for one in os.walk(folder)):
        inner[:] = [one for one in inner if one != ".git" and Path(place, one) != without]
        found |= {path: _what_is(path) for path in (Path(place, one) for one in (*inner, *names))}
    return found


def _what_is(path: Path) -> str | bytes:
    if path.is_symlink():
        return f"a link to {path.readlink()}"
    if not path.is_file():
        return "a folder" if path.is_dir() else "no plain file"
    try:
        return path.read_bytes()
    except OSError as error:
        return f"unreadable: {error.strerror}"


def differences(before: Look, after: Look) -> list[Path]:
    """Name what is new, gone or changed, in order."""
    return sorted(one for one in {*before, *after} if before.get(one) != after.get(one))


def remove(path: Path) -> None:
    """Remove a file, a link or a folder with all that is in it, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _replaced(path: Path, replace: Callable[[Path, Path], object]) -> Iterator[None]:
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


def _written_by(
    open_backend: Opener, *folders: Path, without: Path | None = None
) -> Sequence[Path]:
    """Write a learning, give it another status, and see which files that has written."""
    before = look_at(*folders, without=without)
    _write_and_change(open_backend, example_learning(), LearningStatus.ARCHIVED)
    after = look_at(*folders, without=without)
    changed = differences(before, after)
    return [one for one in changed if after.get(one) and isinstance(after[one], bytes)]


def _write_and_change(open_backend: Opener, learning: Learning, *statuses: LearningStatus) -> None:
    open_backend().write(learning)
    if Capability.SET_STATUS in open_backend().capabilities:
        for status in statuses:
            open_backend().set_status(learning.id, status)


def _expect_no_trace(open_backend: Opener, project: Path, home: Path) -> None:
    before = look_at(project, without=home)
    declared = open_backend().capabilities
    for name, ask in _QUESTIONS.items():
        if isinstance(name, str) or name in declared:
            # It may be refused: other rules say how.
            with suppress(Exception):
                ask(open_backend())
            changed = differences(before, look_at(project, without=home))
            found = [one.relative_to(project).as_posix() for one in changed]
            assert found == [], f"made or changed in the project by {name}"


def _places_of(files: Sequence[Path], project: Path) -> list[Path]:
    """The files, and the folders that lead to them; the uppermost first."""
    if not files:
        pytest.skip("the backend has no files in its project")
    around = {one for path in files for one in path.parents if one.is_relative_to(project)}
    return sorted({*files, *around} - {project})[:_MOST_PLACES]


def _written_outside(
    open_backend: Opener, place: Path, make: Callable[[Path, Path], object], number: int
) -> list[str]:
    with TemporaryDirectory() as folder:
        outside = Path(folder)

        def lead_out(place: Path, real: Path) -> None:
            make(real, outside / place.name)
            place.symlink_to(outside / place.name)

        statuses = (LearningStatus.SUPERSEDED, LearningStatus.ACTIVE)
        with _replaced(place, lead_out):
            before = look_at(outside)
            for learning in (example_learning(number), example_learning()):
                # It may be refused.
                with suppress(Exception):
                    _write_and_change(open_backend, learning, *statuses)
                with suppress(Exception):
                    open_backend().set_status(learning.id, LearningStatus.ARCHIVED)
            changed = differences(before, look_at(outside))
        return [one.relative_to(outside).as_posix() for one in changed]


def _needed_files(open_backend: Opener, project: Path, home: Path) -> list[Path]:
    """What was written in the project, and what ``files`` names unless a server has it."""
    backend: Any = open_backend()
    declared = backend.capabilities
    is_named = Capability.FILES in declared and Capability.SYNCHRONISE not in declared
    named = {*backend.files()} if is_named else set()
    files = [
        one
        for one in _written_by(open_backend, project, home)
        if (one.is_relative_to(project) and not one.is_relative_to(home))
        or not named.isdisjoint((one, one.parent))
    ]
    if not files:
        pytest.skip(f"the backend {backend.name} has no files in its project")
    return files


def _works(open_backend: Opener, written: Learning | None, new: Learning) -> bool:
    with suppress(Exception):
        is_there = fetch(open_backend(), example_learning().id) == written
        open_backend().write(new)
        return is_there and fetch(open_backend(), new.id) == new
    return False
