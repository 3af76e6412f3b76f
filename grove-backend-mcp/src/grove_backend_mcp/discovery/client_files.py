"""Reading the client's files: bounded, and what is broken is named and costs nothing else."""

import json
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from grove_core import BackendContext

MOST_BYTES: Final = 16 * 1024 * 1024
"""More is not read of a file of the user's."""
MOST_BYTES_OF_PROJECT: Final = 1024 * 1024
"""More is not read of one in the project, which may be a stranger's."""

_REGISTRY: Final = ".claude.json"
# The client writes an empty table for each project it has ever seen.
_ANY_SERVER: Final = re.compile(rb'"mcpServers"\s*:\s*\{\s*"')


class ClientFiles:
    """The files in which the client and its user say what there is."""

    def __init__(self, context: BackendContext, managed: Path) -> None:
        """Work out where the files are; nothing is read yet."""
        moved = context.environment.get("CLAUDE_CONFIG_DIR", "")
        self._home = context.environment.get("HOME", "")
        beside = moved or self._home
        directory = moved or (self._home and f"{self._home}/.claude")
        self.root = context.root
        self.directory = Path(directory) if directory else None
        self.problems: list[str] = []
        self._registry = Path(beside, _REGISTRY) if beside else None
        self._managed = managed
        self._documents: dict[Path, dict[str, Any]] = {}

    @property
    def registry_for_people(self) -> str:
        """The client's own record of servers, as people write its path."""
        return self.for_people(self._registry) if self._registry is not None else _REGISTRY

    def for_people(self, path: Path) -> str:
        """Write a path with ``~``, or relative to the project where it is in it."""
        if path.is_relative_to(self.root):
            return str(path.relative_to(self.root))
        home = self._home
        return f"~/{path.relative_to(home)}" if home and path.is_relative_to(home) else str(path)

    def registry(self, *, wanted_anyway: bool) -> Mapping[str, Any]:
        """Read the client's own record, which may be of many megabytes."""
        content = self._content(self._registry)
        if not wanted_anyway and not _ANY_SERVER.search(content):
            return {}
        return self._parsed(self._registry, content)

    def document(self, path: Path | None) -> dict[str, Any]:
        """Read a file that holds a JSON object."""
        if path is None:
            return {}
        if path not in self._documents:
            self._documents[path] = self._parsed(path, self._content(path))
        return self._documents[path]

    def user_settings(self) -> Mapping[str, Any]:
        """Read the user's settings of the client."""
        return self.document(self.directory and self.directory / "settings.json")

    def project_settings(self) -> list[Mapping[str, Any]]:
        """Read the settings in the project, the weaker first."""
        folder = self.root / ".claude"
        if folder == self.directory:
            return []
        return [self.document(folder / name) for name in ("settings.json", "settings.local.json")]

    def managed_settings(self) -> Mapping[str, Any]:
        """Read the settings that an administrator has made."""
        return self.document(self._managed / "managed-settings.json")

    @property
    def exclusive(self) -> Path | None:
        """The file of an administrator beside whose servers there are none, where there is one."""
        path = self._managed / "managed-mcp.json"
        return path if os.path.isfile(path) else None  # noqa: PTH113 - never raises

    def _content(self, path: Path | None) -> bytes:
        if path is None:
            return b""
        most = MOST_BYTES_OF_PROJECT if path.is_relative_to(self.root) else MOST_BYTES
        try:
            # A pipe of that name would never end.
            descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
                if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                    return b""
                content = file.read(most + 1)
        except (FileNotFoundError, NotADirectoryError):
            return b""
        except (OSError, ValueError) as error:
            self._complain(path, getattr(error, "strerror", None) or "it cannot be read")
            return b""
        if len(content) > most:
            self._complain(path, f"it is larger than {most // 1024 // 1024} MiB")
            return b""
        return content

    def _parsed(self, path: Path | None, content: bytes) -> dict[str, Any]:
        if path is None or not content.strip():
            return {}
        try:
            document = json.loads(content)
        except (ValueError, RecursionError):
            self._complain(path, "it is no JSON")
            return {}
        if not isinstance(document, dict):
            self._complain(path, "it holds no JSON object")
            return {}
        return document

    def _complain(self, path: Path, why: str) -> None:
        self.problems.append(f"{self.for_people(path)} was left out: {why}")


def table_in(document: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Take a table out of a document; empty where something else is there."""
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def names_in(document: Mapping[str, Any], key: str) -> frozenset[str]:
    """Take a list of names out of a document; whatever else is in it is left out."""
    value = document.get(key)
    if not isinstance(value, list):
        return frozenset()
    return frozenset(one for one in value if isinstance(one, str))
