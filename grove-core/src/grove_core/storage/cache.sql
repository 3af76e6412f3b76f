-- What is kept of a project between processes. All of it can be rebuilt from other files.

-- By name: the fingerprint of what was last put in.
CREATE TABLE meta (name TEXT PRIMARY KEY, fingerprint TEXT) WITHOUT ROWID;

-- The index of learnings. Numbers grow with time and are below zero where it may not be shown.
CREATE TABLE source (source INTEGER PRIMARY KEY, name TEXT UNIQUE, mark BLOB, updates INTEGER);
CREATE TABLE entry (
    number INTEGER PRIMARY KEY, source INTEGER, digest INTEGER, id TEXT, backend TEXT,
    personal INTEGER, status TEXT, scope TEXT, category TEXT, confidence TEXT, created INTEGER,
    complete INTEGER, document TEXT, summary TEXT, tags TEXT, detail TEXT, paths TEXT, keys TEXT
);
CREATE UNIQUE INDEX entry_by_id ON entry (id, source);
CREATE INDEX entry_by_source ON entry (source, id, digest);
CREATE VIRTUAL TABLE term USING fts5 (
    summary, tags, detail, paths, keys,
    content = 'entry', content_rowid = 'number', tokenize = 'ascii', detail = none, columnsize = 0
);
-- How many learnings hold a term, and how long their texts are: of all (own = 0), and of those
-- that tell what is rare in the project.
CREATE TABLE frequency (term TEXT PRIMARY KEY, documents INTEGER, own INTEGER) WITHOUT ROWID;
CREATE TABLE total (
    own INTEGER PRIMARY KEY, documents INTEGER, summary INTEGER, tags INTEGER, detail INTEGER,
    paths INTEGER, keys INTEGER
);
INSERT INTO total VALUES (0, 0, 0, 0, 0, 0, 0), (1, 0, 0, 0, 0, 0, 0);
CREATE TABLE named_file (path TEXT, number INTEGER, PRIMARY KEY (path, number)) WITHOUT ROWID;

-- The event logs, as far as they were read.
CREATE TABLE log (
    path TEXT PRIMARY KEY, file TEXT, changed TEXT, size INTEGER, offset INTEGER, lines INTEGER,
    tail INTEGER, torn INTEGER, unknown INTEGER, unreadable INTEGER
);
CREATE TABLE unreadable (path TEXT, line INTEGER, PRIMARY KEY (path, line)) WITHOUT ROWID;
CREATE TABLE seen (line INTEGER PRIMARY KEY);
-- What their events add up to. Learnings and sessions are fingerprints of their ids.
CREATE TABLE usage (
    learning INTEGER PRIMARY KEY, name TEXT, surfaced INTEGER DEFAULT 0,
    referenced INTEGER DEFAULT 0, dismissed INTEGER DEFAULT 0, corrected INTEGER DEFAULT 0,
    last_surfaced INTEGER, last_referenced INTEGER, last_restored INTEGER,
    tickets INTEGER DEFAULT 0, useful INTEGER DEFAULT 0, useless INTEGER DEFAULT 0
);
-- The same of the events that were written on this machine.
CREATE TABLE own_usage (
    learning INTEGER PRIMARY KEY, name TEXT, surfaced INTEGER DEFAULT 0,
    referenced INTEGER DEFAULT 0, dismissed INTEGER DEFAULT 0, corrected INTEGER DEFAULT 0,
    last_surfaced INTEGER, last_referenced INTEGER, last_restored INTEGER,
    tickets INTEGER DEFAULT 0, useful INTEGER DEFAULT 0, useless INTEGER DEFAULT 0
);
CREATE TABLE use (
    learning INTEGER, session INTEGER, surfaced INTEGER, referenced INTEGER, dismissed INTEGER,
    own_surfaced INTEGER, own_referenced INTEGER,
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
CREATE TABLE correction (
    learning INTEGER, session INTEGER, successor TEXT, own INTEGER, moment INTEGER,
    PRIMARY KEY (learning, session, successor, own)
) WITHOUT ROWID;

-- The learnings as numbers see them, and for how many other tickets than its own one was used.
CREATE TABLE catalogue (
    learning INTEGER PRIMARY KEY, name TEXT, summary TEXT, category TEXT, scope TEXT,
    status TEXT, criteria TEXT, tags TEXT, created INTEGER, session TEXT, ticket TEXT,
    length INTEGER, others INTEGER
);
-- What follows from both: how often learnings were first shown and used in a session, by day, and
-- what was refused and written later.
CREATE TABLE day (
    category TEXT, scope TEXT, day INTEGER, surfaced INTEGER, referenced INTEGER,
    PRIMARY KEY (day, category, scope)
) WITHOUT ROWID;
CREATE TABLE miss (summary TEXT, refused INTEGER, learning TEXT, accepted INTEGER);
