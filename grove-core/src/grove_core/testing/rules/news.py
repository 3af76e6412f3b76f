"""Rules of memory backends that tell what is new, and of those whose learnings a server holds."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import Capability, Changes, Receipt, ReceiptStatus, Synchronised
from grove_core.plugins.descriptors import Freshness, MemoryBackend
from grove_core.storage.files import fingerprint_of
from grove_core.testing.rules.reading import (
    Opener,
    bounds,
    expect_only,
    listing,
    need,
    write_all,
)
from grove_core.testing.samples import example_learning
from grove_core.testing.watching import Watching

_EXAMPLES: Final = 30
_SECONDS: Final = 60.0


class ChangesRules:
    """What ``changes`` tells."""

    def test_first_answer_is_whole(self, open_backend: Opener) -> None:
        """Without a mark, everything is told, and that it is everything."""
        assert _ask(open_backend, "").learnings == ()
        learnings = [example_learning(number) for number in (1, 2)]
        write_all(open_backend, learnings)
        answer = _ask(open_backend, "")
        assert answer.whole
        assert _by_id(answer.learnings) == _by_id(learnings)

    def test_next_answer_is_the_news(self, open_backend: Opener) -> None:
        """After a write, what was written is told and not everything; after nothing, nothing."""
        known = [example_learning(number) for number in range(1, 6)]
        first = _ask(open_backend, "")
        write_all(open_backend, known)
        first = _ask(open_backend, first.mark)
        again = _ask(open_backend, first.mark)
        assert (again.whole, again.learnings) == (False, ())
        written = example_learning(6)
        open_backend().write(written)
        news = _ask(open_backend, again.mark)
        assert not news.whole
        assert _by_id(news.learnings).get(written.id) == written
        # The neighbour of what is new may be told again: its end may have moved.
        assert known[0].id not in _by_id(news.learnings)

    def test_changed_status_is_news(self, open_backend: Opener) -> None:
        """A learning whose status has changed is told, as it is now."""
        backend = need(open_backend, Capability.SET_STATUS)
        mark = _ask(open_backend, "").mark
        learnings = [example_learning(number) for number in (1, 2)]
        write_all(open_backend, learnings)
        mark = _ask(open_backend, mark).mark
        archived = backend.set_status(learnings[0].id, LearningStatus.ARCHIVED)
        assert _by_id(_ask(open_backend, mark).learnings).get(archived.id) == archived

    @pytest.mark.parametrize("mark", ["?", "0", "-1", "99999", "{}", "é\n", "[1]", "x" * 5000])
    def test_unknown_mark_asks_for_everything(self, open_backend: Opener, mark: str) -> None:
        """A mark that has been damaged asks for everything."""
        learnings = [example_learning(number) for number in (1, 2)]
        write_all(open_backend, learnings)
        known = _ask(open_backend, "").mark
        damaged = {mark, mark + known, known + mark, known[: len(known) // 2]} - {known}
        for one in sorted(damaged):
            answer = _ask(open_backend, one)
            assert answer.whole, one
            assert _by_id(answer.learnings) == _by_id(learnings)

    def test_answers_add_up(self, open_backend: Opener) -> None:
        """The answers, each added to what was kept of the earlier ones, give what iterate lists."""
        need(open_backend, Capability.CHANGES)
        pytest.importorskip("hypothesis", reason="hypothesis makes the histories")
        from hypothesis import given, settings
        from hypothesis import strategies as st

        numbers = count()
        changes = Capability.SET_STATUS in open_backend().capabilities
        steps = st.tuples(
            st.sampled_from(("write", "write", "status", "ask")),
            st.integers(0, 99),
            st.sampled_from(LearningStatus),
        )

        @settings(**bounds(_EXAMPLES))
        @given(steps=st.lists(steps, max_size=12))
        def check(steps: list[tuple[str, int, LearningStatus]]) -> None:
            kept, mark = _add_up(open_backend, {}, "")
            written: list[str] = []
            for name, number, status in steps:
                if name == "write":
                    learning = example_learning(next(numbers))
                    open_backend().write(learning)
                    written.append(learning.id)
                elif name == "ask":
                    kept, mark = _add_up(open_backend, kept, mark)
                elif written and changes:
                    open_backend().set_status(written[number % len(written)], status)
            _add_up(open_backend, kept, mark)

        check()


def _add_up(
    open_backend: Opener, kept: Mapping[str, Learning], mark: str
) -> tuple[Mapping[str, Learning], str]:
    """Add an answer to what was kept of the earlier ones: that is all there is."""
    answer = _ask(open_backend, mark)
    told = _by_id(answer.learnings)
    assert len(told) == len(answer.learnings), "an id is told twice"
    kept = told if answer.whole else {**kept, **told}
    assert kept == _by_id(listing(open_backend()))
    return kept, answer.mark


class FilesRules:
    """What ``files`` names."""

    def test_files_show_every_change(self, open_backend: Opener) -> None:
        """Files are named by the same absolute paths, and look other after each change."""
        backend, learning = need(open_backend, Capability.FILES), example_learning()
        paths: list[Path] = [*backend.files()]
        assert paths
        assert all(one.is_absolute() for one in paths), paths
        assert [*need(open_backend, Capability.FILES).files()] == paths
        changes: list[Callable[[], object]] = [
            lambda: open_backend().write(learning),
            lambda: open_backend().write(example_learning(2)),
        ]
        if Capability.SET_STATUS in backend.capabilities:
            archived = LearningStatus.ARCHIVED
            changes.append(lambda: open_backend().set_status(learning.id, archived))
        for change in changes:
            before = fingerprint_of(need(open_backend, Capability.FILES).files())
            change()
            assert fingerprint_of(need(open_backend, Capability.FILES).files()) != before


class SynchronisingRules:
    """What a backend says and does whose learnings a server holds."""

    def test_freshness_tells_how_it_stands(self, open_backend: Opener) -> None:
        """Freshness names the server, a file by its absolute path, and what waits: nothing yet."""
        fresh = _fresh(open_backend)
        assert fresh.mark.is_absolute()
        assert fresh.waiting == ()
        assert _fresh(open_backend) == fresh

    def test_what_is_kept_here_is_told_without_asking(self, open_backend: Opener) -> None:
        """Freshness, get and iterate start no program and make no connection."""
        need(open_backend, Capability.SYNCHRONISE)
        learning = example_learning()
        open_backend().write(learning)
        calls: list[Callable[[Any], object]] = [lambda backend: backend.freshness()]
        if Capability.GET in open_backend().capabilities:
            calls.append(lambda backend: backend.get(learning.id))
        if Capability.ITERATE in open_backend().capabilities:
            calls.append(lambda backend: [*backend.iterate()])
        for call in calls:
            backend = open_backend()
            with Watching() as watching:
                call(backend)
            assert watching.heard == []

    def test_what_is_written_is_delivered_once_or_waits(self, open_backend: Opener) -> None:
        """Each write is stored or queued, and what is queued waits until a receipt says stored."""
        assert _synchronise(open_backend).delivered == ()
        queued: set[str] = set()
        for number in (1, 2, 3):
            receipt = open_backend().write(example_learning(number))
            if receipt.status is ReceiptStatus.QUEUED:
                queued.add(receipt.learning_id)
            assert _waiting(open_backend) == queued
        for asked in (True, False, True):
            done = _synchronise(open_backend, asked=asked)
            stored = [one.learning_id for one in done.delivered]
            # Each is delivered or waits, and what was delivered before is not there again.
            assert sorted([*stored, *done.waiting]) == sorted(queued)
            assert _waiting(open_backend) == {*done.waiting}
            assert done.fault or not done.waiting, "nothing says why something waits"
            assert done.received == 0, "nothing else writes"
            queued -= {*stored}

    def test_synchronising_loses_nothing(self, open_backend: Opener) -> None:
        """What was listed before is listed afterwards, as it was, with its status."""
        backend = need(open_backend, Capability.SYNCHRONISE)
        learnings = [
            example_learning(number, status=status) for number, status in enumerate(LearningStatus)
        ]
        write_all(open_backend, learnings)
        if Capability.SET_STATUS in backend.capabilities:
            learnings[0] = backend.set_status(learnings[0].id, LearningStatus.ARCHIVED)
        for _ in range(2):
            _synchronise(open_backend)
            expect_only(lambda: backend, learnings)
            expect_only(open_backend, learnings)

    def test_mark_is_written_when_both_are_in_line(self, open_backend: Opener) -> None:
        """The file of freshness is written whenever a server has been asked and all is well."""
        need(open_backend, Capability.SYNCHRONISE).write(example_learning())
        for _ in range(2):
            mark = _fresh(open_backend).mark
            before = fingerprint_of([mark])
            done = _synchronise(open_backend)
            if not _fresh(open_backend).source or done.fault:
                pytest.skip(f"the server cannot be used: {done.fault or 'there is none'}")
            assert mark.is_file()
            assert fingerprint_of([mark]) != before, "it was not written"


def _ask(open_backend: Opener, mark: str) -> Changes:
    answer: object = need(open_backend, Capability.CHANGES).changes(mark)
    assert isinstance(answer, Changes)
    kinds = type(answer.learnings), type(answer.mark), type(answer.whole)
    assert kinds == (tuple, str, bool)
    return answer


def _by_id(learnings: Sequence[Learning]) -> dict[str, Learning]:
    return {one.id: one for one in learnings}


def _fresh(open_backend: Opener) -> Freshness:
    answer: object = need(open_backend, Capability.SYNCHRONISE).freshness()
    assert isinstance(answer, Freshness)
    assert isinstance(answer.source, str)
    assert isinstance(answer.mark, Path)
    assert isinstance(answer.waiting, tuple)
    return answer


def _waiting(open_backend: Opener) -> set[str]:
    waiting = _fresh(open_backend).waiting
    assert len({*waiting}) == len(waiting), "an id waits twice"
    return {*waiting}


def _synchronise(open_backend: Opener, *, asked: bool = True) -> Synchronised:
    backend: MemoryBackend = need(open_backend, Capability.SYNCHRONISE)
    answer: object = backend.synchronise(_SECONDS, asked=asked)  # type: ignore[attr-defined]
    assert isinstance(answer, Synchronised)
    kinds = type(answer.delivered), type(answer.received), type(answer.waiting)
    assert kinds == (tuple, int, tuple)
    for receipt in answer.delivered:
        assert isinstance(receipt, Receipt)
        assert (receipt.status, receipt.backend) == (ReceiptStatus.STORED, backend.name)
    return answer
