"""Searches of a real database: words in any form, filters, files, tickets, and meaning."""

import pytest

from grove_backend_postgres.store import vectors_of
from grove_core import BackendError, Filters, Query
from grove_core.testing.samples import NONSENSE, SUBJECTS, example_learning

JAPANESE = example_learning(
    20, summary="日本語のまとめは短く書く", detail="長い文章は読まれない。要点だけを残すこと。", tags=("文書",),
    context_files=(), ticket_id=None,
)  # fmt: skip
NAMED = example_learning(
    21, summary="UserDashboard#index asks once a row", detail="Preload `line_items` in OrderQuery.",
    tags=("n-plus-one",), context_files=("app/models/order_query.rb",), ticket_id="#12",
)  # fmt: skip


@pytest.fixture
def store(database, open_store):
    one = open_store(database)
    one.add([*SUBJECTS.values(), JAPANESE, NAMED])
    return one


def best(store, **query):
    hits = store.search(Query(**query), Filters())
    return (hits[0].learning.id, hits[0].relevance) if hits else None


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ({"text": "kerosene migrations"}, SUBJECTS["text"]),
        ({"text": "migrating invoices"}, SUBJECTS["text"]),
        ({"text": "Why does the broker hang?"}, SUBJECTS["files"]),
        ({"text": "user dashboard"}, NAMED),
        ({"text": "UserDashboard"}, NAMED),
        ({"text": "line items"}, NAMED),
        ({"text": "日本語"}, JAPANESE),
        ({"text": "文章"}, JAPANESE),
        ({"text": "n-plus-one"}, NAMED),
        ({"ticket_title": "Expired vouchers"}, SUBJECTS["ticket_id"]),
        ({"ticket_description": "Customers see vouchers expire too early"}, SUBJECTS["ticket_id"]),
        ({"error_signature": "HeartbeatError: broker restarted"}, SUBJECTS["files"]),
        ({"tags": ("telescope",)}, SUBJECTS["tags"]),
        ({"files": ("workers/heartbeat.py",)}, SUBJECTS["files"]),
        ({"files": ("/home/x/shop/workers/heartbeat.py",)}, SUBJECTS["files"]),
        ({"ticket_id": "SHOP-42"}, SUBJECTS["ticket_id"]),
    ],
    ids=str,
)
def test_what_is_meant_is_found_first(store, query, wanted):
    found, relevance = best(store, **query)
    assert found == wanted.id
    assert 0 < relevance <= 1


def test_reasons_say_why(store):
    query = Query(text="kerosene", files=("db/upgrade.sql",), ticket_id="SHOP-11")
    (hit,) = store.search(query, Filters())
    assert hit.reasons == ("file db/upgrade.sql", "words kerosene", "ticket SHOP-11")
    (hit,) = store.search(Query(text="migrating"), Filters())
    assert hit.reasons == ("other forms of its words",)


class Meaning:
    """Vectors of three numbers: how much a text is about fire, water and paper."""

    SUBJECTS = (("kerosene", "fire", "flames"), ("water", "rain"), ("voucher", "coupon", "paper"))

    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked.append(len(texts))
        return [
            [0.05 + sum(word in text.lower() for word in words) for words in self.SUBJECTS]
            for text in texts
        ]


@pytest.fixture
def with_vectors(database):
    if not database.ask("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"):
        pytest.skip("no pgvector beside this server")
    database.ask("CREATE EXTENSION vector")
    return database


def test_what_is_meant_is_found_without_its_words(with_vectors, open_store):
    meaning = Meaning()
    store = open_store(with_vectors, embed=meaning, model="subjects")
    store.add(SUBJECTS.values())
    assert best(store, text="flames") is None
    assert store.embed_missing(3) == 3
    assert store.embed_missing() == 1
    assert store.embed_missing() == 0
    assert meaning.asked[-2:] == [3, 1]
    (hit, *_) = store.search(Query(text="flames"), Filters())
    assert hit.learning == SUBJECTS["text"]
    assert hit.relevance > 0.9
    assert "meaning" in hit.reasons[-1]
    assert best(store, text="coupon")[0] == SUBJECTS["ticket_id"].id
    assert store.about().with_vectors == 4


def failing(_):
    raise RuntimeError("no model here")


@pytest.mark.parametrize(
    "embed",
    [failing, lambda texts: [], lambda texts: [[]] * len(texts), lambda texts: [["x"]] * len(texts),
     lambda texts: [[float("nan")]] * len(texts), lambda texts: None],
)  # fmt: skip
def test_a_function_that_fails_costs_meaning_only(with_vectors, open_store, embed):
    store = open_store(with_vectors, embed=embed, model="bad")
    store.add(SUBJECTS.values())
    assert best(store, text="kerosene")[0] == SUBJECTS["text"].id
    with pytest.raises(BackendError, match="function that makes vectors"):
        store.embed_missing()
    with pytest.raises(BackendError):
        vectors_of(embed, ["a", "b"])


def test_what_is_not_there_is_not_found(store):
    hostile = ("the of and", "' \" \\ & | ! ( ) :* <-> %s", "\0\ud800")
    for text in (NONSENSE, *hostile):
        assert best(store, text=text) is None
    for query in ({"tags": ("tele",)}, {"files": ("heartbeat",)}, {"ticket_id": "SHOP-42'; --"}):
        assert best(store, **query) is None
