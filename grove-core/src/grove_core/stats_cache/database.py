"""The tables of the statistics cache: what is kept of the event logs, and of the learnings."""

import sqlite3

from grove_core.stats.batch import MICROSECONDS_A_DAY, REFERENCED, SURFACED, Batch

# typing.TYPE_CHECKING, without the import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA_VERSION = 3

SCHEMA = """
CREATE TABLE log (
    path TEXT PRIMARY KEY, file TEXT, changed TEXT, size INTEGER, offset INTEGER, lines INTEGER,
    checksum INTEGER, tail INTEGER, torn INTEGER, unknown INTEGER, unreadable INTEGER
);
CREATE TABLE unreadable (path TEXT, line INTEGER, PRIMARY KEY (path, line)) WITHOUT ROWID;
CREATE TABLE seen (line INTEGER PRIMARY KEY);
CREATE TABLE learning (
    learning INTEGER PRIMARY KEY, name TEXT, surfaced INTEGER DEFAULT 0,
    referenced INTEGER DEFAULT 0, dismissed INTEGER DEFAULT 0, corrected INTEGER DEFAULT 0,
    last_surfaced INTEGER, last_referenced INTEGER, last_restored INTEGER,
    tickets INTEGER DEFAULT 0, useful INTEGER DEFAULT 0, useless INTEGER DEFAULT 0
);
CREATE TABLE use (
    learning INTEGER, session INTEGER, surfaced INTEGER, referenced INTEGER, dismissed INTEGER,
    PRIMARY KEY (learning, session)
) WITHOUT ROWID;
CREATE TABLE used_for (
    learning INTEGER, ticket TEXT, moment INTEGER, PRIMARY KEY (learning, ticket)
) WITHOUT ROWID;
CREATE TABLE counter (
    name TEXT, day INTEGER, number INTEGER, PRIMARY KEY (name, day)
) WITHOUT ROWID;
CREATE TABLE ticket (name TEXT PRIMARY KEY, skipped INTEGER, accepted INTEGER) WITHOUT ROWID;
CREATE TABLE rejected (
    rejected INTEGER PRIMARY KEY, moment INTEGER, session TEXT, summary TEXT, tags TEXT
);
CREATE INDEX rejected_by_moment ON rejected (moment);
CREATE TABLE correction (learning INTEGER, moment INTEGER, successor TEXT);
CREATE TABLE catalogue (
    learning INTEGER PRIMARY KEY, name TEXT, summary TEXT, category TEXT, scope TEXT,
    status TEXT, confidence TEXT, criteria TEXT, tags TEXT, created INTEGER, session TEXT,
    ticket TEXT, backend TEXT, used_at_home INTEGER
);
CREATE TABLE day (
    category TEXT, scope TEXT, day INTEGER, surfaced INTEGER, referenced INTEGER,
    PRIMARY KEY (day, category, scope)
) WITHOUT ROWID;
CREATE TABLE edge (day INTEGER PRIMARY KEY, number INTEGER);
CREATE TABLE miss (rejected INTEGER PRIMARY KEY, learning INTEGER, accepted INTEGER);
CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
"""
# Learnings of which something was added in this transaction, and the rows of `use` that an addition
# changes.
TEMPORARY = """
CREATE TEMP TABLE fresh (learning INTEGER PRIMARY KEY);
CREATE TEMP TABLE touched (
    learning INTEGER, session INTEGER, PRIMARY KEY (learning, session)
) WITHOUT ROWID;
CREATE TEMP TABLE touched_edge (
    learning INTEGER, ticket TEXT, PRIMARY KEY (learning, ticket)
) WITHOUT ROWID;
"""
_ALL = "use"
_TOUCHED = "touched CROSS JOIN use USING (learning, session)"

# What some rows of `use` add to the groups and days of `day`.
_DAYS = f"""
INSERT INTO day
SELECT coalesce(category, ''), coalesce(scope, ''), moment / {MICROSECONDS_A_DAY},
       :sign * sum(surfaced), :sign * sum(referenced)
FROM (
    SELECT learning, surfaced AS moment, 1 AS surfaced, 0 AS referenced FROM {{0}}
    WHERE surfaced IS NOT NULL
    UNION ALL
    SELECT learning, referenced, 0, 1 FROM {{0}} WHERE referenced IS NOT NULL
) LEFT JOIN catalogue USING (learning)
GROUP BY 1, 2, 3
ON CONFLICT (day, category, scope) DO UPDATE SET
    surfaced = surfaced + excluded.surfaced, referenced = referenced + excluded.referenced
"""

_ALL_EDGES = "used_for"
_TOUCHED_EDGES = "touched_edge CROSS JOIN used_for USING (learning, ticket)"

# On which days other tickets than a learning's own first used it.
_EDGES = f"""
INSERT INTO edge
SELECT moment / {MICROSECONDS_A_DAY}, :sign * count(*)
FROM (SELECT learning, ticket AS user, moment FROM {{0}}) JOIN catalogue USING (learning)
WHERE catalogue.ticket != '' AND catalogue.ticket != user
GROUP BY 1
ON CONFLICT (day) DO UPDATE SET number = number + excluded.number
"""

_LEARNINGS = """
INSERT INTO learning (learning, name) VALUES (?, ?) ON CONFLICT DO NOTHING
"""
_USES = """
INSERT INTO use VALUES (?, ?, ?, ?, ?)
ON CONFLICT (learning, session) DO UPDATE SET
    surfaced = coalesce(min(surfaced, excluded.surfaced), surfaced, excluded.surfaced),
    referenced = coalesce(min(referenced, excluded.referenced), referenced, excluded.referenced),
    dismissed = coalesce(min(dismissed, excluded.dismissed), dismissed, excluded.dismissed)
"""
_TOTALS = """
UPDATE learning SET
    (surfaced, referenced, dismissed) = (
        SELECT count(surfaced), count(referenced),
            count(CASE WHEN referenced IS NULL THEN dismissed END)
        FROM use WHERE use.learning = learning.learning
    ),
    tickets = (SELECT count(*) FROM used_for WHERE used_for.learning = learning.learning)
WHERE learning IN (SELECT learning FROM fresh)
"""
# Whether the ticket that a learning came from is among those it was used for.
_AT_HOME = """
UPDATE catalogue SET used_at_home = EXISTS (
    SELECT 1 FROM used_for
    WHERE used_for.learning = catalogue.learning AND used_for.ticket = catalogue.ticket
)
WHERE learning IN (SELECT learning FROM fresh)
"""
_LATEST = "UPDATE learning SET {0} = max(coalesce({0}, ?1), ?1) WHERE learning = ?2"
_MARKS = """
UPDATE learning SET corrected = corrected + ?, useful = useful + ?, useless = useless + ?
WHERE learning = ?
"""
_USED_FOR = """
INSERT INTO used_for VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET
    moment = min(moment, excluded.moment)
"""
_COUNTERS = """
INSERT INTO counter VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET number = number + excluded.number
"""
_TICKETS = """
INSERT INTO ticket VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET
    skipped = coalesce(min(skipped, excluded.skipped), skipped, excluded.skipped),
    accepted = coalesce(max(accepted, excluded.accepted), accepted, excluded.accepted)
"""
_LATEST_COLUMNS = {SURFACED: "last_surfaced", REFERENCED: "last_referenced"}


def is_seen(connection: sqlite3.Connection, line: int) -> bool:
    """Return whether a line was added before."""
    found = connection.execute("SELECT 1 FROM seen WHERE line = ?", (line,)).fetchone()
    return found is not None


def add(
    connection: sqlite3.Connection, batch: Batch, lines: "Iterable[int]", *, anew: bool
) -> None:
    """Add a batch; totals are right again after ``settle``."""
    many = connection.executemany
    many(_LEARNINGS, batch.names.items())
    many("INSERT OR IGNORE INTO fresh VALUES (?)", ((learning,) for learning in batch.names))
    many("INSERT INTO seen VALUES (?)", ((line,) for line in sorted(lines)))
    uses = sorted((*pair, *moments) for pair, moments in batch.uses.items())
    if not anew:
        many("INSERT INTO touched VALUES (?, ?)", sorted(batch.uses))
        connection.execute(_DAYS.format(_TOUCHED), {"sign": -1})
    many(_USES, uses)
    if not anew:
        connection.execute(_DAYS.format(_TOUCHED), {"sign": 1})
        connection.execute("DELETE FROM touched")
    for use, column in _LATEST_COLUMNS.items():
        latest = ((moment, one) for (one, which), moment in batch.latest.items() if which == use)
        many(_LATEST.format(column), latest)
    restored = ((moment, learning) for learning, moment in batch.restored.items())
    many(_LATEST.format("last_restored"), restored)
    many(_MARKS, ((*marks, learning) for learning, marks in batch.marks.items()))
    if not anew:
        many("INSERT INTO touched_edge VALUES (?, ?)", batch.used_for)
        connection.execute(_EDGES.format(_TOUCHED_EDGES), {"sign": -1})
    many(_USED_FOR, ((*pair, moment) for pair, moment in batch.used_for.items()))
    if not anew:
        connection.execute(_EDGES.format(_TOUCHED_EDGES), {"sign": 1})
        connection.execute("DELETE FROM touched_edge")
    many(_COUNTERS, ((*key, number) for key, number in batch.counters.items()))
    connection.execute(_COUNTERS, ("events", 0, batch.events))
    many(_TICKETS, ((name, moment, None) for name, moment in batch.skipped.items()))
    many(_TICKETS, ((name, None, moment) for name, moment in batch.accepted.items()))
    rejected = "INSERT INTO rejected (moment, session, summary, tags) VALUES (?, ?, ?, ?)"
    many(rejected, batch.rejected)
    many("INSERT INTO correction VALUES (?, ?, ?)", batch.corrections)


def settle(connection: sqlite3.Connection, *, anew: bool) -> None:
    """Make right what follows from what was added."""
    connection.execute(_TOTALS)
    connection.execute(_AT_HOME)
    if anew:
        connection.execute(_DAYS.format(_ALL), {"sign": 1})
        connection.execute(_EDGES.format(_ALL_EDGES), {"sign": 1})
    connection.execute("DELETE FROM fresh")


def join_anew(connection: sqlite3.Connection) -> None:
    """Recompute what depends on both logs and learnings after learnings changed."""
    connection.execute("DELETE FROM day")
    connection.execute("DELETE FROM edge")
    connection.execute("DELETE FROM miss")
    connection.execute("INSERT INTO fresh SELECT learning FROM learning")
    connection.execute(_AT_HOME)
    connection.execute(_DAYS.format(_ALL), {"sign": 1})
    connection.execute(_EDGES.format(_ALL_EDGES), {"sign": 1})
    connection.execute("DELETE FROM fresh")
