"""The stems of English words, by the Porter tokenizer of SQLite's full-text search."""

import sqlite3
from collections.abc import Iterable
from threading import Lock
from typing import Final

_TABLES: Final = """
CREATE VIRTUAL TABLE word USING fts5 (
    text, tokenize = 'porter ascii', content = '', columnsize = 0
);
CREATE VIRTUAL TABLE stem USING fts5vocab (word, instance);
"""
_MOST_KEPT: Final = 50_000

STOP_WORDS: Final = frozenset(
    (
        "a about above after again against all also am an and any are as at be because been before "
        "being below between both but by can cannot could did do does doing done down during each "
        "eg etc even every few for from further get gets got had has have having he her here hers "
        "him his how i if in into is it its itself just let like ll made make makes many may me "
        "might more most much must my need needs new no nor not now of off on once one only or "
        "other our out over own per rather re same she should since so some still such than that "
        "the their them then there these they this those through to too under until up upon us "
        "use used uses using ve very via vs was we were what when where whether which while who "
        "whom whose why will with within without would yet you your"
    ).split()
)
"""Words that say nothing of what a text is about."""

_kept: dict[str, str] = {}
_lock: Final = Lock()
_opened: list[sqlite3.Connection] = []


def stems(words: Iterable[str]) -> dict[str, str]:
    """Map words to their stems; what is not made of ASCII letters only is its own stem."""
    wanted = set(words)
    with _lock:
        new = [one for one in wanted if one not in _kept and one.isascii() and one.isalpha()]
        if new:
            if len(_kept) > _MOST_KEPT:
                _kept.clear()
            _kept.update(_tokenized(new))
        return {one: _kept.get(one, one) for one in wanted}


def _tokenized(words: list[str]) -> dict[str, str]:
    if not _opened:
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        connection.executescript(_TABLES)
        _opened.append(connection)
    connection = _opened[0]
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO word (rowid, text) VALUES (?, ?)", enumerate(words))
    found = {words[row]: stem for stem, row in connection.execute("SELECT term, doc FROM stem")}
    connection.execute("ROLLBACK")
    return found
