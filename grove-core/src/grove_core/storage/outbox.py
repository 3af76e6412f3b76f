"""A folder of what waits to be delivered: one JSON file for each entry."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from grove_core.errors import StorageError
from grove_core.storage import files

_SUFFIX: Final = ".json"


@frozen(kw_only=True)
class Entry:
    """Something that waits.

    Attributes:
        key: The name it was put under.
        path: Its file.
        document: What it says; ``None`` when the file cannot be read.
    """

    key: str
    path: Path
    document: Mapping[str, Any] | None


class Outbox:
    """What was accepted and is not delivered yet.

    Put an entry before anything is sent and remove it once the other side has it: a process that is
    killed in between delivers it again, so the other side must take the same entry twice. An entry
    is a file of its own, written completely or not at all, so several processes may use one outbox,
    and one that is damaged stops no other.
    """

    def __init__(self, directory: Path) -> None:
        """Read nothing yet.

        Args:
            directory: The folder; it is created by the first entry.
        """
        self.directory = directory

    def put(self, key: str, document: Mapping[str, Any]) -> None:
        """Have an entry wait; one of the same key is replaced.

        Args:
            key: Its name, which must be usable as a file's name.
            document: What JSON can hold. Half characters of paths that are no UTF-8 survive.

        Raises:
            StorageError: It could not be written.
        """
        files.make_directory(self.directory)
        text = json.dumps(document, ensure_ascii=False, indent=1)
        files.replace(self._path(key), text.encode("utf-8", "surrogatepass"))

    def entries(self) -> Sequence[Entry]:
        """List what waits.

        Returns:
            The entries in the order of their keys; those that cannot be read are among them.
        """
        paths = sorted(self.directory.glob(f"*{_SUFFIX}"))
        found = [Entry(key=path.stem, path=path, document=_read(path)) for path in paths]
        return [one for one in found if one.document is not None or one.path.exists()]

    def remove(self, key: str) -> None:
        """Take out an entry that has been delivered; one that is gone already is no error.

        Args:
            key: The name it was put under.
        """
        self._path(key).unlink(missing_ok=True)

    def _path(self, key: str) -> Path:
        return self.directory / f"{key}{_SUFFIX}"


def _read(path: Path) -> dict[str, Any] | None:
    try:
        document = json.loads(files.read_bytes(path) or b"null")
    except (StorageError, ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None
