"""Which file events are appended to in the layout ``spread``, told without starting git.

No file is appended to by two people, on two branches, or again once a commit may hold it: then git
has nothing to merge in it, whoever merges, rebases or picks what. So the file's name is a random
id, which a clone keeps for each of its branches together with the commit that the branch was at,
in ``grove/log-ids`` of the git directory, or in grove's own where nothing can be written. Once
the branch has moved on, or the file is gone because another commit was checked out, there is a new
id.
"""

import os

from grove_core import files
from grove_core.errors import StorageError
from grove_core.git import find_work_tree

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from collections.abc import Iterable

_LOCK_SECONDS = 0.3
_ID_BYTES = 8
_HEAD_LIMIT = 4096
_REFERENCE = "ref: "
_TABLES = "reftable"
# Branches that were deleted long ago need not be remembered.
_MOST_BRANCHES = 500
_FIELDS = 3


def events_target(root: str, home: str, *, spread: bool) -> str:
    """Tell which file a project's events are appended to.

    Args:
        root: The project's root.
        home: grove's own directory, which keeps the id where there is no git.
        spread: Whether the layout is ``spread``.

    Returns:
        The file; its directory may not exist.

    Raises:
        StorageError: No id can be kept.
    """
    directory = os.path.join(root, ".grove")
    if not spread:
        return os.path.join(directory, "stats.log")
    folder = os.path.join(directory, "stats")
    place, key, commit = _place(root, home)
    at_home = os.path.join(home, "log-ids")
    try:
        return _file(folder, _identity(place, key, commit, folder))
    except StorageError:
        if place == at_home:
            raise
        # A sandbox may let nobody write to the repository. Nobody else's branch has this key.
        key = f"{os.path.realpath(root)} {key}"
        return _file(folder, _identity(at_home, key, commit, folder))


def _identity(place: str, key: str, commit: str, folder: str) -> str:
    """Find the id that is kept while the commit stays the same and the file is there, or a new."""
    files.make_directory(os.path.dirname(place))
    with files.locked(place, timeout=_LOCK_SECONDS) as descriptor:
        known = _read(descriptor)
        kept = known.pop(key, None)
        if kept is not None and kept[1] == commit:
            path = _file(folder, kept[0])
            if os.path.exists(path):
                return kept[0]
        fresh = os.urandom(_ID_BYTES).hex()
        known[key] = fresh, commit
        _write(descriptor, known, place)
    return fresh


def _file(folder: str, identity: str) -> str:
    return os.path.join(folder, f"{identity}.jsonl")


def _place(root: str, home: str) -> tuple[str, str, str]:
    """Tell where the ids are kept, which of them counts, and at which commit the branch is."""
    top = find_work_tree(os.path.realpath(root))
    git = None if top is None else _git_directory(top)
    if git is None:
        return os.path.join(home, "log-ids"), os.path.realpath(root), ""
    common = os.path.normpath(os.path.join(git, _line(os.path.join(git, "commondir"))))
    head = _line(os.path.join(git, "HEAD"))
    # Several projects may lie in one work tree, each with a log of its own.
    project = os.path.relpath(os.path.realpath(root), top)
    if os.path.isdir(os.path.join(git, _TABLES)):
        # HEAD says nothing there; any change of any reference shows in the list of tables.
        key = f"{_TABLES} {os.path.relpath(git, common)} {project}"
        return os.path.join(common, "grove", "log-ids"), key, f"{_tables(git)} {_tables(common)}"
    if not head.startswith(_REFERENCE):
        key = f"{os.path.relpath(git, common)} {project}"
        return os.path.join(common, "grove", "log-ids"), key, head
    branch = head.removeprefix(_REFERENCE)
    key = f"{branch} {project}"
    return os.path.join(common, "grove", "log-ids"), key, _commit(common, branch)


def _tables(git: str) -> str:
    try:
        status = os.stat(os.path.join(git, _TABLES, "tables.list"))
    except OSError:
        return ""
    return f"{status.st_mtime_ns}-{status.st_size}-{status.st_ino}"


def _git_directory(top: str) -> str | None:
    entry = os.path.join(top, ".git")
    if os.path.isdir(entry):
        return entry
    named = _line(entry)
    if not named.startswith("gitdir:"):
        return None
    directory = os.path.join(top, named.removeprefix("gitdir:").strip())
    return directory if os.path.isdir(directory) else None


def _line(path: str) -> str:
    """Read the only line of one of git's small files; empty when there is none."""
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read(_HEAD_LIMIT)).strip()
    except OSError:
        return ""


def _commit(common: str, branch: str) -> str:
    loose = _line(os.path.join(common, branch))
    if loose:
        return loose
    try:
        with open(os.path.join(common, "packed-refs"), "rb") as file:
            packed = file.read()
    except OSError:
        return ""  # a branch without commits
    before, found, _ = packed.partition(b" " + os.fsencode(branch) + b"\n")
    return os.fsdecode(before.rpartition(b"\n")[2]) if found else ""


def _read(descriptor: int) -> dict[str, tuple[str, str]]:
    """Read ids by branch; a line that was torn counts for nothing."""
    content = os.pread(descriptor, os.fstat(descriptor).st_size, 0)
    known: dict[str, tuple[str, str]] = {}
    for line in os.fsdecode(content).splitlines():
        fields = line.split("\t")
        if len(fields) == _FIELDS and len(fields[0]) == 2 * _ID_BYTES and fields[0].isalnum():
            known[fields[2]] = fields[0], fields[1]
    return known


def _write(descriptor: int, known: "dict[str, tuple[str, str]]", path: str) -> None:
    content = os.fsencode("".join(_lines(known)))
    try:
        # Opened for appending; what a crash leaves torn only costs a new id.
        os.ftruncate(descriptor, 0)
        os.write(descriptor, content)
    except OSError as error:
        raise StorageError(f"cannot write {path}: {error.strerror or error}") from error


def _lines(known: "dict[str, tuple[str, str]]") -> "Iterable[str]":
    for key, (identity, commit) in [*known.items()][-_MOST_BRANCHES:]:
        yield f"{identity}\t{commit}\t{key}\n"
