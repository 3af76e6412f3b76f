"""What the names of tools and arguments say, for the recogniser."""

import re
from collections.abc import Collection
from typing import Final

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_LONGEST_NAME: Final = 200


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


WRITE_VERBS: Final = {
    **dict.fromkeys("remember memorize memorise store save".split(), 4),
    **dict.fromkeys("add write record insert upsert put retain capture".split(), 3),
    **dict.fromkeys("create ingest learn log set".split(), 2),
}
"""Verbs of writing, and how much each tells."""

SEARCH_VERBS: Final = {
    "search": 4,
    **dict.fromkeys("find query retrieve recall lookup".split(), 3),
    **dict.fromkeys("get fetch match".split(), 1),
}
"""Verbs of searching, likewise."""

OTHER_VERBS: Final = _set(
    "update edit modify patch replace rename move delete remove forget clear purge drop reset erase"
    " wipe prune list read open view show browse count export import analyze analyse validate"
    " restore archive merge sync link unlink share send execute run call close rate verify build"
    " rebuild prime reprime process generate start stop commit resolve cache switch append prepend"
    " attach detach check test consolidate compress summarize extract init initialize upload"
    " download convert schedule assign claim reassign visualize traverse explore"
)
"""Verbs of everything else."""

DESTROYING: Final = _set(
    "delete remove forget clear purge drop reset erase wipe prune destroy truncate expunge expire"
    " evict discard trash flush nuke obliterate cleanup dedupe deduplicate"
)
"""Words of what takes away what is stored; beside a search, in the same tool, as well."""

SWEEPING: Final = _set("all everything everywhere pattern patterns")
"""Words of what reaches more than one thing."""

OVERWRITING: Final = _set("replace overwrite rewrite")
"""Words of what puts something else in the place of what is stored."""

CHANGING: Final = OVERWRITING | _set("update edit modify patch rename move merge")
"""Words of what changes what is stored."""

MEMORY_VERBS: Final = _set("remember memorize memorise recall")
"""Verbs that only a memory is named by."""

MEMORY_NOUNS: Final = _set(
    "mem note notes knowledge kb observation observations fact facts learning learnings lesson"
    " lessons insight insights thought thoughts episode episodes experience experiences reflection"
    " reflections recollection preference preferences journal diary zettel zettels brain"
    " decision decisions takeaway takeaways"
)
"""Nouns that a memory keeps; besides, each word with ``memor`` in it is one."""

_COMMON_NOUNS: Final = _set(
    "note notes fact facts decision decisions preference preferences experience experiences"
    " takeaway takeaways"
)
"""Those of them that issue trackers and the like have as well."""

PLAIN_NOUNS: Final = _set(
    "document documents content contents text texts information info entry entries record records"
    " item items node nodes entity entities data context contexts chunk chunks vector vectors"
    " embedding embeddings passage passages point points snippet snippets statement statements"
    " graph concept concepts"
)
"""Nouns that a memory may keep, and much else as well."""

STORES: Final = _set(
    "qdrant chroma chromadb pinecone weaviate milvus lancedb pgvector faiss obsidian zep mem0"
    " letta memgpt graphiti cognee rag vectordb vectorstore zettelkasten memento mnemo"
)
"""Names of stores that are memories, or that memories are built upon."""

QUALIFIERS: Final = _set(
    "a all an and advanced archival by core deep do exact fast for from full fulltext fts hybrid"
    " in into keyword keywords long my new of on or perform persistent quick relevant semantic"
    " short similar similarity simple store term text the to user vector with bank base"
)
"""Words that say how, and not what."""

MANY: Final = _set("batch bulk multiple many multi several")
"""Words of a tool that does more at once than is asked of it."""

MODIFIERS: Final = _set(
    "project projects mistake mistakes session sessions user users agent agents team task tasks"
    " code conversation conversations chat error errors related tag tags category"
)
"""Nouns of something else that may also stand before a noun of memory: ``team memory``."""

OTHER_NOUNS: Final = MODIFIERS | _set(
    "relation relations relationship relationships edge edges link links tool tools issue issues"
    " ticket tickets todo todos bug bugs story stories epic epics sprint board boards card cards"
    " repo repos repository repositories file files path directory directories folder folders"
    " commit commits branch branches pull request requests pr prs merge release releases"
    " event events calendar calendars meeting meetings email emails mail mails message messages"
    " channel channels thread threads contact contacts customer customers order orders product"
    " products payment payments invoice invoices page pages database databases db table tables row"
    " rows column columns sql collection collections corpus corpora dataset datasets index indexes"
    " indices bucket buckets block blocks web website site sites url urls browser crawl image"
    " images video videos photo photos audio symbol symbols function functions class classes"
    " workflow workflows plan plans checkpoint checkpoints config configuration setting settings"
    " template templates prompt prompts model models schema schemas role roles account accounts"
    " deployment deployments pipeline pipelines job jobs build builds cluster clusters pod pods"
    " container containers docker metric metrics logs alert alerts dashboard dashboards history"
    " comment comments attachment attachments system usage heap leak leaks ram gpu cpu disk"
    " library libraries package packages"
    " doc docs api endpoint endpoints server servers variable variables environment"
    " secret secrets key keys flight flights hotel hotels place places map maps weather news tweet"
    " tweets post posts person people company companies paper papers article articles dimension"
    " label labels property properties attribute attributes question questions answer answers"
)
"""Nouns of something else."""


def words_of(name: str) -> tuple[str, ...]:
    """Take a name apart."""
    return tuple(word.lower() for word in _WORD.findall(name[:_LONGEST_NAME]))


def is_of_memory(word: str) -> bool:
    """Return whether a word is a noun of memory."""
    return word in MEMORY_NOUNS or "memor" in word


def speak_of_memory(words: Collection[str]) -> bool:
    """Return whether a name shows that its whole server is a memory."""
    if not OTHER_NOUNS.difference(MODIFIERS).isdisjoint(words):
        return False
    return any(
        word in STORES or word in MEMORY_VERBS or (is_of_memory(word) and word not in _COMMON_NOUNS)
        for word in words
    )
