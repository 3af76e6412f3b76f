"""What ``grove init`` has done in a project, so that it can be taken back."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from grove_core.codec.converter import read_as, to_jsonable
from grove_core.errors import CodecError, StorageError
from grove_core.storage import files
from grove_core.storage.paths import Paths, project_key

_RECORD: Final = "record.json"


@frozen(kw_only=True)
class WrittenFile:
    """A file that init has written, or has written into."""

    path: str
    digest: str
    existed: bool
    added_rule: bool = False


@frozen(kw_only=True)
class Installation:
    """What init has done in a project."""

    root: str
    program: str | None = None
    merge_driver: str | None = None
    scaffold: tuple[str, ...] = ()
    attributes: str = ""
    files: tuple[WrittenFile, ...] = ()
    directories: tuple[str, ...] = ()
    schema_version: int = 1

    def file(self, path: str) -> WrittenFile | None:
        """Find what is recorded of a file."""
        return next((one for one in self.files if one.path == path), None)

    def with_file(self, written: WrittenFile) -> "Installation":
        """Record a file in place of what was recorded of it."""
        others = tuple(one for one in self.files if one.path != written.path)
        return evolve(self, files=(*others, written))


class InstallationRecord:
    """The record of one project on disk."""

    def __init__(self, paths: Paths, root: Path) -> None:
        """Name the directory; nothing is read yet."""
        self._all = paths.installed
        self._directory = paths.installed / project_key(root)
        self._root = root

    def read(self) -> Installation:
        """Read what init has done here."""
        return _read(self._directory / _RECORD) or Installation(root=str(self._root))

    def write(self, installation: Installation) -> None:
        """Write the record."""
        files.make_directory(self._directory)
        text = json.dumps(to_jsonable(installation), indent=2) + "\n"
        files.replace(self._directory / _RECORD, text.encode())

    def keep(self, path: str, text: str) -> None:
        """Keep the bytes of a file as they were."""
        files.make_directory(self._directory)
        files.replace(self._backup(path), text.encode("utf-8", "surrogateescape"))

    def kept(self, path: str) -> str | None:
        """Fetch what was kept of a file."""
        return files.read_text(self._backup(path))

    def remove(self) -> None:
        """Forget what init has done here."""
        shutil.rmtree(self._directory, ignore_errors=True)
        with suppress(OSError):
            self._all.rmdir()

    def others(self) -> Iterator[Installation]:
        """Go through the records of other projects that are still there."""
        for path in self._all.glob(f"*/{_RECORD}"):
            if path.parent != self._directory:
                try:
                    other = _read(path)
                except StorageError:
                    other = Installation(root="/")
                if other is not None and Path(other.root).is_dir():
                    yield other

    def _backup(self, path: str) -> Path:
        return self._directory / f"{Path(path).name}.before"


def _read(path: Path) -> Installation | None:
    content = files.read_bytes(path)
    if content is None:
        return None
    try:
        return read_as(Installation, json.loads(content))
    except (CodecError, ValueError, RecursionError) as error:
        raise StorageError(f"{path} cannot be read, move it away: {error}") from error


def digest_of(text: str) -> str:
    """Compute what a file's text is recognised by."""
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
