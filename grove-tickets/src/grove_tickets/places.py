"""What lies in a project: files, which anyone may have put there, and git repositories.

Nothing is run, and no pipe, device or giant is read.
"""

import os
import stat
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core import Detection

# A pipe that no one writes to would block the opening.
_FLAGS: Final = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_MAX_POINTER_BYTES: Final = 4096
_HEAD: Final = "HEAD"
_BRANCH_PREFIX: Final = "ref: refs/heads/"


@frozen(eq=False, repr=False)
class Repository:
    """The git repository that holds a directory."""

    top: Path
    git: Path
    common: Path | None

    @property
    def shared(self) -> Path:
        """The git directory that holds the references."""
        return self.common or self.git


def find_upwards(start: Path, *names: str) -> Path | None:
    """Find the nearest of several files or directories, here or in a directory above."""
    for directory in (start, *start.parents):
        for name in names:
            path = directory / name
            if exists(path):
                return path
    return None


def detected(path: Path | None) -> Detection | None:
    """Return that a path was found, if it was."""
    return None if path is None else Detection(marker=str(path))


def find_repository(cwd: Path) -> Repository | None:
    """Find the git repository that holds a directory."""
    for directory in (cwd, *cwd.parents):
        git = directory / ".git"
        if is_directory(git):
            return Repository(directory, git, None)
        if exists(git):
            return _linked(directory, git)
    return None


def branch_name(repository: Repository) -> str | None:
    """Return which branch is checked out."""
    head = first_line(repository.git / _HEAD)
    return head.removeprefix(_BRANCH_PREFIX) if head.startswith(_BRANCH_PREFIX) else None


def default_branch(repository: Repository) -> str | None:
    """Return which branch is the remote's default one, as the clone remembers it."""
    prefix = "ref: refs/remotes/origin/"
    head = first_line(repository.shared / "refs/remotes/origin/HEAD")
    return head.removeprefix(prefix) if head.startswith(prefix) else None


def first_line(path: Path) -> str:
    """Read the first line of a small file that is neither empty nor a comment."""
    text = (read_file(path, _MAX_POINTER_BYTES) or b"").decode("utf-8", "replace")
    if "\0" in text:
        return ""
    lines = (line.strip() for line in text.splitlines())
    return next((line for line in lines if line and not line.startswith("#")), "")


def exists(path: Path) -> bool:
    """Return whether a path is there; what cannot be looked at is not."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def is_directory(path: Path) -> bool:
    """Return whether a path is a directory; what cannot be looked at is none."""
    try:
        return path.is_dir()
    except (OSError, ValueError):
        return False


def files_in(directory: Path, ending: str) -> list[Path]:
    """Name the files of a directory with an ending, in order; none when it cannot be read."""
    try:
        return sorted(path for path in directory.iterdir() if path.suffix == ending)
    except (OSError, ValueError):
        return []


def changed_at(path: Path) -> float:
    """Return when a file was written; long ago when it cannot be looked at."""
    try:
        return path.stat().st_mtime
    except (OSError, ValueError):
        return 0


def real_path(path: Path) -> Path:
    """Follow the symbolic links of a path as far as they lead, which may be in a circle."""
    return Path(os.path.realpath(path))


def _linked(top: Path, pointer: Path) -> Repository:
    """Follow the ``.git`` file of a linked work tree; a submodule's leads to no shared one."""
    named = first_line(pointer).removeprefix("gitdir:").strip()
    if not named:
        return Repository(top, pointer, None)
    git = top / named
    shared = first_line(git / "commondir")
    return Repository(top, git, real_path(git / shared) if shared else None)


def read_file(path: Path, limit: int) -> bytes | None:
    """Read a regular file."""
    content = _read(path, 0, limit + 1)
    return content if content is not None and len(content) <= limit else None


def read_last_lines(path: Path, limit: int) -> bytes | None:
    """Read the end of a regular file that grows line by line."""
    return _read(path, limit, limit)


def _read(path: Path, last: int, limit: int) -> bytes | None:
    """Read from the start, or the whole lines among the last bytes where ``last`` is given."""
    try:
        descriptor = os.open(path, _FLAGS)
        with open(descriptor, "rb", buffering=0) as stream:  # noqa: PTH123 - an open descriptor
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return None
            is_cut = 0 < last < status.st_size
            if is_cut:
                stream.seek(status.st_size - last)
            content = b""
            while len(content) < limit and (chunk := stream.read(limit - len(content))):
                content += chunk
    except (OSError, ValueError):
        return None
    return content.partition(b"\n")[2] if is_cut else content
