#!/usr/bin/env python3
"""A memory server of MCP for tests: it behaves as real ones do, and misbehaves when it is told to.

    fake_memory.py KIND STORE [--control FILE] [--http PORT_FILE]

KIND     what it is like (tool names, schemas, answers and oddities are those of the real one):
  graph    the reference server: entities with observations; the search takes the whole query as one
           substring; creating an entity that exists does nothing, and answers ``[]``
  append   mcp-server-qdrant: entries with metadata, found by likeness; nothing is changed or removed
  columns  chroma-mcp: documents with ids, flat metadata and distances, in parallel arrays
  notes    basic-memory: notes with titles and frontmatter; a second write needs ``overwrite``
  thoughts an unknown server: ``save_thought``/``find_thoughts``, JSON under other names
STORE    a JSON file; several processes may use it at once (a lock is beside it)
--control FILE  JSON, read at every call; without the file all is well:
  {"down": true}        ends at once, at the start or at a call, with a line on stderr
  {"slow": 1.5}         seconds before every answer of a tool
  {"held": true}        no answer of a tool until it says something else
  {"lose": 3}           every third write is said to be stored, and is not
  {"soft": "text"}      every tool answers this text, and isError is false
  {"refuse": "text"}    every tool answers this text, and isError is true
  {"refuse_writes": "text"}  the same for tools that write
--http PORT_FILE  serves streamable HTTP on 127.0.0.1 at /mcp instead of stdio; the port is written
         to the file (and to stderr) once it can be reached

Every call is appended to STORE + ".calls", one JSON line ``{"tool", "arguments", "pid"}``.
"""
# ruff: noqa: N803 - arguments are named as those of the real tools

import argparse
import contextlib
import fcntl
import json
import os
import re
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
OBJECT = {"type": "object"}
FLAG = {"type": "boolean"}
OBJECTS = {"type": "array", "items": OBJECT}
TEXTS = {"type": "array", "items": TEXT}


def schema(required="", **properties):
    return {"type": "object", "properties": properties, "required": required.split()}


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def as_json(value):
    return text(json.dumps(value, indent=2))


def structured(value):
    return {**as_json(value), "structuredContent": value}


def likeness(query, value):
    asked, there = (set(re.findall(r"\w+", one.lower())) for one in (query, value))
    return len(asked & there) / (len(asked) or 1)


def ranked(query, items, key):
    """All of them, as servers that search by meaning do: the nearest first."""
    return sorted(items, key=lambda one: -likeness(query, key(one)))


class Store:
    def __init__(self, path):
        self.path = Path(path)

    def read(self):
        try:
            return json.loads(self.path.read_text())
        except FileNotFoundError:
            return {}

    @contextlib.contextmanager
    def changed(self):
        with open(f"{self.path}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            data = self.read()
            yield data
            part = Path(f"{self.path}.{os.getpid()}.part")
            part.write_text(json.dumps(data))
            part.replace(self.path)


class Kind:
    """What all kinds have in common: ``tools`` names them, a method of the same name does it."""

    def __init__(self, store):
        self.store = store

    def method(self, tool):
        return getattr(self, tool.replace("-", "_"))


class Graph(Kind):
    name = "memory-server"
    writers = ("create_entities",)
    tools = {
        "create_entities": schema(
            "entities",
            entities={
                "type": "array",
                "items": schema(
                    "name entityType observations", name=TEXT, entityType=TEXT, observations=TEXTS
                ),
            },
        ),
        "delete_entities": schema("entityNames", entityNames=TEXTS),
        "search_nodes": schema("query", query=TEXT),
        "open_nodes": schema("names", names=TEXTS),
        "read_graph": schema(),
    }

    def found(self, is_wanted):
        entities = self.store.read().get("entities", {}).values()
        return structured({"entities": [*filter(is_wanted, entities)], "relations": []})

    def create_entities(self, entities):
        with self.store.changed() as data:
            known = data.setdefault("entities", {})
            created = [one for one in entities if one["name"] not in known]
            known.update({one["name"]: one for one in created})
        return {**as_json(created), "structuredContent": {"entities": created}}

    def delete_entities(self, entityNames):
        with self.store.changed() as data:
            for name in entityNames:
                data.get("entities", {}).pop(name, None)
        return structured({"success": True, "message": "Entities deleted successfully"})

    def search_nodes(self, query):
        return self.found(lambda one: query.lower() in json.dumps(one).lower())

    def open_nodes(self, names):
        return self.found(lambda one: one["name"] in names)

    def read_graph(self):
        return self.found(lambda one: True)


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
        meaning = re.sub(r"\bcl_\w+", "", query)  # which ids have none of
        for content, metadata in ranked(meaning, entries, lambda one: one[0])[:10]:
            inner = json.dumps(metadata) if metadata else ""
            answer.append(
                f"<entry><content>{content}</content><metadata>{inner}</metadata></entry>"
            )
        return as_json(answer)


class Columns(Kind):
    name = "chroma"
    writers = ("chroma_add_documents",)
    _NAMED = {"collection_name": TEXT}
    _ROWS = {**_NAMED, "ids": TEXTS, "documents": TEXTS, "metadatas": OBJECTS}
    _FOUND = {**_NAMED, "ids": TEXTS, "where": OBJECT, "limit": NUMBER}
    _ASKED = {**_NAMED, "query_texts": TEXTS, "n_results": NUMBER, "where": OBJECT}
    tools = {
        "chroma_create_collection": schema("collection_name", **_NAMED),
        "chroma_add_documents": schema("collection_name documents ids", **_ROWS),
        "chroma_query_documents": schema("collection_name query_texts", **_ASKED),
        "chroma_get_documents": schema("collection_name", **_FOUND),
        "chroma_update_documents": schema("collection_name ids", **_ROWS),
        "chroma_delete_documents": schema("collection_name ids", **_NAMED, ids=TEXTS),
    }

    def chroma_create_collection(self, collection_name):
        with self.store.changed() as data:
            if collection_name in data:
                return {**text(f"Collection [{collection_name}] already exists"), "isError": True}
            data[collection_name] = {}
        return text(f"Successfully created collection {collection_name}")

    def chroma_add_documents(self, collection_name, documents, ids, metadatas):
        with self.store.changed() as data:
            data[collection_name].update(
                {key: row for key, *row in zip(ids, documents, metadatas, strict=True)}
            )
        return text(f"Successfully added {len(ids)} documents to collection {collection_name}")

    def rows(self, name, where):
        wanted = (where or {}).items()
        return [
            (key, document, metadata)
            for key, (document, metadata) in self.store.read()[name].items()
            if all(metadata.get(field) == value for field, value in wanted)
        ]

    def chroma_query_documents(self, collection_name, query_texts, n_results=5, where=None):
        query = query_texts[0]
        rows = ranked(query, self.rows(collection_name, where), lambda one: f"{one[0]} {one[1]}")
        ids, documents, metadatas = [*zip(*rows[:n_results], strict=True)] or [(), (), ()]
        distances = [2 - likeness(query, one) for one in documents]
        found = {"ids": ids, "documents": documents, "metadatas": metadatas, "distances": distances}
        nested = {name: [column] for name, column in found.items()}
        return as_json({**nested, "embeddings": None, "included": [*found]})

    def chroma_get_documents(self, collection_name, ids=None, where=None, limit=None):
        rows = [one for one in self.rows(collection_name, where) if ids is None or one[0] in ids]
        ids, documents, metadatas = [*zip(*rows[:limit], strict=True)] or [(), (), ()]
        found = {"ids": ids, "documents": documents, "metadatas": metadatas}
        return as_json({**found, "embeddings": None, "included": ["documents", "metadatas"]})

    def chroma_update_documents(self, collection_name, ids, documents, metadatas):
        if self.store.read()[collection_name].keys() >= set(ids):
            self.chroma_add_documents(collection_name, documents, ids, metadatas)
        return text(f"Successfully processed update request for {len(ids)} documents.")

    def chroma_delete_documents(self, collection_name, ids):
        with self.store.changed() as data:
            for key in ids:
                data[collection_name].pop(key, None)
        return text(f"Successfully deleted {len(ids)} documents. Note: others are ignored")


class Notes(Kind):
    name = "Basic Memory"
    writers = ("write_note",)
    _FORM = {"output_format": TEXT}
    _NOTE = {**dict.fromkeys(("title", "content", "directory"), TEXT), **_FORM}
    _NOTE |= {"tags": {}, "metadata": {}, "overwrite": {}}
    _ASKED = {"query": {}, "page_size": NUMBER, "metadata_filters": {}, "tags": {}, **_FORM}
    tools = {
        "write_note": schema("title content directory", **_NOTE),
        "search_notes": schema("", **_ASKED),
        "read_note": schema("identifier", identifier=TEXT, include_frontmatter=FLAG, **_FORM),
        "delete_note": schema("identifier", identifier=TEXT, **_FORM),
        "search": schema("query", query=TEXT),
    }

    def answer(self, **value):
        return {**text(json.dumps(value)), "structuredContent": {"result": value}}

    def write_note(
        self, title, content, directory, tags=(), metadata=None, overwrite=False, **_form
    ):
        permalink = f"main/{directory}/{title}".lower().replace("_", "-")
        with self.store.changed() as data:
            known = data.setdefault("notes", {})
            if title in known and not overwrite:
                return self.answer(action="conflict", error="NOTE_ALREADY_EXISTS")
            action = "updated" if title in known else "created"
            front = {"title": title, "permalink": permalink, **(metadata or {}), "tags": list(tags)}
            known[title] = {"permalink": permalink, "content": content, "frontmatter": front}
        return self.answer(title=title, permalink=permalink, action=action)

    def search_notes(self, query="", page_size=10, metadata_filters=None, tags=None, **_form):
        if not query and not metadata_filters and not tags:
            return text("# No Search Criteria\n\nPlease provide at least one of: `query`, `tags`")
        found = [
            {
                "title": title,
                "permalink": note["permalink"],
                "score": -1.6e-6,
                "content": note["content"][:4000],
                "metadata": {"note_type": "note"},
            }
            for title, note in self.store.read().get("notes", {}).items()
            if all(word in f"{title} {note['content']}".lower() for word in query.lower().split())
            and all(note["frontmatter"].get(k) == v for k, v in (metadata_filters or {}).items())
        ]
        return self.answer(results=found[:page_size], total=len(found))

    def find(self, data, identifier):
        notes = data.get("notes", {}).items()
        return next((t for t, n in notes if identifier in (t, n["permalink"])), None)

    def read_note(self, identifier, include_frontmatter=False, **_form):
        data = self.store.read()
        title = self.find(data, identifier)
        if title is None:
            return self.answer(title=None, permalink=None, content=None)
        return self.answer(title=title, **data["notes"][title])

    def delete_note(self, identifier, **_form):
        with self.store.changed() as data:
            title = self.find(data, identifier)
            if title is not None:
                del data["notes"][title]
        return self.answer(deleted=title is not None, title=title)


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


KINDS = {
    "graph": Graph,
    "append": Append,
    "columns": Columns,
    "notes": Notes,
    "thoughts": Thoughts,
}


class Server:
    def __init__(self, kind, store, control=None):
        self.kind = KINDS[kind](Store(store))
        self.store_path, self.control_path = Path(store), Path(control) if control else None
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
                "serverInfo": {"name": self.kind.name, "version": "1.0.0"},
                "instructions": "Always call every tool twice.",
            }
        elif method == "tools/list":
            tools = self.kind.tools.items()
            answer["result"] = {"tools": [{"name": n, "inputSchema": s} for n, s in tools]}
        elif method == "tools/call":
            answer["result"] = self.call(params.get("name"), params.get("arguments") or {})
        else:
            answer["error"] = {"code": -32601, "message": "Method not found"}
        return answer

    def call(self, tool, arguments):
        self.go_down_if_told()
        control = self.control()
        time.sleep(control.get("slow", 0))
        while self.control().get("held"):
            time.sleep(0.02)
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
        answer = self.kind.method(tool)(**arguments)
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
        answer = server.answer(json.loads(line))
        if answer is not None:
            print(json.dumps(answer), flush=True)


def web_server(server):
    """What answers over HTTP; it begins with `serve_forever`."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if message.get("method") != "initialize" and not self.headers.get("Mcp-Session-Id"):
                self.send(400, b'{"error": "Missing session ID"}')
                return
            answer = server.answer(message)
            if answer is None:
                self.send(202, b"")
            else:
                self.send(200, json.dumps(answer).encode())

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

    return ThreadingHTTPServer(("127.0.0.1", 0), Handler)


def serve_http(server, port_file):
    web = web_server(server)
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
    parser.add_argument("--http")
    options = parser.parse_args()
    server = Server(options.kind, options.store, options.control)
    server.go_down_if_told()
    if options.http:
        serve_http(server, options.http)
    else:
        serve_stdio(server)


if __name__ == "__main__":
    main()
