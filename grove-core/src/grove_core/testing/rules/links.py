"""Links in a project, which a stranger may have made."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import count, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest

from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import Capability
from grove_core.plugins.descriptors import MemoryBackend
from grove_core.testing.rules.project_files import (
    differences,
    look_at,
    replaced,
    whatever_it_says,
    written_by,
)
from grove_core.testing.rules.reading_back import Opener
from grove_core.testing.samples import example_learning
from grove_core.testing.skipping import NotDeclared
from grove_core.testing.verdict import expect, rule

_MOST_PLACES: Final = 20


def _copy(real: Path, target: Path) -> None:
    if real.is_dir():
        shutil.copytree(real, target, symlinks=True)
    else:
        shutil.copy2(real, target)


def _make_another(real: Path, target: Path) -> None:
    if real.is_dir():
        target.mkdir()
        (target / "notes.txt").write_text("Somebody else's.\n", encoding="utf-8")
    else:
        target.write_text("Somebody else's.\n", encoding="utf-8")


_TARGETS: Final[Mapping[str, Callable[[Path, Path], object]]] = {
    "a copy of itself": _copy,
    "something of another program's": _make_another,
    "nothing": lambda _real, _target: None,
}
"""By what a link leads to, what makes it: from what the link stands for, and where."""


class LinksRules:
    """What a backend does where its files are links."""

    @rule("grove_core.confined")
    def test_writes_stay_in_the_project(
        self, open_backend: Opener, project_folder: Path, home_folder: Path
    ) -> None:
        """Where links lead out of the project, nothing is written to what they lead to."""
        files = written_by(open_backend, project_folder, without=home_folder)
        if not files:
            pytest.skip(
                NotDeclared(f"the backend {open_backend().name} has no files in its project")
            )
        numbers = count(100)
        for place, what in product(_places_of(files, project_folder), _TARGETS):
            # What was taken out at the place before is there again.
            open_backend().write(example_learning())
            found = _written_outside(open_backend, place, _TARGETS[what], next(numbers))
            name = place.relative_to(project_folder).as_posix()
            expect(found, [], f"what has changed elsewhere where {name} is a link to {what}")


def _written_outside(
    open_backend: Opener, place: Path, make: Callable[[Path, Path], object], number: int
) -> list[str]:
    with TemporaryDirectory() as folder:
        outside = Path(folder)
        with replaced(place, partial(_lead_out, make, outside)):
            before = look_at(outside)
            _write_all_ways(open_backend, example_learning(number))
            changed = differences(before, look_at(outside))
        return [one.relative_to(outside).as_posix() for one in changed]


def _places_of(files: Sequence[Path], project: Path) -> list[Path]:
    """The files, and the folders that lead to them; the uppermost first."""
    around = {one for path in files for one in path.parents if one.is_relative_to(project)}
    return sorted({*files, *around} - {project})[:_MOST_PLACES]


def _lead_out(make: Callable[[Path, Path], object], outside: Path, place: Path, real: Path) -> None:
    target = outside / place.name
    make(real, target)
    place.symlink_to(target)


def _write_all_ways(open_backend: Opener, new: Learning) -> None:
    """Write, change and take out, each as if it were the first that a process does there."""
    calls: list[Callable[[Any], object]] = [lambda backend: backend.write(new)]
    for learning in (new, example_learning()):
        calls += _changes_of(learning)
    for call in calls:
        whatever_it_says(partial(_on_a_new_one, open_backend, call))


def _changes_of(learning: Learning) -> list[Callable[[MemoryBackend], object]]:
    def restore(backend: Any) -> None:  # noqa: ANN401 - what it has depends on what it declares
        if Capability.SET_STATUS in backend.capabilities:
            backend.set_status(learning.id, LearningStatus.SUPERSEDED)
            backend.set_status(learning.id, LearningStatus.ACTIVE)

    def withdraw(backend: Any) -> None:  # noqa: ANN401 - the same
        if Capability.WITHDRAW in backend.capabilities:
            backend.withdraw(learning)

    return [restore, withdraw]


def _on_a_new_one(open_backend: Opener, call: Callable[[Any], object]) -> None:
    call(open_backend())
