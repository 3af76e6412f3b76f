"""Which tools of an unknown server may store and find, told by names and schemas only."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from grove_backend_mcp.mappings.filling import Filled, filled_to_search, filled_to_write
from grove_backend_mcp.mappings.mapping import Search, ServerMapping, Write
from grove_backend_mcp.mappings.schemas import arguments_of
from grove_backend_mcp.mappings.words import (
    CHANGING,
    SEARCH_VERBS,
    TOOLS,
    WRITE_VERBS,
    is_of_memory,
    speak_of_memory,
    words_of,
)
from grove_backend_mcp.servers import Tool

_KINS: Final = (
    frozenset("entity entities node nodes graph".split()),
    frozenset("document documents chunk chunks passage passages".split()),
)
_NOT_WRITING: Final = TOOLS["destroying"] | TOOLS["sweeping"] | TOOLS["overwriting"]
_NOT_SEARCHING: Final = TOOLS["destroying"] | CHANGING
_OTHER_NOUNS: Final = TOOLS["modifiers"] | TOOLS["other_nouns"]
_NO_NOUNS: Final = TOOLS["qualifiers"] | TOOLS["many"] | TOOLS["other_verbs"]
_MOST_TOOLS: Final = 500
_SHARE: Final = 0.6


class _Rated(NamedTuple):
    """A tool that may be meant."""

    points: float
    tool: Tool
    filled: Filled


class _Surroundings(NamedTuple):
    """What the tools of a server say about each other."""

    is_memory: bool
    first_verb: str
    """A verb that names the server: its tools start with it, and have another one."""


def recognise(tools: Sequence[Tool], server_name: str = "") -> ServerMapping:
    """Find the tools that store and find."""
    known = tools[:_MOST_TOOLS]
    around = _surroundings(known, words_of(server_name))
    found = _best(_rated_search(tool, around) for tool in known)
    sought = _kin(found.tool.name) if found else None
    stored = _best(_rated_writer(tool, around, sought) for tool in known)
    search = write = None
    if found is not None:
        names = (found.tool.name, *(one.name for one in arguments_of(found.tool)))
        mode = "words" if TOOLS["of_meaning"].isdisjoint(words_of(" ".join(names))) else "whole"
        search = Search(tool=found.tool.name, arguments=found.filled.arguments, query_mode=mode)
    if stored is not None:
        write = Write(tool=stored.tool.name, arguments=stored.filled.arguments)
    return ServerMapping(write=write, search=search)


def _surroundings(tools: Sequence[Tool], named: Sequence[str]) -> _Surroundings:
    names = [words_of(tool.name) for tool in tools]
    firsts = Counter(words[0] for words in names if words and _verb_in(words[1:]) is not None)
    verb, count = next(iter(firsts.most_common(1)), ("", 0))
    is_shared = len(names) > 1 and count >= _SHARE * len(names)
    is_memory = (
        not TOOLS["stores"].isdisjoint(named)
        or any(map(speak_of_memory, (named, *names)))
        or any(map(_has_argument_of_memory, tools))
    )
    return _Surroundings(is_memory, verb if is_shared and _is_verb(verb) else "")


def _has_argument_of_memory(tool: Tool) -> bool:
    arguments = arguments_of(tool)
    inner = [one.name for outer in arguments for one in outer.items().members()]
    return not TOOLS["kept"].isdisjoint([*(one.name.lower() for one in arguments), *inner])


def _best(rated: Iterable[_Rated | None]) -> _Rated | None:
    """Choose the tool with the most points; of two, the one with the shorter name."""
    return min(
        (one for one in rated if one is not None),
        key=lambda one: (-one.points, len(one.tool.name), one.tool.name),
        default=None,
    )


def _rated_writer(tool: Tool, around: _Surroundings, sought: int | None) -> _Rated | None:
    """Rate a tool that may store; ``sought`` is the kin of what the chosen search finds."""
    points, filled = _points_of(tool, WRITE_VERBS, around), filled_to_write(tool)
    is_reader = tool.annotations.get("readOnlyHint") is True
    if points is None or filled is None or is_reader:
        return None
    if not _NOT_WRITING.isdisjoint(words_of(tool.name)):
        return None
    kin = _kin(tool.name)
    if kin is not None and sought is not None:
        points += 2 if kin == sought else -2
    return _Rated(points + 2 * filled.is_required, tool, filled)


def _rated_search(tool: Tool, around: _Surroundings) -> _Rated | None:
    points, filled = _points_of(tool, SEARCH_VERBS, around), filled_to_search(tool)
    hints = tool.annotations
    destroys = hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True
    if points is None or filled is None or destroys:
        return None
    if not _NOT_SEARCHING.isdisjoint(words_of(tool.name)):
        return None
    return _Rated(points + filled.is_required, tool, filled)


def _kin(name: str) -> int | None:
    """Return which of the things that one server may keep apart a name speaks of."""
    words = words_of(name)
    return next((index for index, kin in enumerate(_KINS) if not kin.isdisjoint(words)), None)


def _points_of(tool: Tool, wanted: Mapping[str, int], around: _Surroundings) -> float | None:
    """Rate the name of a tool; ``None`` where it names something else than is wanted."""
    words = words_of(tool.name)
    if words[:1] == (around.first_verb,):
        words = words[1:]
    index = _verb_in(words)
    if index is None or words[index] not in wanted:
        return None
    nouns = _nouns(words[index + 1 :]) or _nouns(words[:index])
    others = _OTHER_NOUNS.intersection(words)
    of_memory = any(map(is_of_memory, nouns))
    if others and (not of_memory or nouns[-1] in others or not TOOLS["modifiers"] >= others):
        return None
    last = nouns[-1] if nouns else ""
    is_sure = of_memory or words[index] in TOOLS["memory_verbs"] or around.is_memory
    if not (is_sure or last in TOOLS["stores"]) or (last and not _is_known(last)):
        return None
    points = (3.0 if of_memory else 1.0) * bool(nouns) + wanted[words[index]] - 3 * bool(others)
    return points - (0 if TOOLS["many"].isdisjoint(words) else 2)


def _nouns(words: Sequence[str]) -> Sequence[str]:
    """Leave out words that only say how."""
    return [word for word in words if word not in _NO_NOUNS]


def _is_known(word: str) -> bool:
    """Return whether a noun may be what a memory keeps, or is named by."""
    return is_of_memory(word) or word in TOOLS["plain_nouns"] or word in TOOLS["stores"]


def _verb_in(words: Sequence[str]) -> int | None:
    return next((index for index, word in enumerate(words) if _is_verb(word)), None)


def _is_verb(word: str) -> bool:
    return word in SEARCH_VERBS or word in WRITE_VERBS or word in TOOLS["other_verbs"]
