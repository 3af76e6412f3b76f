"""The outbox: learnings that were accepted and could not be delivered yet. None is lost."""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from attrs import evolve, field

from grove_core.codec import from_json, plain
from grove_core.errors import CodecError, LearningNotFoundError, StorageError, UnsupportedError
from grove_core.git import find_repository, find_top
from grove_core.model.learning import Learning, LearningStatus, Scope
from grove_core.model.memory import Capability, Filters, Health, Hit, Query, Receipt
from grove_core.model.value import Value, frozen
from grove_core.storage import files

_INSIDE: Final = "//"
"""Stands between a repository's directory and the project's folder in a work tree."""


@frozen(kw_only=True, eq=False, repr=False)
class OutboxEntry(Value):
    """A learning that waits for delivery."""

    learning: Learning
    root: str
    repository: str = ""
    path: Path = Path()
    """Of its file, which does not hold it."""

    @property
    def is_stranded(self) -> bool:
        """Whether no project is left that would deliver it."""
        if self.learning.scope is Scope.PERSONAL or Path(self.root).is_dir():
            return False
        return not (self.repository and Path(self.repository.partition(_INSIDE)[0]).is_dir())

    def belongs_to(self, root: str) -> bool:
        """Return whether a project delivers it."""
        if self.root == root or self.learning.scope is Scope.PERSONAL:
            return True
        # While the other work tree is there, it delivers what it has left itself.
        if not self.repository or Path(self.root).is_dir():
            return False
        return self.repository == _repository_of(root)


class Outbox:
    """The learnings of all projects that wait: a file each, named by its id.

    A file is written completely or not at all, and one that is damaged stops no other. It is
    removed once the backend has the learning: a process that is killed in between delivers it
    again, which backends take.
    """

    def __init__(self, directory: Path) -> None:
        """Name the directory; it is created by the first entry."""
        self.directory = directory

    def put(self, learning: Learning, root: Path) -> None:
        """Queue a learning; what waits already under its id is replaced."""
        repository = _repository_of(str(root))
        document = plain(OutboxEntry(learning=learning, root=str(root), repository=repository))
        del document["path"]
        files.make_directory(self.directory)
        # In ASCII, half characters of paths that are no UTF-8 survive.
        text = json.dumps(document, indent=1, default=plain)
        files.replace(self.directory / f"{learning.id}.json", text.encode("ascii"))

    def entries(self, root: Path | None = None) -> Sequence[OutboxEntry]:
        """List what waits, for one project or for all; what cannot be read stays in its place."""
        found = [entry for path in self._paths() if (entry := _read(path))]
        return found if root is None else [one for one in found if one.belongs_to(str(root))]

    def unreadable(self) -> tuple[Path, ...]:
        """Name the entries that cannot be read, of all projects; people have to look at them."""
        return tuple(one for one in self._paths() if _read(one) is None and one.exists())

    def _paths(self) -> Sequence[Path]:
        return sorted(self.directory.glob("*.json"))


@frozen(kw_only=True, eq=False, repr=False)
class WaitingLearnings:
    """The outbox as a memory backend that can be read: what waits is found all the same."""

    outbox: Outbox = field(kw_only=False)
    root: Path = field(kw_only=False)
    personal: bool
    name = "outbox"
    capabilities = frozenset(
        {Capability.GET, Capability.ITERATE, Capability.SET_STATUS, Capability.FILES}
    )

    def files(self) -> Sequence[Path]:
        """Name the folder of the outbox."""
        return [self.outbox.directory]

    def _entries(self) -> Iterable[OutboxEntry]:
        for one in self.outbox.entries(self.root):
            if (one.learning.scope is Scope.PERSONAL) is self.personal:
                yield one

    def iterate(self) -> Iterable[Learning]:
        """List what waits."""
        return (one.learning for one in self._entries())

    def get(self, learning_id: str) -> Learning | None:
        """Fetch a learning that waits."""
        return next((one for one in self.iterate() if one.id == learning_id), None)

    def set_status(self, learning_id: str, status: LearningStatus, note: str = "") -> Learning:
        """Change the status with which a learning will be delivered."""
        del note
        for one in self._entries():
            if one.learning.id == learning_id:
                learning = evolve(one.learning, status=status)
                self.outbox.put(learning, Path(one.root))
                return learning
        raise LearningNotFoundError(f"no learning {learning_id} waits in the outbox")

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        """Return nothing: what is listed is indexed."""
        del query, filters
        return ()

    def ping(self) -> Health:
        """Report that it works."""
        return Health(ok=True, detail="the outbox", location=str(self.outbox.directory))

    def write(self, learning: Learning) -> Receipt:
        """Refuse: learnings are queued and not written here."""
        raise UnsupportedError(f"{learning.id} cannot be written to the outbox")


def _repository_of(root: str) -> str:
    """Say where a project lies in its repository, in the same words for all work trees."""
    top = find_top(Path(root))
    repository = None if top is None else find_repository(top)
    return f"{repository}{_INSIDE}{os.path.relpath(root, top)}" if repository and top else ""


def _read(path: Path) -> OutboxEntry | None:
    try:
        return evolve(from_json(OutboxEntry, files.read_bytes(path) or b""), path=path)
    except (CodecError, StorageError):
        return None
