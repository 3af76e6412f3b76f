"""Fill in the arguments of a tool that no profile describes, by their names and types."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from attrs import evolve, frozen

from grove_backend_mcp.mappings.mapping import Json
from grove_backend_mcp.mappings.schemas import (
    Property,
    arguments_of,
    bound_of,
    choices_of,
    items_of,
    properties_of,
    types_of,
)
from grove_backend_mcp.mappings.words import (
    ARGUMENTS,
    CHANGING,
    DESTROYING,
    QUALIFIERS,
    SWEEPING,
    is_of_memory,
    words_of,
)
from grove_backend_mcp.tools import Tool

_DEEPEST: Final = 4
_MOST_RESULTS: Final = 50
_LARGEST_DEFAULT: Final = 1e15
# In the name of an argument: what it does to other things than the one that is stored.
_DANGEROUS: Final = DESTROYING | SWEEPING | CHANGING

_TEXTS: Final = ARGUMENTS["texts"]
_QUERIES: Final = ARGUMENTS["queries"]
_LIMITS: Final = frozenset(ARGUMENTS["limits"])
_TITLES: Final = frozenset(ARGUMENTS["titles"])
_NAMES: Final = frozenset(ARGUMENTS["names"])
_IDS: Final = frozenset(ARGUMENTS["ids"])
_TAGS: Final = frozenset(ARGUMENTS["tags"])
_KINDS: Final = frozenset(ARGUMENTS["kinds"])
_SOURCES: Final = frozenset(ARGUMENTS["sources"])
_WEIGHTS: Final = frozenset(ARGUMENTS["weights"])
_PROJECTS: Final = frozenset(ARGUMENTS["projects"])
_PATHS: Final = frozenset(ARGUMENTS["paths"])
_SPACES: Final = frozenset(ARGUMENTS["spaces"])
_OF_SPACES: Final = frozenset(ARGUMENTS["of_spaces"])
_REFERRED: Final = frozenset(ARGUMENTS["referred"])
_WRAPPERS: Final = frozenset(ARGUMENTS["wrappers"])
_CHOSEN: Final = ARGUMENTS["chosen"]
_CHOICES: Final = frozenset({*_KINDS, *_WEIGHTS, *_SOURCES, "role", "scope", "level", "format"})


@frozen(kw_only=True)
class Filled:
    """A tool whose arguments could be filled in."""

    arguments: Mapping[str, Json]
    is_required: bool
    others: int


def filled_to_write(tool: Tool) -> Filled | None:
    """Fill in what a tool needs to store a learning."""
    return _filled_within(arguments_of(tool), tool, _with_text)


def filled_to_search(tool: Tool) -> Filled | None:
    """Fill in what a tool needs to search."""
    return _filled_within(arguments_of(tool), tool, _with_query)


def _filled_within(
    arguments: Sequence[Property],
    tool: Tool,
    fill: Callable[[Sequence[Property], Tool], Filled | None],
) -> Filled | None:
    """Fill in arguments, which some frameworks put into one object around them."""
    filled = fill(arguments, tool)
    if filled is not None or len(arguments) != 1 or not arguments[0].takes("object"):
        return filled
    around = arguments[0]
    if not _WRAPPERS.intersection(words_of(around.name)):
        return None
    filled = fill(properties_of(around.schema, tool.schema), tool)
    return filled and evolve(filled, arguments={around.name: dict(filled.arguments)})


def _with_text(arguments: Sequence[Property], tool: Tool) -> Filled | None:
    """Fill in the text and what else is required."""
    text = _text_of(arguments, tool, 0)
    if text is None:
        return None
    return _filled(arguments, text[0], {text[0].name: text[1]}, tool)


def _with_query(arguments: Sequence[Property], tool: Tool) -> Filled | None:
    """Fill in the query, how many results are wanted, and what else is required."""
    query = _first_named(arguments, _QUERIES)
    if query is None:
        return None
    if query.takes("string"):
        template: Json = "{query}"
    elif _takes_texts(query, tool):
        template = ["{query}"]
    else:
        return None
    known: dict[str, Json] = {query.name: template}
    for one in arguments:
        if _joined(one) in _LIMITS and one.takes("integer", "number"):
            known.setdefault(one.name, _limit(one, tool))
    return _filled(arguments, query, known, tool)


def _filled(
    arguments: Sequence[Property],
    main: Property,
    known: Mapping[str, Json],
    tool: Tool,
) -> Filled | None:
    """Put together what is known and what else is required."""
    filled = dict(known)
    others = 0
    for one in arguments:
        if not one.is_required or one.name in filled:
            continue
        is_dangerous = not _DANGEROUS.isdisjoint(words_of(one.name))
        value = None if is_dangerous else _value_for(one, tool)
        if value is None:
            return None
        filled[one.name] = value
        others += 1
    return Filled(arguments=filled, is_required=main.is_required, others=others)


def _text_of(arguments: Sequence[Property], tool: Tool, depth: int) -> tuple[Property, Json] | None:
    """Choose the argument that takes the text, and fill it in."""
    ranked = [
        (not one.is_required, rank, index, one)
        for index, one in enumerate(arguments)
        if (rank := _rank(one)) is not None
    ]
    for *_, one in sorted(ranked, key=lambda entry: entry[:3]):
        value = _text_for(one, tool, depth)
        if value is not None:
            return one, value
    return None


def _rank(property_: Property) -> int | None:
    """Return how well a name fits the text; smaller is better."""
    words = words_of(property_.name)
    if not words or words[-1] not in (*_TEXTS, "body") or not _DANGEROUS.isdisjoint(words):
        return None
    if all(word in _TEXTS or word in QUALIFIERS or is_of_memory(word) for word in words[:-1]):
        return _TEXTS.index(words[-1])
    return None


def _text_for(property_: Property, tool: Tool, depth: int) -> Json:
    """Fill in an argument that takes the text; ``None`` where it takes none."""
    if property_.takes("string"):
        return None if choices_of(property_, tool.schema) else "{content}"
    if depth < _DEEPEST and property_.takes("object"):
        return _object_for(property_, property_.schema, tool, depth)
    if not property_.takes("array"):
        return None
    items = items_of(property_, tool.schema)
    if "string" in types_of(items, tool.schema):
        # One observation is the text, another one the block: both come back as they are.
        is_list = words_of(property_.name)[-1] == "observations"
        return ["{plain}", "{block}"] if is_list else ["{content}"]
    if depth >= _DEEPEST:
        return None
    one = _object_for(property_, items, tool, depth)
    return None if one is None else [one]


def _object_for(property_: Property, schema: object, tool: Tool, depth: int) -> Json:
    """Fill in an object with a text in it."""
    members = properties_of(schema, tool.schema)
    text = _text_of(members, tool, depth + 1)
    if text is None or property_.name in ("metadata", "properties"):
        return None
    filled = _filled(members, text[0], {text[0].name: text[1]}, tool)
    return None if filled is None else dict(filled.arguments)


def _value_for(property_: Property, tool: Tool) -> Json:
    """Fill in an argument that is required besides the text or the query; ``None`` for no idea."""
    choices = choices_of(property_, tool.schema)
    if choices:
        return _choice(property_, choices)
    default = property_.schema.get("default")
    if isinstance(default, str | int | float):
        return _default(default)
    if property_.takes("string") and (text := _string_for(property_)) is not None:
        return text
    if property_.types and property_.takes("integer", "number"):
        return _number_for(property_, tool)
    joined = _joined(property_)
    if joined in _TAGS | _IDS and _takes_texts(property_, tool):
        return "{labels}" if joined in _TAGS else ["{id}"]
    return "{metadata}" if joined == "metadata" and property_.takes("object") else None


def _default(value: str | float) -> Json:
    """Take the default of an argument, unless it is a switch or nothing that could be sent."""
    if isinstance(value, str):
        return _literal(value)
    return None if isinstance(value, bool) or not abs(value) <= _LARGEST_DEFAULT else value


def _literal(text: str) -> Json:
    """Take a text of the schema as it is, unless it asks for something to be destroyed."""
    if not DESTROYING.isdisjoint(words_of(text)):
        return None
    # Its braces are no placeholders.
    return text.replace("{", "{{").replace("}", "}}")


def _string_for(property_: Property) -> str | None:
    """Fill in a required text that is not the one that is stored."""
    words, joined = words_of(property_.name), _joined(property_)
    if not words:
        return None
    is_name = words[-1] in _NAMES and _REFERRED.isdisjoint(words)
    rules = (
        (joined in ("file name", "filename"), "{id}.md"),
        (joined in _PATHS, "grove/{id}.md"),
        (joined in _TITLES or words[-1] == "title" or joined == "description", "{summary}"),
        (joined in _IDS or is_name, "{id}"),
        (joined in _TAGS, "grove, {tags}"),
        (words[-1] == "category", "{category}"),
        (words[-1] in _KINDS, "learning"),
        (joined in _SOURCES, "grove"),
        (joined == "role", "user"),
    )
    return _space(words) or next((text for applies, text in rules if applies), None)


def _space(words: Sequence[str]) -> str | None:
    """Fill in the name of a part of the server's store, which is grove's own to choose."""
    kind = words[0]
    if any(word not in _OF_SPACES for word in words[1:]):
        return None
    if kind in _PROJECTS:
        return "{project}"
    return "grove" if kind in _SPACES else None


def _choice(property_: Property, choices: Sequence[Json]) -> Json:
    """Choose one of the values that an argument may have."""
    if len(choices) == 1:
        return _literal(choices[0]) if isinstance(choices[0], str) else None
    words = words_of(property_.name)
    if not words or words[-1] not in _CHOICES:
        return None
    names = [one for one in choices if isinstance(one, str) and one.isidentifier()]
    known = {one.lower(): one for one in names if _literal(one) is not None}
    wanted = next((known[one] for one in _CHOSEN if one in known), None)
    return wanted or next(iter(known.values()), None)


def _number_for(property_: Property, tool: Tool) -> Json:
    """Fill in how important something is."""
    if _joined(property_) not in _WEIGHTS:
        return None
    least = bound_of(property_, "minimum", tool.schema)
    most = bound_of(property_, "maximum", tool.schema)
    is_whole = "integer" in property_.types
    middle = 5.0 if is_whole else 0.5
    value = max(middle, least) if least is not None else middle
    value = min(value, most) if most is not None else value
    return int(value) if is_whole else value


def _limit(property_: Property, tool: Tool) -> Json:
    """Fill in how many results are wanted; a server may refuse more than its most."""
    most = bound_of(property_, "maximum", tool.schema)
    return "{limit}" if most is None or not 1 <= most < _MOST_RESULTS else int(most)


def _takes_texts(property_: Property, tool: Tool) -> bool:
    """Return whether an argument takes a list of texts."""
    if not property_.takes("array"):
        return False
    items = items_of(property_, tool.schema)
    types = types_of(items, tool.schema)
    return not types or "string" in types


def _first_named(arguments: Sequence[Property], names: Sequence[str]) -> Property | None:
    """Find the argument whose name stands first among names; required ones come before others."""
    by_name: dict[str, Property] = {}
    for one in sorted(arguments, key=lambda argument: not argument.is_required):
        by_name.setdefault(_joined(one), one)
    required = (by_name[name] for name in names if name in by_name and by_name[name].is_required)
    others = (by_name[name] for name in names if name in by_name)
    return next(required, None) or next(others, None)


def _joined(property_: Property) -> str:
    """Write a name as words with blanks between."""
    return " ".join(words_of(property_.name))
