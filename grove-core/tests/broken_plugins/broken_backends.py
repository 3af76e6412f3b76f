"""Memory backends with one fault each, by the call of the standard test that is to find it.

Those with a file or a server are made of two sound ones, which keep the contract themselves.
"""

import json
import subprocess
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Lock, get_ident
from time import sleep

from attrs import evolve
from faults import but

from grove_core.codec import learning_from_dict, learning_to_dict
from grove_core.errors import BackendError, StorageError
from grove_core.model.learning import LearningStatus, Scope
from grove_core.model.memory import (
    Capability,
    Health,
    Hit,
    Query,
    Receipt,
    ReceiptStatus,
    Synchronised,
)
from grove_core.plugins.descriptors import Freshness
from grove_core.storage.files import append_text, read_text, replace
from grove_core.testing.fakes import InMemoryBackend
from grove_core.testing.samples import UNKNOWN_ID, example_learning

SWITCH_SECONDS = 0.001
DUPLICATE, STORED = ReceiptStatus.DUPLICATE, ReceiptStatus.STORED
LOCK = Lock()
FILES = frozenset({Capability.FILES})


class InFile(InMemoryBackend):
    """A sound one: a line for each learning, appended under the lock of the file."""

    def __init__(self, path):
        super().__init__("file", frozenset({Capability.GET, Capability.ITERATE}))
        self._path = path

    def write(self, learning):
        def unless_there(text):
            known = any(one.id == learning.id for one in learnings_in(text))
            return "" if known else line_of(learning)

        try:
            stored = self._append(unless_there)
        except StorageError as error:
            raise BackendError(str(error)) from error
        return self._receipt(learning, stored=bool(stored))

    def get(self, learning_id):
        return next((one for one in self._all() if one.id == learning_id), None)

    def ping(self):
        try:
            return super().ping()
        except BackendError as error:
            return Health(ok=False, detail=str(error))

    def _append(self, line):
        return append_text(self._path, line, inside=self._path.parent)

    def _all(self):
        try:
            return learnings_in(read_text(self._path) or "")
        except StorageError as error:
            raise BackendError(str(error)) from error

    def _receipt(self, learning, *, stored):
        status = ReceiptStatus.STORED if stored else ReceiptStatus.DUPLICATE
        return Receipt(learning_id=learning.id, status=status, backend=self.name)


def line_of(learning):
    return json.dumps(learning_to_dict(learning)) + "\n"


def learnings_in(text):
    return [learning_from_dict(json.loads(line)) for line in text.splitlines()]


class WithServer(InFile):
    """A sound one: what is written waits in a file for another one, which stands for the server."""

    def __init__(self, folder):
        super().__init__(folder / "kept.json")
        self.capabilities |= {Capability.SYNCHRONISE}
        self._mark = folder / "synchronised"
        self._server = InFile(folder / "server.json")

    def write(self, learning):
        receipt = super().write(learning)
        is_new = receipt.status is ReceiptStatus.STORED
        return evolve(receipt, status=ReceiptStatus.QUEUED) if is_new else receipt

    def freshness(self):
        return Freshness(source="the other file", mark=self._mark, waiting=self._waiting())

    def synchronise(self, seconds, *, asked):
        waiting = self._waiting()
        delivered = [self._server.write(one) for one in self._all() if one.id in waiting]
        received = [super(WithServer, self).write(one) for one in self._server.iterate()]
        self._mark.touch()
        return Synchronised(
            delivered=tuple(delivered),
            received=sum(one.status is ReceiptStatus.STORED for one in received),
        )

    def _waiting(self):
        there = {one.id for one in self._server.iterate()}
        return tuple(one.id for one in self._all() if one.id not in there)


in_memory, in_file, with_server = (
    partial(but, one) for one in (InMemoryBackend, InFile, WithServer)
)


def receipt(backend, learning, *, is_known):
    status = DUPLICATE if is_known else STORED
    return Receipt(learning_id=learning.id, status=status, backend=backend.name)


def writing(change):
    """Make a backend that keeps something else of each learning."""
    return in_memory(write=lambda me, sound, learning: sound(change(learning)))


def taking_for_the_same(is_same):
    """Make a backend that takes a learning for one that it has."""

    def write(me, sound, learning):
        if any(is_same(learning, one) for one in me._all()):
            return receipt(me, learning, is_known=True)
        return sound(learning)

    return in_memory(write=write)


class ChecksTooEarly(InMemoryBackend):
    def write(self, learning):
        is_known = learning.id in self._storage.learnings
        sleep(SWITCH_SECONDS)
        if not is_known:
            with self._storage.lock:
                self._keep(learning)
        return receipt(self, learning, is_known=is_known)

    def iterate(self):
        return [self._storage.learnings[each] for each in self._storage.changed]


class LocksItsThreadsOnly(InFile):
    def write(self, learning):
        with LOCK:
            known = self._all()
            sleep(SWITCH_SECONDS)
            is_known = any(one.id == learning.id for one in known)
            if not is_known:
                replace(self._path, "".join(map(line_of, [*known, learning])).encode())
        return receipt(self, learning, is_known=is_known)


class BelongsToItsThread(InMemoryBackend):
    def __init__(self, storage):
        super().__init__(storage=storage)
        self._thread = get_ident()

    def write(self, learning):
        if self._thread != get_ident():
            raise BackendError("this connection was made in another thread")
        return super().write(learning)


class ForgetsStatusChanges(InMemoryBackend):
    def set_status(self, learning_id, status, note=""):
        marks, changed = [*self._storage.marks], [*self._storage.changed]
        learning = super().set_status(learning_id, status, note)
        self._storage.marks[:], self._storage.changed[:] = marks, changed
        return learning


class DoesMoreThanItSays(InMemoryBackend):
    def files(self):
        return []


class NamesFiles(InFile):
    def __init__(self, path):
        super().__init__(path)
        self.capabilities |= FILES


def finding(change):
    """Make a backend that returns something else than each hit."""
    return in_memory(
        search=lambda me, sound, query, filters: [*map(change, sound(query, filters))],
    )


def finds_everything(me, sound, query, filters):
    hits = sound(query, filters) or sound(Query(), filters)
    return [evolve(hit, relevance=hit.relevance or 0.01) for hit in hits]


def shows_a_stranger(me, sound, query, filters):
    stranger = evolve(example_learning(), id=UNKNOWN_ID)
    return [*sound(query, filters), Hit(learning=stranger, relevance=0.0)]


def fetches_active_ones_only(me, sound, learning_id):
    found = sound(learning_id)
    return found if found and found.status is LearningStatus.ACTIVE else None


def changes_neighbours(me, sound, learning_id, status, note=""):
    for known in list(me._storage.learnings):
        if known.startswith(learning_id):
            sound(known, status, note)
    return sound(learning_id, status, note)


def archives_what_is_not_there(me, sound, learning_id, status, note=""):
    if learning_id not in me._storage.learnings:
        return evolve(example_learning(), id=learning_id, status=status)
    return sound(learning_id, status, note)


def lets_the_last_one_win(me, sound, learning):
    answer = sound(learning)
    me._storage.learnings[learning.id] = learning
    return answer


def swallows_errors(me, sound, learning):
    with suppress(BackendError):
        return sound(learning)
    return receipt(me, learning, is_known=False)


def makes_a_folder(me, sound, query, filters):
    (me._path.parent / "index").mkdir(exist_ok=True)
    return sound(query, filters)


def says_that_it_is_there(me, sound, learning):
    answer = sound(learning)
    return evolve(answer, status=STORED if answer.status is ReceiptStatus.QUEUED else DUPLICATE)


def keeps_nothing_here(me, sound, seconds, *, asked):
    done = sound(seconds, asked=asked)
    me._path.unlink(missing_ok=True)
    return done


BROKEN_BACKENDS = [
    (
        "test_name_and_capabilities_are_constant",
        in_memory(__init__=lambda me, sound, storage: sound("", storage=storage)),
    ),
    ("test_what_it_cannot_it_refuses", DoesMoreThanItSays),
    (
        "test_only_slow_ones_ask_others",
        in_memory(ping=lambda me, sound: subprocess.run(["true"], check=True) and sound()),
    ),
    ("test_ping_tells_how_it_is", in_memory(ping=lambda me, sound: None)),
    # What it keeps.
    (
        "test_it_comes_back_as_written[scope team]",
        writing(lambda one: evolve(one, scope=Scope.PROJECT)),
    ),
    (
        "test_any_learning_comes_back",
        writing(lambda one: evolve(one, session_id=one.session_id.lower())),
    ),
    # Writing.
    (
        "test_write_gives_a_receipt",
        in_memory(write=lambda me, sound, learning: evolve(sound(learning), status=DUPLICATE)),
    ),
    (
        "test_every_new_id_is_stored",
        taking_for_the_same(lambda one, other: one.detail == other.detail),
    ),
    (
        "test_a_mentioned_id_is_not_stored",
        taking_for_the_same(lambda one, other: one.id in other.detail),
    ),
    ("test_write_is_idempotent", in_memory(write=lets_the_last_one_win)),
    ("test_parallel_writers_lose_nothing", ChecksTooEarly),
    ("test_parallel_processes_lose_nothing", LocksItsThreadsOnly),
    ("test_calls_may_come_from_another_thread", BelongsToItsThread),
    ("test_failed_write_is_an_error", in_file(write=swallows_errors)),
    # Searching and listing.
    (
        "test_every_part_of_a_query_finds[files]",
        in_memory(search=lambda me, sound, query, filters: sound(evolve(query, files=()), filters)),
    ),
    ("test_nonsense_finds_nothing", in_memory(search=finds_everything)),
    ("test_best_hits_come_first", finding(lambda hit: evolve(hit, relevance=hit.relevance * 2))),
    (
        "test_empty_query_finds_everything",
        in_memory(
            search=lambda me, sound, query, filters: [] if query.is_empty else sound(query, filters)
        ),
    ),
    (
        "test_empty_query_finds_everything",
        finding(lambda hit: evolve(hit, learning=evolve(hit.learning, detail="Read"))),
    ),
    (
        "test_filters_hold[active by default]",
        in_memory(
            search=lambda me, sound, query, filters: sound(
                query, evolve(filters, statuses=frozenset(LearningStatus))
            )
        ),
    ),
    (
        "test_limit_holds",
        in_memory(
            search=lambda me, sound, query, filters: sound(query, evolve(filters, limit=None))
        ),
    ),
    ("test_notes_of_others_are_partial", in_memory(search=shows_a_stranger)),
    ("test_get_fetches_one_of_any_status", in_memory(get=fetches_active_ones_only)),
    ("test_iterate_lists_each_once_oldest_first", in_memory(iterate=lambda me, sound: me._all())),
    # Changing and taking out.
    (
        "test_status_changes_and_changes_back[archived]",
        in_memory(
            set_status=lambda me, sound, learning_id, status, note="": evolve(
                me.get(learning_id), status=status
            )
        ),
    ),
    ("test_nothing_else_changes[no note]", in_memory(set_status=changes_neighbours)),
    ("test_unknown_id_is_refused", in_memory(set_status=archives_what_is_not_there)),
    # Telling what is new.
    ("test_news_is_told_and_nothing_else", in_memory(changes=lambda me, sound, mark: sound(""))),
    ("test_answers_add_up", ForgetsStatusChanges),
    # Files.
    ("test_files_show_every_change", but(NamesFiles, files=lambda me, sound: [Path(__file__)])),
    ("test_asking_leaves_nothing_behind", in_file(search=makes_a_folder)),
    # A server.
    ("test_what_is_written_is_delivered_once_or_waits", with_server(write=says_that_it_is_there)),
    ("test_synchronising_loses_nothing", with_server(synchronise=keeps_nothing_here)),
]
