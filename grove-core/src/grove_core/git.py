"""What git knows about a work tree: few calls with time limits that change nothing."""

import os
import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

STATUS_SECONDS: Final = 5.0
EMPTY_TREE: Final = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

_FILE_START: Final = "gitdir:"
_LONGEST: Final = 4096
_MOST_OF_A_FILE: Final = 256 * 1024
_MOST_MOVES: Final = 2_000
# What names a filter, or another file that may.
_FILTERS: Final = rb"(?i)filter|include"
_PAIR: Final = r"\A[0-9a-f]{40,64} [0-9a-f]{40,64}\n"
_COMMIT: Final = r"commit(?: \((?:amend|initial)\))?:"

# A work tree's own settings must not make these calls run a program or fetch anything.
_SETTINGS = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.quotepath=off",
    "diff.autoRefreshIndex=false",
    "diff.relative=false",  # as an option only since git 2.28
)
_IGNORED_SECONDS = 2.0
_NAME_FILTERS = ("config", "--name-only", "-z", "--get-regexp", r"^filter\.")
_SAFE_OPTIONS = tuple(word for setting in _SETTINGS for word in ("-c", setting))
_ENVIRONMENT = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "LC_ALL": "C",
}
# Set while git runs a hook: they would send every call to that repository. The others are a user's,
# and would have git take the paths in another way.
_REPOSITORY_VARIABLES = frozenset(
    "GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_PREFIX"
    " GIT_LITERAL_PATHSPECS GIT_ICASE_PATHSPECS".split()
)
_FIELDS_OF_RECORD = {"1": 9, "2": 10, "u": 11}
_HISTORY_LIMIT = "30"
# In a pattern with brackets, a branch that does not exist is no error.
_DEFAULT_BRANCHES = (
    "--branches=mai[n]",
    "--branches=maste[r]",
    "--remotes=origin/HEA[D]",
    "--remotes=origin/mai[n]",
    "--remotes=origin/maste[r]",
)


class WorkTree(NamedTuple):
    """The state of a project's part of a work tree; paths are POSIX, relative to its top."""

    top: "Path"
    head: str
    branch: str
    changed: tuple[str, ...]
    untracked: tuple[str, ...]
    deleted: "Mapping[str, str]"
    """Files that are gone, each with git's name of its content."""

    def key(self) -> str:
        """Digest HEAD, the status, and size and time of every file in it."""
        parts = [self.head]
        for path in (*self.changed, *self.untracked):
            try:
                status = os.lstat(os.path.join(self.top, path))
                parts.append(f"{path}\0{status.st_size}\0{status.st_mtime_ns}")
            except (OSError, ValueError):
                parts.append(f"{path}\0gone")
        text = "\n".join(parts).encode("utf-8", "surrogateescape")
        return f"{len(parts)}-{zlib.crc32(text):08x}"


class BranchHistory(NamedTuple):
    """What the current branch adds to the default branch: subjects, newest first, and paths."""

    subjects: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def find_top(start: "Path") -> "Path | None":
    """Find the top of the work tree that a directory lies in, without running git."""
    directory = os.fspath(start)
    while not os.path.exists(os.path.join(directory, ".git")):  # a file in a linked work tree
        parent = os.path.dirname(directory)
        if parent == directory:
            return None
        directory = parent
    return type(start)(directory)


def find_repository(top: "Path") -> str | None:
    """Find the directory that all work trees of a repository share, without running git."""
    entry = top / ".git"
    if entry.is_dir():
        return os.path.realpath(entry)
    named = _line(entry)
    if not named.startswith(_FILE_START):
        return None
    directory = top / named.removeprefix(_FILE_START).strip()
    return os.path.realpath(directory / (_line(directory / "commondir") or "."))


def is_linked(top: "Path") -> bool:
    """Return whether this is a work tree beside the main one; a submodule is none."""
    named = _line(top / ".git")
    directory = top / named.removeprefix(_FILE_START).strip()
    return named.startswith(_FILE_START) and bool(_line(directory / "commondir"))


def has_committed(root: "Path", text: str, path: str) -> bool:
    """Return whether a commit of any branch has brought a text into a path, or cannot be asked."""
    words = ("log", "--all", "--max-count=1", "--format=%h", f"-S{text}", "--", path)
    return run_git(root, STATUS_SECONDS, *words) != ""


def _line(path: "Path") -> str:
    """Read the only line of one of git's small files; empty when there is none."""
    try:
        with path.open("rb") as file:
            return os.fsdecode(file.read(_LONGEST)).strip()
    except OSError:
        return ""


def read_work_tree(
    root: "Path", seconds: float, apart_from: "Iterable[str]" = ()
) -> WorkTree | None:
    """Ask for HEAD, branch and changed files in one call; ``None`` when git fails or is late."""
    top = find_top(root)
    if top is None:
        return None
    output = run_git(
        root, seconds, "status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z",
        "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty",
        *_paths_in(apart_from),
    )  # fmt: skip
    return None if output is None else _parse_status(top, output.split("\0"))


def _paths_in(apart_from: "Iterable[str]") -> "Iterator[str]":
    """Tell git to look at the folder that it runs in, apart from some paths there."""
    yield from ("--", ".")
    for path in map(os.path.normpath, apart_from):
        if not path.startswith(("/", "..")):  # git refuses what lies elsewhere
            yield f":(exclude,literal){path}"


def _parse_status(top: "Path", records: "Sequence[str]") -> WorkTree:
    head = branch = ""
    changed: list[str] = []
    untracked: list[str] = []
    deleted: dict[str, str] = {}
    for record in records:
        if record.startswith("# branch.oid "):
            head = record.removeprefix("# branch.oid ").replace("(initial)", "")
        elif record.startswith("# branch.head "):
            branch = record.removeprefix("# branch.head ").replace("(detached)", "")
        elif record.startswith("? "):
            untracked.append(record[2:])
        elif fields := _FIELDS_OF_RECORD.get(record[:1]):
            told = record.split(" ", fields - 1)
            changed.append(told[-1])
            if told[0] == "1" and "D" in told[1]:
                deleted[told[-1]] = told[6]
    return WorkTree(top, head, branch, tuple(changed), tuple(untracked), deleted)


def read_branch_history(top: "str | Path", seconds: float) -> BranchHistory:
    """Ask what the current branch adds to the default branch; nothing when git fails."""
    output = run_git(
        top, seconds, "log", "-z", f"--max-count={_HISTORY_LIMIT}", "--name-only",
        "--format=%x01%s", "--no-renames", "--no-show-signature", "HEAD", "--not",
        *_DEFAULT_BRANCHES,
    )  # fmt: skip
    subjects: list[str] = []
    paths: dict[str, None] = {}
    for record in (output or "").split("\0"):
        text = record.strip("\n")
        if text.startswith("\x01"):
            subject, _, rest = text[1:].partition("\n")
            subjects.append(subject)
            text = rest
        if text:
            paths[text] = None
    return BranchHistory(tuple(subjects), tuple(paths))


_NUMBERS = ("--numstat", "-z", "-M", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty")


def count_changed_lines(
    root: "Path", base: str, seconds: float, apart_from: "Iterable[str]" = ()
) -> "Mapping[str, int] | None":
    """Count added plus deleted lines of each tracked file since a commit, commits included."""
    options = (*_NUMBERS, "--end-of-options", base or EMPTY_TREE)
    output = run_git(root, seconds, "diff", *options, *_paths_in(apart_from))
    return None if output is None else _read_counts(output)


def _read_counts(output: str) -> "Mapping[str, int]":
    """Read added plus deleted lines by path; the two names of a moved file follow its numbers."""
    counts: dict[str, int] = {}
    records = iter(output.split("\0"))
    for record in records:
        added, _, rest = re.sub(_PAIR, "", record).partition("\t")
        deleted, tab, path = rest.partition("\t")
        if tab and not path:
            next(records, "")
            path = next(records, "")
        if added.isdigit() and deleted.isdigit() and path:
            counts[path] = counts.get(path, 0) + int(added) + int(deleted)
    return counts


def count_own_lines(
    root: "Path", base: str, seconds: float, apart_from: "Iterable[str]" = ()
) -> "Mapping[str, int] | None":
    """Count what was committed here since a commit, without what was pulled or checked out.

    git notes beside HEAD how it got to each commit; ``None`` where it does not.
    """
    told = run_git(
        root, seconds, "log", "--walk-reflogs", f"--max-count={_MOST_MOVES}", "--format=%H %gs",
        "--no-show-signature", "HEAD", "--",
    )  # fmt: skip
    # A message may hold what Python takes for the end of a line; the latest move comes first.
    moves = [line.partition(" ")[::2] for line in (told or "").split("\n")[:-1]]
    commits = [commit for commit, _ in moves]
    if base not in commits:
        return None
    pairs = "".join(
        f"{commits[place + 1]} {commit}\n"
        for place, (commit, how) in enumerate(moves[: commits.index(base)])
        if re.match(_COMMIT, how)
    )
    if not pairs:
        return {}
    options = ("--stdin", "-r", *_NUMBERS, *_paths_in(apart_from))
    output = run_git(root, seconds, "diff-tree", *options, given=pairs)
    return None if output is None else _read_counts(output)


def run_git(top: "str | Path", seconds: float, *arguments: str, given: str = "") -> str | None:
    """Run git on a work tree that may be anybody's: nothing that comes with it is run."""
    import subprocess

    place = find_top(Path(os.path.abspath(top)))
    program = find_program("git", os.fspath(place or top))
    if program is None:
        return None
    inherited = {
        name: value for name, value in os.environ.items() if name not in _REPOSITORY_VARIABLES
    }

    def run(seconds: float, words: "Sequence[str]", settings: dict[str, str]) -> str | None:
        done = subprocess.run(
            [program, *_SAFE_OPTIONS, "-C", top, *words],
            capture_output=True,
            check=False,
            input=given.encode(),
            timeout=seconds,
            env=inherited | _ENVIRONMENT | settings,
        )
        found = done.stdout.decode("utf-8", "surrogateescape")
        return None if done.returncode else found

    try:
        filters = run(_IGNORED_SECONDS, _NAME_FILTERS, {}) if _may_have_filters(place) else None
        return run(seconds, arguments, _switched_off(filters) if filters else {})
    except (OSError, subprocess.SubprocessError, ValueError):
        return None


def find_program(name: str, apart_from: str) -> str | None:
    """Find a program by ``PATH``, in no folder that is relative or lies in a work tree."""
    inside = os.path.realpath(apart_from)
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        real = os.path.realpath(folder)
        if not os.path.isabs(folder) or os.path.commonpath([real, inside]) == inside:
            continue
        path = os.path.join(folder, name)
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _may_have_filters(top: "Path | None") -> bool:
    """Return whether settings may name programs to run on the content of files."""
    if top is None:
        return False
    # A file leads to settings elsewhere, and others may be included.
    config = top / ".git" / "config"
    return (top / ".git").is_file() or bool(re.search(_FILTERS, _start_of(config)))


def _switched_off(filters: str) -> dict[str, str]:
    """Switch filters off, by the keys of their settings."""
    keys = filters.split("\0")
    names = sorted({key.removeprefix("filter.").rpartition(".")[0] for key in keys if key})
    off = [
        (f"filter.{name}.{key}", value)
        for name in names
        for key, value in (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
    ]
    settings = {"GIT_CONFIG_COUNT": str(len(off))}
    for number, (key, value) in enumerate(off):
        settings |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return settings


def _start_of(path: "Path") -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_MOST_OF_A_FILE)
    except OSError:
        return b""


def is_ignored_by_git(path: str | os.PathLike[str]) -> bool:
    """Ask git whether it leaves a file out, so that no one else gets it.

    Args:
        path: The file, which need not exist, nor need its folder.

    Returns:
        Whether it does; not so outside of a repository, and where git cannot be asked.
    """
    path = os.path.abspath(path)
    folder = os.path.dirname(path)
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    name = os.path.relpath(path, folder)
    return bool(run_git(folder, _IGNORED_SECONDS, "check-ignore", "--", name))


def without(prefixes: "Iterable[str]", paths: "Iterable[str]") -> tuple[str, ...]:
    """Leave out what lies in some directories."""
    directories = tuple(f"{prefix.rstrip('/')}/" for prefix in prefixes)
    return tuple(path for path in paths if not f"{path}/".startswith(directories))


def seen_from_root(root: str, top: str, paths: "Iterable[str]") -> tuple[str, ...]:
    """Turn paths relative to the work tree's top into paths relative to the project."""
    base = os.path.realpath(top).rstrip("/")
    inside = f"{root[len(base) + 1 :]}/" if root.startswith(f"{base}/") else ""
    return tuple(
        dict.fromkeys(path.removeprefix(inside) for path in paths if path.startswith(inside))
    )
