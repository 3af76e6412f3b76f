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

_STRONG: Final = 4
_KINS: Final = (
    frozenset("entity entities node nodes graph".split()),
    frozenset("document documents chunk chunks passage passages".split()),
)
_NOT_WRITING: Final = TOOLS["destroying"] | TOOLS["sweeping"] | TOOLS["overwriting"]
_NOT_SEARCHING: Final = TOOLS["destroying"] | CHANGING
_OTHER_NOUNS: Final = TOOLS["modifiers"] | TOOLS["other_nouns"]
_MOST_TOOLS: Final = 500
_SHARE_OF_PREFIX: Final = 0.6
_BY_TEXT: Final = frozenset("text query content keyword keywords meaning similarity vector".split())
_MEANING: Final = frozenset(
    "semantic vector similar similarity embedding embeddings hybrid recall retrieve k topk"
    " threshold qdrant chroma pinecone weaviate milvus lancedb faiss texts".split()
)
# Not ``memory``: containers have that, too.
_KEPT: Final = frozenset("observations observation memories episode_body lesson insight".split())


class _Named(NamedTuple):
    """What the name of a tool says."""

    points: float
    is_sure: bool
    strength: int


class _Rated(NamedTuple):
    """A tool that may be meant."""

    points: float
    tool: Tool
    filled: Filled


def recognise(tools: Sequence[Tool], server_name: str = "") -> ServerMapping:
    """Find the tools that store and find."""
    known = tools[:_MOST_TOOLS]
    around = _Surroundings(known, server_name)
    found = _best(_rated_search(tool, around) for tool in known)
    sought = _kin(found.tool.name) if found else None
    stored = _best(_rated_writer(tool, around, sought) for tool in known)
    search = write = None
    if found is not None:
        mode = "words" if _MEANING.isdisjoint(_all_words(found.tool)) else "whole"
        search = Search(tool=found.tool.name, arguments=found.filled.arguments, query_mode=mode)
    if stored is not None:
        write = Write(tool=stored.tool.name, arguments=stored.filled.arguments)
    return ServerMapping(write=write, search=search)


def _all_words(tool: Tool) -> Iterable[str]:
    names = (tool.name, *(one.name for one in arguments_of(tool)))
    return [word for name in names for word in words_of(name)]


class _Surroundings:
    """What the tools of a server say about each other."""

    def __init__(self, tools: Sequence[Tool], server_name: str) -> None:
        names = [words_of(tool.name) for tool in tools]
        named = words_of(server_name)
        self.first_verb = _shared_verb(names)
        """A verb that names the server: all its tools start with it, and have another one."""
        self.known_words = frozenset((*_prefix(names), *named))
        """Words that name the server, and not what a tool does."""
        self.is_memory = (
            not TOOLS["stores"].isdisjoint(named)
            or any(map(speak_of_memory, (named, *names)))
            or any(map(_has_argument_of_memory, tools))
        )
        """Whether its name, or that of a tool or an argument, shows that it is a memory."""


def _best(rated: Iterable[_Rated | None]) -> _Rated | None:
    """Choose the tool with the most points; of two, the one with the shorter name."""
    candidates = [one for one in rated if one is not None]
    return min(
        candidates,
        key=lambda one: (-one.points, len(one.tool.name), one.tool.name),
        default=None,
    )


def _rated_writer(tool: Tool, around: _Surroundings, sought: int | None) -> _Rated | None:
    """Rate a tool that may store; ``sought`` is the kin of what the chosen search finds."""
    named = _named(tool, WRITE_VERBS, around)
    is_reader = tool.annotations.get("readOnlyHint") is True
    if named is None or is_reader or not _NOT_WRITING.isdisjoint(words_of(tool.name)):
        return None
    filled = filled_to_write(tool)
    if filled is None or not (filled.is_required or named.strength >= _STRONG):
        return None
    points = named.points + 2 * filled.is_required - filled.others / 2
    kin = _kin(tool.name)
    if kin is not None and sought is not None:
        points += 2 if kin == sought else -2
    return _Rated(points, tool, filled)


def _rated_search(tool: Tool, around: _Surroundings) -> _Rated | None:
    named = _named(tool, SEARCH_VERBS, around)
    hints = tool.annotations
    destroys = hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True
    if named is None or destroys or not _NOT_SEARCHING.isdisjoint(words_of(tool.name)):
        return None
    filled = filled_to_search(tool)
    if filled is None or not (filled.is_required or named.strength > 1):
        return None
    return _Rated(named.points + 1 + filled.is_required - filled.others / 2, tool, filled)


def _named(tool: Tool, wanted: Mapping[str, int], around: _Surroundings) -> _Named | None:
    """Rate the name of a tool; ``None`` where it names something else."""
    words = words_of(tool.name)
    if words[:1] == (around.first_verb,):
        words = words[1:]
    index = _verb_in(words)
    if index is None or words[index] not in wanted:
        return None
    after, by = _divided(words[index + 1 :])
    if not _nouns(after):
        after = words[:index]
    nouns = _nouns([word for word in after if word not in TOOLS["other_verbs"]])
    rated = _rated_nouns(nouns, words, around)
    if rated is None:
        return None
    points, is_sure = rated
    points += wanted[words[index]]
    if by and not _BY_TEXT.issuperset(by):
        points -= 3
    if not TOOLS["many"].isdisjoint(words):
        points -= 2
    is_sure = is_sure or words[index] in TOOLS["memory_verbs"] or around.is_memory
    return _Named(points, is_sure, wanted[words[index]]) if is_sure else None


def _verb_in(words: Sequence[str]) -> int | None:
    """Find the verb of a name: its last word where the first is none, else the first verb."""
    found = [index for index, word in enumerate(words) if _is_verb(word)]
    if not found:
        return None
    is_last = found[-1] == len(words) - 1
    return found[-1] if is_last and found[0] != 0 else found[0]


def _is_verb(word: str) -> bool:
    return word in SEARCH_VERBS or word in WRITE_VERBS or word in TOOLS["other_verbs"]


def _kin(name: str) -> int | None:
    """Return which of the things that one server may keep apart a name speaks of."""
    words = words_of(name)
    return next((index for index, kin in enumerate(_KINS) if not kin.isdisjoint(words)), None)


def _divided(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Cut off ``by something``."""
    index = words.index("by") if "by" in words else len(words)
    return words[:index], words[index + 1 :]


def _nouns(words: Sequence[str]) -> Sequence[str]:
    """Leave out words that only say how."""
    return [word for word in words if word not in TOOLS["qualifiers"] | TOOLS["many"]]


def _rated_nouns(
    nouns: Sequence[str], words: Sequence[str], around: _Surroundings
) -> tuple[float, bool] | None:
    """Rate what a tool works on; ``None`` where that is something else, or not known."""
    others = _OTHER_NOUNS.intersection(words)
    if not TOOLS["modifiers"].issuperset(others):
        return None
    named = [word for word in nouns if word not in around.known_words or _is_known(word)]
    if not named:
        return (0.0, False) if not others else None
    of_memory = any(map(is_of_memory, named))
    if named[-1] in others or not _is_known(named[-1]) or (others and not of_memory):
        return None
    points = 3.0 if of_memory else 1.0
    return points - 3 * bool(others), of_memory or named[-1] in TOOLS["stores"]


def _is_known(word: str) -> bool:
    """Return whether a noun may be what a memory keeps, or is named by."""
    return is_of_memory(word) or word in TOOLS["plain_nouns"] or word in TOOLS["stores"]


def _has_argument_of_memory(tool: Tool) -> bool:
    arguments = arguments_of(tool)
    inner = [one.name for outer in arguments for one in outer.items().members()]
    return not _KEPT.isdisjoint([*(one.name.lower() for one in arguments), *inner])


def _prefix(names: Sequence[Sequence[str]]) -> Sequence[str]:
    """Find the words that most names start with."""
    found: list[str] = []
    while len(names) > 1:
        firsts = Counter(words[0] for words in names if words)
        word, count = next(iter(firsts.most_common(1)), ("", 0))
        if _is_verb(word) or count < max(2, _SHARE_OF_PREFIX * len(names)):
            break
        found.append(word)
        names = [words[1:] for words in names if words and words[0] == word]
    return found


def _shared_verb(names: Sequence[Sequence[str]]) -> str | None:
    """Find the verb that most names start with, besides another verb."""
    firsts = Counter(words[0] for words in names if words and _verb_in(words[1:]) is not None)
    word, count = next(iter(firsts.most_common(1)), ("", 0))
    is_verb = word in SEARCH_VERBS or word in WRITE_VERBS
    is_shared = len(names) > 1 and count >= _SHARE_OF_PREFIX * len(names)
    return word if is_verb and is_shared else None
