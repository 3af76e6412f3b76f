"""Which tools of an unknown server store and find, told by names and schemas only."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from attrs import frozen

from grove_backend_mcp.mappings.filling import Filled, filled_to_search, filled_to_write
from grove_backend_mcp.mappings.mapping import Operation, QueryMode, ServerMapping
from grove_backend_mcp.mappings.schemas import arguments_of, items_of, properties_of
from grove_backend_mcp.mappings.words import (
    CHANGING,
    DESTROYING,
    MANY,
    MEMORY_VERBS,
    MODIFIERS,
    OTHER_NOUNS,
    OTHER_VERBS,
    OVERWRITING,
    PLAIN_NOUNS,
    QUALIFIERS,
    SEARCH_VERBS,
    STORES,
    SWEEPING,
    WRITE_VERBS,
    is_of_memory,
    speak_of_memory,
    words_of,
)
from grove_backend_mcp.tools import Tool

_STRONG: Final = 4
_NOUN_OF_MEMORY: Final = 3.0
_PLAIN_NOUN: Final = 1.0
_IS_REQUIRED: Final = 2.0
_IS_OPTIONAL: Final = 1.0
_OTHER_ARGUMENT: Final = 0.5
_MODIFIED: Final = 3.0
_BY_SOMETHING: Final = 3.0
_AT_ONCE: Final = 2.0
_IS_KIN: Final = 2.0
_KINS: Final = (
    frozenset("entity entities node nodes graph".split()),
    frozenset("document documents chunk chunks passage passages".split()),
)
_NOT_WRITING: Final = DESTROYING | SWEEPING | OVERWRITING
_NOT_SEARCHING: Final = DESTROYING | CHANGING
_MOST_TOOLS: Final = 500
_SHARE_OF_PREFIX: Final = 0.6
_LEAST_SHARING: Final = 2
_BY_TEXT: Final = frozenset("text query content keyword keywords meaning similarity vector".split())
_MEANING: Final = frozenset(
    "semantic vector similar similarity embedding embeddings hybrid recall retrieve k topk"
    " threshold qdrant chroma pinecone weaviate milvus lancedb faiss texts".split()
)
# Not ``memory``: containers have that, too.
_KEPT: Final = frozenset("observations observation memories episode_body lesson insight".split())


@frozen(kw_only=True)
class _Named:
    """What the name of a tool says."""

    points: float
    is_sure: bool
    strength: int


def recognise(tools: Sequence[Tool], server_name: str = "") -> ServerMapping:
    """Find the tools that store and find."""
    known = tools[:_MOST_TOOLS]
    around = _Surroundings(known, server_name)
    search = _best(known, lambda tool: _rated_search(tool, around))
    sought = _kin(search.tool) if search else None
    write = _best(known, lambda tool: _rated_writer(tool, around, sought))
    return ServerMapping(
        write=write,
        search=search,
        query_mode=_query_mode(known, search),
    )


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
            speak_of_memory(named)
            or not STORES.isdisjoint(named)
            or any(map(speak_of_memory, names))
            or any(map(_has_argument_of_memory, tools))
        )
        """Whether its name, or that of a tool or an argument, shows that it is a memory."""


def _best(
    tools: Sequence[Tool], rated: Callable[[Tool], tuple[float, Filled] | None]
) -> Operation | None:
    """Choose the tool with the most points."""
    candidates = [(found, tool.name) for tool in tools if (found := rated(tool)) is not None]
    if not candidates:
        return None
    (_, filled), name = min(candidates, key=lambda one: (-one[0][0], len(one[1]), one[1]))
    return Operation(tool=name, arguments=filled.arguments)


def _rated_writer(
    tool: Tool, around: _Surroundings, sought: int | None
) -> tuple[float, Filled] | None:
    """Rate a tool that may store; ``sought`` is the kin of what the chosen search finds."""
    if not _NOT_WRITING.isdisjoint(words_of(tool.name)):
        return None
    named = _named(tool, WRITE_VERBS, around)
    if named is None or tool.annotations.get("readOnlyHint") is True:
        return None
    filled = filled_to_write(tool)
    if filled is None or not (filled.is_required or named.strength >= _STRONG):
        return None
    if not (named.is_sure or around.is_memory):
        return None
    points = named.points + (_IS_REQUIRED if filled.is_required else 0)
    kin = _kin(tool.name)
    if kin is not None and sought is not None:
        points += _IS_KIN if kin == sought else -_IS_KIN
    return points - _OTHER_ARGUMENT * filled.others, filled


def _rated_search(tool: Tool, around: _Surroundings) -> tuple[float, Filled] | None:
    if not _NOT_SEARCHING.isdisjoint(words_of(tool.name)):
        return None
    named = _named(tool, SEARCH_VERBS, around)
    hints = tool.annotations
    if hints.get("destructiveHint") is True and hints.get("readOnlyHint") is not True:
        return None
    if named is None or not (named.is_sure or around.is_memory):
        return None
    filled = filled_to_search(tool)
    if filled is None or not (filled.is_required or named.strength > 1):
        return None
    points = named.points + (_IS_REQUIRED if filled.is_required else _IS_OPTIONAL)
    return points - _OTHER_ARGUMENT * filled.others, filled


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
    nouns = _nouns([word for word in after if word not in OTHER_VERBS])
    rated = _rated_nouns(nouns, words, around)
    if rated is None:
        return None
    points, is_sure = rated
    points += wanted[words[index]]
    if by and not _BY_TEXT.issuperset(by):
        points -= _BY_SOMETHING
    if not MANY.isdisjoint(words):
        points -= _AT_ONCE
    is_sure = is_sure or words[index] in MEMORY_VERBS
    return _Named(points=points, is_sure=is_sure, strength=wanted[words[index]])


def _verb_in(words: Sequence[str]) -> int | None:
    """Find the verb of a name: its last word where the first is none, else the first verb."""
    verbs = {**SEARCH_VERBS, **WRITE_VERBS, **dict.fromkeys(OTHER_VERBS, 0)}
    found = [index for index, word in enumerate(words) if word in verbs]
    if not found:
        return None
    is_last = found[-1] == len(words) - 1
    return found[-1] if is_last and found[0] != 0 else found[0]


def _kin(name: str) -> int | None:
    """Return which of the things that one server may keep apart a name speaks of."""
    words = words_of(name)
    return next((index for index, kin in enumerate(_KINS) if not kin.isdisjoint(words)), None)


def _divided(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Cut off ``by something``."""
    if "by" not in words:
        return words, ()
    index = list(words).index("by")
    return words[:index], words[index + 1 :]


def _nouns(words: Sequence[str]) -> Sequence[str]:
    """Leave out words that only say how."""
    return [word for word in words if word not in QUALIFIERS and word not in MANY]


def _rated_nouns(
    nouns: Sequence[str], words: Sequence[str], around: _Surroundings
) -> tuple[float, bool] | None:
    """Rate what a tool works on; ``None`` where that is something else, or not known."""
    others = OTHER_NOUNS.intersection(words)
    if not MODIFIERS.issuperset(others):
        return None
    named = [word for word in nouns if word not in around.known_words or _is_known(word)]
    if not named:
        return (0.0, False) if not others else None
    head = named[-1]
    of_memory = any(map(is_of_memory, named))
    if head in others or not _is_known(head) or (others and not of_memory):
        return None
    points = _NOUN_OF_MEMORY if of_memory else _PLAIN_NOUN
    return points - (_MODIFIED if others else 0), of_memory or head in STORES


def _is_known(word: str) -> bool:
    """Return whether a noun may be what a memory keeps, or is named by."""
    return is_of_memory(word) or word in PLAIN_NOUNS or word in STORES


def _has_argument_of_memory(tool: Tool) -> bool:
    arguments = arguments_of(tool)
    inner = [
        one.name
        for outer in arguments
        for one in properties_of(items_of(outer, tool.schema), tool.schema)
    ]
    return not _KEPT.isdisjoint([*(one.name.lower() for one in arguments), *inner])


def _prefix(names: Sequence[Sequence[str]]) -> Sequence[str]:
    """Find the words that most names start with."""
    found: list[str] = []
    while len(names) > 1:
        firsts = Counter(words[0] for words in names if words)
        if not firsts:
            break
        word, count = firsts.most_common(1)[0]
        is_verb = word in SEARCH_VERBS or word in WRITE_VERBS or word in OTHER_VERBS
        if is_verb or count < max(_LEAST_SHARING, _SHARE_OF_PREFIX * len(names)):
            break
        found.append(word)
        names = [words[1:] for words in names if words and words[0] == word]
    return found


def _shared_verb(names: Sequence[Sequence[str]]) -> str | None:
    """Find the verb that most names start with, besides another verb."""
    firsts = Counter(words[0] for words in names if words and _verb_in(words[1:]) is not None)
    if len(names) < _LEAST_SHARING or not firsts:
        return None
    word, count = firsts.most_common(1)[0]
    is_verb = word in SEARCH_VERBS or word in WRITE_VERBS
    return word if is_verb and count >= _SHARE_OF_PREFIX * len(names) else None


def _query_mode(tools: Iterable[Tool], search: Operation | None) -> QueryMode:
    """Guess how a search takes several words: one by one is right for more servers."""
    if search is None:
        return QueryMode.WHOLE
    found = next(tool for tool in tools if tool.name == search.tool)
    words = {*words_of(found.name), *(w for one in found.properties for w in words_of(one))}
    return QueryMode.WORDS if _MEANING.isdisjoint(words) else QueryMode.WHOLE
