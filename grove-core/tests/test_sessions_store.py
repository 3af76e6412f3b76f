"""The store of session state."""

import pytest
from core_worlds import a_session, put

from grove_core.errors import SessionNotFoundError
from grove_core.storage.sessions import SessionStore

HOSTILE = ["", "..", "../escape", "a/b", "a\nb", "é", "a" * 129]


@pytest.fixture
def directory(tmp_path):
    return tmp_path / "home" / "sessions"


@pytest.fixture
def store(directory):
    return SessionStore(directory)


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


def test_each_unreadable_state_is_kept(store, directory):
    directory.mkdir(parents=True)
    for number in range(3):
        store.path("s1").write_text(f"broken {number}")
        store.update("s1", lambda _: a_session("s1"))
    kept = [(directory / f"s1.json.corrupt-{number}").read_text() for number in (1, 2, 3)]
    assert kept == ["broken 0", "broken 1", "broken 2"]
    assert store.get("s1").recovered_from.endswith("corrupt-3")
