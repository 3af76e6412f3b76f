"""A memory server as grove uses it: learnings in, learnings out, nothing believed unseen."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Final

from attrs import evolve

from grove_backend_mcp.mappings.mapping import (
    Answered,
    Json,
    Operation,
    ServerMapping,
    fill,
    placeholders,
)
from grove_backend_mcp.protocol.query import plain_query, single_words, whole_query
from grove_backend_mcp.protocol.results import (
    Found,
    failure_in,
    merged,
    read_handle,
    read_results,
)
from grove_backend_mcp.protocol.texts import values_of
from grove_backend_mcp.servers import FaultKind, ServerFaultError, ToolResult
from grove_core import Learning, Query

if TYPE_CHECKING:
    from grove_backend_mcp.client import Connection

_MOST_LISTED: Final = 5_000
_LISTED_AT_ONCE: Final = 1_000
_MOST_FETCHED: Final = 10
_LEAST_FOUND: Final = 10
_MOST_FOUND: Final = 50
# Letters and digits of a summary, and of the beginning of a text, that are compared.
_TELLING: Final = 40
_LOOKED_THROUGH: Final = 200
_LEAST_SHOWN: Final = 10
_LONGEST_COMPARED: Final = 2_000


class Unknown(Enum):
    """That something cannot be told."""

    UNKNOWN = "unknown"


UNKNOWN: Final = Unknown.UNKNOWN
"""The server cannot be asked whether it holds a learning."""


class MemoryServer:
    """A memory server whose tools are known."""

    def __init__(self, connection: "Connection", mapping: ServerMapping, project: str) -> None:
        """Call nothing yet."""
        self._connection = connection
        self._mapping = mapping
        self._project = project
        self._found = mapping.search or Answered(tool="-")
        write = mapping.write
        self._has_handles = write is not None and write.says_how
        self._words = mapping.search is not None and mapping.search.query_mode == "words"
        self._longest_query = mapping.search.longest_query if mapping.search else 0

    def prepare(self) -> None:
        """Prepare the server; that it is prepared already is fine."""
        if self._mapping.setup is not None:
            said = failure_in(self._call(self._mapping.setup, {}))
            if said and "exist" not in said.lower():
                raise ServerFaultError(FaultKind.TOOL_FAILED, f"it cannot be prepared: {said}")

    def store(self, learning: Learning) -> str:
        """Store a learning, look whether it is there, and return the server's id of it."""
        write = self._mapping.write
        if write is None:
            raise ServerFaultError(FaultKind.UNSUITABLE, "it has no tool for storing")
        result = self._call(write, self._values(learning, ""))
        said = failure_in(result)
        is_told = self._has_handles and not result.is_error
        handle = (read_handle(result, write) if is_told else "") or learning.id
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

    def update(self, learning: Learning, handle: str) -> None:
        """Replace what is stored of a learning, and look whether that has worked."""
        if self._mapping.update is None:
            return
        known, said = self._known_handle(learning.id, handle, learning.summary), ""
        values = self._values(learning, known)
        # Where an earlier try ended after the first step, that step fails now; the last one tells.
        for step in self._mapping.update.steps:
            said = failure_in(self._call(step, values))
        there = self.holds(learning.id, known, learning.summary)
        if isinstance(there, Found) and there.learning is not None:
            said = "" if there.learning == learning else said or "it is as it was"
        elif there is None:
            said = said or "it is gone"
        if said:
            raise ServerFaultError(FaultKind.NOT_STORED, f"it has not changed a learning: {said}")

    def delete(self, learning_id: str, handle: str) -> None:
        """Remove a learning, and look whether it is gone."""
        if self._mapping.delete is None:
            return
        known = self._known_handle(learning_id, handle, "")
        said = failure_in(self._call(self._mapping.delete, self._fetching(learning_id, known)))
        there = self.holds(learning_id, known)
        if isinstance(there, Found) or (there is UNKNOWN and said):
            raise ServerFaultError(FaultKind.TOOL_FAILED, f"it still has a learning: {said}")

    def holds(self, learning_id: str, handle: str, words: str = "") -> Found | Unknown | None:
        """Look whether a learning is there."""
        got = self._got(learning_id, handle, words)
        if got is UNKNOWN and self._mapping.search is not None:
            return self._searched(learning_id, handle, words)
        if got is UNKNOWN and self._mapping.listing is not None:
            return _one_of(self.listing() or (), learning_id, handle, words)
        return got

    def search(self, query: Query, limit: int) -> Sequence[Found]:
        """Find what fits a query."""
        if self._words:
            asked = single_words(query, self._longest_query)
        else:
            asked = list(filter(None, [whole_query(query, self._longest_query)]))
        return self.fetched(merged(self._answers(asked, limit))[: max(0, limit)])

    def fetched(self, found: Sequence[Found], most: int = _MOST_FETCHED) -> Sequence[Found]:
        """Fetch learnings that a server has shown cut."""
        cut = [one for one in found if one.learning_id is not None and one.learning is None]
        wanted = set(map(id, cut[:most]))
        return [self._whole(one) if id(one) in wanted else one for one in found]

    def listing(self) -> Sequence[Found] | None:
        """Return everything that grove has stored there, as far as the server lists it at once."""
        listing = self._mapping.listing
        if listing is None:
            return None
        values = {"project": self._project, "limit": _LISTED_AT_ONCE}
        result = self._call(listing, values)
        found = read_results(result, self._reading(listing), _MOST_LISTED)
        said = "" if found else failure_in(result)
        if said:
            raise ServerFaultError(FaultKind.TOOL_FAILED, f"it cannot list: {said}")
        return found

    def _call(self, operation: Operation, values: Mapping[str, Json]) -> ToolResult:
        """Call a tool; that it fails is an answer."""
        arguments = fill(operation.arguments, values)
        try:
            return self._connection.call(operation.tool, arguments)
        except ServerFaultError as fault:
            if fault.kind is not FaultKind.TOOL_FAILED or fault.is_unclear:
                raise
            return ToolResult(structured=None, texts=(fault.detail,), is_error=True)

    def _reading(self, operation: Answered) -> Answered:
        """Return how an answer is read: as a search's, where nothing is said."""
        return operation if operation.says_how else self._found

    def _fetching(self, learning_id: str, handle: str) -> Mapping[str, Json]:
        """Return what the placeholders stand for when one learning is fetched or removed."""
        return {"id": learning_id, "handle": handle or learning_id, "project": self._project}

    def _values(self, learning: Learning, handle: str) -> Mapping[str, Json]:
        write = self._mapping.write
        form, longest = (write.text_form, write.longest_text) if write else ("full", 0)
        return values_of(learning, self._project, handle, form=form, longest=longest)

    def _handle_of(self, there: Found, handle: str) -> str:
        """The server's id of a learning that is there, where the server has ids of its own."""
        return there.handle or handle if self._has_handles else handle

    def _known_handle(self, learning_id: str, handle: str, words: str) -> str:
        """The server's id of a learning, looked for where only grove's own is known."""
        if not self._has_handles or handle not in ("", learning_id):
            return handle or learning_id
        there = self.holds(learning_id, handle, words)
        if not isinstance(there, Found):
            return learning_id
        # Without words, a note that only names the learning cannot be told from it.
        is_told = words or there.learning or there.is_vouched
        return self._handle_of(there, learning_id) if is_told else learning_id

    def _got(self, learning_id: str, handle: str, words: str = "") -> Found | Unknown | None:
        """Fetch a learning; where the answer is an error, the search has the last word."""
        get = self._mapping.get
        if get is None:
            return UNKNOWN
        by_handle = self._has_handles and "handle" in placeholders(get.arguments)
        if by_handle and handle in ("", learning_id):
            return UNKNOWN  # the server's own id of it is not known
        result = self._call(get, self._fetching(learning_id, handle))
        one = _one_of(read_results(result, self._reading(get)), learning_id, handle, words)
        if one is None and self._mapping.search is not None and failure_in(result):
            return UNKNOWN
        return one

    def _searched(self, learning_id: str, handle: str, words: str) -> Found | Unknown | None:
        asked = [plain_query(learning_id, self._longest_query)]
        if not self._words:
            asked.append(plain_query(words, self._longest_query))
        for found in self._answers(filter(None, asked), _LEAST_FOUND):
            one = _one_of(found, learning_id, handle, words)
            if one is not None:
                return one
        return UNKNOWN if not self._words and not words else None

    def _answers(self, asked: Iterable[str], limit: int) -> Iterator[Sequence[Found]]:
        """Ask for each of several texts; only where no answer is of use, the last fault counts."""
        search, said, useful = self._mapping.search, "", False
        if search is None:
            return
        most = min(max(limit, _LEAST_FOUND), _MOST_FOUND)
        for text in asked:
            values = {"query": text, "limit": most, "project": self._project}
            result = self._call(search, values)
            found = read_results(result, search)
            fault = "" if found else failure_in(result)
            if not fault:
                useful = True
                yield found
            said = fault or said
        if said and not useful:
            raise ServerFaultError(FaultKind.TOOL_FAILED, f"its search failed: {said}")

    def _whole(self, found: Found) -> Found:
        got = self._got(found.learning_id or "", found.handle)
        if not isinstance(got, Found) or got.learning is None:
            return found
        return evolve(got, handle=found.handle or got.handle)


def _one_of(found: Sequence[Found], learning_id: str, handle: str, words: str = "") -> Found | None:
    """The result that is a certain learning: by its id, else by the server's id of it."""
    for one in found:
        if one.learning_id == learning_id and _is_itself(one, (handle, learning_id), words):
            return one
    same = (one for one in found if one.learning_id is None and one.handle)
    return next((one for one in same if one.handle in (handle, learning_id)), None)


def _is_itself(one: Found, handles: Collection[str], summary: str) -> bool:
    """Tell a learning from a note that only names it: servers cut and decorate what they show."""
    if one.learning is not None or one.is_vouched or (one.handle and one.handle in handles):
        return True
    known, shown = _letters_of(summary)[:_TELLING], _letters_of(one.text)[:_LOOKED_THROUGH]
    is_cut = len(shown) >= _LEAST_SHOWN and known.startswith(shown)
    return known in shown or is_cut


def _letters_of(text: str) -> str:
    """Leave out what differs between a text and how a server shows it."""
    return "".join(filter(str.isalnum, text[:_LONGEST_COMPARED].casefold()))
