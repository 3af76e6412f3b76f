"""The record of what the user has agreed to."""

import string
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.storage.trust import TrustRequest, TrustStore

NOW = datetime(2030, 1, 2, 3, 4, 5, tzinfo=UTC)
texts = st.text(st.sampled_from("ab1:\n\0é\ud800") | st.characters(), max_size=6)
requests = st.builds(TrustRequest, subject=texts, source=texts, content=texts)


def request(content="npx server", subject="server", source=".mcp.json"):
    return TrustRequest(subject=subject, source=source, content=content)


@pytest.fixture
def store(tmp_path):
    return TrustStore(tmp_path / "home" / "trust.json")


@settings(max_examples=50)
@given(requests, requests)
def test_a_digest_belongs_to_one_request(one, other):
    assert (one.digest == other.digest) == (one == other)
    assert len(one.digest) == 64
    assert set(one.digest) <= set(string.hexdigits.lower())


@settings(max_examples=20)
@given(asked=st.lists(requests, max_size=4))
def test_what_is_agreed_to_is_read_back(tmp_path_factory, asked):
    folder = tmp_path_factory.mktemp("trust")
    root = folder / "proj\udcff"
    store = TrustStore(folder / "trust.json")
    assert store.agree(root, asked, NOW) is None
    found = store.agreements(root)
    assert found.keys() == {one.digest for one in asked}
    assert {one.place for one in found.values()} == {(one.subject, one.source) for one in asked}
    assert store.agreements(folder / "other") == {}
    assert store.revoke(root).keys() == found.keys()
    assert store.agreements(root) == {}


def test_an_agreement_takes_the_place_of_one_to_the_same_thing(store, tmp_path):
    store.agree(tmp_path, [request("old"), request("old", subject="other")], NOW)
    store.agree(tmp_path, [request("new"), request("newer")], NOW)
    kept = {request("new"), request("newer"), request("old", subject="other")}
    assert store.agreements(tmp_path).keys() == {one.digest for one in kept}
