"""Memory backends in a file: a sound one, and those with a fault that needs one to be seen."""

# ruff: noqa: D102 - each class says what is wrong with its methods

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from time import sleep
from typing import Final

from grove_core.codec.documents import learning_from_dict, learning_to_dict
from grove_core.errors import BackendError, StorageError
from grove_core.files import append_text, read_text, replace
from grove_core.model.learning import Learning
from grove_core.model.memory import (
    Capability,
    Filters,
    Health,
    Hit,
    Query,
    Receipt,
    ReceiptStatus,
)
from grove_core.testing.memory_backend import InMemoryBackend

_SWITCH_SECONDS: Final = 0.001
_lock: Final = Lock()


class InFile(InMemoryBackend):
    """A sound one: a line for each learning, appended under the lock of the file.

    Args:
        path: The file, which is made when something is written.
    """

    def __init__(self, path: Path) -> None:
        capabilities = frozenset({Capability.GET, Capability.ITERATE})
        super().__init__("file", capabilities)
        self._path = path

    def write(self, learning: Learning) -> Receipt:
        def unless_there(text: str) -> str:
            known = any(one.id == learning.id for one in _read(text))
            return "" if known else _line(learning)

        try:
            stored = self._append(unless_there)
        except StorageError as error:
            raise BackendError(str(error)) from error
        return self._receipt(learning, stored=bool(stored))

    def get(self, learning_id: str) -> Learning | None:
        return next((one for one in self._all() if one.id == learning_id), None)

    def ping(self) -> Health:
        try:
            return super().ping()
        except BackendError as error:
            return Health(ok=False, detail=str(error))

    def _append(self, line: Callable[[str], str]) -> bool:
        return append_text(self._path, line, inside=self._path.parent)

    def _all(self) -> list[Learning]:
        try:
            return _read(read_text(self._path) or "")
        except StorageError as error:
            raise BackendError(str(error)) from error

    def _receipt(self, learning: Learning, *, stored: bool) -> Receipt:
        status = ReceiptStatus.STORED if stored else ReceiptStatus.DUPLICATE
        return Receipt(learning_id=learning.id, status=status, backend=self.name)


class LocksItsThreadsOnly(InFile):
    """Writes the whole file anew, under a lock that other processes know nothing of."""

    def write(self, learning: Learning) -> Receipt:
        with _lock:
            known = self._all()
            sleep(_SWITCH_SECONDS)
            stored = all(one.id != learning.id for one in known)
            if stored:
                lines = "".join(map(_line, [*known, learning]))
                try:
                    replace(self._path, lines.encode())
                except StorageError as error:
                    raise BackendError(str(error)) from error
        return self._receipt(learning, stored=stored)


class SwallowsErrors(InFile):
    """Says that it has stored what it could not."""

    def write(self, learning: Learning) -> Receipt:
        with suppress(BackendError):
            return super().write(learning)
        return self._receipt(learning, stored=True)


class IsWellUntilItIsUsed(InFile):
    """Does not look when it is asked how it is, as long as it has stored nothing."""

    def write(self, learning: Learning) -> Receipt:
        receipt = super().write(learning)
        self._used.touch()
        return receipt

    def ping(self) -> Health:
        return super().ping() if self._used.exists() else Health(ok=True, detail="fine")

    @property
    def _used(self) -> Path:
        return self._path.with_name("used")


class MakesItsFileAtOnce(InFile):
    """Makes an empty file when it is opened, as a database does that is connected to."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with suppress(FileExistsError):
            self._path.open("x").close()


class MakesItsFolderAtOnce(InFile):
    """Makes an empty folder when it is opened, for what is to come."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        (path.parent / "drafts").mkdir(exist_ok=True)


class MakesItsFolderInOrderToSearch(InFile):
    """Makes the folder of an index when it is searched."""

    def search(self, query: Query, filters: Filters) -> Sequence[Hit]:
        (self._path.parent / "index").mkdir(exist_ok=True)
        return super().search(query, filters)


class FollowsLinks(InFile):
    """Writes to whatever its file is a link to."""

    def _append(self, line: Callable[[str], str]) -> bool:
        return append_text(self._path, line)


class LooksAtItsFileOnly(InFile):
    """Follows no link in the place of its file, and each in the place of the folder around it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path if path.is_dir() else path.parent / "shelves" / path.name)

    def _append(self, line: Callable[[str], str]) -> bool:
        if self._path.is_symlink():
            raise StorageError(f"{self._path} is a link")
        return append_text(self._path, line)


class PingsOneOfItsFiles(InFile):
    """Keeps a list of its ids besides, and does not look at that when it is asked how it is."""

    def write(self, learning: Learning) -> Receipt:
        receipt = super().write(learning)
        append_text(self._ids, f"{learning.id}\n", inside=self._path.parent)
        return receipt

    def get(self, learning_id: str) -> Learning | None:
        is_known = learning_id in (read_text(self._ids) or "").splitlines()
        return super().get(learning_id) if is_known else None

    @property
    def _ids(self) -> Path:
        return self._path.with_name("ids.txt")


def _line(learning: Learning) -> str:
    return json.dumps(learning_to_dict(learning)) + "\n"


def _read(text: str) -> list[Learning]:
    return [learning_from_dict(json.loads(line)) for line in text.splitlines()]
