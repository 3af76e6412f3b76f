"""Looking for learnings on a server: by words, by id, by the list."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Final, Protocol

from attrs import evolve

from grove_backend_mcp.faults import FaultKind, ServerFaultError
from grove_backend_mcp.mappings.mapping import Json, Operation, QueryMode, ServerMapping
from grove_backend_mcp.mappings.templates import fill, placeholders
from grove_backend_mcp.protocol.results import Found, failure_in, merged, read_results
from grove_backend_mcp.tools import ToolResult
from grove_core import Query

_LONGEST_QUERY: Final = 400
_MOST_WORDS: Final = 32
_MOST_ALONE: Final = 6
_SHORTEST: Final = 3
_LONGEST_WORD: Final = 60
_MOST_READ: Final = 4_000
_WORD: Final = re.compile(r"\w+(?:-\w+)*")
_PART: Final = re.compile(r"\w+")
_OPERATORS: Final = frozenset({"AND", "OR", "NOT", "NEAR"})
_COMMON: Final = frozenset(
    """a about after again all also always an and any are as at be because been before being but by
    can cannot could did do does doing don each else for from get gets had has have having how if in
    into is it its itself just let like may might more most much must need no nor not now of off on
    once one only onto or other our out over own per same see should since so some still such than
    that the their them then there these they this those through to too under until up use used uses
    using via very was we were what when where which while who why will with within without would
    you your""".split()
)


def whole_query(query: Query, longest: int = 0) -> str:
    """Put everything known of the work at hand into one query."""
    room = min(longest or _LONGEST_QUERY, _LONGEST_QUERY)
    text = ""
    for word in _words_of(query)[:_MOST_WORDS]:
        longer = f"{text} {word}" if text else word
        if len(longer) <= room:
            text = longer
    return text


def single_words(query: Query, longest: int = 0) -> Sequence[str]:
    """Choose words to ask for by themselves, of a server that finds only what holds them all."""
    words = [one for one in _words_of(query) if not longest or len(one) <= longest]
    return sorted(words, key=lambda word: -len(word))[:_MOST_ALONE]


def plain_query(text: str, longest: int = 0) -> str:
    """Make a query of a text without leaving any word out, such as of an id or a summary."""
    room = min(longest or _LONGEST_QUERY, _LONGEST_QUERY)
    return " ".join(map(_harmless, _WORD.findall(text[:_MOST_READ])))[:room].rstrip()


def _words_of(query: Query) -> Sequence[str]:
    """Every word worth asking for, once, the telling ones first."""
    parts = (query.ticket_title, query.error_signature, query.text, query.ticket_id)
    rest = (query.ticket_description, *query.tags, *map(_name_of, query.files))
    found: dict[str, str] = {}
    for part in (*parts, *rest):
        for word in _telling(part):
            found.setdefault(word.casefold(), word)
    return list(found.values())


def _telling(text: str) -> Iterator[str]:
    for word in _PART.findall(text[:_MOST_READ]):
        # Scripts without blanks say much in one or two characters.
        enough = len(word) >= _SHORTEST or not word.isascii() or word.isdigit()
        if enough and len(word) <= _LONGEST_WORD and word.casefold() not in _COMMON:
            yield _harmless(word)


def _harmless(word: str) -> str:
    return word.lower() if word in _OPERATORS else word


def _name_of(path: str) -> str:
    return path.rsplit("/", 1)[-1].rsplit(".", 1)[0]


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


class Calling(Protocol):
    """What calls the tools of a server."""

    def call(self, tool: str, arguments: Mapping[str, Json]) -> ToolResult:
        """Call a tool."""
        ...


class Lookup:
    """What can be seen of a memory server whose tools are known."""

    def __init__(self, connection: Calling, mapping: ServerMapping, project: str) -> None:
        """Call nothing yet."""
        self._connection = connection
        self._mapping = mapping
        self._project = project

    def call(self, operation: Operation, values: Mapping[str, Json]) -> ToolResult:
        """Call a tool."""
        arguments = fill(dict(operation.arguments), values)
        try:
            return self._connection.call(operation.tool, arguments)
        except ServerFaultError as fault:
            if fault.kind is not FaultKind.TOOL_FAILED or fault.is_unclear:
                raise
            return ToolResult(structured=None, texts=(fault.detail,), is_error=True)

    def holds(self, learning_id: str, handle: str, words: str = "") -> Found | Unknown | None:
        """Look whether a learning is there."""
        got: Found | Unknown | None = UNKNOWN
        if self._can_get(learning_id, handle):
            got = self._got(learning_id, handle, words)
        if got is UNKNOWN and self._mapping.search is not None:
            return self._searched(learning_id, handle, words)
        if got is UNKNOWN and self._mapping.listing is not None:
            return _one_of(self.listing() or (), learning_id, handle, words)
        return got

    def search(self, query: Query, limit: int) -> Sequence[Found]:
        """Find what fits a query."""
        if self._mapping.search is None:
            raise ServerFaultError(FaultKind.UNSUITABLE, "it has no tool for searching")
        room = self._mapping.longest_query
        if self._mapping.query_mode is QueryMode.WHOLE:
            asked: Sequence[str] = [one for one in (whole_query(query, room),) if one]
        else:
            asked = single_words(query, room)
        found = merged(self._answers(asked, limit))[: max(0, limit)]
        return self.fetched(found)

    def fetched(self, found: Sequence[Found], most: int = _MOST_FETCHED) -> Sequence[Found]:
        """Fetch learnings that a server has shown cut."""
        whole: list[Found] = []
        fetched = 0
        for one in found:
            if one.learning_id is None or one.learning is not None or fetched >= most:
                whole.append(one)
                continue
            fetched += 1
            whole.append(self._whole(one, one.learning_id))
        return whole

    def listing(self) -> Sequence[Found] | None:
        """Return everything that grove has stored there, as far as the server lists it at once."""
        if self._mapping.listing is None:
            return None
        values = {"project": self._project, "limit": _LISTED_AT_ONCE}
        result = self.call(self._mapping.listing, values)
        found = read_results(result, self._mapping.listed or self._mapping.found, _MOST_LISTED)
        said = "" if found else failure_in(result)
        if said:
            raise ServerFaultError(FaultKind.TOOL_FAILED, f"it cannot list: {said}")
        return found

    def fetching(self, learning_id: str, handle: str) -> Mapping[str, Json]:
        """Return what the placeholders stand for when one learning is fetched or removed."""
        return {"id": learning_id, "handle": handle or learning_id, "project": self._project}

    def _can_get(self, learning_id: str, handle: str) -> bool:
        """Whether a learning can be fetched: not by an id of the server's that is not known."""
        get = self._mapping.get
        if get is None:
            return False
        by_handle = "handle" in placeholders(dict(get.arguments))
        return not by_handle or self._mapping.handle is None or handle not in ("", learning_id)

    def _got(self, learning_id: str, handle: str, words: str = "") -> Found | Unknown | None:
        """Fetch a learning; where the answer is an error, the search has the last word."""
        assert self._mapping.get is not None
        result = self.call(self._mapping.get, self.fetching(learning_id, handle))
        found = read_results(result, self._mapping.got or self._mapping.found)
        one = _one_of(found, learning_id, handle, words)
        if one is None and self._mapping.search is not None and failure_in(result):
            return UNKNOWN
        return one

    def _searched(self, learning_id: str, handle: str, words: str) -> Found | Unknown | None:
        room = self._mapping.longest_query
        by_meaning = self._mapping.query_mode is QueryMode.WHOLE
        asked = [plain_query(learning_id, room)]
        if by_meaning:
            asked.append(plain_query(words, room))
        for found in self._answers(filter(None, asked), _LEAST_FOUND):
            one = _one_of(found, learning_id, handle, words)
            if one is not None:
                return one
        return UNKNOWN if by_meaning and not words else None

    def _answers(self, asked: Iterable[str], limit: int) -> Iterator[Sequence[Found]]:
        """Ask for each of several texts; only where no answer is of use, the last fault counts."""
        search, said, useful = self._mapping.search, "", False
        assert search is not None
        most = min(max(limit, _LEAST_FOUND), _MOST_FOUND)
        for text in asked:
            values = {"query": text, "limit": most, "project": self._project}
            result = self.call(search, values)
            found = read_results(result, self._mapping.found)
            fault = "" if found else failure_in(result)
            if not fault:
                useful = True
                yield found
            said = fault or said
        if said and not useful:
            raise ServerFaultError(FaultKind.TOOL_FAILED, f"its search failed: {said}")

    def _whole(self, found: Found, learning_id: str) -> Found:
        if not self._can_get(learning_id, found.handle):
            return found
        got = self._got(learning_id, found.handle)
        if not isinstance(got, Found) or got.learning is None:
            return found
        return evolve(got, relevance=found.relevance, handle=found.handle or got.handle)


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
