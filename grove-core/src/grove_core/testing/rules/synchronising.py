"""Bringing what is kept here and what a server has into line."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from grove_core.model.learning import LearningStatus
from grove_core.model.memory import Capability, Receipt, ReceiptStatus, Synchronised
from grove_core.plugins.descriptors import Freshness, MemoryBackend, Synchronising
from grove_core.stats_cache.stamps import stamp_of
from grove_core.testing.rules.reading_back import (
    Opener,
    expect_untouched,
    ids_in,
    need,
    write_all,
)
from grove_core.testing.samples import example_learning
from grove_core.testing.verdict import expect, require, rule
from grove_core.testing.watching import Watching

_FRESHNESS: Final = "grove_core.Synchronising.freshness"
_SYNCHRONISE: Final = "grove_core.Synchronising.synchronise"
_SECONDS: Final = 60.0


class SynchronisingRules:
    """What a backend says and does whose learnings a server holds."""

    @rule(_FRESHNESS)
    def test_freshness_tells_how_it_stands(self, open_backend: Opener) -> None:
        """Freshness names the server, a file by its absolute path, and what waits: nothing yet."""
        fresh = _fresh(open_backend())
        require(fresh.mark.is_absolute(), expected="an absolute path as mark", found=fresh.mark)
        expect(fresh.waiting, (), "what waits in an empty store")
        expect(_fresh(open_backend()), fresh, "what a second instance tells")

    @rule(_FRESHNESS)
    def test_what_is_kept_here_is_told_without_asking(self, open_backend: Opener) -> None:
        """Freshness, get and iterate start no program and make no connection."""
        need(open_backend(), Capability.SYNCHRONISE)
        learnings = [example_learning(number) for number in (1, 2)]
        write_all(open_backend(), learnings)
        calls: dict[str, Callable[[MemoryBackend], object]] = {"freshness": _fresh}
        if Capability.GET in open_backend().capabilities:
            calls["get"] = lambda backend: backend.get(learnings[0].id)
        if Capability.ITERATE in open_backend().capabilities:
            calls["iterate"] = lambda backend: list(backend.iterate())
        for name, call in calls.items():
            backend = open_backend()
            with Watching() as watching:
                call(backend)
            expect(watching.heard, [], f"what {name} has started or connected to")

    @rule(_SYNCHRONISE)
    def test_what_is_written_is_delivered_or_waits(self, open_backend: Opener) -> None:
        """Each write is stored or queued, and what is queued waits until a receipt says stored."""
        need(open_backend(), Capability.SYNCHRONISE)
        learnings = [example_learning(number) for number in (1, 2, 3)]
        queued: set[str] = set()
        for learning in learnings:
            is_queued = open_backend().write(learning).status is ReceiptStatus.QUEUED
            queued.update({learning.id} if is_queued else ())
            expect(_waiting(open_backend()), queued, "what waits after the receipts so far")
        for _ in range(2):
            done = _synchronise(open_backend())
            stored = {one.learning_id for one in done.delivered}
            expect(stored | {*done.waiting}, queued, "what is delivered or still waits")
            expect(stored & {*done.waiting}, set(), "what is delivered and waits")
            expect(_waiting(open_backend()), {*done.waiting}, "what freshness says that waits")
            told = bool(done.fault) or not done.waiting
            require(told, expected="a fault that says why something waits", found=done)
            queued -= stored

    @rule(_SYNCHRONISE)
    def test_synchronising_delivers_once(self, open_backend: Opener) -> None:
        """What is delivered is not delivered again, and what is known here is not received."""
        expect(_synchronise(open_backend()).delivered, (), "what an empty store delivers")
        write_all(open_backend(), [example_learning(number) for number in (1, 2)])
        delivered = [one.learning_id for one in _synchronise(open_backend()).delivered]
        open_backend().write(example_learning(3))
        for asked in (False, True):
            done = _synchronise(open_backend(), asked=asked)
            delivered += [one.learning_id for one in done.delivered]
            expect(done.received, 0, "how much is received where nobody else writes")
        expect(sorted(delivered), sorted({*delivered}), "the ids that were delivered, each once")

    @rule(_SYNCHRONISE)
    def test_synchronising_loses_nothing(self, open_backend: Opener) -> None:
        """What was listed before is listed afterwards, as it was, with its status."""
        backend = open_backend()
        need(backend, Capability.SYNCHRONISE)
        learnings = [
            example_learning(number, status=status) for number, status in enumerate(LearningStatus)
        ]
        write_all(backend, learnings)
        changes = Capability.SET_STATUS in backend.capabilities
        for _ in range(2):
            if changes:
                archived = backend.set_status(learnings[0].id, LearningStatus.ARCHIVED)
                changes, learnings[0] = False, archived
            _synchronise(open_backend())
            for one in (backend, open_backend()):
                expect(ids_in(one), sorted(each.id for each in learnings), "the ids")
                expect_untouched(one, learnings)

    @rule(_FRESHNESS)
    def test_mark_is_written_when_both_are_in_line(self, open_backend: Opener) -> None:
        """The file of freshness is written whenever a server has been asked and all is well."""
        need(open_backend(), Capability.SYNCHRONISE)
        open_backend().write(example_learning())
        for _ in range(2):
            mark = _fresh(open_backend()).mark
            before = stamp_of([mark])
            done = _synchronise(open_backend())
            if not _fresh(open_backend()).source or done.fault:
                pytest.skip(f"the server cannot be used: {done.fault or 'there is none'}")
            expect((mark.is_file(), stamp_of([mark]) != before), (True, True), f"{mark}, written")


def _fresh(backend: MemoryBackend) -> Freshness:
    need(backend, Capability.SYNCHRONISE)
    assert isinstance(backend, Synchronising)
    answer: object = backend.freshness()
    expect(type(answer), Freshness, "the kind of what freshness answers")
    assert isinstance(answer, Freshness)
    kinds = (isinstance(answer.source, str), isinstance(answer.mark, Path), type(answer.waiting))
    expect(kinds, (True, True, tuple), "whether source is text, mark a path; the kind of waiting")
    return answer


def _waiting(backend: MemoryBackend) -> set[str]:
    waiting = _fresh(backend).waiting
    expect(len({*waiting}), len(waiting), "how many ids wait, each once")
    return {*waiting}


def _synchronise(backend: MemoryBackend, *, asked: bool = True) -> Synchronised:
    need(backend, Capability.SYNCHRONISE)
    assert isinstance(backend, Synchronising)
    answer: object = backend.synchronise(_SECONDS, asked=asked)
    expect(type(answer), Synchronised, "the kind of what synchronise answers")
    assert isinstance(answer, Synchronised)
    kinds = tuple(type(one) for one in (answer.delivered, answer.received, answer.waiting))
    expect(kinds, (tuple, int, tuple), "the kinds of delivered, received and waiting")
    for receipt in answer.delivered:
        expect(type(receipt), Receipt, "the kind of what is delivered")
        found = (receipt.status, receipt.backend)
        expect(found, (ReceiptStatus.STORED, backend.name), "status and backend of what came there")
    return answer
