"""What grove does with a server: which tool is called with what, and what the answer means."""

from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeAlias

from attrs import field, frozen

Json: TypeAlias = Any


class QueryMode(Enum):
    """How a server's search takes several words."""

    WHOLE = "whole"
    """It understands a query as it is."""
    WORDS = "words"
    """It finds only what holds the query as it stands: each word is asked for by itself."""


class ScoreKind(Enum):
    """What the number means that a server gives each result."""

    NONE = "none"
    SIMILARITY = "similarity"
    """0 to 1, more is better."""
    PERCENT = "percent"
    """0 to 100, more is better."""
    DISTANCE = "distance"
    """0 or more, less is better."""


class TextForm(Enum):
    """How much of a learning stands in the text that a server stores."""

    SHORT = "short"
    """Summary, detail and ``[grove:<id>]``; everything else is metadata of the server."""
    FULL = "full"
    """A block with everything after the text, for servers that store nothing but text."""


@frozen(kw_only=True)
class Operation:
    """One call of a tool."""

    tool: str
    arguments: Mapping[str, Json] = field(factory=dict)


@frozen(kw_only=True)
class Success:
    """How to tell that a call has done what it was to do; no error flag is not enough."""

    text_matches: str = ""
    text_refuses: str = ""
    json_absent: tuple[str, ...] = ()


@frozen(kw_only=True)
class Reading:
    """Where in an answer the results are."""

    items: str = ""
    columns: bool = False
    separator: str = ""
    text: str = ""
    metadata: str = ""
    handle: str = ""
    handle_pattern: str = ""
    score: str = ""
    score_kind: ScoreKind = ScoreKind.NONE


@frozen(kw_only=True)
class ServerMapping:
    """All that grove does with a server."""

    profile: str | None = None
    write: Operation | None = None
    search: Operation | None = None
    get: Operation | None = None
    listing: Operation | None = None
    update: tuple[Operation, ...] = ()
    delete: Operation | None = None
    setup: Operation | None = None
    query_mode: QueryMode = QueryMode.WHOLE
    text_form: TextForm = TextForm.FULL
    written: Success = Success()
    handle: Reading | None = None
    found: Reading = Reading()
    got: Reading | None = None
    listed: Reading | None = None
    longest_text: int = 0
    longest_query: int = 0
    single_writer: bool = False
