"""Writes the list of every statement into docs/dev/postgres-sql.md.

    python tests/real/postgres/tools/list_statements.py

A test compares the page with what this makes, and what a server was sent with the statements.
"""

import re
import textwrap
from pathlib import Path

from grove_backend_postgres import migrations, statements

PAGE = Path(__file__).resolve().parents[4] / "docs" / "dev" / "postgres-sql.md"
BEGIN, END = "<!-- statements -->", "<!-- end of statements -->"
WIDTH = 92

USES = {
    "BEGIN": "First in every transaction: whose functions count, the project for the policies, time limits.",
    "APPLIED": "Which migrations the tables have; sent once for each connection.",
    "PROJECT_ADD": "The first change of a project.",
    "REVISION_NEXT": "First in every change: the next revision. Others of the project wait here.",
    "REVISION_ADD": "Who has made that revision, by a random token.",
    "LEARNINGS_THERE": "Which of the learnings to deliver are there.",
    "LEARNING_ADD": "One learning; several are sent in one go.",
    "LEARNING_STATUS": "What a change of status is compared with.",
    "LEARNING_SET_STATUS": "A change of status that counts.",
    "STATUS_NOTE": "Why it was changed (only with the column).",
    "LEARNINGS_COUNT": "How many there are.",
    "CHANGES": "A page of a pull: what is new since a place, in one statement and so of one instant.",
    "TOTAL": "After the last page: how many there are, and whether that is of the same revision.",
    "IDS": "Which there are, where that is another number than this machine knows.",
    "LISTED": "What filters admit: for an empty query, and where there is no full-text search.",
    "FOUND": "A search (only with the full-text search).",
    "ALIKE": "A search by meaning (only with vectors).",
    "EMBEDDING_MISSING": "What has no vector yet (only with vectors).",
    "EMBEDDING_ADD": "A vector (only with vectors).",
    "EMBEDDINGS_COUNT": "How many vectors there are (only with vectors).",
    "VECTORS_WHERE": "Which schema pgvector lies in (only with vectors); here it is `public`.",
    "SCHEMA_THERE": "Whether the schema has to be made.",
    "SERVER": "What the server is, for `grove backends`.",
    "POLICIES_APPLY": "Whether policies count for this role, for the same.",
    "CREATE_SCHEMA": "The schema, where there is none.",
    "CREATE_RECORD": "The table of what has been applied.",
    "RECORD": "That a migration has been applied.",
}


def all_statements():
    """Every statement by its name, in the order of the page; `{schema}` is left as it is."""
    found = {
        name: text
        for module in (statements, migrations)
        for name, text in vars(module).items()
        if name.isupper() and isinstance(text, str) and not name.startswith("_")
    }
    for one in migrations.MIGRATIONS:
        found |= {f"{one.number} {one.name}, {n}": s for n, s in enumerate(one.statements, 1)}
    return found


def plain(statement):
    """A statement with its parameters as `?` and schemas as `grove`, however they were written."""
    named = re.sub(r"%\(\w+\)s|\$\d+", "?", statement)
    return re.sub(r'\{(schema|vectors)\}|"\w+"', "grove", named)


def section():
    """The list as Markdown."""
    lines = []
    for name, text in all_statements().items():
        if name in USES:
            lines += [f"**{USES[name]}**", ""]
        elif name.endswith(", 1"):
            lines += [f"**Migration {name.removesuffix(', 1')}**", ""]
        shown = re.sub(r"%\((\w+)\)s", r":\1", text).replace("{schema}", "grove")
        shown = shown.replace("{vectors}", "public")
        lines += ["```sql", *textwrap.wrap(shown, WIDTH, break_on_hyphens=False), "```", ""]
    return "\n".join(lines)


def page(text):
    """The page with the list as it should be."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n\n{section()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
