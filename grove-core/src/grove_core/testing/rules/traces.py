"""What asking leaves behind in a project: nothing."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

from grove_core.model.memory import Capability, Filters, Query
from grove_core.plugins.descriptors import MemoryBackend
from grove_core.testing.rules.project_files import (
    Look,
    differences,
    look_at,
    remove,
    whatever_it_says,
    written_by,
)
from grove_core.testing.rules.reading_back import EVERYTHING, Opener
from grove_core.testing.samples import UNKNOWN_ID
from grove_core.testing.verdict import expect, rule

_ALWAYS: Final[Mapping[str, Callable[[Any], object]]] = {
    "opening it": lambda backend: (backend.name, backend.capabilities),
    "ping": lambda backend: backend.ping(),
    "search for everything": lambda backend: backend.search(Query(), EVERYTHING),
    "search for words": lambda backend: backend.search(Query(text="kerosene"), Filters()),
}
_IF_DECLARED: Final[Mapping[Capability, tuple[str, Callable[[Any], object]]]] = {
    Capability.GET: ("get", lambda backend: backend.get(UNKNOWN_ID)),
    Capability.ITERATE: ("iterate", lambda backend: list(backend.iterate())),
    Capability.FILES: ("files", lambda backend: backend.files()),
    Capability.CHANGES: ("changes", lambda backend: backend.changes("")),
    Capability.SYNCHRONISE: ("freshness", lambda backend: backend.freshness()),
}


class TracesRules:
    """What may be left where a backend was only asked."""

    @rule("grove_core.MemoryBackend")
    def test_asking_leaves_nothing_behind(
        self, open_backend: Opener, project_folder: Path, home_folder: Path
    ) -> None:
        """Opening and asking make and change nothing in a project that never ran grove init."""
        before = look_at(project_folder, without=home_folder)
        questions = _questions(open_backend())
        _expect_as_before(before, project_folder, home_folder, "opening it")
        remove(project_folder / ".grove")
        _expect_no_trace(open_backend, questions, project_folder, home_folder)
        # Whoever opened the backend for this test may have asked already: what is its own goes.
        before = look_at(project_folder, without=home_folder)
        for path in written_by(open_backend, project_folder, without=home_folder):
            path.unlink()
        made = look_at(project_folder, without=home_folder).keys() - before.keys()
        for path in sorted(made):
            remove(path)
        _expect_no_trace(open_backend, questions, project_folder, home_folder)


def _expect_no_trace(
    open_backend: Opener,
    questions: Mapping[str, Callable[[Any], object]],
    project: Path,
    home: Path,
) -> None:
    before = look_at(project, without=home)
    for name, ask in questions.items():
        whatever_it_says(partial(_open_and_ask, open_backend, ask))
        _expect_as_before(before, project, home, name)


def _expect_as_before(before: Look, project: Path, home: Path, name: str) -> None:
    changed = differences(before, look_at(project, without=home))
    found = [one.relative_to(project).as_posix() for one in changed]
    expect(found, [], f"what {name} has made or changed in the project")


def _questions(backend: MemoryBackend) -> Mapping[str, Callable[[Any], object]]:
    declared = backend.capabilities
    return {**_ALWAYS, **dict(_IF_DECLARED[one] for one in _IF_DECLARED if one in declared)}


def _open_and_ask(open_backend: Opener, ask: Callable[[Any], object]) -> None:
    ask(open_backend())
