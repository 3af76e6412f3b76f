"""A memory server as grove uses it: learnings in, learnings out, nothing believed unseen."""

from collections.abc import Mapping, Sequence
from typing import Final

from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.mappings.mapping import Json, ServerMapping
from grove_backend_mcp.protocol.lookup import UNKNOWN, Calling, Lookup, Unknown
from grove_backend_mcp.protocol.results import Found, failure_in, read_handle, refuses_deletion
from grove_backend_mcp.protocol.texts import values_of
from grove_backend_mcp.tools import ToolResult
from grove_core import Learning, Query

__all__ = ["UNKNOWN", "Calling", "Found", "MemoryServer", "Unknown"]

_EXISTS: Final = "exist"


class MemoryServer:
    """A memory server whose tools are known."""

    def __init__(self, connection: Calling, mapping: ServerMapping, project: str) -> None:
        """Call nothing yet."""
        self._mapping = mapping
        self._project = project
        self._lookup = Lookup(connection, mapping, project)

    def prepare(self) -> None:
        """Prepare the server; that it is prepared already is fine."""
        if self._mapping.setup is None:
            return
        said = failure_in(self._lookup.call(self._mapping.setup, {}))
        if said and _EXISTS not in said.lower():
            raise ServerFaultError(FaultKind.TOOL_FAILED, f"it cannot be prepared: {said}")

    def store(self, learning: Learning, *, look_first: bool = False) -> str:
        """Store a learning, and look whether it is there."""
        write = self._mapping.write
        if write is None:
            raise ServerFaultError(FaultKind.UNSUITABLE, "it has no tool for storing")
        if look_first:
            there = self.holds(learning.id, learning.id, learning.summary)
            if isinstance(there, Found):
                return self._handle_of(there, learning.id)
        result = self._lookup.call(write, self._values(learning, ""))
        said = failure_in(result, self._mapping.written)
        handle = self._handle_in(result) or learning.id
        there = self.holds(learning.id, handle, learning.summary)
        if isinstance(there, Found):
            return self._handle_of(there, handle)
        if said:
            raise ServerFaultError(FaultKind.NOT_STORED, f"it has not stored a learning: {said}")
        if there is None:
            raise ServerFaultError(
                FaultKind.NOT_STORED,
                "it says that a learning is stored, and does not give it back",
                is_unclear=True,
            )
        return handle

    def holds(self, learning_id: str, handle: str, words: str = "") -> Found | Unknown | None:
        """Look whether a learning is there (``Lookup.holds``)."""
        return self._lookup.holds(learning_id, handle, words)

    def search(self, query: Query, limit: int) -> Sequence[Found]:
        """Find what fits a query (``Lookup.search``)."""
        return self._lookup.search(query, limit)

    def fetched(self, found: Sequence[Found], most: int = 10) -> Sequence[Found]:
        """Fetch learnings that a server has shown cut (``Lookup.fetched``)."""
        return self._lookup.fetched(found, most)

    def listing(self) -> Sequence[Found] | None:
        """Return everything that grove has stored there (``Lookup.listing``)."""
        return self._lookup.listing()

    def update(self, learning: Learning, handle: str) -> bool:
        """Replace what is stored of a learning, and look whether that has worked."""
        if not self._mapping.update:
            return False
        known = self._known_handle(learning.id, handle, learning.summary)
        said, there = self._updated(learning, known)
        # Some servers give what is changed another id: then the one that is known leads nowhere.
        if said and isinstance(there, Found) and there.handle not in ("", known):
            said, _ = self._updated(learning, there.handle)
        if said:
            raise ServerFaultError(FaultKind.NOT_STORED, f"it has not changed a learning: {said}")
        return True

    def delete(self, learning_id: str, handle: str) -> bool:
        """Remove a learning, and look whether it is gone."""
        if self._mapping.delete is None:
            return False
        known = self._known_handle(learning_id, handle, "")
        result = self._lookup.call(self._mapping.delete, self._lookup.fetching(learning_id, known))
        said = failure_in(result)
        there = self.holds(learning_id, known)
        if isinstance(there, Found):
            raise ServerFaultError(FaultKind.TOOL_FAILED, f"it still has a learning: {said}")
        if there is UNKNOWN and (said or refuses_deletion(result)):
            raise ServerFaultError(FaultKind.TOOL_FAILED, f"it has removed nothing: {said}")
        return True

    def _updated(self, learning: Learning, handle: str) -> tuple[str, Found | Unknown | None]:
        """Try a change; say what was wrong, and what is there now."""
        values, said = self._values(learning, handle), ""
        # Where an earlier try ended after the first step, that step fails now; the last one tells.
        for step in self._mapping.update:
            said = failure_in(self._lookup.call(step, values))
        there = self.holds(learning.id, handle, learning.summary)
        if isinstance(there, Found) and there.learning is not None:
            said = "" if there.learning == learning else said or "it is as it was"
        elif there is None:
            said = said or "it is gone"
        return said, there

    def _values(self, learning: Learning, handle: str) -> Mapping[str, Json]:
        mapping = self._mapping
        return values_of(
            learning, self._project, handle, form=mapping.text_form, longest=mapping.longest_text
        )

    def _handle_in(self, result: ToolResult) -> str:
        """The server's id in its answer to a write; whatever else is there is no result."""
        if self._mapping.handle is None or result.is_error:
            return ""
        return read_handle(result, self._mapping.handle)

    def _handle_of(self, there: Found, handle: str) -> str:
        """The server's id of a learning that is there, where the server has ids of its own."""
        return there.handle or handle if self._mapping.handle is not None else handle

    def _known_handle(self, learning_id: str, handle: str, words: str) -> str:
        """The server's id of a learning, looked for where only grove's own is known."""
        if self._mapping.handle is None or handle not in ("", learning_id):
            return handle or learning_id
        there = self.holds(learning_id, handle, words)
        if not isinstance(there, Found):
            return learning_id
        # Without words, a note that only names the learning cannot be told from it.
        is_told = words or there.learning is not None or there.is_vouched
        return self._handle_of(there, learning_id) if is_told else learning_id
