"""Searching: what is found, in which order, and what filters leave out."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

import pytest
from attrs import evolve

from grove_core.model.learning import Category, LearningStatus, Scope
from grove_core.model.memory import Capability, Filters, Hit, Query
from grove_core.plugins.descriptors import MemoryBackend
from grove_core.testing.rules.reading_back import EVERYTHING, Opener, own_hits, write_all
from grove_core.testing.samples import FIRST_INSTANT, NONSENSE, SUBJECTS, example_learning
from grove_core.testing.verdict import expect, require, rule

_SEARCH: Final = "grove_core.MemoryBackend.search"
_HIT: Final = "grove_core.Hit"
_FILTERS: Final = "grove_core.Filters"

_QUERIES: Final = {
    "text": Query(text="kerosene migrations"),
    "ticket_title": Query(ticket_title="Kerosene migrations fail"),
    "ticket_description": Query(ticket_description="The kerosene migrations do not end."),
    "error_signature": Query(error_signature="MigrationError: kerosene migrations"),
    "tags": Query(tags=("telescope",)),
    "files": Query(files=("workers/heartbeat.py",)),
    "ticket_id": Query(ticket_id="SHOP-42"),
}
_MIXED: Final = (
    example_learning(11, scope=Scope.TEAM, tags=("one", "both")),
    example_learning(12, category=Category.DOMAIN, tags=("two", "both")),
    example_learning(13, status=LearningStatus.ARCHIVED, tags=("three",)),
    example_learning(14, status=LearningStatus.SUPERSEDED, tags=("one",)),
    example_learning(15, category=Category.PROCESS, tags=("four",)),
)
_ALL: Final = frozenset(LearningStatus)
_TRIED: Final = {
    "active by default": Filters(),
    "archived": Filters(statuses=frozenset({LearningStatus.ARCHIVED})),
    "superseded": Filters(statuses=frozenset({LearningStatus.SUPERSEDED})),
    "every status": Filters(statuses=_ALL),
    "no status": Filters(statuses=frozenset()),
    "a scope": Filters(scopes=frozenset({Scope.TEAM})),
    "a category": Filters(categories=frozenset({Category.DOMAIN})),
    "categories": Filters(categories=frozenset({Category.DOMAIN, Category.PROCESS})),
    "a tag": Filters(tags=frozenset({"one"}), statuses=_ALL),
    "one of several tags": Filters(tags=frozenset({"one", "two"})),
    "created after": Filters(created_after=FIRST_INSTANT + timedelta(minutes=12), statuses=_ALL),
    "several at once": Filters(tags=frozenset({"both"}), categories=frozenset({Category.DOMAIN})),
    "nothing fits": Filters(tags=frozenset({"absent"})),
}


class SearchingRules:
    """What ``search`` returns."""

    @pytest.mark.parametrize("part", [*_QUERIES])
    @rule("grove_core.Query")
    def test_every_part_of_a_query_finds(self, open_backend: Opener, part: str) -> None:
        """A search finds what has the words, a tag, a file or the ticket of its query."""
        write_all(open_backend(), [*SUBJECTS.values()])
        wanted = SUBJECTS.get(part, SUBJECTS["text"])
        hits = _own(open_backend(), _QUERIES[part])
        expect(_ids(hits)[:1], [wanted.id], f"the best hit of a query with {part}")
        require(hits[0].relevance > 0, expected="relevance above 0", found=hits[0].relevance)

    @rule(_SEARCH)
    def test_nonsense_finds_nothing(self, open_backend: Opener) -> None:
        """A word that stands nowhere finds nothing."""
        write_all(open_backend(), [*SUBJECTS.values()])
        expect(_ids(open_backend().search(Query(text=NONSENSE), EVERYTHING)), [], "the hits")

    @rule(_HIT)
    def test_relevance_lies_between_0_and_1(self, open_backend: Opener) -> None:
        """Relevance lies between 0 and 1, however much fits."""
        write_all(open_backend(), [*SUBJECTS.values(), *_MIXED])
        everything_fits = Query(
            text=" ".join(f"{one.summary} {one.detail}" for one in SUBJECTS.values()),
            tags=tuple(tag for one in SUBJECTS.values() for tag in one.tags),
            files=tuple(file for one in SUBJECTS.values() for file in one.context_files),
            ticket_id="SHOP-42",
        )
        for query in (everything_fits, *_QUERIES.values(), Query()):
            for hit in open_backend().search(query, EVERYTHING):
                sound = isinstance(hit.relevance, int | float) and 0 <= hit.relevance <= 1
                require(sound, expected="relevance from 0 to 1", found=hit.relevance)

    @rule(_SEARCH)
    def test_best_hits_come_first(self, open_backend: Opener) -> None:
        """Hits come in the order of their relevance, the best first."""
        write_all(open_backend(), [*_MIXED, *SUBJECTS.values()])
        query = Query(text="books kerosene vouchers", tags=("both", "queue"), ticket_id="SHOP-42")
        found = [hit.relevance for hit in open_backend().search(query, EVERYTHING)]
        expect(found, sorted(found, reverse=True), "their relevance")
        require(len(found) > 1, expected="several hits", found=found)

    @rule(_SEARCH)
    def test_empty_query_finds_everything(self, open_backend: Opener) -> None:
        """An empty query finds everything, with relevance 0."""
        expect(_ids(_own(open_backend(), Query())), [], "the hits in an empty store")
        write_all(open_backend(), _MIXED)
        hits = _own(open_backend(), Query())
        expect(sorted(_ids(hits)), sorted(one.id for one in _MIXED), "the ids that are found")
        expect({hit.relevance for hit in hits}, {0}, "their relevance")

    @rule(_HIT)
    def test_hits_hold_what_was_written(self, open_backend: Opener) -> None:
        """A hit that says it is complete holds the learning as it was written."""
        write_all(open_backend(), _MIXED)
        written = {one.id: one for one in _MIXED}
        for query in (Query(), Query(text="books"), Query(tags=("both", "three"))):
            for hit in own_hits(open_backend(), open_backend().search(query, EVERYTHING)):
                require(isinstance(hit, Hit), expected="a Hit", found=hit)
                texts = _reasons_are_texts(hit)
                require(texts, expected="reasons in a tuple of texts", found=hit.reasons)
                if hit.complete:
                    expect(hit.learning, written.get(hit.learning.id), "the learning of the hit")

    @pytest.mark.parametrize("tried", [*_TRIED])
    @rule(_FILTERS)
    def test_filters_hold(self, open_backend: Opener, tried: str) -> None:
        """Filters leave out what they do not admit, and nothing else, with a query or without."""
        write_all(open_backend(), _MIXED)
        filters = _TRIED[tried]
        wanted = sorted(one.id for one in _MIXED if filters.admit(one))
        for query in (Query(), Query(text="shelf reads books")):
            hits = own_hits(open_backend(), open_backend().search(query, filters))
            expect(sorted(_ids(hits)), wanted, f"the hits with {filters!r}")

    @rule(_FILTERS)
    def test_limit_holds(self, open_backend: Opener) -> None:
        """There are at most as many hits as the limit says, and they are the best."""
        write_all(open_backend(), [*_MIXED, *SUBJECTS.values()])
        for query in (Query(), _QUERIES["tags"]):
            for limit in (0, 1, 2, 100):
                hits = open_backend().search(query, evolve(EVERYTHING, limit=limit))
                require(len(hits) <= limit, expected=f"at most {limit} hits", found=_ids(hits))
        hits = open_backend().search(_QUERIES["tags"], Filters(limit=1))
        expect(_ids(hits), [SUBJECTS["tags"].id], "the one hit")
        hits = open_backend().search(Query(), evolve(EVERYTHING, limit=3))
        expect(len(hits), 3, "the number of hits with a limit of 3 where there are more")

    @rule(_SEARCH)
    def test_what_is_asked_stays_as_it_is(self, open_backend: Opener) -> None:
        """Query and filters belong to the caller and are not changed."""
        open_backend().write(example_learning())
        for limit in (None, 2):
            query, filters = Query(text="books", tags=("shelf",)), Filters(limit=limit)
            open_backend().search(query, filters)
            expect(query, Query(text="books", tags=("shelf",)), "the query afterwards")
            expect(filters, Filters(limit=limit), "the filters afterwards")

    @rule("grove_core.Capability")
    def test_notes_of_others_are_partial(self, open_backend: Opener) -> None:
        """A search finds only what was written, and what it finds besides says it is partial."""
        write_all(open_backend(), _MIXED)
        backend = open_backend()
        known = {one.id for one in _MIXED}
        foreign = [
            hit
            for query in (Query(), Query(text="books"))
            for hit in backend.search(query, EVERYTHING)
            if hit.learning.id not in known
        ]
        expect([hit for hit in foreign if hit.complete], [], "foreign hits that say complete")
        if Capability.NOTES not in backend.capabilities:
            expect(foreign, [], "foreign hits without the capability notes")
        if Capability.ITERATE in backend.capabilities:
            others = [one.id for one in backend.iterate() if one.id not in known]
            expect(others, [], "foreign notes that iterate lists")

    @rule(_SEARCH)
    def test_what_is_returned_belongs_to_the_caller(self, open_backend: Opener) -> None:
        """Whatever a caller does with a list that it was given, the store stays as it is."""
        write_all(open_backend(), _MIXED)
        backend = open_backend()
        _spoil(backend.search(Query(), EVERYTHING))
        if Capability.ITERATE in backend.capabilities:
            _spoil(backend.iterate())
        for one in (backend, open_backend()):
            found = sorted(_ids(_own(one, Query())))
            expect(found, sorted(each.id for each in _MIXED), "the ids that are found afterwards")


def _own(backend: MemoryBackend, query: Query) -> list[Hit]:
    return own_hits(backend, backend.search(query, EVERYTHING))


def _ids(hits: Sequence[Hit]) -> list[str]:
    return [hit.learning.id for hit in hits]


def _reasons_are_texts(hit: Hit) -> bool:
    return isinstance(hit.reasons, tuple) and all(isinstance(one, str) for one in hit.reasons)


def _spoil(answer: object) -> None:
    if isinstance(answer, list):
        answer.clear()
