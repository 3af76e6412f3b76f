"""Asking a server what it can do, and trying that with a learning that nobody needs."""

import time
from collections.abc import Callable, Mapping
from datetime import datetime
from secrets import choice
from typing import Any, Final

from attrs import evolve, frozen

from grove_backend_mcp.client import Connection
from grove_backend_mcp.faults import ServerFaultError
from grove_backend_mcp.mappings.mapping import ServerMapping
from grove_backend_mcp.protocol.memory_server import Found, MemoryServer
from grove_core import Category, Learning, LearningStatus, Query

PROJECT: Final = "grove-probe"
"""No project's name: what a probe leaves behind is shown to nobody."""

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_TOKEN_LENGTH: Final = 10
_LIMIT: Final = 10
_INDEXING_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.25


@frozen(kw_only=True)
class Step:
    """One step of a probe."""

    name: str
    ok: bool | None
    detail: str = ""
    milliseconds: int = 0


def probe(
    connection: Connection, mapping: ServerMapping, now: datetime
) -> tuple[list[Step], Mapping[str, Any]]:
    """Write a learning, find it, change it and remove it again."""
    token = "".join(choice(_LETTERS) for _ in range(_TOKEN_LENGTH))
    canary = Learning(
        id=f"cl_{now:%Y%m%d}_probe-{token}",
        category=Category.PROCESS,
        summary=f"A probe of grove writes the word {token} and nothing of value",
        detail=f"It can be removed at any time.\n\nQuotes \"'`, a bracket ], and the end: {token}.",
        session_id="probe",
        timestamp=now.replace(microsecond=0),
        tags=("grove-probe",),
    )
    return _Probe(MemoryServer(connection, mapping, PROJECT), mapping, canary, token).run()


class _Probe:
    """One round trip."""

    def __init__(
        self, server: MemoryServer, mapping: ServerMapping, canary: Learning, token: str
    ) -> None:
        self._server = server
        self._mapping = mapping
        self._canary = canary
        self._token = token
        self._steps: list[Step] = []
        self._handle = ""

    def run(self) -> tuple[list[Step], Mapping[str, Any]]:
        # A server that needs no preparation has no such step.
        ready = self._mapping.setup is None or self._try("setup", self._mapping.setup, self._setup)
        stored = ready and self._try("write", self._mapping.write, self._store)
        if stored:
            found = self._try("search", self._mapping.search, self._find)
            words = found and self._try("search by two words", found, self._find_by_words)
            self._try("update", self._mapping.update, self._update)
            self._try("delete", self._mapping.delete, self._delete)
            facts = {"finds_token": bool(found), "finds_words": bool(words)}
        else:
            facts = {}
        times = {one.name: one.milliseconds for one in self._steps if one.milliseconds}
        return self._steps, {**facts, "milliseconds": times}

    def _try(self, name: str, can: object, step: Callable[[], tuple[bool, str]]) -> bool:
        if not can:
            self._steps.append(Step(name=name, ok=None, detail="the server has no tool for it"))
            return False
        begun = time.monotonic()
        try:
            ok, detail = step()
        except ServerFaultError as fault:
            ok, detail = False, fault.detail
        taken = round((time.monotonic() - begun) * 1000)
        self._steps.append(Step(name=name, ok=ok, detail=detail, milliseconds=taken))
        return ok

    def _setup(self) -> tuple[bool, str]:
        self._server.prepare()
        return True, "prepared"

    def _store(self) -> tuple[bool, str]:
        self._handle = self._server.store(self._canary)
        there = self._server.holds(self._canary.id, self._handle)
        if not isinstance(there, Found):
            return True, f"stored as {self._handle}; whether it is kept whole cannot be told"
        whole = there.learning == self._canary
        kept = "comes back whole" if whole else "comes back with its id; grove's own record counts"
        return True, f"stored as {self._handle}, {kept}"

    def _find(self) -> tuple[bool, str]:
        return self._look(self._token)

    def _find_by_words(self) -> tuple[bool, str]:
        return self._look(f"{self._token} value")

    def _look(self, words: str) -> tuple[bool, str]:
        end = time.monotonic() + _INDEXING_SECONDS
        ids = self._ids_for(words)
        # Some servers index behind their answers.
        while self._canary.id not in ids and time.monotonic() < end:
            time.sleep(_PAUSE_SECONDS)
            ids = self._ids_for(words)
        if self._canary.id not in ids:
            return False, f"not among {len(ids)} results"
        return True, f"found, at place {ids.index(self._canary.id) + 1} of {len(ids)}"

    def _ids_for(self, words: str) -> list[str | None]:
        found = self._server.search(Query(text=words), _LIMIT)
        return [one.learning_id for one in found]

    def _update(self) -> tuple[bool, str]:
        archived = evolve(self._canary, status=LearningStatus.ARCHIVED)
        return self._server.update(archived, self._handle), "archived there"

    def _delete(self) -> tuple[bool, str]:
        return self._server.delete(self._canary.id, self._handle), "removed"
