"""What a backend says of its files when they are no longer what they should be."""

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from itertools import count, product
from pathlib import Path
from typing import Final

import pytest

from grove_core.model.learning import Learning
from grove_core.model.memory import Capability
from grove_core.plugins.descriptors import FileBacked, MemoryBackend
from grove_core.testing.rules.project_files import replaced, written_by
from grove_core.testing.rules.reading_back import Opener, fetch
from grove_core.testing.samples import example_learning
from grove_core.testing.skipping import NotDeclared
from grove_core.testing.verdict import require, rule


def _make_unreadable(place: Path, real: Path) -> None:
    shutil.copy2(real, place)
    place.chmod(0)


_DAMAGES: Final[Mapping[str, Callable[[Path, Path], object]]] = {
    "a folder": lambda place, _real: place.mkdir(),
    "a file that nobody may read": _make_unreadable,
}
"""By what stands in a file's place, what makes it so."""


class DamageRules:
    """What ``ping`` says where a file cannot be used."""

    @rule("grove_core.MemoryBackend.ping")
    def test_ping_tells_of_files_that_cannot_be_read(
        self, open_backend: Opener, project_folder: Path, home_folder: Path
    ) -> None:
        """Ping does not say that all is well while a file that is needed cannot be read."""
        files = _files_of(open_backend, project_folder, home_folder)
        if not files:
            pytest.skip(
                NotDeclared(f"the backend {open_backend().name} has no files in its project")
            )
        well, numbers = open_backend().ping(), count(100)
        written = fetch(open_backend(), example_learning().id)
        for path, what in product(files, _DAMAGES):
            with replaced(path, _DAMAGES[what]):
                if path.is_file() and os.access(path, os.R_OK):
                    continue  # whoever runs the tests may read everything
                health = open_backend().ping()
                is_told = bool(health.detail) and (
                    not health.ok or health.mend not in {"", well.mend}
                )
                is_well = is_told or _works(open_backend, written, example_learning(next(numbers)))
            require(
                is_well,
                expected=f"ok=False, or a warning in mend, where {path.name} is {what}",
                found=health,
            )


def _files_of(open_backend: Opener, project: Path, home: Path) -> list[Path]:
    named = _named_by(open_backend())
    return [
        one
        for one in written_by(open_backend, project, home)
        if (one.is_relative_to(project) and not one.is_relative_to(home))
        or not named.isdisjoint((one, one.parent))
    ]


def _named_by(backend: MemoryBackend) -> set[Path]:
    """What ``files`` names, unless a server has what is in it."""
    if Capability.FILES not in backend.capabilities or not isinstance(backend, FileBacked):
        return set()
    return set() if Capability.SYNCHRONISE in backend.capabilities else {*backend.files()}


def _works(open_backend: Opener, written: Learning | None, new: Learning) -> bool:
    with suppress(Exception):
        is_there = fetch(open_backend(), example_learning().id) == written
        open_backend().write(new)
        return is_there and fetch(open_backend(), new.id) == new
    return False
