"""The store of session state."""

import pytest
from core_worlds import a_session, put

from grove_core.errors import CodecError, SessionNotFoundError
from grove_core.storage.sessions import SessionStore

HOSTILE = ["", "..", "../escape", "a/b", "a\nb", "é", "a" * 129]


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "home" / "sessions"


@pytest.fixture
def store(directory):
    return SessionStore(directory)


def test_update_begins_with_what_is_stored(store):
    seen = []

    def change(stored):
        seen.append(stored)
        return a_session("s1", cwd=f"/{len(seen)}")

    assert store.update("s1", change).cwd == "/1"
    assert store.update("s1", change).cwd == "/2"
    assert seen == [None, a_session("s1", cwd="/1")]
    assert store.get("s1").cwd == "/2"


def test_a_file_that_holds_another_sessions_state_is_refused_and_set_aside(store):
    put(store, a_session("other"))
    store.path("s1").write_bytes(store.path("other").read_bytes())
    with pytest.raises(CodecError, match="state of session 'other'"):
        store.get("s1")
    after = store.update("s1", lambda stored: stored or a_session("s1"))
    assert after.recovered_from == f"{store.path('s1')}.corrupt-1"
    assert store.get("other") == a_session("other")


@pytest.mark.parametrize("known", [True, False])
def test_a_change_that_raises_changes_nothing(store, known, tmp_path):
    if known:
        put(store, a_session("s1"))
    with pytest.raises(ZeroDivisionError):
        store.update("s1", lambda _: 1 // 0)
    assert store.get("s1") == (a_session("s1") if known else None)
    assert len(store.list()) == known
    assert known or not [path for path in tmp_path.rglob("*") if path.is_file()]
    put(store, a_session("s1", cwd="/later"))
    assert store.get("s1").cwd == "/later"


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_id_is_refused(store, name, tmp_path):
    for act in (
        lambda: store.get(name),
        lambda: put(store, a_session(name)),
        lambda: store.update(name, lambda _: a_session(name)),
    ):
        with pytest.raises(SessionNotFoundError, match="is no session id"):
            act()
    assert list(tmp_path.iterdir()) == []


def test_state_is_for_its_owner_only_and_leaves_nothing_beside_it(store, directory):
    put(store, a_session("s1"))
    put(store, a_session("s1"))
    assert [one.name for one in directory.iterdir()] == ["s1.json"]
    assert store.path("s1").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", [b"\xff", b'{"id": 7}'])
def test_unreadable_state_is_set_aside_and_reported(store, directory, content):
    directory.mkdir(parents=True)
    store.path("s1").write_bytes(content)
    with pytest.raises(CodecError):
        store.get("s1")
    assert list(store.list()) == []
    seen = []
    after = store.update("s1", lambda stored: seen.append(stored) or a_session("s1"))
    aside = directory / "s1.json.corrupt-1"
    assert seen == [None]
    assert aside.read_bytes() == content
    assert after.recovered_from == str(aside)
    assert store.get("s1") == after
    (report,) = store.quarantined
    assert (report.session_id, report.path) == ("s1", aside)
    assert report.reason
    assert [one.id for one in store.list()] == ["s1"]


def test_each_unreadable_state_is_kept(store, directory):
    directory.mkdir(parents=True)
    for number in range(3):
        store.path("s1").write_text(f"broken {number}")
        store.update("s1", lambda _: a_session("s1"))
    kept = [(directory / f"s1.json.corrupt-{number}").read_text() for number in (1, 2, 3)]
    assert kept == ["broken 0", "broken 1", "broken 2"]
    assert store.get("s1").recovered_from.endswith("corrupt-3")
