"""Rules of memory backends that tell what is new, and of those whose learnings a server holds."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from grove_core.model.learning import Learning, LearningStatus
from grove_core.model.memory import Capability, Changes, ReceiptStatus, Synchronised
from grove_core.plugins.descriptors import Freshness
from grove_core.storage.files import fingerprint_of
from grove_core.testing.rules.reading import Opener, expect_only, listing, need, write_all
from grove_core.testing.samples import example_learning

_SECONDS: Final = 60.0


class ChangesRules:
    """What ``changes`` tells."""

    def test_news_is_told_and_nothing_else(self, open_backend: Opener) -> None:
        """Without a mark all is told; after a write that was written, after nothing nothing."""
        known = [example_learning(number) for number in range(1, 6)]
        empty = _ask(open_backend, "")
        write_all(open_backend, known)
        assert _ask(open_backend, "").whole
        first = _ask(open_backend, empty.mark)
        again = _ask(open_backend, first.mark)
        assert (again.whole, again.learnings) == (False, ())
        written = example_learning(6)
        open_backend().write(written)
        news = _ask(open_backend, again.mark)
        assert not news.whole
        assert _by_id(news.learnings).get(written.id) == written
        assert _ask(open_backend, f"{news.mark}?").whole, "a mark that is not known"
        # The neighbour of what is new may be told again: its end may have moved.
        assert known[0].id not in _by_id(news.learnings)

    def test_answers_add_up(self, open_backend: Opener) -> None:
        """The answers, each added to what was kept of the earlier ones, give what iterate lists."""
        backend, numbers = need(open_backend, Capability.CHANGES), count()
        has_status = Capability.SET_STATUS in backend.capabilities
        kept, mark = _add_up(open_backend, {}, "")
        for written, changed in ((3, 0), (0, 2), (2, 1), (0, 0), (1, 1), (0, 3)):
            write_all(open_backend, [example_learning(next(numbers)) for _ in range(written)])
            for place, learning in enumerate(listing(open_backend())[:changed]):
                if has_status:
                    status = [*LearningStatus][(place + written) % len(LearningStatus)]
                    open_backend().set_status(learning.id, status)
            kept, mark = _add_up(open_backend, kept, mark)


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

    def test_what_is_written_is_delivered_once_or_waits(self, open_backend: Opener) -> None:
        """Each write is stored or queued, and what is queued waits until a receipt says stored."""
        assert _synchronise(open_backend).delivered == ()
        queued: set[str] = set()
        for number in (1, 2, 3):
            receipt = open_backend().write(example_learning(number))
            if receipt.status is ReceiptStatus.QUEUED:
                queued.add(receipt.learning_id)
            assert {*_fresh(open_backend).waiting} == queued
        for asked in (True, False, True):
            done = _synchronise(open_backend, asked=asked)
            assert {one.status for one in done.delivered} <= {ReceiptStatus.STORED}
            stored = [one.learning_id for one in done.delivered]
            # Each is delivered or waits, and what was delivered before is not there again.
            assert sorted([*stored, *done.waiting]) == sorted(queued)
            assert sorted(_fresh(open_backend).waiting) == sorted(done.waiting)
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


def _ask(open_backend: Opener, mark: str) -> Changes:
    answer: object = need(open_backend, Capability.CHANGES).changes(mark)
    assert isinstance(answer, Changes)
    return answer


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


def _by_id(learnings: Sequence[Learning]) -> dict[str, Learning]:
    return {one.id: one for one in learnings}


def _fresh(open_backend: Opener) -> Freshness:
    answer: object = need(open_backend, Capability.SYNCHRONISE).freshness()
    assert isinstance(answer, Freshness)
    return answer


def _synchronise(open_backend: Opener, *, asked: bool = True) -> Synchronised:
    backend = need(open_backend, Capability.SYNCHRONISE)
    answer: object = backend.synchronise(_SECONDS, asked=asked)
    assert isinstance(answer, Synchronised)
    return answer
