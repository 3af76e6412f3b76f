"""The record of what the user has agreed to."""

import string
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grove_core.errors import CodecError
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


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b'{"version": 2, "projects": {}}',
        b'{"version": 1, "projects": {"/": {"0": {"subject": "x"}}}}',
    ],
)
def test_a_file_that_cannot_be_understood_is_told_of_and_kept(store, tmp_path, content):
    path = tmp_path / "home" / "trust.json"
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(CodecError, match="nothing is trusted"):
        store.agreements(tmp_path)
    with pytest.raises(CodecError):
        store.revoke(tmp_path)
    path.with_name("trust.json.corrupt-1").write_text("an earlier one")
    aside = store.agree(tmp_path, [request()], NOW)
    assert aside == path.with_name("trust.json.corrupt-2")
    assert aside.read_bytes() == content
    assert store.agreements(tmp_path).keys() == {request().digest}
    assert [one.stat().st_mode & 0o777 for one in (path, aside)] == [0o600, 0o600]
