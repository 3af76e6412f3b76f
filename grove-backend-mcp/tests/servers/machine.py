"""A home with programs, a project, what an administrator has made, and the client's files in them."""

import json

from core_worlds import write_program

from grove_backend_mcp.settings import McpSettings
from grove_core import BackendContext

PROGRAMS = ("npx", "uvx", "node", "team-memory", "mcp-server-qdrant")


class Machine:
    def __init__(self, base):
        self.base = base
        self.home, self.root, self.grove, self.managed = (
            base / name for name in ("home", "project", "grove", "managed")
        )
        for folder in (self.home, self.root, base / "bin"):
            folder.mkdir(parents=True)
        for name in PROGRAMS:
            write_program(base / "bin" / name, f"touch {base}/started")
        self.environment = {"HOME": str(self.home), "PATH": str(base / "bin")}

    @property
    def has_started_one(self):
        return (self.base / "started").exists()

    def write(self, path, document):
        path.parent.mkdir(parents=True, exist_ok=True)
        text = document if isinstance(document, str) else json.dumps(document)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))

    def registry(self, user=None, local=None, **noted):
        """What is registered with the client, and what it has noted of the project besides."""
        projects = {str(self.root): {"mcpServers": local or {}, **noted}}
        document = {"mcpServers": user or {}, "projects": projects}
        self.write(self.home / ".claude.json", document)

    def project(self, **servers):
        self.write(self.root / ".mcp.json", {"mcpServers": servers})

    def context(self, *, root=None, trusted=(), **settings):
        return BackendContext(
            root=root or self.root,
            home=self.grove,
            environment=self.environment,
            settings=McpSettings(**settings),
            trusted=frozenset(trusted),
        )
