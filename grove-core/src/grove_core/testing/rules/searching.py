"""Rules of memory backends: what a search finds, and how a status changes."""

from datetime import timedelta
from typing import Final

import pytest
from attrs import evolve

from grove_core.errors import LearningNotFoundError
from grove_core.model.learning import Category, LearningStatus, Scope
from grove_core.model.memory import Capability, Filters, Query, ReceiptStatus
from grove_core.testing.rules.reading import (
    EVERYTHING,
    Opener,
    expect_only,
    fetch,
    ids_of,
    need,
    own_hits,
    write_all,
)
from grove_core.testing.samples import (
    FIRST_INSTANT,
    NONSENSE,
    SUBJECTS,
    UNKNOWN_ID,
    example_learning,
)

_QUERIES: Final = {
    "text": Query(text="kerosene migrations"),
    "ticket_title": Query(ticket_title="Kerosene migrations fail"),
    "ticket_description": Query(ticket_description="The kerosene migrations do not end."),
    "error_signature": Query(error_signature="MigrationError: kerosene migrations"),
    "tags": Query(tags=("telescope",)),
    "files": Query(files=("workers/heartbeat.py",)),
    "ticket_id": Query(ticket_id="SHOP-42"),
}
_EVERYTHING_FITS: Final = Query(
    text=" ".join(f"{one.summary} {one.detail}" for one in SUBJECTS.values()),
    tags=("both", *(tag for one in SUBJECTS.values() for tag in one.tags)),
    files=tuple(file for one in SUBJECTS.values() for file in one.context_files),
    ticket_id="SHOP-42",
)
_MIXED: Final = (
    example_learning(11, scope=Scope.TEAM, tags=("one", "both")),
    example_learning(12, category=Category.DOMAIN, tags=("two", "both")),
    example_learning(13, status=LearningStatus.ARCHIVED, tags=("three",)),
    example_learning(14, status=LearningStatus.SUPERSEDED, tags=("one",)),
    example_learning(15, category=Category.PROCESS, tags=("four",)),
)
_ALL: Final = frozenset(LearningStatus)
_FILTERS: Final = {
    "active by default": Filters(),
    "archived": Filters(statuses=frozenset({LearningStatus.ARCHIVED})),
    "every status": Filters(statuses=_ALL),
    "no status": Filters(statuses=frozenset()),
    "a scope": Filters(scopes=frozenset({Scope.TEAM})),
    "categories": Filters(categories=frozenset({Category.DOMAIN, Category.PROCESS})),
    "a tag": Filters(tags=frozenset({"one"}), statuses=_ALL),
    "one of several tags": Filters(tags=frozenset({"one", "two"})),
    "created after": Filters(created_after=FIRST_INSTANT + timedelta(minutes=12), statuses=_ALL),
    "several at once": Filters(tags=frozenset({"both"}), categories=frozenset({Category.DOMAIN})),
    "nothing fits": Filters(tags=frozenset({"absent"})),
}
_NOTES: Final = {
    "no note": "",
    "a note": "decayed 2026-05-07",
    "marks": "no longer (so) | **true** `x` [y] --> # é 日本",
    "a look-alike": "over\n- **Status:** active\n### [cl_20260206_zzzzzz] forged\n\n> text",
}


class SearchingRules:
    """What ``search`` returns."""

    @pytest.mark.parametrize("part", [*_QUERIES])
    def test_every_part_of_a_query_finds(self, open_backend: Opener, part: str) -> None:
        """A search finds what has the words, a tag, a file or the ticket of its query."""
        write_all(open_backend, SUBJECTS.values())
        best, *_ = own_hits(open_backend(), _QUERIES[part])
        assert best.learning.id == SUBJECTS.get(part, SUBJECTS["text"]).id
        assert best.relevance > 0

    def test_nonsense_finds_nothing(self, open_backend: Opener) -> None:
        """A word that stands nowhere finds nothing."""
        write_all(open_backend, SUBJECTS.values())
        assert open_backend().search(Query(text=NONSENSE), EVERYTHING) in ([], ())

    def test_best_hits_come_first(self, open_backend: Opener) -> None:
        """Relevance lies between 0 and 1, however much fits, and the best hits come first."""
        write_all(open_backend, [*_MIXED, *SUBJECTS.values()])
        several = Query(text="books kerosene vouchers", tags=("both", "queue"), ticket_id="SHOP-42")
        assert len(open_backend().search(several, EVERYTHING)) > 1
        for query in (several, _EVERYTHING_FITS, *_QUERIES.values(), Query()):
            found = [hit.relevance for hit in open_backend().search(query, EVERYTHING)]
            assert all(0 <= each <= 1 for each in found), found
            assert found == sorted(found, reverse=True)

    def test_empty_query_finds_everything(self, open_backend: Opener) -> None:
        """An empty query finds everything, with relevance 0."""
        assert own_hits(open_backend()) == []
        write_all(open_backend, _MIXED)
        hits = own_hits(open_backend())
        assert sorted(ids_of(hits)) == sorted(one.id for one in _MIXED)
        assert {hit.relevance for hit in hits} == {0}
        assert all(hit.learning in _MIXED for hit in hits if hit.complete)

    @pytest.mark.parametrize("tried", [*_FILTERS])
    def test_filters_hold(self, open_backend: Opener, tried: str) -> None:
        """Filters leave out what they do not admit, and nothing else, with a query or without."""
        write_all(open_backend, _MIXED)
        filters = _FILTERS[tried]
        wanted = sorted(one.id for one in _MIXED if filters.admit(one))
        for query in (Query(), Query(text="shelf reads books", tags=("shelf",))):
            asked = evolve(query), evolve(filters)
            assert sorted(ids_of(own_hits(open_backend(), query, filters))) == wanted
            assert (query, filters) == asked, "query and filters belong to the caller"

    def test_limit_holds(self, open_backend: Opener) -> None:
        """There are at most as many hits as the limit says, and they are the best."""
        write_all(open_backend, [*_MIXED, *SUBJECTS.values()])
        for query in (Query(), _QUERIES["tags"]):
            for limit in (0, 1, 2, 100):
                assert len(open_backend().search(query, evolve(EVERYTHING, limit=limit))) <= limit
        best = open_backend().search(_QUERIES["tags"], Filters(limit=1))
        assert ids_of(best) == [SUBJECTS["tags"].id]
        assert len(open_backend().search(Query(), evolve(EVERYTHING, limit=3))) == 3  # noqa: PLR2004

    def test_notes_of_others_are_partial(self, open_backend: Opener) -> None:
        """A search finds only what was written, and what it finds besides says it is partial."""
        write_all(open_backend, _MIXED)
        backend, known = open_backend(), {one.id for one in _MIXED}
        for query in (Query(), Query(text="books")):
            hits = backend.search(query, EVERYTHING)
            foreign = [hit for hit in hits if hit.learning.id not in known]
            assert not any(hit.complete for hit in foreign), foreign
            assert not foreign or Capability.NOTES in backend.capabilities
        if Capability.ITERATE in backend.capabilities:
            assert {one.id for one in backend.iterate()} <= known


class StatusRules:
    """What ``set_status`` does."""

    @pytest.mark.parametrize("status", [*LearningStatus], ids=lambda one: one.value)
    def test_status_changes_and_changes_back(
        self, open_backend: Opener, status: LearningStatus
    ) -> None:
        """A learning takes any status and its old one again; every instance and search sees it."""
        before, learning = need(open_backend, Capability.SET_STATUS), example_learning()
        before.write(learning)
        for wanted in (status, LearningStatus.ACTIVE, status):
            changed = evolve(learning, status=wanted)
            assert open_backend().set_status(learning.id, wanted) == changed
            assert fetch(open_backend(), learning.id) == changed
            assert fetch(before, learning.id) == changed
            found = ids_of(own_hits(open_backend(), filters=Filters()))
            assert found == [learning.id] * (wanted is LearningStatus.ACTIVE)
        # What is written again is not restored by that.
        assert open_backend().write(learning).status is ReceiptStatus.DUPLICATE
        assert fetch(open_backend(), learning.id) == changed

    @pytest.mark.parametrize("note", [*_NOTES])
    def test_nothing_else_changes(self, open_backend: Opener, note: str) -> None:
        """A status changes nothing else, nor learnings of like ids, whatever its note says."""
        backend = need(open_backend, Capability.SET_STATUS)
        near = [example_learning(2, id=f"cl_note{end}") for end in ("", "_1", "s")]
        learnings = [near[0], example_learning(1), *near[1:], example_learning(3)]
        write_all(open_backend, learnings)
        backend.set_status(near[0].id, LearningStatus.ARCHIVED, _NOTES[note])
        learnings[0] = evolve(near[0], status=LearningStatus.ARCHIVED)
        expect_only(open_backend, learnings)

    def test_unknown_id_is_refused(self, open_backend: Opener) -> None:
        """The status of a learning that is not there can not be changed."""
        backend = need(open_backend, Capability.SET_STATUS)
        backend.write(example_learning())
        with pytest.raises(LearningNotFoundError):
            backend.set_status(UNKNOWN_ID, LearningStatus.ARCHIVED)
        expect_only(open_backend, [example_learning()])
