"""The installation, and the program that hooks and agents start when they say ``grove``."""

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from grove_core import __version__
from grove_core.doctor.check import Examination
from grove_core.install.plan import find_program, recorded_program
from grove_core.model.check import CheckResult, ok, warning
from grove_core.services.packages import cache_around, how_to_install

_VARIABLE: Final = "GROVE_PROGRAM"
_HEAD_BYTES: Final = 4096


def installation(_: Examination) -> Iterator[CheckResult]:
    """Check that grove runs from where it stays, and name the interpreter."""
    if cache := cache_around(Path(sys.prefix)):
        detail = f"grove {__version__} runs from the cache {cache}, which is cleared"
        yield warning(detail, how_to_install())
    yield ok(f"grove {__version__}, Python {platform.python_version()} ({sys.executable})")


def program_of_hooks(examination: Examination) -> Iterator[CheckResult]:
    """Find the program as the launcher of the client's plugin does; none is run."""
    own = find_program()
    fix = f"Run `{own or 'grove'} init` in your project: it records this program"
    for origin, path in _candidates(examination):
        where = f"{path} (from {origin})"
        other = "" if b"grove_core" in _head(path) else "is another program of this name"
        if complaint := why_not_startable(path) or other:
            unset = f"Correct {_VARIABLE}, or unset it"
            yield warning(f"{where} {complaint}", unset if origin == _VARIABLE else fix)
            continue
        if is_other(path):
            yield warning(f"{where} is another installation; this is {own or 'a module'}", fix)
        yield ok(where)
        return
    yield warning("no grove is to be found for the hooks of the client's plugin", fix)


def program_of_agents(examination: Examination) -> Iterator[CheckResult]:
    """Check the first program on ``PATH``."""
    own, found = find_program(), _on_path(examination)
    fix = f"Put {Path(own).parent if own else 'the folder of grove'} on PATH, before others"
    if found is None:
        detail = "no grove is on PATH; agents find one only where the client's plugin is loaded"
        yield warning(detail, fix)
    elif is_other(found):
        yield warning(f"{found} on PATH is another installation, or another program", fix)
    else:
        yield ok(f"{found} (from PATH)")


def _on_path(examination: Examination) -> str | None:
    folders = examination.environment.get("PATH", "").split(os.pathsep)
    # The launcher of the client's plugin stands there as well, and looks further.
    kept = [one for one in folders if not Path(one, "grove-hook").is_file()]
    return shutil.which("grove", path=os.pathsep.join(kept))


def _candidates(examination: Examination) -> Iterator[tuple[str, str]]:
    """List what hooks would start, with its origin."""
    environment = examination.environment
    local = shutil.which("grove", path=f"{environment.get('HOME', '')}/.local/bin")
    found = {
        _VARIABLE: environment.get(_VARIABLE),
        "the record of grove init": recorded_program(examination.project),
        "PATH": _on_path(examination),
        "~/.local/bin": local,
    }
    return ((origin, path) for origin, path in found.items() if path)


def is_other(program: str) -> bool:
    """Return whether a program belongs to another installation than this one."""
    own = find_program()
    return own is None or os.path.realpath(program) != os.path.realpath(own)


def why_not_startable(path: str) -> str:
    """Return why a program cannot be started, without starting it."""
    if not path.startswith("/"):
        return "is no absolute path"
    if not os.path.exists(path):  # noqa: PTH110 - Path.exists may raise
        return "does not exist"
    if not os.path.isfile(path) or not os.access(path, os.X_OK):  # noqa: PTH113 - never raises
        return "is not executable"
    first = _head(path).partition(b"\n")[0]
    interpreter = os.fsdecode(first[2:]).split()[:1] if first.startswith(b"#!") else []
    if interpreter and not os.access(interpreter[0], os.X_OK):
        return f"cannot start, as its interpreter {interpreter[0]} is gone"
    return ""


def _head(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""
