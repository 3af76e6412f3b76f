"""The outbox: learnings that were accepted and could not be delivered yet. None is lost."""

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from attrs import frozen

from grove_core import codec, files
from grove_core.clock import format_instant
from grove_core.errors import CodecError, StorageError
from grove_core.model.learning import Learning, Scope
from grove_core.model.value import Value

_SUFFIX = ".json"


@frozen(kw_only=True, eq=False, repr=False)
class OutboxEntry(Value):
    """A learning that waits for delivery.

    Attributes:
        learning: The learning, under the id it will keep.
        root: The project it belongs to.
        path: Where it waits.
        kept_in: The backend that keeps it meanwhile; empty when none does.
    """

    learning: Learning
    root: str
    path: Path
    kept_in: str = ""


class Outbox:
    """Learnings that wait, one file each, named by their ids."""

    def __init__(self, directory: Path) -> None:
        """Name the directory; it is created by the first entry.

        Args:
            directory: Where the entries lie.
        """
        self._directory = directory

    def put(self, learning: Learning, root: Path, now: datetime, *, kept_in: str = "") -> None:
        """Keep a learning for later; what waits already under its id is replaced.

        Args:
            learning: The learning.
            root: The project it belongs to.
            now: The time, for people who look into the file.
            kept_in: The backend that keeps it meanwhile; empty when none does.

        Raises:
            StorageError: It could not be kept.
        """
        files.make_directory(self._directory)
        document = {
            "learning": codec.learning_to_dict(learning),
            "root": str(root),
            "queued_at": format_instant(now),
            **({"kept_in": kept_in} if kept_in else {}),
        }
        # Paths may hold bytes that are no UTF-8; json reads such surrogates back.
        text = json.dumps(document, ensure_ascii=False, indent=1)
        content = text.encode("utf-8", "surrogatepass")
        files.replace(self._directory / f"{learning.id}{_SUFFIX}", content)

    def entries(self, root: Path | None = None) -> Sequence[OutboxEntry]:
        """List what waits; entries that cannot be read are left where they are.

        Args:
            root: Only what belongs to this project, personal learnings included; ``None`` for all.

        Returns:
            The entries, by id.
        """
        found: list[OutboxEntry] = []
        for path in self._files():
            entry = _read(path)
            if entry is None:
                continue
            if root is None or entry.root == str(root) or entry.learning.scope is Scope.PERSONAL:
                found.append(entry)
        return found

    def unreadable(self) -> tuple[Path, ...]:
        """Name the entries that cannot be read, of all projects; people have to look at them.

        Returns:
            Their files, by name.
        """
        return tuple(path for path in self._files() if _read(path) is None and path.exists())

    def _files(self) -> Sequence[Path]:
        return sorted(self._directory.glob(f"*{_SUFFIX}"))


def _read(path: Path) -> OutboxEntry | None:
    try:
        document = json.loads(files.read_bytes(path) or b"null")
        if not isinstance(document, dict) or not isinstance(document.get("learning"), dict):
            return None
        return OutboxEntry(
            learning=codec.learning_from_dict(document["learning"]),
            root=str(document["root"]),
            path=path,
            kept_in=str(document.get("kept_in", "")),
        )
    except (CodecError, StorageError, ValueError, KeyError, TypeError, RecursionError):
        return None
