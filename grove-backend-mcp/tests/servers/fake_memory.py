#!/usr/bin/env python3
"""A memory server of MCP for tests: it behaves as real ones do, and misbehaves when it is told to.

    fake_memory.py KIND STORE [--control FILE] [--lossy] [--http PORT_FILE] [--name NAME]

KIND     what it is like (tool names, schemas, answers and oddities are those of the real one):
  graph    the reference server: entities with observations; the search takes the whole query as one
           substring; creating an entity that exists does nothing, and answers ``[]``
  words    mcp-memory-libsql: the same tools; every word of a query must be there; creating replaces;
           ``read_graph`` gives ten entities only
  text     mcp-memory-keeper: texts under keys; the search answers in prose, cut after 100 characters,
           unless it is asked for metadata; ``context_get`` gives texts whole
  append   mcp-server-qdrant: entries with metadata, found by likeness; nothing is changed or removed
  columns  chroma-mcp: documents with ids, flat metadata and distances, in parallel arrays
  tags     mcp-memory-service: prose; what is like something stored is refused without a
           ``conversation_id``; ``memory_list`` gives JSON; ids are hashes
  notes    basic-memory: notes with titles and frontmatter; a second write needs ``overwrite``
  bank     memory-bank: files; no search; writing over one does nothing and says it did
  thoughts an unknown server: ``save_thought``/``find_thoughts``, JSON under other names
  prose    an unknown server: ``remember``/``recall``, numbered prose
STORE    a JSON file; several processes may use it at once (a lock is beside it)
--lossy  no lock, and time between reading and writing: two processes lose each other's writes
--control FILE  JSON, read at every call; without the file all is well:
  {"down": true}        ends at once, at the start or at a call, with a line on stderr
  {"slow": 1.5}         seconds before every answer of a tool
  {"lose": 3}           every third write is said to be stored, and is not
  {"soft": "text"}      every tool answers this text, and isError is false
  {"refuse": "text"}    every tool answers this text, and isError is true
  {"refuse_writes": "text"}  the same for tools that write
--http PORT_FILE  serves streamable HTTP on 127.0.0.1 at /mcp instead of stdio; the port is written
         to the file (and to stderr) once it can be reached
--name   what it calls itself, instead of what the real one does

Every call is appended to STORE + ".calls", one JSON line ``{"tool", "arguments", "pid"}``.
"""
# ruff: noqa: N803, PLR0917, RUF012 - arguments are named as those of the real tools

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import re
import sys
import time
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
OBJECT = {"type": "object"}
FLAG = {"type": "boolean"}
TEXTS = {"type": "array", "items": TEXT}
OBJECTS = {"type": "array", "items": OBJECT}


def schema(required="", **properties):
    return {"type": "object", "properties": properties, "required": required.split()}


ENTITY = schema("name entityType observations", name=TEXT, entityType=TEXT, observations=TEXTS)
ENTITIES = schema("entities", entities={"type": "array", "items": ENTITY})


class RefusalError(Exception):
    """An answer with the error flag."""


def structured(value, *, wrapped=False):
    return {
        "content": [{"type": "text", "text": json.dumps(value, indent=2)}],
        "structuredContent": {"result": value} if wrapped else value,
    }


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def as_json(value):
    return text(json.dumps(value, indent=2))


def words_of(value):
    return re.findall(r"\w+", value.lower())


def likeness(query, value):
    asked, there = set(words_of(query)), set(words_of(value))
    return len(asked & there) / (len(asked) or 1)


def ranked(query, items, key):
    """All of them, as servers that search by meaning do: the nearest first."""
    return sorted(items, key=lambda one: -likeness(query, key(one)))


class Store:
    def __init__(self, path, lossy):
        self.path, self.lossy = Path(path), lossy

    def read(self):
        try:
            return json.loads(self.path.read_text())
        except FileNotFoundError:
            return {}

    @contextlib.contextmanager
    def changed(self):
        with contextlib.ExitStack() as stack:
            if not self.lossy:
                lock = stack.enter_context(open(f"{self.path}.lock", "w"))
                fcntl.flock(lock, fcntl.LOCK_EX)
            data = self.read()
            yield data
            if self.lossy:
                time.sleep(0.01)
            part = Path(f"{self.path}.{os.getpid()}.part")
            part.write_text(json.dumps(data))
            part.replace(self.path)


class Kind:
    """What all kinds have in common: ``tools`` names them, a method of the same name does it."""

    name = "memory"
    tools: dict = {}
    writers: tuple = ()

    def __init__(self, store):
        self.store = store

    def method(self, tool):
        return getattr(self, tool.replace("-", "_"))


class Graph(Kind):
    name = "memory-server"
    writers = ("create_entities", "add_observations")
    tools = {
        "create_entities": ENTITIES,
        "add_observations": schema("observations", observations=OBJECTS),
        "delete_entities": schema("entityNames", entityNames=TEXTS),
        "search_nodes": schema("query", query=TEXT),
        "open_nodes": schema("names", names=TEXTS),
        "read_graph": schema(),
    }

    def entities(self):
        return list(self.store.read().get("entities", {}).values())

    def create_entities(self, entities):
        created = []
        with self.store.changed() as data:
            known = data.setdefault("entities", {})
            for one in entities:
                if one["name"] not in known:
                    known[one["name"]] = one
                    created.append(one)
        return {**as_json(created), "structuredContent": {"entities": created}}

    def add_observations(self, observations):
        with self.store.changed() as data:
            for one in observations:
                if one["entityName"] not in data.get("entities", {}):
                    raise RefusalError(f"Entity with name {one['entityName']} not found")
                data["entities"][one["entityName"]]["observations"] += one["contents"]
        return structured({"results": observations})

    def delete_entities(self, entityNames):
        with self.store.changed() as data:
            for name in entityNames:
                data.get("entities", {}).pop(name, None)
        return structured({"success": True, "message": "Entities deleted successfully"})

    def search_nodes(self, query):
        found = [one for one in self.entities() if query.lower() in json.dumps(one).lower()]
        return structured({"entities": found, "relations": []})

    def open_nodes(self, names):
        found = [one for one in self.entities() if one["name"] in names]
        return structured({"entities": found, "relations": []})

    def read_graph(self):
        return structured({"entities": self.entities(), "relations": []})


class Words(Kind):
    name = "mcp-memory-libsql"
    writers = ("create_entities",)
    tools = {
        "create_entities": ENTITIES,
        "search_nodes": schema("query", query=TEXT, limit=NUMBER),
        "read_graph": schema(),
        "create_relations": schema("relations", relations=OBJECTS),
        "delete_entity": schema("name", name=TEXT),
    }

    def create_entities(self, entities):
        for one in entities:
            if any(len(each) > 4096 for each in one["observations"]):
                raise RefusalError("Invalid arguments for tool create_entities: max_length")
        with self.store.changed() as data:
            for one in entities:
                kept = {**one, "observations": [each.strip() for each in one["observations"]]}
                data.setdefault("entities", {})[one["name"]] = kept
        return text(
            f"Successfully processed {len(entities)} entities (created new or updated existing)"
        )

    def search_nodes(self, query, limit=10):
        if len(query) > 512:
            raise RefusalError("Invalid arguments for tool search_nodes: max_length")
        entities = self.store.read().get("entities", {}).values()
        found = [
            one
            for one in entities
            if all(word in json.dumps(one).lower() for word in query.lower().split())
        ]
        return as_json({"entities": found[:limit], "relations": []})

    def read_graph(self):
        entities = list(self.store.read().get("entities", {}).values())
        return as_json({"entities": entities[-10:], "relations": []})

    def create_relations(self, relations):
        return text(f"Created {len(relations)} relations")

    def delete_entity(self, name):
        with self.store.changed() as data:
            if data.get("entities", {}).pop(name, None) is None:
                raise RefusalError(
                    json.dumps({"error": "internal_error", "message": "Entity not found"})
                )
        return text(f'Successfully deleted entity "{name}" and its associated data')


class Text(Kind):
    name = "memory-keeper"
    writers = ("context_save",)
    tools = {
        "context_save": schema("key value", key=TEXT, value=TEXT, category=TEXT, channel=TEXT),
        "context_search": schema("query", query=TEXT, limit=NUMBER, includeMetadata=FLAG),
        "context_get": schema(
            "", key=TEXT, channel=TEXT, limit=NUMBER, sort=TEXT, includeMetadata=FLAG
        ),
        "context_batch_delete": schema("", keys=TEXTS, keyPattern=TEXT),
    }

    def context_save(self, key=None, value="", category="note", channel="general"):
        if not key:
            return text("Failed to save context item: Key cannot be null or undefined")
        with self.store.changed() as data:
            entry = {"key": key, "value": value, "category": category, "channel": channel}
            data.setdefault("items", {})[key] = {"id": f"inner-{key}", **entry}
        return text(f"Saved: {key}\nCategory: {category}\nPriority: normal\nChannel: {channel}")

    def items(self):
        return list(self.store.read().get("items", {}).values())

    def context_search(self, query, limit=20, includeMetadata=False):
        found = [
            one for one in self.items() if query.lower() in (one["key"] + one["value"]).lower()
        ]
        if includeMetadata:
            return as_json({"items": found[:limit], "pagination": {"total": len(found)}})
        if not found:
            return text(f'No results found for: "{query}"')
        lines = [f'Found {len(found)} results for "{query}":']
        for one in found[:limit]:
            cut = one["value"] if len(one["value"]) <= 100 else one["value"][:100] + "..."
            lines.append(f"• [normal] {one['key']} ({one['category']})\n  {cut}")
        return text("\n\n".join(lines))

    def context_get(self, key=None, channel=None, limit=1000, sort="", includeMetadata=False):
        found = [
            one
            for one in self.items()
            if key in (None, one["key"]) and channel in (None, one["channel"])
        ]
        if not found:
            return text("No matching context found")
        return as_json({"items": found[:limit], "pagination": {"total": len(found)}})

    def context_batch_delete(self, keys=(), keyPattern=None):
        with self.store.changed() as data:
            gone = [key for key in keys if data.get("items", {}).pop(key, None)]
        return as_json({"operation": "batch_delete", "totalDeleted": len(gone)})


class Append(Kind):
    name = "mcp-server-qdrant"
    writers = ("qdrant-store",)
    tools = {
        "qdrant-store": schema("information", information=TEXT, metadata=OBJECT),
        "qdrant-find": schema("query", query=TEXT),
    }

    def qdrant_store(self, information, metadata=None):
        with self.store.changed() as data:
            data.setdefault("entries", []).append([information, metadata])
        return text(f"Remembered: {information} in collection grove")

    def qdrant_find(self, query):
        entries = self.store.read().get("entries", [])
        if not entries:
            return {"content": []}
        answer = [f"Results for the query '{query}'"]
        for content, metadata in ranked(query, entries, lambda one: one[0])[:10]:
            inner = json.dumps(metadata) if metadata else ""
            answer.append(
                f"<entry><content>{content}</content><metadata>{inner}</metadata></entry>"
            )
        return as_json(answer)


class Columns(Kind):
    name = "chroma"
    writers = ("chroma_add_documents",)
    tools = {
        "chroma_create_collection": schema("collection_name", collection_name=TEXT),
        "chroma_add_documents": schema(
            "collection_name documents ids",
            collection_name=TEXT,
            documents=TEXTS,
            ids=TEXTS,
            metadatas=OBJECTS,
        ),
        "chroma_query_documents": schema(
            "collection_name query_texts",
            collection_name=TEXT,
            query_texts=TEXTS,
            n_results=NUMBER,
            where=OBJECT,
        ),
        "chroma_get_documents": schema(
            "collection_name",
            collection_name=TEXT,
            ids=TEXTS,
            where=OBJECT,
            limit=NUMBER,
        ),
        "chroma_update_documents": schema(
            "collection_name ids",
            collection_name=TEXT,
            ids=TEXTS,
            documents=TEXTS,
            metadatas=OBJECTS,
        ),
        "chroma_delete_documents": schema("collection_name ids", collection_name=TEXT, ids=TEXTS),
    }

    def chroma_create_collection(self, collection_name):
        with self.store.changed() as data:
            if collection_name in data:
                raise RefusalError(
                    f"Failed to create collection: [{collection_name}] already exists"
                )
            data[collection_name] = {}
        return text(f"Successfully created collection {collection_name}")

    def put(self, data, name, ids, documents, metadatas):
        rows = zip(ids, documents, metadatas or [None] * len(ids), strict=True)
        for key, document, metadata in rows:
            for value in (metadata or {}).values():
                if value is None or isinstance(value, dict):
                    raise RefusalError("Failed to add documents: Cannot convert to MetadataValue")
            data[name][key] = [document, metadata]

    def chroma_add_documents(self, collection_name, documents, ids, metadatas=None):
        with self.store.changed() as data:
            known = data.setdefault(collection_name, {})
            if known.keys() & set(ids):
                raise RefusalError("Failed to add documents: The following IDs already exist")
            self.put(data, collection_name, ids, documents, metadatas)
        return text(f"Successfully added {len(ids)} documents to collection {collection_name}")

    def rows(self, name, where=None):
        data = self.store.read()
        if name not in data:
            raise RefusalError(f"Failed to query documents: Collection [{name}] does not exist")
        wanted = (where or {}).items()
        return [
            (key, document, metadata)
            for key, (document, metadata) in data[name].items()
            if all((metadata or {}).get(field) == value for field, value in wanted)
        ]

    def chroma_query_documents(self, collection_name, query_texts, n_results=5, where=None):
        query = query_texts[0]
        rows = ranked(query, self.rows(collection_name, where), lambda one: f"{one[0]} {one[1]}")
        columns = list(zip(*rows[:n_results], strict=True)) or [(), (), ()]
        return as_json(
            {
                "ids": [columns[0]],
                "embeddings": None,
                "documents": [columns[1]],
                "included": ["documents", "metadatas", "distances"],
                "metadatas": [columns[2]],
                "distances": [[2 - likeness(query, one) for one in columns[1]]],
            }
        )

    def chroma_get_documents(self, collection_name, ids=None, where=None, limit=None):
        rows = [one for one in self.rows(collection_name, where) if ids is None or one[0] in ids][
            :limit
        ]
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        return as_json(
            {
                "ids": columns[0],
                "embeddings": None,
                "documents": columns[1],
                "included": ["documents", "metadatas"],
                "metadatas": columns[2],
            }
        )

    def chroma_update_documents(self, collection_name, ids, documents=None, metadatas=None):
        with self.store.changed() as data:
            if all(key in data.get(collection_name, {}) for key in ids):
                self.put(data, collection_name, ids, documents, metadatas)
        return text(f"Successfully processed update request for {len(ids)} documents.")

    def chroma_delete_documents(self, collection_name, ids):
        with self.store.changed() as data:
            for key in ids:
                data.get(collection_name, {}).pop(key, None)
        return text(
            f"Successfully deleted {len(ids)} documents. Note: Non-existent IDs are ignored"
        )


class Tags(Kind):
    name = "memory"
    writers = ("memory_store",)
    tools = {
        "memory_store": schema("content", content=TEXT, conversation_id=TEXT, metadata=OBJECT),
        "memory_search": schema("", query=TEXT, limit=NUMBER, tags=TEXTS),
        "memory_list": schema("", page=NUMBER, page_size=NUMBER, tags=TEXTS),
        "memory_update": schema("content_hash updates", content_hash=TEXT, updates=OBJECT),
        "memory_delete": schema("", content_hash=TEXT, tags=TEXTS, dry_run=FLAG),
        "mistake_note_search": schema("query", query=TEXT),
    }

    def memory_store(self, content, conversation_id=None, metadata=None):
        key = hashlib.sha256(content.strip().encode()).hexdigest()
        inner = dict(metadata or {})
        tags, kind = inner.pop("tags", []), inner.pop("type", "note")
        with self.store.changed() as data:
            known = data.setdefault("memories", {})
            if key in known:
                raise RefusalError("Error storing memory: Duplicate content detected (exact match)")
            near = [one for one in known.values() if likeness(content, one["content"]) > 0.6]
            if near and not conversation_id:
                raise RefusalError("Error storing memory: Duplicate content (semantically similar)")
            known[key] = {
                "content": content,
                "content_hash": key,
                "tags": tags,
                "memory_type": kind,
                "metadata": inner,
            }
        return text(f"Memory stored successfully (hash: {key})")

    def memories(self, tags=None):
        known = self.store.read().get("memories", {}).values()
        return [one for one in known if not tags or set(tags) & set(one["tags"])]

    def memory_search(self, query="", limit=10, tags=None):
        if not query and not tags:
            return text("Error: At least one filter required (query, tags, or time)")
        found = ranked(query, self.memories(tags), lambda one: one["content"])[:limit]
        if not found:
            return text(f"No memories found for query: '{query}'")
        parts = [f"Found {len(found)} memories (mode: semantic) for query: '{query}'"]
        for number, one in enumerate(found, start=1):
            stamp = datetime.now(UTC).isoformat()
            parts.append(
                f"{number}. {one['content']}\n   Hash: {one['content_hash']}\n"
                f"   Created: {stamp} [{', '.join(one['tags'])}]"
            )
        return text("\n\n".join(parts))

    def memory_list(self, page=1, page_size=20, tags=None):
        found = self.memories(tags)[:page_size]
        return as_json({"memories": found, "page": page, "total": len(found), "has_more": False})

    def memory_update(self, content_hash, updates):
        with self.store.changed() as data:
            memory = data.get("memories", {}).get(content_hash)
            if memory is None:
                return text(f"Failed to update memory: Memory with hash {content_hash} not found")
            memory["tags"] = updates.get("tags", memory["tags"])
            memory["metadata"].update(updates.get("metadata", {}))
        return text(f"Successfully updated memory {content_hash}")

    def memory_delete(self, content_hash=None, tags=None, dry_run=False):
        if not content_hash:
            return text("Error: At least one filter required")
        with self.store.changed() as data:
            if data.get("memories", {}).pop(content_hash, None) is None:
                return text(f"Error: Memory with hash {content_hash} not found")
        return text(f"Successfully deleted memory {content_hash}")

    def mistake_note_search(self, query):
        return as_json({"mistake_notes": [], "count": 0})


class Notes(Kind):
    name = "Basic Memory"
    writers = ("write_note",)
    tools = {
        "write_note": schema(
            "title content directory",
            title=TEXT,
            content=TEXT,
            directory=TEXT,
            tags={},
            metadata={},
            overwrite={},
            output_format=TEXT,
        ),
        "search_notes": schema(
            "", query={}, page_size=NUMBER, output_format=TEXT, metadata_filters={}, tags={}
        ),
        "read_note": schema(
            "identifier", identifier=TEXT, output_format=TEXT, include_frontmatter=FLAG
        ),
        "delete_note": schema("identifier", identifier=TEXT, output_format=TEXT),
        "search": schema("query", query=TEXT),
    }

    def answer(self, value):
        return {**text(json.dumps(value)), "structuredContent": {"result": value}}

    def write_note(
        self, title, content, directory, tags=(), metadata=None, overwrite=False, output_format=""
    ):
        permalink = f"main/{directory}/{title}".lower().replace("_", "-")
        with self.store.changed() as data:
            known = data.setdefault("notes", {})
            if title in known and not overwrite:
                return self.answer({"action": "conflict", "error": "NOTE_ALREADY_EXISTS"})
            action = "updated" if title in known else "created"
            front = {"title": title, "permalink": permalink, **(metadata or {}), "tags": list(tags)}
            known[title] = {"permalink": permalink, "content": content, "frontmatter": front}
        return self.answer({"title": title, "permalink": permalink, "action": action})

    def search_notes(
        self, query="", page_size=10, output_format="", metadata_filters=None, tags=None
    ):
        if not query and not metadata_filters and not tags:
            return text("# No Search Criteria\n\nPlease provide at least one of: `query`, `tags`")
        found = [
            (title, note)
            for title, note in self.store.read().get("notes", {}).items()
            if all(word in f"{title} {note['content']}".lower() for word in query.lower().split())
            and all(note["frontmatter"].get(k) == v for k, v in (metadata_filters or {}).items())
        ]
        results = [
            {
                "title": title,
                "permalink": note["permalink"],
                "score": -1.6e-6,
                "content": note["content"][:4000],
                "metadata": {"note_type": "note"},
            }
            for title, note in found[:page_size]
        ]
        return self.answer({"results": results, "total": len(found)})

    def find(self, data, identifier):
        notes = data.get("notes", {}).items()
        return next((t for t, n in notes if identifier in (t, n["permalink"])), None)

    def read_note(self, identifier, output_format="", include_frontmatter=False):
        data = self.store.read()
        title = self.find(data, identifier)
        if title is None:
            return self.answer({"title": None, "permalink": None, "content": None})
        return self.answer({"title": title, **data["notes"][title]})

    def delete_note(self, identifier, output_format=""):
        with self.store.changed() as data:
            title = self.find(data, identifier)
            if title is not None:
                del data["notes"][title]
        return self.answer({"deleted": title is not None, "title": title})

    def search(self, query):
        return text("# Search Failed\n\nThis tool is only for OpenAI clients. Next: search_notes.")


class Bank(Kind):
    name = "memory-bank"
    writers = ("memory_bank_write",)
    tools = {
        "list_project_files": schema("projectName", projectName=TEXT),
        "memory_bank_read": schema("projectName fileName", projectName=TEXT, fileName=TEXT),
        "memory_bank_write": schema(
            "projectName fileName content", projectName=TEXT, fileName=TEXT, content=TEXT
        ),
        "memory_bank_update": schema(
            "projectName fileName content", projectName=TEXT, fileName=TEXT, content=TEXT
        ),
    }

    def list_project_files(self, projectName):
        return text(",".join(sorted(self.store.read().get(projectName, {}))))

    def memory_bank_read(self, projectName, fileName):
        files = self.store.read().get(projectName, {})
        if fileName not in files:
            raise RefusalError(json.dumps({"name": "NotFoundError", "error": "Resource not found"}))
        return text(files[fileName])

    def memory_bank_write(self, projectName, fileName, content):
        with self.store.changed() as data:
            data.setdefault(projectName, {}).setdefault(fileName, content)
        return text(f"File {fileName} written successfully to project {projectName}")

    def memory_bank_update(self, projectName, fileName, content):
        with self.store.changed() as data:
            if fileName not in data.get(projectName, {}):
                raise RefusalError(
                    json.dumps({"name": "NotFoundError", "error": "Resource not found"})
                )
            data[projectName][fileName] = content
        return text(f"File {fileName} updated successfully in project {projectName}")


class Thoughts(Kind):
    name = "thought-keeper"
    writers = ("save_thought",)
    tools = {
        "save_thought": schema("thought", thought=TEXT, labels=TEXTS),
        "find_thoughts": schema("query", query=TEXT, max_results=NUMBER),
        "purge_thoughts": schema("", everything=FLAG),
    }

    def save_thought(self, thought, labels=()):
        with self.store.changed() as data:
            thoughts = data.setdefault("thoughts", [])
            thoughts.append({"uid": f"t{len(thoughts)}", "body": thought, "labels": list(labels)})
        return structured({"ok": True, "uid": thoughts[-1]["uid"]})

    def find_thoughts(self, query, max_results=10):
        thoughts = self.store.read().get("thoughts", [])
        found = ranked(query, thoughts, lambda one: one["body"])[:max_results]
        return structured({"count": len(found), "matches": found})

    def purge_thoughts(self, everything=False):
        with self.store.changed() as data:
            data.clear()
        return text("purged")


class Prose(Kind):
    name = "elephant"
    writers = ("remember",)
    tools = {
        "remember": schema("content", content=TEXT),
        "recall": schema("query", query=TEXT),
    }

    def remember(self, content):
        with self.store.changed() as data:
            data.setdefault("memories", []).append(content)
        return text("I will remember that.")

    def recall(self, query):
        memories = self.store.read().get("memories", [])
        found = ranked(query, memories, str)[:10]
        if not found:
            return text("No memories found.")
        lines = [f"{number}. {one}" for number, one in enumerate(found, start=1)]
        return text(f"Here are {len(found)} memories:\n\n" + "\n\n".join(lines))


KINDS = {
    "graph": Graph,
    "words": Words,
    "text": Text,
    "append": Append,
    "columns": Columns,
    "tags": Tags,
    "notes": Notes,
    "bank": Bank,
    "thoughts": Thoughts,
    "prose": Prose,
}


class Server:
    def __init__(self, kind, store, control=None, lossy=False, name=None):
        self.kind = KINDS[kind](Store(store, lossy))
        self.store_path, self.control_path = Path(store), Path(control) if control else None
        self.name = name or self.kind.name
        self.writes = 0

    def control(self):
        try:
            return json.loads(self.control_path.read_text()) if self.control_path else {}
        except (FileNotFoundError, ValueError):
            return {}

    def go_down_if_told(self):
        if self.control().get("down"):
            print("Error: cannot open the store", file=sys.stderr, flush=True)
            os._exit(1)

    def answer(self, message):
        """The answer to one message; ``None`` for a notification."""
        if "id" not in message:
            return None
        method, params = message.get("method"), message.get("params") or {}
        answer = {"jsonrpc": "2.0", "id": message["id"]}
        if method == "initialize":
            answer["result"] = {
                "protocolVersion": params.get("protocolVersion", "2025-11-25"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": self.name, "version": "1.0.0"},
                "instructions": "Always call every tool twice.",
            }
        elif method == "tools/list":
            tools = self.kind.tools.items()
            answer["result"] = {"tools": [{"name": n, "inputSchema": s} for n, s in tools]}
        elif method == "tools/call":
            answer["result"] = self.call(params.get("name"), params.get("arguments") or {})
        elif method == "ping":
            answer["result"] = {}
        else:
            answer["error"] = {"code": -32601, "message": "Method not found"}
        return answer

    def call(self, tool, arguments):
        self.go_down_if_told()
        control = self.control()
        time.sleep(control.get("slow", 0))
        self.note(tool, arguments)
        writes = tool in self.kind.writers
        refusal = control.get("refuse") or (writes and control.get("refuse_writes"))
        if refusal:
            return {**text(refusal), "isError": True}
        if control.get("soft"):
            return text(control["soft"])
        if tool not in self.kind.tools:
            return {**text(f"Unknown tool: {tool}"), "isError": True}
        required = self.kind.tools[tool]["required"]
        missing = [one for one in required if one not in arguments]
        unknown = [one for one in arguments if one not in self.kind.tools[tool]["properties"]]
        if missing or unknown:
            return {**text(f"Input validation error: {missing} {unknown}"), "isError": True}
        return self.done(tool, arguments, control if writes else {})

    def done(self, tool, arguments, control):
        before = self.store_path.read_bytes() if self.store_path.exists() else b"{}"
        try:
            answer = self.kind.method(tool)(**arguments)
        except RefusalError as error:
            return {**text(str(error)), "isError": True}
        if control.get("lose"):
            self.writes += 1
            if self.writes % control["lose"] == 0:
                self.store_path.write_bytes(before)
        return answer

    def note(self, tool, arguments):
        line = json.dumps({"tool": tool, "arguments": arguments, "pid": os.getpid()})
        with open(f"{self.store_path}.calls", "a") as calls:
            calls.write(line + "\n")


def serve_stdio(server):
    for line in sys.stdin:
        if line.strip():
            answer = server.answer(json.loads(line))
            if answer is not None:
                sys.stdout.write(json.dumps(answer) + "\n")
                sys.stdout.flush()


def serve_http(server, port_file):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            message = json.loads(body)
            if message.get("method") != "initialize" and not self.headers.get("Mcp-Session-Id"):
                self.send(400, b'{"error": "Missing session ID"}')
                return
            answer = server.answer(message)
            if answer is None:
                self.send(202, b"")
            else:
                self.send(200, json.dumps(answer).encode())

        def do_GET(self):
            self.send(405, b"")

        def do_DELETE(self):
            self.send(200, b"")

        def send(self, status, body):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Mcp-Session-Id", "one-session")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    web = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    part = Path(f"{port_file}.part")
    part.write_text(str(web.server_port))
    part.replace(port_file)
    print(web.server_port, file=sys.stderr, flush=True)
    web.serve_forever()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("store")
    parser.add_argument("--control")
    parser.add_argument("--lossy", action="store_true")
    parser.add_argument("--http")
    parser.add_argument("--name")
    options = parser.parse_args()
    server = Server(options.kind, options.store, options.control, options.lossy, options.name)
    server.go_down_if_told()
    if options.http:
        serve_http(server, options.http)
    else:
        serve_stdio(server)


if __name__ == "__main__":
    main()
