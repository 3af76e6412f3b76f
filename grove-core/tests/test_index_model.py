"""The index against a model of it: whatever was put in and taken out, it holds and finds the same."""

import sqlite3
import tempfile
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from core_worlds import NOW, a_learning
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from grove_core.model.learning import Category, LearningStatus
from grove_core.model.memory import Query
from grove_core.retrieval import update as indexing
from grove_core.retrieval.index import LearningIndex
from grove_core.retrieval.ranking import Corpus, relevances
from grove_core.retrieval.terms import entry_of, terms_of, text_of
from grove_core.storage.cache import Cache

SOURCES = ("project markdown", "personal markdown", "project größe")
WORDS = ("redis", "retry", "Export", "readFile", "read_file", "naïve", "Größe", "日本語", "x" * 300)
FILES = ("src/a.py", "src/b.py", "docs/ä.md", "lib/\udcff.rb", "a.py")


@st.composite
def learnings(draw):
    some_words = st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)
    return a_learning(
        f"cl_{draw(st.integers(0, 8))}",
        category=draw(st.sampled_from(Category)),
        summary=draw(some_words),
        detail=draw(some_words),
        timestamp=NOW - timedelta(days=draw(st.integers(0, 5))),
        tags=tuple(draw(st.lists(st.sampled_from(("db", "Web", 'it"s')), max_size=2))),
        context_files=tuple(draw(st.lists(st.sampled_from(FILES), max_size=2))),
        status=draw(st.sampled_from(LearningStatus)),
    )


QUERIES = (
    terms_of(Query(text="redis readFile größe")),
    terms_of(Query(ticket_title="Retry the EXPORT", tags=("db", 'it"s'), files=FILES[:2])),
    terms_of(Query(text='日本語 "naïve" NEAR(x) AND -OR*', files=FILES[3:])),
    terms_of(Query(text="nobody wrote this")),
)


def put_away(entries):
    """Ids that one of several sources has put away: the others' copies are not shown either."""
    return {one.id for one in entries if one.status != "active"}


def judged(query, entries, *, all_statuses):
    """Relevance by id, of all that have a term in common with a query."""
    texts = [text_of(one) for one in entries]
    terms = [set(" ".join(text).split()) for text in texts]
    every = range(len(entries))
    own = [at for at in every if entries[at].status == "active" and not entries[at].personal]
    counted = own or every
    corpus = Corpus(
        len(counted),
        tuple(
            sum(len(texts[at][field].split()) for at in counted) / max(1, len(counted))
            for field in range(5)
        ),
        lambda wanted: {one: sum(one in terms[at] for at in counted) for one in wanted},
    )
    gone = put_away(entries)
    fitting = [
        place
        for place, one in enumerate(entries)
        if terms[place] & query.all_terms().keys()
        and (one.id not in gone or (all_statuses and one.status != "active"))
    ]
    candidates = [texts[place] for place in fitting]
    best = {}
    for place, one in zip(fitting, relevances(query, candidates, corpus), strict=True):
        name = entries[place].id
        best[name] = max(one.value, best.get(name, 0.0))
    return best


class IndexMachine(RuleBasedStateMachine):
    """Sources whose learnings change, and what is left of each update in a dictionary."""

    @initialize(at_once=st.sampled_from([1, 2, 100]))
    def begin(self, at_once):
        self.folder = tempfile.TemporaryDirectory()
        self.path = str(Path(self.folder.name) / "cache.sqlite")
        self.usual, indexing._AT_ONCE = indexing._AT_ONCE, at_once
        self.index = LearningIndex(Cache(self.path))
        # In the order in which they came, like the index's own numbers of them.
        self.model = {}
        self.marks = 0

    def teardown(self):
        if hasattr(self, "index"):
            self.index.cache.close()
            indexing._AT_ONCE = self.usual
            self.folder.cleanup()

    def put(self, source, given, *, whole):
        self.marks += 1
        mark = f"mark {self.marks} \udc80"
        entries = [entry_of(one, backend=source, personal="personal" in source) for one in given]
        assert self.index.put(source, entries, mark, whole=whole)
        assert self.index.progress(source).mark == mark
        own = {} if whole else self.model.get(source, {})
        self.model[source] = {**own, **{one.id: one for one in entries}}

    @rule(source=st.sampled_from(SOURCES), given=st.lists(learnings(), max_size=6))
    def put_some(self, source, given):
        self.put(source, given, whole=False)

    @rule(source=st.sampled_from(SOURCES), given=st.lists(learnings(), max_size=6))
    def put_all(self, source, given):
        self.put(source, given, whole=True)

    @rule(sources=st.sets(st.sampled_from(SOURCES)))
    def forget(self, sources):
        assert self.index.forget_others(sources)
        self.model = {source: own for source, own in self.model.items() if source in sources}

    @rule()
    def open_again(self):
        self.index.cache.close()
        self.index = LearningIndex(Cache(self.path))

    @invariant()
    def holds_the_same(self):
        everything = self.everything()
        assert len(self.index) == len(everything)
        first = self.first_of_each()
        assert {one.id: one for one in self.index.entries()} == first
        assert {name: self.index.get(name) for name in first} == first
        assert self.index.get("cl_nowhere") is None

    @invariant()
    def lists_the_newest(self):
        active = {}
        gone = put_away(self.everything())
        for own in self.model.values():
            for one in own.values():
                if one.status == "active" and one.id not in gone:
                    active[one.id] = max(one.created, active.get(one.id, 0))
        expected = sorted(active.values(), reverse=True)
        for most in (3, 100):
            found = self.index.newest(most)
            assert [active[one.id] for one in found] == expected[:most]
            assert len({one.id for one in found}) == len(found)

    @invariant()
    def finds_what_judging_all_of_them_finds(self):
        everything = self.everything()
        for query in QUERIES:
            for all_statuses in (False, True):
                found = self.index.find(query, all_statuses=all_statuses)
                relevance = {one.entry.id: pytest.approx(one.relevance.value) for one in found}
                assert len(relevance) == len(found)
                assert relevance == judged(query, everything, all_statuses=all_statuses)

    def sources(self):
        """In the order in which they were first put in."""
        with closing(sqlite3.connect(self.path)) as connection:
            rows = connection.execute("SELECT name FROM source ORDER BY source").fetchall()
        stored = {source.encode("utf-8", "replace").decode(): source for source in SOURCES}
        return [stored[name] for (name,) in rows if stored[name] in self.model]

    def first_of_each(self):
        """By id what the first source has, or the first that has put it away."""
        found = {}
        for source in reversed(self.sources()):
            found.update(self.model[source])
        for source in reversed(self.sources()):
            found.update(
                {k: one for k, one in self.model[source].items() if one.status != "active"}
            )
        return found

    def everything(self):
        return [one for own in self.model.values() for one in own.values()]


TestIndexMachine = IndexMachine.TestCase
TestIndexMachine.settings = settings(max_examples=10, stateful_step_count=10, deadline=None)
