"""Git's merge driver ``grove``: registering it in a clone, looking for it, taking it back."""

import shlex
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core import gitinfo
from grove_core.errors import StorageError
from grove_core.gitstatus import run_git

MERGED_FILES: Final = (
    "stats.log merge=union",
    "stats/*.jsonl merge=union",
    "learnings.md merge=grove",
    "learnings/*.md merge=grove",
)
"""Lines of ``.grove/.gitattributes``: no two events share a line, and learnings have the driver."""

_SECTION: Final = "merge.grove"
_NAME: Final = "learnings of grove, merged entry by entry"
_SECONDS: Final = 5.0
_OWN_WORDS: Final = "merge-driver %O %A %B %P"


@frozen(kw_only=True)
class MergeDriver:
    """What a clone's git configuration says of the merge driver.

    Attributes:
        top: The work tree's top.
        registered: The command that is registered in the clone, or for the user; ``None`` without.
    """

    top: Path
    registered: str | None

    @property
    def is_foreign(self) -> bool:
        """Whether somebody has registered another driver of that name."""
        return self.registered is not None and _OWN_WORDS not in self.registered


def find_driver(root: Path) -> MergeDriver | None:
    """Look what is registered in the clone that a project lies in.

    Args:
        root: The project's root.

    Returns:
        What is found; ``None`` where there is no git.
    """
    top = gitinfo.find_top(root)
    if top is None or run_git(str(top), _SECONDS, "rev-parse", "--git-dir") is None:
        return None
    registered = run_git(str(top), _SECONDS, "config", "--get", f"{_SECTION}.driver")
    return MergeDriver(top=top, registered=registered.removesuffix("\n") if registered else None)


def driver_command(program: str | None) -> str:
    """Write the command that git is to run.

    Without the program git would keep our side and say nothing of theirs; its own merge follows.

    Args:
        program: The program ``grove``, absolute; ``None`` for the one on ``PATH``.

    Returns:
        A command for the shell.
    """
    grove = shlex.quote(program or "grove")
    return (
        f"if command -v {grove} >/dev/null; then {grove} {_OWN_WORDS};"
        " else git merge-file %A %O %B; fi"
    )


def register(driver: MergeDriver, command: str) -> None:
    """Register the driver in the clone.

    Args:
        driver: The clone.
        command: What git is to run.

    Raises:
        StorageError: Git's configuration cannot be written.
    """
    for name, value in (("name", _NAME), ("driver", command)):
        _configure(driver.top, f"{_SECTION}.{name}", value)


def unregister(driver: MergeDriver) -> None:
    """Take the driver out of the clone's configuration, as though it had never been there.

    Args:
        driver: The clone.

    Raises:
        StorageError: Git's configuration cannot be written.
    """
    for name in ("name", "driver"):
        _configure(driver.top, "--unset-all", f"{_SECTION}.{name}")
    if not own_settings(driver.top):
        run_git(str(driver.top), _SECONDS, "config", "--local", "--remove-section", _SECTION)


class DriverAction(Enum):
    """What ``grove init`` does about the driver."""

    REGISTERED = "registered"
    KEPT = "kept"
    FOREIGN = "foreign"


def action_for(driver: MergeDriver, command: str) -> DriverAction:
    """Tell what is to be done about the driver.

    Args:
        driver: What is registered.
        command: What git is to run.

    Returns:
        The action; a driver of somebody else's stays.
    """
    if driver.is_foreign:
        return DriverAction.FOREIGN
    return DriverAction.KEPT if is_own(driver, command) else DriverAction.REGISTERED


def is_own(driver: MergeDriver, command: str) -> bool:
    """Tell whether the clone's configuration still holds what was registered.

    Args:
        driver: The clone.
        command: What was registered.

    Returns:
        Whether it does.
    """
    return own_settings(driver.top).get(f"{_SECTION}.driver") == command


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


def missing_attributes(text: str | None) -> tuple[str, ...]:
    """Tell which lines a ``.gitattributes`` lacks.

    Args:
        text: The file's text; ``None`` when it is not there.

    Returns:
        Those whose file has no ``merge`` attribute; what a person has set otherwise stays.
    """
    set_for = {
        words[0]
        for line in (text or "").splitlines()
        if (words := line.split()) and not words[0].startswith("#") and _says_merge(words[1:])
    }
    return tuple(line for line in MERGED_FILES if line.split()[0] not in set_for)


def _says_merge(attributes: list[str]) -> bool:
    return any(one.lstrip("-!").partition("=")[0] == "merge" for one in attributes)
