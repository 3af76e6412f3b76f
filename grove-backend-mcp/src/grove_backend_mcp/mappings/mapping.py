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
    """One call of a tool.

    Attributes:
        tool: The tool's name.
        arguments: A template: strings in it may hold placeholders such as ``{text}``; one that is
            the whole string keeps its JSON type (``templates.py`` lists them).
    """

    tool: str
    arguments: Mapping[str, Json] = field(factory=dict)


@frozen(kw_only=True)
class Success:
    """How to tell that a call has done what it was to do; no error flag is not enough.

    Attributes:
        text_matches: A pattern that some text of the answer must match; empty for none.
        text_refuses: A pattern that no text of the answer may match; empty for none.
        json_absent: Keys that no object at the top of the answer may have with a true value.
    """

    text_matches: str = ""
    text_refuses: str = ""
    json_absent: tuple[str, ...] = ()


@frozen(kw_only=True)
class Reading:
    """Where in an answer the results are.

    Attributes:
        items: A path such as ``$.entities[*]`` to the results, in the structured content or in a
            text that is JSON; empty where the texts themselves are the results.
        columns: Whether ``items`` leads to an object of parallel arrays instead.
        separator: A pattern that divides a text into results, where texts are the results.
        text: Path of a result's text, from the result; several texts are joined.
        metadata: Path of its metadata, an object or JSON text; empty without.
        handle: Path of the server's own id; empty without.
        handle_pattern: A pattern whose first group is the server's own id, in a text; the last one
            of a text counts, since what is stored may look like it.
        score: Path of its score; empty without.
        score_kind: What the score means.
    """

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
    """All that grove does with a server.

    Attributes:
        profile: Name of the built-in profile; ``None`` for what was recognised or configured.
        write: Stores a learning; ``None`` where it cannot be done.
        search: Finds learnings and whatever else the server holds; ``None`` likewise.
        get: Fetches one by the server's id or grove's.
        listing: Gives everything that grove has stored for a project, or everything.
        update: Replaces what is stored of a learning, called in this order; empty where the server
            cannot.
        delete: Removes one by the server's id or grove's.
        setup: Prepares the server once; an error is fine, it is prepared already.
        query_mode: How its search takes several words.
        text_form: How much of a learning stands in the text.
        written: How to tell that a write has worked.
        handle: How to find the server's id in the answer to a write; ``None`` where the learning's
            own id is the handle.
        found: How to read results of a search.
        got: How to read those of ``get``; as ``found`` when ``None``.
        listed: How to read those of ``listing``; as ``found`` when ``None``.
        longest_text: Most code points of a text that the server takes; 0 without a bound.
        longest_query: The same for a query.
        single_writer: Whether its store loses writes when two processes have it open.
    """

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
