"""Fill in the arguments of a tool that no profile describes, by their names and types."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from grove_backend_mcp.mappings.schemas import Property, arguments_of
from grove_backend_mcp.mappings.words import (
    ARGUMENTS,
    CHANGING,
    FILLED_BY,
    TOOLS,
    is_of_memory,
    words_of,
)
from grove_backend_mcp.servers import Tool

_DEEPEST: Final = 4
# In the name of an argument: what it does to other things than the one that is stored.
_DANGEROUS: Final = TOOLS["destroying"] | TOOLS["sweeping"] | CHANGING
_TEXTS: Final = ARGUMENTS["texts"]


class Filled(NamedTuple):
    """A tool whose arguments could be filled in."""

    arguments: Mapping[str, Any]
    is_required: bool


def filled_to_write(tool: Tool) -> Filled | None:
    """Fill in what a tool needs to store a learning."""
    return _filled_within(arguments_of(tool), _with_text)


def filled_to_search(tool: Tool) -> Filled | None:
    """Fill in what a tool needs to search."""
    return _filled_within(arguments_of(tool), _with_query)


def _filled_within(
    arguments: Sequence[Property], fill: Callable[[Sequence[Property]], Filled | None]
) -> Filled | None:
    """Fill in arguments, which some frameworks put into one object around them."""
    filled = fill(arguments)
    if filled is not None or len(arguments) != 1 or not arguments[0].takes("object"):
        return filled
    around = arguments[0]
    if set(words_of(around.name)).isdisjoint(ARGUMENTS["wrappers"]):
        return None
    filled = fill(around.members())
    return filled and filled._replace(arguments={around.name: filled.arguments})


def _with_text(arguments: Sequence[Property], depth: int = 0) -> Filled | None:
    """Fill in the text and what else is required."""
    ranked = [(not one.is_required, _rank(one), one) for one in arguments]
    for *_, one in sorted(ranked, key=lambda entry: entry[:2]):
        value = _text_for(one, depth) if _rank(one) < len(_TEXTS) else None
        if value is not None:
            return _filled(arguments, one, {one.name: value})
    return None


def _rank(property_: Property) -> int:
    """Return how well a name fits the text; smaller is better."""
    words = words_of(property_.name)
    if not words or words[-1] not in _TEXTS or not _DANGEROUS.isdisjoint(words):
        return len(_TEXTS)
    fits = (word in _TEXTS or word in TOOLS["qualifiers"] or is_of_memory(word) for word in words)
    return _TEXTS.index(words[-1]) if all(fits) else len(_TEXTS)


def _text_for(property_: Property, depth: int) -> Any:  # noqa: ANN401 - any JSON
    """Fill in an argument that takes the text; ``None`` where it takes none."""
    if property_.takes("string"):
        return None if property_.choices() else "{content}"
    if depth >= _DEEPEST or property_.name in ("metadata", "properties"):
        return None
    if property_.takes("object"):
        filled = _with_text(property_.members(), depth + 1)
        return filled and filled.arguments
    items = property_.items()
    if "string" in items.types:
        return ["{content}"]
    filled = _with_text(items.members(), depth + 1) if property_.takes("array") else None
    return filled and [filled.arguments]


def _with_query(arguments: Sequence[Property]) -> Filled | None:
    """Fill in the query, how many results are wanted, and what else is required."""
    names = ARGUMENTS["queries"]
    named = [one for one in arguments if _joined(one) in names]
    for query in sorted(named, key=lambda one: (not one.is_required, names.index(_joined(one)))):
        if query.takes("string") or _takes_texts(query):
            limits = [one for one in arguments if _joined(one) in ARGUMENTS["limits"]]
            known = {one.name: "{limit}" for one in limits if one.takes("integer", "number")}
            value = "{query}" if query.takes("string") else ["{query}"]
            return _filled(arguments, query, {query.name: value, **known})
        break
    return None


def _filled(
    arguments: Sequence[Property], main: Property, known: Mapping[str, Any]
) -> Filled | None:
    """Put together what is known and what else is required."""
    filled = dict(known)
    for one in arguments:
        if one.is_required and one.name not in filled:
            is_dangerous = not _DANGEROUS.isdisjoint(words_of(one.name))
            filled[one.name] = None if is_dangerous else _value_for(one)
    is_whole = all(value is not None for value in filled.values())
    return Filled(filled, main.is_required) if is_whole else None


def _value_for(property_: Property) -> Any:  # noqa: ANN401 - any JSON
    """Fill in an argument that is required besides the text or the query; ``None`` for no idea."""
    joined = _joined(property_)
    if choices := property_.choices():
        names = [one for one in choices if isinstance(one, str) and one.isidentifier()]
        destroys = any(not TOOLS["destroying"].isdisjoint(words_of(str(one))) for one in choices)
        return next(iter(names), None) if not destroys else None
    if property_.takes("string"):
        return _string_for(property_)
    if joined in ARGUMENTS["weights"] and property_.takes("integer", "number"):
        return 5 if "integer" in property_.types else 0.5
    if _takes_texts(property_):
        lists = {**dict.fromkeys(ARGUMENTS["tags"], "{labels}"), "ids": ["{id}"]}
        return lists.get(joined)
    return "{metadata}" if joined == "metadata" and property_.takes("object") else None


def _string_for(property_: Property) -> str | None:
    """Fill in a required text that is not the one that is stored."""
    words = words_of(property_.name)
    if not words:
        return None
    if words[0] in FILLED_BY["first"] and all(one in ARGUMENTS["of_spaces"] for one in words[1:]):
        return FILLED_BY["first"][words[0]]
    last = FILLED_BY["last"].get(words[-1])
    if last == "{id}" and not set(words).isdisjoint(ARGUMENTS["referred"]):
        last = None
    return FILLED_BY["whole"].get(_joined(property_), last)


def _takes_texts(property_: Property) -> bool:
    """Return whether an argument takes a list of texts."""
    return property_.takes("array") and property_.items().takes("string")


def _joined(property_: Property) -> str:
    """Write a name as words with blanks between."""
    return " ".join(words_of(property_.name))
