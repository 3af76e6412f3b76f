"""Git's merge driver ``grove``: registering it in a clone, looking for it, taking it back."""

import shlex
from collections.abc import Container, Mapping
from enum import Enum
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core import git
from grove_core.errors import StorageError
from grove_core.git import run_git

MERGED_FILES: Final = (
    "*.jsonl merge=union",
    "learnings.md merge=grove",
    "learnings/*.md merge=grove",
)
"""Lines of ``.grove/.gitattributes``: learnings have the driver, no two records share a line."""

_SECTION: Final = "merge.grove"
_NAME_KEY: Final = f"{_SECTION}.name"
_DRIVER_KEY: Final = f"{_SECTION}.driver"
_NAME: Final = "learnings of grove, merged entry by entry"
_SECONDS: Final = 5.0
_OWN_WORDS: Final = "merge-driver %O %A %B"
_ENDING: Final = "-- %P; case $? in 0) ;; {}) exit 1;; *) git merge-file %A %O %B;; esac"
_UNSPECIFIED: Final = "unspecified"
_EXAMPLE: Final = "0"

MARKERS_WRITTEN: Final = 65
"""Exit code of ``grove merge-driver`` when it leaves a file with conflict markers."""


@frozen(kw_only=True)
class MergeDriver:
    """What a clone's git configuration says of the merge driver."""

    top: Path
    registered: str | None

    @property
    def is_foreign(self) -> bool:
        """Whether somebody has registered another driver of that name."""
        return self.registered is not None and _OWN_WORDS not in self.registered

    @property
    def is_outdated(self) -> bool:
        """Whether an earlier grove has registered it, in a form that could lose a side."""
        return (
            self.registered is not None
            and not self.is_foreign
            and not self.registered.endswith(_ENDING.format(MARKERS_WRITTEN))
        )


def find_driver(root: Path) -> MergeDriver | None:
    """Look what is registered in the clone that a project lies in."""
    top = git.find_top(root)
    if top is None or run_git(str(top), _SECONDS, "rev-parse", "--git-dir") is None:
        return None
    registered = run_git(str(top), _SECONDS, "config", "--get", _DRIVER_KEY)
    return MergeDriver(top=top, registered=registered.removesuffix("\n") if registered else None)


def driver_command(program: str | None) -> str:
    """Write the command that git is to run."""
    grove = shlex.quote(program or "grove").replace("%", "%%")
    return f"{grove} {_OWN_WORDS} {_ENDING.format(MARKERS_WRITTEN)}"


def register(driver: MergeDriver, command: str) -> None:
    """Register the driver in the clone; a name that somebody has given it stays."""
    if _NAME_KEY not in own_settings(driver.top):
        _configure(driver.top, _NAME_KEY, _NAME)
    _configure(driver.top, _DRIVER_KEY, command)


def unregister(driver: MergeDriver) -> None:
    """Take the driver out of the clone's configuration; what somebody else has set stays."""
    if own_settings(driver.top).get(_NAME_KEY) == _NAME:
        _configure(driver.top, "--unset-all", _NAME_KEY)
    _configure(driver.top, "--unset-all", _DRIVER_KEY)


class DriverAction(Enum):
    """What ``grove init`` does about the driver."""

    REGISTERED = "registered"
    KEPT = "kept"
    FOREIGN = "foreign"


def action_for(driver: MergeDriver, command: str) -> DriverAction:
    """Return what is to be done about the driver."""
    if driver.is_foreign:
        return DriverAction.FOREIGN
    return DriverAction.KEPT if is_own(driver, command) else DriverAction.REGISTERED


def is_own(driver: MergeDriver, command: str) -> bool:
    """Return whether the clone's configuration still holds what was registered."""
    return own_settings(driver.top).get(_DRIVER_KEY) == command


def own_settings(top: Path) -> Mapping[str, str]:
    """Read what stands in the clone's own configuration of the driver, by key."""
    output = run_git(
        str(top), _SECONDS, "config", "--local", "-z", "--get-regexp", rf"^{_SECTION}\."
    )
    records = (output or "").split("\0")
    return dict(record.split("\n", 1) for record in records if "\n" in record)


def _configure(top: Path, *words: str) -> None:
    if run_git(str(top), _SECONDS, "config", "--local", *words) is None:
        raise StorageError(
            f"git config --local {' '.join(words[:2])} failed in {top}; try it by hand"
        )


def clone_of(root: Path) -> Path | None:
    """Return which clone a project lies in; its work trees share one configuration."""
    top = git.find_top(root)
    words = ("rev-parse", "--git-common-dir")
    found = None if top is None else run_git(str(top), _SECONDS, *words)
    return None if top is None or found is None else (top / found.removesuffix("\n")).resolve()


def attributes_in_force(root: Path) -> frozenset[str]:
    """Ask git for which files a ``merge`` attribute is set, by whatever pattern and wherever."""
    patterns = [line.split()[0] for line in MERGED_FILES]
    if git.find_top(root) is None:
        return frozenset()
    paths = [f".grove/{pattern.replace('*', _EXAMPLE)}" for pattern in patterns]
    output = run_git(str(root), _SECONDS, "check-attr", "-z", "merge", "--", *paths)
    values = (output or "").split("\0")[2::3]
    pairs = zip(patterns, values, strict=False)
    return frozenset(pattern for pattern, value in pairs if value != _UNSPECIFIED)


def missing_attributes(text: str | None, in_force: Container[str] = ()) -> tuple[str, ...]:
    """Return which lines a ``.gitattributes`` lacks."""
    set_for = {
        words[0]
        for line in (text or "").splitlines()
        if (words := line.split()) and not words[0].startswith("#") and _says_merge(words[1:])
    }
    patterns = ((line.split()[0], line) for line in MERGED_FILES)
    return tuple(line for one, line in patterns if one not in set_for and one not in in_force)


def _says_merge(attributes: list[str]) -> bool:
    return any(one.lstrip("-!").partition("=")[0] == "merge" for one in attributes)
