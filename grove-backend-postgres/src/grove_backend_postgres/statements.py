"""Every statement that is sent to a database, migrations aside."""

from typing import Final

BEGIN: Final = (
    "SELECT pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),"
    " pg_catalog.set_config('grove.project', %(project)s, true),"
    " pg_catalog.set_config('statement_timeout', %(patience)s, true),"
    " pg_catalog.set_config('idle_in_transaction_session_timeout', %(idle)s, true)"
)
"""The first of each transaction: whose functions count, for whom the policies are, how long it may
take. Functions that somebody makes in a schema that is searched would otherwise run with the rights
of everybody who searches."""

APPLIED: Final = "SELECT number FROM {schema}.migration ORDER BY number"

PROJECT_ADD: Final = (
    "INSERT INTO {schema}.project (project, revision) VALUES (%(project)s, 0)"
    " ON CONFLICT (project) DO NOTHING"
)
REVISION_NEXT: Final = (
    "UPDATE {schema}.project SET revision = revision + 1 WHERE project = %(project)s"
    " RETURNING revision"
)
"""The first of each change of rows: anyone who changes the same project waits here."""

REVISION_ADD: Final = (
    "INSERT INTO {schema}.revision (project, number, token)"
    " VALUES (%(project)s, %(revision)s, %(token)s)"
)

LEARNINGS_THERE: Final = (
    "SELECT id FROM {schema}.learning WHERE project = %(project)s AND id = ANY(%(ids)s)"
)
LEARNING_ADD: Final = (
    "INSERT INTO {schema}.learning (project, id, revision, status, scope, category, created_at,"
    " ticket, tags, file_names, summary, detail, tag_words, part_words, document)"
    " VALUES (%(project)s, %(id)s, %(revision)s, %(status)s, %(scope)s, %(category)s,"
    " %(created_at)s, %(ticket)s, %(tags)s, %(file_names)s, %(summary)s, %(detail)s,"
    " %(tag_words)s, %(part_words)s, %(document)s)"
    " ON CONFLICT (project, id) DO NOTHING RETURNING id"
)
LEARNING_STATUS: Final = (
    "SELECT status, status_at FROM {schema}.learning WHERE project = %(project)s AND id = %(id)s"
)
LEARNING_SET_STATUS: Final = (
    "UPDATE {schema}.learning SET status = %(status)s, status_at = %(at)s,"
    " revision = %(revision)s WHERE project = %(project)s AND id = %(id)s"
)
STATUS_NOTE: Final = (
    "UPDATE {schema}.learning SET status_note = %(note)s"
    " WHERE project = %(project)s AND id = %(id)s"
)
LEARNINGS_COUNT: Final = (
    "SELECT count(*) AS number FROM {schema}.learning WHERE project = %(project)s"
)

# One statement, so that all of it is as it was at one instant. The inner part takes one page off
# the index, so that no page costs what all of them do. What is asked besides the rows does not
# depend on them, and so is worked out once.
CHANGES: Final = (
    "SELECT p.revision, coalesce(r.token, '') AS token,"
    " (coalesce((SELECT k.token FROM {schema}.revision k WHERE k.project = %(project)s"
    " AND k.number = %(number)s), '') = %(token)s AND p.revision >= %(number)s) AS known,"
    " l.id, l.document, l.status, l.status_at, l.own_revision"
    " FROM {schema}.project p"
    " LEFT JOIN {schema}.revision r ON r.project = p.project AND r.number = p.revision"
    " LEFT JOIN (SELECT c.id, c.document, c.status, c.revision AS own_revision,"
    " coalesce(c.status_at, c.created_at) AS status_at"
    " FROM {schema}.learning c WHERE c.project = %(project)s"
    " AND c.revision >= %(after)s AND (c.revision > %(after)s OR c.id > %(after_id)s)"
    " ORDER BY c.revision, c.id LIMIT %(most)s) l ON true"
    " WHERE p.project = %(project)s ORDER BY l.own_revision, l.id"
)
TOTAL: Final = (
    "SELECT p.revision, (SELECT count(*) FROM {schema}.learning c WHERE c.project = %(project)s)"
    " AS total FROM {schema}.project p WHERE p.project = %(project)s"
)
IDS: Final = "SELECT id FROM {schema}.learning WHERE project = %(project)s"

_ADMITTED: Final = (
    " FROM {schema}.learning l"
    " WHERE l.project = %(project)s AND l.status = ANY(%(statuses)s)"
    " AND (%(any_scope)s OR l.scope = ANY(%(scopes)s))"
    " AND (%(any_category)s OR l.category = ANY(%(categories)s))"
    " AND (%(any_tag)s OR l.tags && %(tags)s)"
    " AND (%(any_time)s OR l.created_at > %(created_after)s)"
)
LISTED: Final = (
    "SELECT l.id, l.document, l.status"
    + _ADMITTED
    + " ORDER BY l.created_at DESC, l.id LIMIT %(most)s"
)
_PLAIN: Final = (
    "ts_rank(ARRAY[0.5, 0.6, 0.9, 1.0]::real[], l.words, to_tsquery('english', %({0}_plain)s))"
)
_EXACT: Final = (
    "ts_rank(ARRAY[0.5, 0.6, 0.9, 1.0]::real[], l.words, to_tsquery('simple', %({0}_exact)s))"
)


def _rank(part: str) -> str:
    return f"greatest({_PLAIN.format(part)}, {_EXACT.format(part)})"


FOUND: Final = (
    f"SELECT l.id, l.document, l.status, {_rank('named')} AS named, {_rank('further')} AS further"
    + _ADMITTED
    + " AND (l.words @@ (to_tsquery('english', %(named_plain)s)"
    " || to_tsquery('simple', %(named_exact)s) || to_tsquery('english', %(further_plain)s)"
    " || to_tsquery('simple', %(further_exact)s))"
    " OR l.tags && %(named_tags)s OR l.file_names && %(named_files)s OR l.ticket = %(ticket)s)"
    " ORDER BY named DESC, further DESC, l.created_at DESC LIMIT %(most)s"
)
ALIKE: Final = (
    "SELECT l.id, l.document, l.status, 1 - (e.vector OPERATOR({vectors}.<=>)"
    " %(vector)s::{vectors}.vector) AS likeness"
    + _ADMITTED.replace(
        "learning l",
        "learning l JOIN {schema}.embedding e"
        " ON e.project = l.project AND e.id = l.id"
        " AND e.model = %(model)s AND e.size = %(size)s",
    )
    + " ORDER BY likeness DESC LIMIT %(most)s"
)

EMBEDDING_MISSING: Final = (
    "SELECT l.id, l.summary, l.detail FROM {schema}.learning l"
    " WHERE l.project = %(project)s AND NOT EXISTS (SELECT 1 FROM {schema}.embedding e"
    " WHERE e.project = l.project AND e.id = l.id AND e.model = %(model)s)"
    " ORDER BY l.created_at DESC LIMIT %(most)s"
)
EMBEDDING_ADD: Final = (
    "INSERT INTO {schema}.embedding (project, id, model, size, vector)"
    " VALUES (%(project)s, %(id)s, %(model)s, %(size)s,"
    " %(vector)s::{vectors}.vector)"
    " ON CONFLICT (project, id, model) DO NOTHING RETURNING id"
)
EMBEDDINGS_COUNT: Final = (
    "SELECT count(*) AS number FROM {schema}.embedding"
    " WHERE project = %(project)s AND model = %(model)s"
)

VECTORS_WHERE: Final = (
    "SELECT n.nspname AS name FROM pg_catalog.pg_extension e"
    " JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
)
"""Fills in ``{vectors}``, the schema that pgvector lies in."""

SCHEMA_THERE: Final = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %(name)s"
SERVER: Final = "SELECT version() AS version, current_user AS name"
POLICIES_APPLY: Final = "SELECT row_security_active(%(table)s) AS active"
