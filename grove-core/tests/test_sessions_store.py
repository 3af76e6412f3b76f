"""The store of session state."""

import pytest
from core_worlds import NOW, a_session, put
from planted import planted

from grove_core.errors import SessionNotFoundError
from grove_core.model.gate import Cycle, Gate, GateStatus
from grove_core.model.ticket import Ticket
from grove_core.reflection.secrets import find_secrets
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


def test_what_looks_like_a_secret_in_what_a_tracker_told_is_masked(store):
    plain = "Fix: S3Uploader.flush() drops the 2nd token of user 42 (see docs/keys.md, -v 3)"
    secrets = [" ".join(text.split()) for _, _, text in planted() if find_secrets(text)]
    told = [plain, *(one.removeprefix("Found while mending shop/export.py: ") for one in secrets)]
    tickets = tuple(
        Ticket(ticket_id="T", source="tk", title=one, description=f"> {one}") for one in told
    )
    cycle = Cycle(before=GateStatus.IDLE, opened_at=NOW, tickets=tickets)
    put(store, a_session("s1", gate=Gate(cycle=cycle)))
    first, *others = store.get("s1").gate.closed
    assert (first.title, first.description) == (plain, f"> {plain}")
    found = [one for one in others if find_secrets(one.title) or find_secrets(one.description)]
    assert len(found) <= 0.03 * len(secrets)
    assert (SessionStore(store.path("s1").parent)).get("s1") == store.get("s1")
