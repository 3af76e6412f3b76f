"""Where things are: grove's own directory, the project's root, and the files in both."""

import os
import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

from grove_core.errors import StorageError
from grove_core.model.value import Value, frozen

_GROVE: Final = ".grove"
_GIT: Final = ".git"
_KEY_DIGEST_CHARACTERS: Final = 12
_KEY_SLUG_CHARACTERS: Final = 40
# What grove makes in its own directory by itself, and what only a project's ``.grove`` holds.
_HOME_NAMES: Final = ("sessions", "cache")
_PROJECT_NAMES: Final = ("config.toml", "learnings.md", "learnings", "stats.log", "stats")


def grove_home(environment: Mapping[str, str]) -> Path:
    """Find grove's own directory of this user; it may not exist yet."""
    named = environment.get("GROVE_HOME", "")
    if not named:
        return _user_home(environment) / _GROVE
    if named == "~" or named.startswith("~/"):
        return _user_home(environment) / named[2:]
    return _absolute("GROVE_HOME", named)


def _user_home(environment: Mapping[str, str]) -> Path:
    named = environment.get("HOME", "")
    return _absolute("HOME", named) if named else Path.home()


def _absolute(variable: str, path: str) -> Path:
    if not path.startswith("/"):
        raise StorageError(f"{variable} is {path}, a relative path; it must be absolute")
    return Path(os.path.abspath(path))  # noqa: PTH100 - `..` is resolved as text, without links


def place_in(root: Path, path: str | Path) -> Path:
    """Return a path as seen from a project's root, and an absolute one if it lies elsewhere."""
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - `..` is resolved as text, without links
    return absolute.relative_to(root) if absolute.is_relative_to(root) else absolute


def project_root(start: Path, home: Path) -> Path:
    """Find the root of a directory's project: never above the top of its git work tree."""
    try:
        real = Path(os.path.realpath(start))
    except (OSError, ValueError):
        return start
    for place in (real, *real.parents):
        if _is_grove_directory(place / _GROVE, home) or os.path.lexists(place / _GIT):
            return place
    return real


def outer_project(root: Path, home: Path) -> Path | None:
    """Find a project that a git work tree lies in, and is not part of."""
    return next((one for one in root.parents if _is_grove_directory(one / _GROVE, home)), None)


def foreign_directory(start: Path, root: Path) -> Path | None:
    """Find the ``.grove`` that would be the project's if somebody else had not made it."""
    inside = root != start or os.path.lexists(root / _GIT) or os.path.isdir(root / _GROVE)  # noqa: PTH112
    places = [one for one in (start, *start.parents) if not inside or one.is_relative_to(root)]
    found = (one / _GROVE for one in places)
    return next((one for one in found if os.path.isdir(one) and _is_foreign(one)), None)  # noqa: PTH112


def _is_foreign(path: Path) -> bool:
    """Return whether a file is neither of this user nor of root; git asks the same."""
    sudo = os.environ.get("SUDO_UID", "")
    own = {0, os.geteuid(), int(sudo) if sudo.isdecimal() else 0}
    return not {os.lstat(path).st_uid, os.stat(path).st_uid} <= own  # noqa: PTH116


def _is_grove_directory(path: Path, home: Path) -> bool:
    # os.path answers False where pathlib would raise (no permission, name too long).
    if not os.path.isdir(path) or _is_foreign(path):  # noqa: PTH112
        return False
    if os.path.exists(home) and os.path.samefile(path, home):  # noqa: PTH110, PTH121 - as above
        return False
    # It may have been grove's own directory once, and left behind.
    was_home = any(os.path.isdir(path / name) for name in _HOME_NAMES)  # noqa: PTH112 - as above
    return not was_home or any(os.path.lexists(path / name) for name in _PROJECT_NAMES)


def project_key(root: Path) -> str:
    """Name a project's derived files, so that two projects never share any."""
    # hashlib loads OpenSSL, which costs a hook as much as starting Python; 3.12 has another name.
    try:
        from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256

    real = os.path.realpath(root)
    slug = re.sub(r"[^A-Za-z0-9]+", "-", os.path.basename(real)).strip("-")  # noqa: PTH119
    digest = sha256(os.fsencode(real)).hexdigest()[:_KEY_DIGEST_CHARACTERS]
    return f"{slug[:_KEY_SLUG_CHARACTERS] or 'root'}-{digest}"


class _Under:
    """A path below another one of the same object."""

    def __init__(self, above: str, name: str) -> None:
        self._above = above
        self._name = name

    def __get__(self, owner: object, _: type | None = None) -> Path:
        above: Path = getattr(owner, self._above)
        return above / self._name


@frozen(eq=False, repr=False)
class Paths(Value):
    """The files in grove's own directory."""

    home: Path

    config_file = _Under("home", "config.toml")
    sessions = _Under("home", "sessions")
    personal_learnings = _Under("home", "personal-learnings.md")
    personal_events = _Under("home", "personal-stats.log")
    decay_file = _Under("home", "decayed.json")
    """What decay hides of the user's own learnings."""
    outbox = _Under("home", "outbox")
    """Accepted learnings that wait for their backend."""
    copies = _Under("home", "worktrees")
    """Learnings of linked work trees, which may be removed before a commit holds them."""
    cache = _Under("home", "cache")
    """Derived files, which may be deleted at any time."""
    trust_file = _Under("home", "trust.json")
    crash_log = _Under("home", "crash.log")
    log_file = _Under("home", "grove.log")
    program_file = _Under("home", "program")
    """Where the program is, for launchers without its PATH; ``grove init`` writes it."""
    key_file = _Under("home", "key")
    """What digests of this machine are made with."""
    pauses = _Under("home", "paused")
    """Until when hooks do nothing in a project or a session."""
    backups = _Under("home", "backups")
    """Files as they were before grove repaired them."""
    installed = _Under("home", "installed")
    """What ``grove init`` has done, a directory for each project."""


@frozen(eq=False, repr=False)
class ProjectPaths(Value):
    """The files of a project: in its ``.grove`` directory, and in grove's own."""

    root: Path
    home: Path

    grove_directory = _Under("root", _GROVE)
    config_file = _Under("grove_directory", "config.toml")
    learnings_file = _Under("grove_directory", "learnings.md")
    """Learnings in the layout ``single``."""
    learnings_folder = _Under("grove_directory", "learnings")
    """Learnings in the layout ``spread``, a file each."""
    published_events = _Under("grove_directory", "stats")
    """Published events, and logs that an older grove appended to."""
    events_file = _Under("state_directory", "events.jsonl")
    publication_file = _Under("state_directory", "published.jsonl")
    """What of the event log was published, and in which files."""
    origins_file = _Under("state_directory", "origins")
    """Which of its learnings were written or used on this machine."""
    decay_file = _Under("state_directory", "decayed.json")
    """What decay hides of the project's learnings on this machine."""

    @cached_property
    def key(self) -> str:
        """What names the project's files in grove's own directory."""
        return project_key(self.root)

    @cached_property
    def state_directory(self) -> Path:
        """The directory of what this machine alone knows of the project, and cannot derive."""
        return self.home / "projects" / self.key

    @property
    def initialised(self) -> bool:
        """Whether the project has a ``.grove`` directory of its own."""
        return _is_grove_directory(self.grove_directory, self.home)
