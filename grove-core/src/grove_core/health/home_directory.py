"""grove's own directory: there, writable, roomy, and the user's alone to change."""

import os
import shutil
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.health.check import Check, broken, ok, warning
from grove_core.storage.paths import Paths

_MEBIBYTE: Final = 1024 * 1024
_FULL_BYTES: Final = 1 * _MEBIBYTE
_TIGHT_BYTES: Final = 100 * _MEBIBYTE


@frozen(kw_only=True)
class HomeFacts:
    """grove's own directory as it is."""

    path: Path
    exists: bool
    is_directory: bool
    unwritable: tuple[Path, ...]
    nearest: Path
    can_be_made: bool
    is_own: bool
    others_may_write: bool
    free_bytes: int | None


def gather_home(paths: Paths) -> HomeFacts:
    """Look at grove's own directory."""
    home = paths.home
    status = _status(home)
    nearest = next(one for one in (home, *home.parents) if os.path.isdir(one))  # noqa: PTH112 - never raises
    places = (home, paths.sessions, paths.outbox, paths.cache)
    return HomeFacts(
        path=home,
        exists=status is not None,
        is_directory=status is not None and stat.S_ISDIR(status.st_mode),
        unwritable=tuple(place for place in places if _is_unwritable(place)),
        nearest=nearest,
        can_be_made=os.access(nearest, os.W_OK | os.X_OK),
        is_own=status is None or status.st_uid == os.getuid(),
        others_may_write=status is not None and bool(status.st_mode & stat.S_IWOTH),
        free_bytes=_free_bytes(nearest),
    )


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except OSError:
        return None


def _is_unwritable(path: Path) -> bool:
    status = _status(path)
    if status is None:
        return os.path.lexists(path)
    return not stat.S_ISDIR(status.st_mode) or not os.access(path, os.W_OK | os.X_OK)


def _free_bytes(path: Path) -> int | None:
    try:
        return shutil.disk_usage(path).free
    except OSError:
        return None


def judge_home(facts: HomeFacts) -> Sequence[Check]:
    """Return whether grove can keep sessions, logs and what waits."""
    return [_writable(facts), _permissions(facts), _room(facts)]


def _writable(facts: HomeFacts) -> Check:
    name, path = "grove's own directory", facts.path
    elsewhere = "or set GROVE_HOME to a directory that you may write to"
    if not facts.exists and not facts.unwritable:
        if facts.can_be_made:
            return ok(name, f"{path} is not there yet; the first hook creates it")
        detail = f"{path} cannot be created in {facts.nearest}"
        return broken(name, detail, f"Mend the permissions of {facts.nearest}, {elsewhere}")
    if facts.exists and not facts.is_directory:
        return broken(name, f"{path} is no directory", f"Move it out of the way, {elsewhere}")
    if facts.unwritable:
        named = ", ".join(str(one) for one in facts.unwritable)
        detail = f"nothing can be written in {named}"
        return broken(name, detail, f"Mend its permissions (chmod u+rwx {named}), {elsewhere}")
    return ok(name, str(path))


def _permissions(facts: HomeFacts) -> Check:
    name, path = "permissions", facts.path
    if facts.others_may_write:
        detail = f"every user of this machine may change {path}, and so which program hooks run"
        return broken(name, detail, f"chmod o-w {path}")
    if not facts.is_own:
        detail = f"{path} belongs to another user"
        return warning(name, detail, f'chown -R "$(id -un)" {path}, or set GROVE_HOME')
    return ok(name, f"{path} is yours alone to change")


def _room(facts: HomeFacts) -> Check:
    name, free = "free space", facts.free_bytes
    mend = f"Free some space on the disk of {facts.nearest}"
    if free is None:
        return warning(name, f"cannot be told for {facts.nearest}", mend)
    detail = f"{free // _MEBIBYTE:,} MiB on the disk of {facts.nearest}"
    if free < _FULL_BYTES:
        return broken(name, f"{detail}: nothing can be kept", mend)
    return warning(name, detail, mend) if free < _TIGHT_BYTES else ok(name, detail)
