"""Servers that keep notes, files or entries under a key."""

from typing import Final

from grove_backend_mcp.mappings.mapping import (
    Operation,
    QueryMode,
    Reading,
    ServerMapping,
    Success,
    TextForm,
)
from grove_backend_mcp.mappings.profiles.profile import Profile

_CHANNEL: Final = "grove"
# What is private to a session could not be found from the next one; an entry is replaced within
# its session only, so that one key may have several, of which the newest counts.
_SAVE: Final = Operation(
    tool="context_save",
    arguments={"key": "{id}", "value": "{content}", "category": "note", "channel": _CHANNEL},
)
_ENTRIES: Final = Reading(items="$.items[*]", text="value", handle="key")

# Without includeMetadata the search is prose that is cut after 100 characters.
KEEPER: Final = Profile(
    name="mcp-memory-keeper",
    servers=r"(?:mcp-)?memory-keeper",
    packages=("mcp-memory-keeper",),
    tools={
        "context_save": ("key", "value"),
        "context_search": ("query",),
        "context_get": (),
    },
    mapping=ServerMapping(
        profile="mcp-memory-keeper",
        write=_SAVE,
        search=Operation(
            tool="context_search",
            arguments={"query": "{query}", "includeMetadata": True, "limit": "{limit}"},
        ),
        get=Operation(
            tool="context_get",
            arguments={"key": "{handle}", "includeMetadata": True, "sort": "updated_desc"},
        ),
        listing=Operation(
            tool="context_get",
            arguments={
                "channel": _CHANNEL,
                "includeMetadata": True,
                "sort": "updated_desc",
                "limit": 1000,
            },
        ),
        update=(_SAVE,),
        query_mode=QueryMode.WORDS,
        written=Success(text_matches=r"\ASaved: "),
        found=_ENTRIES,
    ),
)

_FILE: Final = {"projectName": "grove", "fileName": "{id}.md"}
_WHOLE_FILE: Final = {**_FILE, "content": "{content}"}

# Writing over a file changes nothing and says that it did; the names of files are all that a list
# gives, so what others wrote is not found here.
MEMORY_BANK: Final = Profile(
    name="memory-bank",
    servers=r"memory-bank(?:-mcp)?",
    packages=("@allpepper/memory-bank-mcp",),
    tools={
        "memory_bank_write": ("projectName", "fileName", "content"),
        "memory_bank_update": ("projectName", "fileName", "content"),
        "memory_bank_read": ("projectName", "fileName"),
    },
    mapping=ServerMapping(
        profile="memory-bank",
        write=Operation(tool="memory_bank_write", arguments=_WHOLE_FILE),
        get=Operation(tool="memory_bank_read", arguments=_FILE),
        update=(Operation(tool="memory_bank_update", arguments=_WHOLE_FILE),),
        written=Success(text_matches=r"\AFile .* successfully "),
    ),
)

_NOTE: Final = Operation(
    tool="write_note",
    arguments={
        "title": "{id}",
        "content": "{content}",
        "directory": "grove/{project}",
        "tags": "{labels}",
        "metadata": "{flat_metadata}",
        "overwrite": True,
        "output_format": "json",
    },
)
_NOTES: Final = Reading(items="$.results[*]", text="content", handle="permalink")

# Its scores are of two scales, by the database below it, so only their order is taken. All words
# of a query must be there, which a question hardly ever fulfils: each word is asked for by itself.
# What a search gives has neither the metadata nor more than 4000 characters: reading the note has.
BASIC_MEMORY: Final = Profile(
    name="basic-memory",
    servers=r"basic[ -]memory",
    packages=("basic-memory",),
    tools={
        "write_note": ("title", "content", "directory"),
        "search_notes": (),
        "read_note": ("identifier",),
        "delete_note": ("identifier",),
    },
    mapping=ServerMapping(
        profile="basic-memory",
        write=_NOTE,
        search=Operation(
            tool="search_notes",
            arguments={"query": "{query}", "page_size": "{limit}", "output_format": "json"},
        ),
        get=Operation(
            tool="read_note", arguments={"identifier": "{handle}", "output_format": "json"}
        ),
        listing=Operation(
            tool="search_notes",
            arguments={
                "metadata_filters": {"grove_project": "{project}"},
                "page_size": 1000,
                "output_format": "json",
            },
        ),
        update=(_NOTE,),
        delete=Operation(
            tool="delete_note", arguments={"identifier": "{handle}", "output_format": "json"}
        ),
        query_mode=QueryMode.WORDS,
        text_form=TextForm.SHORT,
        written=Success(text_matches=r'"action":\s*"(?:created|updated)"'),
        found=_NOTES,
        got=Reading(items="$", text="content", metadata="frontmatter.grove", handle="permalink"),
    ),
)
