"""Nothing of a learning is lost, whatever it holds and whatever stands around it."""

from pathlib import Path
from typing import Final

import pytest
from attrs import evolve

from grove_core.model.learning import Learning, Scope
from grove_core.model.memory import Capability
from grove_core.plugins.descriptors import FileBacked, MemoryBackend
from grove_core.reflection.candidates import close_fences
from grove_core.reflection.limits import DETAIL_LENGTH_MAX
from grove_core.storage.files import read_text
from grove_core.testing.rules.bounds import bounds
from grove_core.testing.rules.reading_back import (
    Opener,
    expect_untouched,
    fetch,
    ids_in,
    need,
    write_all,
)
from grove_core.testing.samples import SUMMARIES, TEXTS, VARIANTS, example_learning, learning_id
from grove_core.testing.verdict import expect, rule
from grove_core.text import remove_invisible

_WRITE: Final = "grove_core.Learning"
_EXAMPLES: Final = 30
_NEEDED: Final = {Scope.PERSONAL: Capability.PERSONAL, Scope.EPHEMERAL: Capability.EPHEMERAL}


class FidelityRules:
    """What is written comes back equal, in another instance."""

    @pytest.mark.parametrize("scope", [*Scope], ids=lambda one: one.value)
    @rule(_WRITE)
    def test_scope_comes_back(self, open_backend: Opener, scope: Scope) -> None:
        """A learning keeps its scope."""
        if scope in _NEEDED:
            need(open_backend(), _NEEDED[scope])
        _expect_back(open_backend, example_learning(scope=scope))

    @pytest.mark.parametrize("variant", [*VARIANTS])
    @rule(_WRITE)
    def test_every_field_comes_back(self, open_backend: Opener, variant: str) -> None:
        """A learning keeps every field."""
        _expect_back(open_backend, VARIANTS[variant])

    @pytest.mark.parametrize("text", [*TEXTS])
    @rule(_WRITE)
    def test_detail_comes_back(self, open_backend: Opener, text: str) -> None:
        """A detail is kept to the letter and forges nothing, whatever it looks like."""
        _expect_back(open_backend, example_learning(detail=TEXTS[text]))

    @pytest.mark.parametrize("text", [*SUMMARIES])
    @rule(_WRITE)
    def test_summary_comes_back(self, open_backend: Opener, text: str) -> None:
        """A summary is kept to the letter and forges nothing, whatever it looks like."""
        _expect_back(open_backend, example_learning(summary=SUMMARIES[text]))

    @rule(_WRITE)
    def test_its_own_format_forges_nothing(self, open_backend: Opener) -> None:
        """What the backend's own files say of one learning can be the detail of another."""
        need(open_backend(), Capability.FILES)
        open_backend().write(example_learning(900))
        details = [
            close_fences(remove_invisible(text[: DETAIL_LENGTH_MAX - 100]).strip())
            for text in _stored_texts(open_backend())
        ]
        learnings = [
            example_learning(number, detail=f"A copy follows.\n{detail}")
            for number, detail in enumerate(details)
        ]
        write_all(open_backend(), learnings)
        expect_untouched(open_backend(), [*learnings, example_learning(900)])
        ids = sorted([*(one.id for one in learnings), learning_id(900)])
        expect(ids_in(open_backend()), ids, "the ids that are there")

    @rule(_WRITE)
    def test_any_learning_comes_back(self, open_backend: Opener) -> None:
        """Any learning that the reflection funnel accepts comes back equal, among others."""
        pytest.importorskip("hypothesis", reason="hypothesis makes the learnings")
        from hypothesis import given, settings
        from hypothesis import strategies as st

        from grove_core.testing.strategies import learnings

        written: list[Learning] = []

        @settings(**bounds(_EXAMPLES))
        @given(some=st.lists(learnings(), min_size=1, max_size=3))
        def check(some: list[Learning]) -> None:
            # An id of its own: hypothesis tries the same learning again and again.
            fresh = [
                evolve(one, id=learning_id(len(written) + place)) for place, one in enumerate(some)
            ]
            written.extend(fresh)
            write_all(open_backend(), fresh)
            expect_untouched(open_backend(), fresh)

        check()
        expect_untouched(open_backend(), written)
        expect(ids_in(open_backend()), sorted(one.id for one in written), "the ids that are there")


def _expect_back(open_backend: Opener, learning: Learning) -> None:
    """Write a learning between two others and look at all of them in another instance."""
    around = [example_learning(number) for number in (800, 801)]
    write_all(open_backend(), [around[0], learning, around[1]])
    backend = open_backend()
    expect(fetch(backend, learning.id), learning, "the learning that was written")
    expect_untouched(backend, around)
    ids = sorted(one.id for one in (*around, learning))
    expect(ids_in(backend), ids, "the ids that are there")


def _stored_texts(backend: MemoryBackend) -> list[str]:
    assert isinstance(backend, FileBacked)
    files = [one for path in backend.files() for one in _files_of(path)]
    texts = (read_text(one) for one in files)
    return [text for text in texts if text]


def _files_of(path: Path) -> list[Path]:
    inside = sorted(path.iterdir()) if path.is_dir() else [path]
    return [one for one in inside if one.is_file()]
