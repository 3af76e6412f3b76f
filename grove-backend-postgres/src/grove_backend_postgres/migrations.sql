-- The migrations, each below a line with its number and its name. "optional" is what a server either
-- has or has not. Statements are sent one by one, so that two machines may send them at once.

-- 1: tables
CREATE TABLE IF NOT EXISTS {schema}.project (project text PRIMARY KEY, revision bigint NOT NULL);
CREATE TABLE IF NOT EXISTS {schema}.revision (project text NOT NULL, number bigint NOT NULL,
    token text NOT NULL, PRIMARY KEY (project, number));
CREATE TABLE IF NOT EXISTS {schema}.learning (project text NOT NULL, id text NOT NULL,
    revision bigint NOT NULL, status text NOT NULL, status_at timestamptz, scope text NOT NULL,
    category text NOT NULL, created_at timestamptz NOT NULL, ticket text, tags text[] NOT NULL,
    file_names text[] NOT NULL, summary text NOT NULL, detail text NOT NULL,
    tag_words text NOT NULL, part_words text NOT NULL, document text NOT NULL,
    PRIMARY KEY (project, id));
CREATE INDEX IF NOT EXISTS learning_by_revision ON {schema}.learning (project, revision);

-- 2: full-text search (optional)
ALTER TABLE {schema}.learning ADD COLUMN IF NOT EXISTS words tsvector
    GENERATED ALWAYS AS (setweight(to_tsvector('english', summary), 'A')
    || setweight(to_tsvector('simple', tag_words), 'B')
    || setweight(to_tsvector('english', detail), 'C')
    || setweight(to_tsvector('simple', part_words), 'D')) STORED;
CREATE INDEX IF NOT EXISTS learning_by_words ON {schema}.learning USING gin (words);

-- 3: row-level security (optional)
-- The policy comes first: with none, a table that is kept apart shows no row at all.
CREATE POLICY grove_project ON {schema}.project
    USING (project = current_setting('grove.project', true));
ALTER TABLE {schema}.project ENABLE ROW LEVEL SECURITY;
ALTER TABLE {schema}.project FORCE ROW LEVEL SECURITY;
CREATE POLICY grove_project ON {schema}.revision
    USING (project = current_setting('grove.project', true));
ALTER TABLE {schema}.revision ENABLE ROW LEVEL SECURITY;
ALTER TABLE {schema}.revision FORCE ROW LEVEL SECURITY;
CREATE POLICY grove_project ON {schema}.learning
    USING (project = current_setting('grove.project', true));
ALTER TABLE {schema}.learning ENABLE ROW LEVEL SECURITY;
ALTER TABLE {schema}.learning FORCE ROW LEVEL SECURITY;

-- 4: vectors (optional)
-- The extension goes where it lies by default; where it is by now, the catalogue tells.
CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;
CREATE TABLE IF NOT EXISTS {schema}.embedding (project text NOT NULL, id text NOT NULL,
    model text NOT NULL, size integer NOT NULL, vector {vectors}.vector NOT NULL,
    PRIMARY KEY (project, id, model));

-- 5: row-level security of vectors (optional)
CREATE POLICY grove_project ON {schema}.embedding
    USING (project = current_setting('grove.project', true));
ALTER TABLE {schema}.embedding ENABLE ROW LEVEL SECURITY;
ALTER TABLE {schema}.embedding FORCE ROW LEVEL SECURITY;

-- 6: notes on statuses (optional)
ALTER TABLE {schema}.learning ADD COLUMN IF NOT EXISTS status_note text;
