"""How long a connection is kept: as long as the command may take that it was made for."""

import time
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from grove_backend_mcp.mappings.assessment import Abilities
from grove_backend_mcp.servers import FaultKind, ServerFaultError
from grove_backend_mcp.sync.connection import ServerConnection

NOTHING = Abilities(updates=False, lists=False, searches=True)


@pytest.fixture
def ends(monkeypatch):
    """When each connection had to be over, in seconds from when it was made."""
    made = []

    def connect(self, end):
        made.append(round(end - time.monotonic()))
        return "the server"

    monkeypatch.setattr(ServerConnection, "_connect", connect)
    return made


@pytest.fixture
def link(tmp_path):
    places = SimpleNamespace(breaker=tmp_path / "breaker.json")
    entry = SimpleNamespace(name="notes", digest="d")
    context = SimpleNamespace(settings=None)
    return ServerConnection(
        context, entry, "project", places, lambda: datetime.now(UTC), expected=NOTHING
    )


def use(link, *seconds):
    for one in seconds:
        with link.server(one):
            pass


def test_one_that_has_too_little_time_left_is_made_anew(link, ends):
    use(link, 25, 60)
    assert ends == [25, 60]


def test_a_command_that_says_how_long_it_takes_connects_once(link, ends):
    link.reserve(120)
    use(link, 72, 100)
    assert ends == [120]


@pytest.mark.parametrize(
    ("seconds", "kind", "counts"),
    [
        (1, FaultKind.TIMED_OUT, False),
        (60, FaultKind.TIMED_OUT, True),
        (1, FaultKind.EXITED, True),
    ],
)
def test_no_server_is_blamed_for_time_that_it_was_not_given(
    link, monkeypatch, seconds, kind, counts
):
    def connect(self, end):
        raise ServerFaultError(kind, "late")

    monkeypatch.setattr(ServerConnection, "_connect", connect)
    with pytest.raises(ServerFaultError, match="late"):
        use(link, seconds)
    assert (link.breaker().failed_at is not None) is counts
