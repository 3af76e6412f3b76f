"""What waits for the server, and what has got there: the outbox of this machine."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

from grove_backend_mcp.sync.record import STATUSES
from grove_core import JsonlStore, Learning, LearningStatus, format_instant


class Delivery(NamedTuple):
    """How a learning stands to one server."""

    handle: str = ""
    status: LearningStatus | None = None
    failures: int = 0
    is_open: bool = False
    why: str = ""


class Wanted(NamedTuple):
    """What the server is to have."""

    is_due: bool
    """Whether this machine delivers it, whatever the server can be told."""
    status: LearningStatus | None


class Journaled(NamedTuple):
    """What the journal says; deliveries by the learning and the server."""

    wanted: Mapping[str, Wanted]
    deliveries: Mapping[tuple[str, str], Delivery]


_UNTRIED: Final = Delivery()


class Journal(JsonlStore[Journaled]):
    """The journal of one project, as far as it is about one server."""

    def __init__(self, path: Path, server: str) -> None:
        super().__init__(path, Journaled({}, {}), _fold)
        self._server = server

    def wanted(self) -> Iterable[str]:
        """Name what the server is to have, in the order in which it was written."""
        return self.state().wanted

    def undelivered(self) -> Iterable[str]:
        """Name what no server has got."""
        known = self.state()
        got = {
            one for (one, _), delivery in known.deliveries.items() if delivery.status is not None
        }
        return [one for one in known.wanted if one not in got]

    def delivery(self, learning_id: str) -> Delivery:
        """Return how a learning stands to the server."""
        return self.state().deliveries.get((learning_id, self._server), _UNTRIED)

    def waits(self, learning: Learning, *, can_update: bool) -> bool:
        """Return whether the server has yet to get a learning, or its status."""
        wanted = self.state().wanted.get(learning.id)
        if wanted is None:
            return False
        status = self.delivery(learning.id).status
        if status is None:
            # The machine that has written it delivers it: only its status is told from here.
            return wanted.is_due or can_update
        # The record alone may say otherwise, on another branch.
        was_given = wanted.status is learning.status
        return can_update and was_given and status is not learning.status

    def want(
        self,
        learning_id: str,
        at: datetime,
        *,
        is_due: bool = False,
        status: LearningStatus | None = None,
    ) -> None:
        """Note that the server is to have a learning."""
        known = self.state().wanted.get(learning_id)
        is_more_due = is_due and known is not None and not known.is_due
        if known is not None and status in (None, known.status) and not is_more_due:
            return
        line: dict[str, Any] = {"id": learning_id, "at": format_instant(at), "state": "wanted"}
        line |= {"is_due": True} if is_due else {}
        self.append(line | ({"status": status.value} if status else {}))

    def begin(self, learning_id: str, at: datetime) -> None:
        """Note that an attempt begins, before anything is sent."""
        self._note(learning_id, at, state="tried")

    def fail(self, learning_id: str, at: datetime, why: str) -> None:
        """Note that an attempt has failed."""
        self._note(learning_id, at, state="tried", why=why or "it does not say why")

    def deliver(self, learning_id: str, at: datetime, handle: str, status: LearningStatus) -> None:
        """Note that the server has a learning."""
        self._note(learning_id, at, state="delivered", handle=handle, status=status.value)

    def lose(self, learning_id: str, at: datetime) -> None:
        """Note that the server has not kept a learning: it has to be delivered once more."""
        self._note(learning_id, at, state="lost")

    def _note(self, learning_id: str, at: datetime, **fields: str) -> None:
        line = {"id": learning_id, "at": format_instant(at), "server": self._server, **fields}
        self.append(line)


def _fold(known: Journaled, lines: Iterable[Mapping[str, Any]]) -> Journaled:
    wanted, deliveries = dict(known.wanted), dict(known.deliveries)
    for line in lines:
        learning_id, server = line.get("id"), line.get("server")
        if not isinstance(learning_id, str):
            continue
        if line.get("state") == "wanted":
            # Version 0.1 told what was new from what was due for another reason.
            is_due = True in (line.get("is_due"), line.get("is_new"))
            before = wanted.get(learning_id, Wanted(is_due, None))
            status = STATUSES.get(str(line.get("status"))) or before.status
            wanted[learning_id] = Wanted(before.is_due or is_due, status)
        elif isinstance(server, str):
            key = learning_id, server
            deliveries[key] = _after(deliveries.get(key, _UNTRIED), line)
    return Journaled(wanted, deliveries)


def _after(before: Delivery, line: Mapping[str, Any]) -> Delivery:
    """Return how a learning stands to a server after one more line."""
    state, why = line.get("state"), str(line.get("why", ""))
    if state == "delivered" and (status := STATUSES.get(str(line.get("status")))):
        return Delivery(handle=str(line.get("handle", "")), status=status)
    if state == "tried" and why:
        failures = before.failures + 1
        return before._replace(failures=failures, is_open=False, why=why)
    if state == "tried":
        return before._replace(is_open=True)
    if state == "lost":
        # Whether it is there in spite of all is looked at before it is sent again.
        return Delivery(is_open=True, why="the server has not kept it")
    return before
