"""The outbox: learnings that were accepted and could not be delivered yet. None is lost."""

import json
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from grove_core.clock import format_instant, parse_instant
from grove_core.codec.session_json import learning_from_dict, learning_to_dict
from grove_core.errors import CodecError, StorageError
from grove_core.git import find_repository, find_top
from grove_core.model.learning import Learning, Scope
from grove_core.model.value import Value, frozen
from grove_core.storage import files

_SUFFIX = ".json"
_INSIDE = "//"
"""Stands between a repository's directory and the project's folder in a work tree."""


@frozen(kw_only=True, eq=False, repr=False)
class OutboxEntry(Value):
    """A learning that waits for delivery."""

    learning: Learning
    root: str
    path: Path
    queued_at: datetime
    repository: str = ""
    kept_in: str = ""
    is_kept: bool = False

    @property
    def is_stranded(self) -> bool:
        """Whether no project is left that would deliver it."""
        if self.learning.scope is Scope.PERSONAL or Path(self.root).is_dir():
            return False
        return not (self.repository and Path(self.repository.partition(_INSIDE)[0]).is_dir())


class Outbox:
    """Learnings that wait, one file each, named by their ids."""

    def __init__(self, directory: Path) -> None:
        """Name the directory; it is created by the first entry."""
        self._directory = directory

    def put(
        self,
        learning: Learning,
        root: Path,
        now: datetime,
        *,
        kept_in: str = "",
        is_kept: bool = False,
    ) -> None:
        """Keep a learning for later; what waits already under its id is replaced."""
        files.make_directory(self._directory)
        document = {
            "learning": learning_to_dict(learning),
            "root": str(root),
            "queued_at": format_instant(now),
            **({"repository": place} if (place := _repository_of(str(root))) else {}),
            **({"kept_in": kept_in} if kept_in else {}),
            **({"is_kept": True} if is_kept else {}),
        }
        # Paths may hold bytes that are no UTF-8; json reads such surrogates back.
        text = json.dumps(document, ensure_ascii=False, indent=1)
        content = text.encode("utf-8", "surrogatepass")
        files.replace(self._directory / f"{learning.id}{_SUFFIX}", content)

    def entries(self, root: Path | None = None) -> Sequence[OutboxEntry]:
        """List what waits; entries that cannot be read are left where they are."""
        found: list[OutboxEntry] = []
        for path in self._files():
            entry = _read(path)
            if entry is None:
                continue
            if root is None or _belongs_to(entry, str(root)):
                found.append(entry)
        return found

    def stranded(self) -> Sequence[OutboxEntry]:
        """Name what no project is left for: its folder is gone, and was no mere work tree."""
        return [entry for entry in self.entries() if entry.is_stranded]

    def unreadable(self) -> tuple[Path, ...]:
        """Name the entries that cannot be read, of all projects; people have to look at them."""
        return tuple(path for path in self._files() if _read(path) is None and path.exists())

    def _files(self) -> Sequence[Path]:
        return sorted(self._directory.glob(f"*{_SUFFIX}"))


def _belongs_to(entry: OutboxEntry, root: str) -> bool:
    if entry.root == root or entry.learning.scope is Scope.PERSONAL:
        return True
    # While the other work tree is there, it delivers what it has left itself.
    if not entry.repository or Path(entry.root).is_dir():
        return False
    return entry.repository == _repository_of(root)


def _repository_of(root: str) -> str:
    """Tell where a project lies in its repository, in the same words for all work trees."""
    top = find_top(Path(root))
    repository = None if top is None else find_repository(top)
    return f"{repository}{_INSIDE}{os.path.relpath(root, top)}" if repository and top else ""


def _read(path: Path) -> OutboxEntry | None:
    try:
        document = json.loads(files.read_bytes(path) or b"null")
        if not isinstance(document, dict) or not isinstance(document.get("learning"), dict):
            return None
        learning = learning_from_dict(document["learning"])
        queued_at = document.get("queued_at")
        return OutboxEntry(
            learning=learning,
            root=str(document["root"]),
            path=path,
            queued_at=parse_instant(str(queued_at)) if queued_at else learning.timestamp,
            repository=str(document.get("repository", "")),
            kept_in=str(document.get("kept_in", "")),
            is_kept=document.get("is_kept") is True,
        )
    except (CodecError, StorageError, ValueError, KeyError, TypeError, RecursionError):
        return None
