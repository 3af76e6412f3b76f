"""How well learnings fit: absolute, monotone, and independent of order."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.model.memory import Query
from grove_core.retrieval.ranking import FLOOR, Corpus, relevances
from grove_core.retrieval.terms import indexed_text, terms_of

SUBJECTS = (
    "billing invoice rounding", "login session cookie", "search index shard", "mail queue retry",
    "image thumbnail resize", "export csv encoding", "websocket reconnect backoff",
    "migration column default", "calendar timezone daylight", "upload multipart chunk",
)  # fmt: skip


def learning(summary, detail="", *, tags=(), files=(), category="pitfall", ticket_id=""):
    return indexed_text(
        {
            "summary": summary,
            "detail": detail or f"We saw that {summary} behaves in a way nobody had expected.",
            "category": category,
            "tags": tags,
            "context_files": files,
            "ticket_id": ticket_id,
        }
    )


def project(size=60):
    """Learnings of one project, each about a matter of its own in one of its parts."""
    texts = []
    for number in range(size):
        subject = SUBJECTS[number % len(SUBJECTS)]
        part = subject.split()[0]
        texts.append(
            learning(
                f"{subject} number {number} of {part}Handler{number}",
                files=[f"src/{part}/unit{number}/handler.py"],
            )
        )
    return texts


def corpus_of(texts):
    frequencies = Counter(term for text in texts for term in set(" ".join(text).split()))
    means = tuple(
        sum(len(text[at].split()) for text in texts) / max(1, len(texts)) for at in range(5)
    )
    return Corpus(len(texts), means, lambda terms: {term: frequencies[term] for term in terms})


def scored(query, texts, corpus=None):
    return relevances(query, texts, corpus or corpus_of(texts))


def values(query, texts, corpus=None):
    return [one.value for one in scored(query, texts, corpus)]


def test_a_strangers_matter_stays_below_the_floor():
    stranger = terms_of(
        Query(
            ticket_title="Borrow checker rejects the parser's lifetime in parse_macro_rules",
            ticket_description="The macro expander of rustDriver holds a token stream beyond the "
            "arena. The same default number behaves as expected in way of nobody.",
            files=["compiler/expand/src/mbe/macro_rules.rs"],
        )
    )
    chatter = terms_of(Query(text="please go on and show me what you expected there"))
    for query in (stranger, chatter, terms_of(Query())):
        assert max(values(query, project())) < FLOOR
    assert relevances(stranger, [], corpus_of([])) == []


def test_exact_file_beats_directory_beats_nothing():
    query = terms_of(Query(ticket_title="Tidy up the handler", files=["src/mail/queue/send.py"]))
    texts = [
        learning("handler one", files=["src/mail/queue/send.py"]),
        learning("handler two", files=["src/mail/queue/read.py"]),
        learning("handler three", files=["lib/other/thing/else.py"]),
    ]
    same_file, same_directory, elsewhere = values(query, texts, corpus_of([*texts, *project()]))
    assert same_file > same_directory > elsewhere


def test_a_rare_file_says_more_than_one_that_everything_names():
    query = terms_of(Query(ticket_title="handler", files=["a/b/rare.py", "a/b/common.py"]))
    rare = learning("handler one", files=["a/b/rare.py"])
    common = [learning(f"handler {number}", files=["a/b/common.py"]) for number in range(30)]
    found = values(query, [rare, *common])
    assert found[0] > max(found[1:])


@pytest.mark.parametrize(
    ("asked", "stored"),
    [
        ({"tags": ["Payments"]}, {"tags": ["payments"]}),
        ({"ticket_id": "ABC-7"}, {"ticket_id": "abc-7"}),
        ({"error_signature": "ValueError: E1234"}, {"detail": "it raised ValueError E1234"}),
        ({"text": "read_config"}, {"detail": "call readConfig early"}),
    ],
)
def test_what_is_matched_as_a_whole_is_worth_more_than_nothing(asked, stored):
    query = terms_of(Query(ticket_title="Look after the queue", **asked))
    texts = [learning("about the queue", **stored), learning("about the queue")]
    matched, other = values(query, texts, corpus_of([*texts, *project()]))
    assert matched > other


def test_a_known_part_of_the_project_counts_for_and_an_unknown_one_against():
    texts = project()
    known, unknown = (
        max(values(terms_of(Query(ticket_title="Invoice rounding", files=[file])), texts))
        for file in ("src/billing/unit1/new.py", "crates/solver/core/lib.rs")
    )
    unsaid = max(values(terms_of(Query(ticket_title="Invoice rounding")), texts))
    assert known > unsaid > unknown


def test_a_match_in_the_summary_is_worth_more_than_in_the_detail():
    query = terms_of(Query(ticket_title="thumbnail cache"))
    texts = [
        learning("the thumbnail cache", "some thing that nobody had seen before"),
        learning("some thing that nobody", "the thumbnail cache had seen before"),
    ]
    first, second = values(query, texts, corpus_of([*texts, *project()]))
    assert first > second


TEXT = st.lists(
    st.sampled_from("cache index queue mail retry readFile os.path E12 src the of ü 数据".split()),
    max_size=12,
).map(" ".join)
LEARNINGS = st.lists(
    st.builds(
        learning, TEXT, TEXT, tags=st.lists(TEXT, max_size=2), files=st.lists(TEXT, max_size=2)
    ),
    min_size=1,
    max_size=6,
)
QUERIES = st.builds(
    lambda text, title, files: terms_of(Query(text=text, ticket_title=title, files=files)),
    TEXT,
    TEXT,
    st.lists(TEXT, max_size=2),
)


@settings(max_examples=30)
@given(QUERIES, LEARNINGS, st.randoms())
def test_neither_order_nor_company_among_the_candidates_matters(query, texts, chance):
    corpus = corpus_of(texts)
    order = list(range(len(texts)))
    chance.shuffle(order)
    together = values(query, texts, corpus)
    shuffled = values(query, [texts[at] for at in order], corpus)
    assert shuffled == [together[at] for at in order]
    assert together == [values(query, [text], corpus)[0] for text in texts]


@settings(max_examples=30)
@given(QUERIES, LEARNINGS)
def test_without_any_term_in_common_there_is_no_relevance(query, texts):
    asked = set(query.all_terms())
    for text, one in zip(texts, scored(query, texts), strict=True):
        held = {term for field in text for term in field.split()}
        assert bool(one.value) <= bool(asked & held)
