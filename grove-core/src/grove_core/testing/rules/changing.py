"""Telling what is new, and showing in files that something is."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final

import pytest

from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import Capability, Changes
from grove_core.plugins.descriptors import FileBacked, Incremental, MemoryBackend, Withdrawing
from grove_core.stats_cache.stamps import stamp_of
from grove_core.testing.rules.bounds import bounds
from grove_core.testing.rules.reading_back import Opener, listing, need, write_all
from grove_core.testing.samples import example_learning
from grove_core.testing.verdict import expect, require, rule

_CHANGES: Final = "grove_core.Incremental.changes"
_FILES: Final = "grove_core.FileBacked.files"
_EXAMPLES: Final = 30
_STEPS: Final = ("write", "write", "status", "withdraw", "ask")


class ChangesRules:
    """What ``changes`` tells."""

    @rule(_CHANGES)
    def test_first_answer_is_whole(self, open_backend: Opener) -> None:
        """Without a mark, everything is told, and that it is everything."""
        expect(_ask(open_backend(), "").learnings, (), "the learnings of an empty store")
        learnings = [example_learning(number) for number in (1, 2)]
        write_all(open_backend(), learnings)
        answer = _ask(open_backend(), "")
        expect(answer.whole, expected=True, about="whether the answer is whole")
        expect(_by_id(answer.learnings), _by_id(learnings), "the learnings")

    @rule(_CHANGES)
    def test_next_answer_is_the_news(self, open_backend: Opener) -> None:
        """After a write, what was written is told and not everything; after nothing, nothing."""
        known = [example_learning(number) for number in range(1, 6)]
        write_all(open_backend(), known)
        first = _ask(open_backend(), "")
        again = _ask(open_backend(), first.mark)
        expect((again.whole, again.learnings), (False, ()), "the answer when nothing is new")
        written = example_learning(6)
        open_backend().write(written)
        news = _ask(open_backend(), again.mark)
        expect(news.whole, expected=False, about="whether the answer after a write is whole")
        expect(_by_id(news.learnings).get(written.id), written, "what is told of the new learning")
        # The neighbour of what is new may be told again: its end may have moved.
        told = [one.id for one in news.learnings]
        require(known[0].id not in told, expected=f"no news of {known[0].id}", found=told)

    @rule(_CHANGES)
    def test_changed_status_is_news(self, open_backend: Opener) -> None:
        """A learning whose status has changed is told, as it is now."""
        need(open_backend(), Capability.SET_STATUS)
        learnings = [example_learning(number) for number in (1, 2)]
        write_all(open_backend(), learnings)
        mark = _ask(open_backend(), "").mark
        archived = open_backend().set_status(learnings[0].id, LearningStatus.ARCHIVED)
        told = _by_id(_ask(open_backend(), mark).learnings)
        expect(told.get(archived.id), archived, "what is told of the learning")

    @rule(_CHANGES)
    def test_what_is_withdrawn_is_gone_from_the_answers(self, open_backend: Opener) -> None:
        """After something was taken out, everything is told that is left."""
        backend = open_backend()
        need(backend, Capability.WITHDRAW)
        learnings = [example_learning(number) for number in (1, 2, 3)]
        write_all(backend, learnings)
        mark = _ask(open_backend(), "").mark
        assert isinstance(backend, Withdrawing)
        backend.withdraw(learnings[1])
        answer = _ask(open_backend(), mark)
        expect(answer.whole, expected=True, about="whether the answer is whole")
        expect(_by_id(answer.learnings), _by_id([learnings[0], learnings[2]]), "the learnings")

    @pytest.mark.parametrize("mark", ["?", "0", "-1", "99999", "{}", "é\n", "[1]", "x" * 5000])
    @rule(_CHANGES)
    def test_unknown_mark_asks_for_everything(self, open_backend: Opener, mark: str) -> None:
        """A mark that has been damaged asks for everything."""
        learnings = [example_learning(number) for number in (1, 2)]
        write_all(open_backend(), learnings)
        known = _ask(open_backend(), "").mark
        damaged = {mark, mark + known, known + mark, known[: len(known) // 2]} - {known}
        for one in sorted(damaged):
            answer = _ask(open_backend(), one)
            expect(
                answer.whole,
                expected=True,
                about=f"whether the answer to the mark {one!r} is whole",
            )
            expect(_by_id(answer.learnings), _by_id(learnings), "the learnings")

    @rule(_CHANGES)
    def test_answers_add_up(self, open_backend: Opener) -> None:
        """Whoever adds each answer to what it has kept has what iterate lists."""
        need(open_backend(), Capability.CHANGES)
        pytest.importorskip("hypothesis", reason="hypothesis makes the histories")
        from hypothesis import given, settings
        from hypothesis import strategies as st

        numbers = count()
        steps = st.tuples(
            st.sampled_from(_STEPS), st.integers(0, 99), st.sampled_from(LearningStatus)
        )

        @settings(**bounds(_EXAMPLES))
        @given(steps=st.lists(steps, max_size=12))
        def check(steps: list[tuple[str, int, LearningStatus]]) -> None:
            history = _History(open_backend, numbers)
            for name, number, status in steps:
                history.take(name, number, status)
            history.ask()

        check()


class _History:
    """Someone who writes to a backend, and someone who keeps what it tells."""

    def __init__(self, open_backend: Opener, numbers: Iterator[int]) -> None:
        self._open = open_backend
        self._capabilities = open_backend().capabilities
        self._numbers = numbers
        self._written: list[Learning] = []
        self._kept: dict[str, Learning] = {}
        self._mark = ""
        self.ask()

    def take(self, name: str, number: int, status: LearningStatus) -> None:
        if name == "write":
            learning = example_learning(next(self._numbers))
            self._open().write(learning)
            self._written.append(learning)
        elif name == "ask":
            self.ask()
        elif self._written:
            self._change(name, number % len(self._written), status)

    def _change(self, name: str, place: int, status: LearningStatus) -> None:
        backend = self._open()
        if name == "status" and Capability.SET_STATUS in self._capabilities:
            backend.set_status(self._written[place].id, status)
        elif name == "withdraw" and Capability.WITHDRAW in self._capabilities:
            assert isinstance(backend, Withdrawing)
            if backend.withdraw(self._written[place]):
                del self._written[place]

    def ask(self) -> None:
        answer = _ask(self._open(), self._mark)
        self._mark = answer.mark
        told = [one.id for one in answer.learnings]
        expect(sorted(told), sorted(set(told)), "the ids of one answer, each once")
        kept = {} if answer.whole else self._kept
        self._kept = {**kept, **_by_id(answer.learnings)}
        there = _by_id(listing(self._open()))
        expect(sorted(self._kept), sorted(there), "the ids that have been kept of all answers")
        for learning_id, learning in there.items():
            expect(self._kept[learning_id], learning, f"what has been kept of {learning_id}")


class FilesRules:
    """What ``files`` names."""

    @rule(_FILES)
    def test_files_are_absolute_and_in_order(self, open_backend: Opener) -> None:
        """Files are absolute paths, and the same ones in the same order each time."""
        paths = _paths(open_backend())
        expect([one for one in paths if not one.is_absolute()], [], "paths that are not absolute")
        require(bool(paths), expected="a file or a folder", found=paths)
        expect(_paths(open_backend()), paths, "the files that another instance names")

    @rule(_FILES)
    def test_files_show_every_change(self, open_backend: Opener) -> None:
        """A file that is named, or one right in a folder that is, looks other after a change."""
        backend = open_backend()
        need(backend, Capability.FILES)
        learning = example_learning()
        changes: dict[str, Callable[[], object]] = {
            "the first write": lambda: open_backend().write(learning),
            "another write": lambda: open_backend().write(example_learning(2)),
        }
        if Capability.SET_STATUS in backend.capabilities:
            archived = LearningStatus.ARCHIVED
            changes["archiving"] = lambda: open_backend().set_status(learning.id, archived)
        if isinstance(backend, Withdrawing) and Capability.WITHDRAW in backend.capabilities:
            changes["withdrawing"] = lambda: backend.withdraw(example_learning(2))
        for what, change in changes.items():
            before = stamp_of(_paths(open_backend()))
            change()
            now = stamp_of(_paths(open_backend()))
            require(now != before, expected=f"another time, size or inode after {what}", found=now)


def _paths(backend: MemoryBackend) -> list[Path]:
    need(backend, Capability.FILES)
    assert isinstance(backend, FileBacked)
    return [*backend.files()]


def _ask(backend: MemoryBackend, mark: str) -> Changes:
    need(backend, Capability.CHANGES)
    assert isinstance(backend, Incremental)
    answer = backend.changes(mark)
    kinds = (type(answer), type(answer.learnings), type(answer.mark), type(answer.whole))
    expect(kinds, (Changes, tuple, str, bool), "the kinds of the answer and its parts")
    return answer


def _by_id(learnings: Sequence[Learning]) -> dict[str, Learning]:
    return {one.id: one for one in learnings}
