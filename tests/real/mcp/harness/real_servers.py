"""The real memory servers, how each is started on a store of its own, and what it is known to do."""

import os
import shutil
from pathlib import Path

import pytest
from attrs import frozen

FOLDER = Path(__file__).resolve().parents[4] / ".mcp-servers"
WITH_LONG_ONLY = {"mcp-memory-keeper": "it compiles SQLite, so GROVE_TESTS_LONG=1 make real-tools"}


def installed(name):
    """The folder of something that `make real-tools` has got, or a reason to skip."""
    folder = FOLDER / name
    if not (folder / "complete").exists():
        missing = FOLDER / f"{name}.missing"
        told = WITH_LONG_ONLY.get(name, "run make real-tools")
        reason = missing.read_text().strip() if missing.exists() else told
        pytest.skip(f"no {name}: {reason}")
    return folder


@frozen(kw_only=True)
class RealServer:
    """One server with one transport.

    Attributes:
        name: The name of its folder.
        profile: grove's profile of it.
        program: Its program in that folder.
        words: Its arguments; `{store}` is the folder of its data, `{port}` a free port.
        variables: Its environment, besides a home and a path.
        over_http: Whether it is a process that outlives its clients; else each client starts one.
        path: Its path there.
        needs_model: Whether it looks for its model in the home.
        needs_embeddings: Whether it asks an endpoint for embeddings.
        finds: Whether it has a search.
        lists: Whether all that is stored for a project can be listed.
        updates: Whether it can be told of an archived learning.
        deletes: Whether one can be deleted.
        patience: How many seconds it may take until what is written can be found by its words.
    """

    name: str
    profile: str
    program: str
    words: tuple = ()
    variables: tuple = ()
    over_http: bool = False
    path: str = "/mcp"
    needs_model: bool = False
    needs_embeddings: bool = False
    finds: bool = True
    lists: bool = True
    updates: bool = True
    deletes: bool = True
    patience: int = 0

    @property
    def label(self):
        """What tests are named by."""
        return f"{self.name}{' over HTTP' if self.over_http else ''}"

    def command(self, **places):
        """The program with its arguments."""
        program = installed(self.name) / self.program
        words = [word.format(**places) for word in self.words]
        node = shutil.which("node") if program.suffix == ".js" else None
        return [*([node] if node else []), str(program), *words]

    def environment(self, *, home, **places):
        """Its environment; nothing of the developer's own is in it."""
        given = dict(one.format(home=home, **places).split("=", 1) for one in self.variables)
        return {
            "HOME": str(home),
            "PATH": os.pathsep.join([str(Path(shutil.which("node") or "/").parent), "/usr/bin", "/bin"]),
            "LANG": "C.UTF-8",
            "TMPDIR": str(home),
            **given,
        }  # fmt: skip

    def provide_model(self, home):
        """Puts the model where it would put it after fetching it from a hub."""
        model = installed("model")
        chroma = home / ".cache" / "chroma" / "onnx_models" / "all-MiniLM-L6-v2"
        fastembed = home / "models" / "models--Qdrant--all-MiniLM-L6-v2-onnx"
        for folder in (chroma, fastembed / "refs", fastembed / "snapshots"):
            folder.mkdir(parents=True)
        (chroma / "onnx").symlink_to(model)
        (fastembed / "refs" / "main").write_text("local")
        (fastembed / "snapshots" / "local").symlink_to(model)


QDRANT = {
    "name": "mcp-server-qdrant",
    "profile": "qdrant",
    "program": "bin/mcp-server-qdrant",
    "needs_model": True,
    "lists": False,
    "updates": False,
    "deletes": False,
}
QDRANT_VARIABLES = (
    "QDRANT_LOCAL_PATH={store}/qdrant",
    "COLLECTION_NAME=grove",
    "FASTEMBED_CACHE_PATH={home}/models",
    "HF_HUB_OFFLINE=1",
)

SERVERS = (
    RealServer(
        name="server-memory",
        profile="server-memory",
        program="node_modules/@modelcontextprotocol/server-memory/dist/index.js",
        variables=("MEMORY_FILE_PATH={store}/memory.jsonl",),
    ),
    RealServer(
        name="mcp-memory-libsql",
        profile="mcp-memory-libsql",
        program="node_modules/mcp-memory-libsql/dist/index.js",
        variables=("LIBSQL_URL=file:{store}/memory.db",),
        lists=False,
    ),
    RealServer(
        name="mcp-memory-keeper",
        profile="mcp-memory-keeper",
        program="node_modules/mcp-memory-keeper/dist/index.js",
        variables=("DATA_DIR={store}",),
        deletes=False,
    ),
    RealServer(
        name="memory-bank-mcp",
        profile="memory-bank",
        program="node_modules/@allpepper/memory-bank-mcp/dist/main/index.js",
        variables=("MEMORY_BANK_ROOT={store}",),
        finds=False,
        lists=False,
        deletes=False,
    ),
    RealServer(
        name="chroma-mcp",
        profile="chroma",
        program="bin/chroma-mcp",
        words=("--client-type", "persistent", "--data-dir", "{store}"),
        variables=("ANONYMIZED_TELEMETRY=False",),
        needs_model=True,
    ),
    RealServer(**QDRANT, variables=QDRANT_VARIABLES),
    RealServer(
        **QDRANT,
        words=("--transport", "streamable-http"),
        variables=(*QDRANT_VARIABLES, "FASTMCP_SERVER_HOST=127.0.0.1", "FASTMCP_SERVER_PORT={port}"),
        over_http=True,
    ),
    RealServer(
        name="mcp-memory-service",
        profile="mcp-memory-service",
        program="bin/memory",
        words=(
            "server", "--streamable-http", "--sse-host", "127.0.0.1", "--sse-port", "{port}",
        ),
        variables=(
            "MCP_MEMORY_BASE_DIR={store}",
            "MCP_MEMORY_SQLITE_PATH={store}/memory.db",
            "MCP_EXTERNAL_EMBEDDING_URL={embeddings}",
            "MCP_EXTERNAL_EMBEDDING_MODEL=words",
            # What would fetch models, or announce the server to the network.
            "MCP_QUALITY_SYSTEM_ENABLED=false",
            "MCP_CONSOLIDATION_ENABLED=false",
            "MCP_MDNS_ENABLED=false",
            "HF_HUB_OFFLINE=1",
        ),
        over_http=True,
        needs_embeddings=True,
    ),
    RealServer(
        name="basic-memory",
        profile="basic-memory",
        program="bin/basic-memory",
        words=("mcp", "--transport", "streamable-http", "--host", "127.0.0.1", "--port", "{port}"),
        variables=(
            "BASIC_MEMORY_HOME={store}/notes",
            "BASIC_MEMORY_CONFIG_DIR={store}/configuration",
            # It would fetch a model.
            "BASIC_MEMORY_SEMANTIC_SEARCH_ENABLED=false",
            "FASTMCP_CHECK_FOR_UPDATES=off",
        ),
        over_http=True,
        # It fills its index behind its answers.
        patience=15,
    ),
)  # fmt: skip
