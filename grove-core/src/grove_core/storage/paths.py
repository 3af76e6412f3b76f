"""Where things are: grove's own directory, the project's root, and the files in both."""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from grove_core.errors import StorageError
from grove_core.model.value import Value, frozen

_GROVE: Final = ".grove"
_GIT: Final = ".git"
_GIT_FILE_START: Final = b"gitdir:"
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
    if named:
        return _absolute("HOME", named)
    import pwd

    try:
        return Path(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        raise StorageError(
            "cannot tell where grove's own files belong: neither GROVE_HOME nor HOME is set and "
            f"user {os.getuid()} has no entry in the password database; set GROVE_HOME"
        ) from None


def _absolute(variable: str, path: str) -> Path:
    if not path.startswith("/"):
        raise StorageError(f"{variable} is {path}, a relative path; it must be absolute")
    return Path(os.path.abspath(path))  # noqa: PTH100 - `..` is resolved as text, without links


def project_root(start: Path, home: Path) -> Path:
    """Find the root of the project that a directory belongs to."""
    try:
        real = Path(os.path.realpath(start))
    except (OSError, ValueError):
        return start
    places = (real, *real.parents)
    for place in places:
        if _is_grove_directory(place / _GROVE, home):
            return place
    for place in places:
        if _is_git_entry(place / _GIT):
            return place
    return real


def _is_grove_directory(path: Path, home: Path) -> bool:
    # os.path answers False where pathlib would raise (no permission, name too long).
    if not os.path.isdir(path):  # noqa: PTH112
        return False
    return not _is_same(path, home) and not _is_left_behind(path)


def _is_left_behind(path: Path) -> bool:
    """Return whether a ``.grove`` was grove's own directory once."""
    was_home = any(os.path.isdir(path / name) for name in _HOME_NAMES)  # noqa: PTH112 - never raises
    return was_home and not any(os.path.lexists(path / name) for name in _PROJECT_NAMES)


def _is_same(path: Path, other: Path) -> bool:
    try:
        return os.path.samefile(path, other)  # noqa: PTH121 - Path.samefile is the same and slower
    except OSError:
        return path == other


def _is_git_entry(path: Path) -> bool:
    """A directory, or the file that a linked work tree and a submodule have instead."""
    if os.path.isdir(path):  # noqa: PTH112 - never raises
        return True
    if not os.path.isfile(path):  # noqa: PTH113 - never raises
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(_GIT_FILE_START)) == _GIT_FILE_START
    except OSError:
        return False


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


@frozen(eq=False, repr=False)
class Paths(Value):
    """The files in grove's own directory."""

    home: Path

    @property
    def config_file(self) -> Path:
        """The user's configuration."""
        return self.home / "config.toml"

    @property
    def sessions(self) -> Path:
        """The directory of session states."""
        return self.home / "sessions"

    @property
    def personal_learnings(self) -> Path:
        """Learnings of scope personal."""
        return self.home / "personal-learnings.md"

    @property
    def personal_events(self) -> Path:
        """The event log of personal learnings."""
        return self.home / "personal-stats.log"

    @property
    def decay_file(self) -> Path:
        """What decay hides of the user's own learnings."""
        return self.home / "decayed.json"

    @property
    def outbox(self) -> Path:
        """The directory of accepted learnings that wait for their backend."""
        return self.home / "outbox"

    @property
    def cache(self) -> Path:
        """The directory of derived files, which may be deleted at any time."""
        return self.home / "cache"

    @property
    def trust_file(self) -> Path:
        """What the user has agreed to that projects ask for."""
        return self.home / "trust.json"

    @property
    def crash_log(self) -> Path:
        """Where hooks leave the traceback of an unexpected error."""
        return self.home / "crash.log"

    @property
    def log_file(self) -> Path:
        """Where grove says what went wrong and how it went on."""
        return self.home / "grove.log"

    @property
    def program_file(self) -> Path:
        """Where ``grove init`` leaves word of the program, for launchers without its PATH."""
        return self.home / "program"

    @property
    def backups(self) -> Path:
        """The directory of files as they were before grove repaired them."""
        return self.home / "backups"

    @property
    def installed(self) -> Path:
        """The directory of what ``grove init`` has done, a directory for each project."""
        return self.home / "installed"


@frozen(eq=False, repr=False)
class ProjectPaths(Value):
    """The files of a project: in its ``.grove`` directory, and in grove's own."""

    root: Path
    home: Path

    @property
    def grove_directory(self) -> Path:
        """The project's ``.grove`` directory, which may not exist."""
        return self.root / _GROVE

    @property
    def config_file(self) -> Path:
        """The project's configuration."""
        return self.grove_directory / "config.toml"

    @property
    def learnings_file(self) -> Path:
        """The project's learnings in the layout ``single``."""
        return self.grove_directory / "learnings.md"

    @property
    def learnings_folder(self) -> Path:
        """The project's learnings in the layout ``spread``, a file each."""
        return self.grove_directory / "learnings"

    @property
    def state_directory(self) -> Path:
        """The directory of what this machine alone knows of the project, and cannot derive."""
        return self.home / "projects" / project_key(self.root)

    @property
    def events_file(self) -> Path:
        """The event log of this machine."""
        return self.state_directory / "events.jsonl"

    @property
    def publication_file(self) -> Path:
        """What of the event log was published, and in which files."""
        return self.state_directory / "published.jsonl"

    @property
    def decay_file(self) -> Path:
        """What decay hides of the project's learnings on this machine."""
        return self.state_directory / "decayed.json"

    @property
    def published_events(self) -> Path:
        """The directory of published events, and of logs that an older grove appended to."""
        return self.grove_directory / "stats"

    @property
    def initialised(self) -> bool:
        """Whether the project has a ``.grove`` directory of its own."""
        return _is_grove_directory(self.grove_directory, self.home)
