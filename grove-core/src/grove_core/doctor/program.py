"""The installation, and the program that hooks and agents start when they say ``grove``."""

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from grove_core import __version__
from grove_core.doctor.check import CheckResult, Examination, broken, ok, warning
from grove_core.install.plan import find_program, recorded_program
from grove_core.services.packages import cache_around, how_to_install

_VARIABLE: Final = "GROVE_PROGRAM"
_RECORD: Final = "the record of grove init"
_ON_PATH: Final = "PATH"
_LOCAL: Final = ".local/bin/grove"
_VERSION_SECONDS: Final = 1.5
_HEAD_BYTES: Final = 4096
_LAUNCHER: Final = "is the launcher of the client's plugin, which looks further"


def installation(_: Examination) -> Iterator[CheckResult]:
    """Check that grove runs from where it stays, and name the interpreter."""
    if cache := cache_around(Path(sys.prefix)):
        detail = f"grove {__version__} runs from the cache {cache}, which is cleared"
        yield warning(detail, how_to_install())
    yield ok(f"grove {__version__}, Python {platform.python_version()} ({sys.executable})")


def program_of_hooks(examination: Examination) -> Iterator[CheckResult]:
    """Find the program as hooks do, and ask it for its version."""
    own = find_program()
    fix = f"Run `{own or 'grove'} init` in your project: it records this program"
    passed_over = False
    for origin, path, complaint in _candidates(examination):
        where = f"{path} (from {origin})"
        if complaint:
            if origin in (_VARIABLE, _RECORD):
                passed_over = True
                unset = f"Correct {_VARIABLE}, or unset it"
                yield warning(f"{where} {complaint}", fix if origin == _RECORD else unset)
            continue
        version, fault = _version_of(path, examination)
        if fault:
            yield broken(f"{where} does not start: {fault}", f"Install grove again. {fix}")
        elif is_other(path):
            this = f"this is {own or 'a module'}, {__version__}"
            yield warning(f"{where} is another installation: grove {version}; {this}", fix)
        yield ok(where)
        return
    detail = "no grove is to be found for the hooks of the client's plugin"
    yield broken(detail, fix) if passed_over else warning(detail, fix)


def program_of_agents(examination: Examination) -> Iterator[CheckResult]:
    """Check the first program on ``PATH``."""
    own = find_program()
    fix = f"Put {Path(own).parent if own else 'the folder of grove'} on PATH, before others"
    for origin, path, complaint in _candidates(examination):
        if origin == _ON_PATH:
            if complaint not in ("", _LAUNCHER):
                yield warning(f"{path} on PATH {complaint}", fix)
            elif not complaint and is_other(path):
                yield warning(f"{path} on PATH is another installation", fix)
            yield ok(f"{path} (from PATH)")
            return
    detail = "no grove is on PATH; agents find one only where the client's plugin is loaded"
    yield warning(detail, fix)


def _version_of(program: str, examination: Examination) -> tuple[str, str]:
    """Start a program; return its version, or why there is none."""
    try:
        done = subprocess.run(
            [program, "--version"],
            env=dict(examination.environment),
            cwd=os.sep,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_VERSION_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return "", str(error)
    name, _, version = done.stdout.decode("utf-8", "replace").strip().partition(" ")
    if done.returncode == 0 and name == "grove":
        return version, ""
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return "", said[-1] if said else f"ended with exit code {done.returncode}"


def is_other(program: str) -> bool:
    """Return whether a program belongs to another installation than this one."""
    own = find_program()
    return own is None or os.path.realpath(program) != os.path.realpath(own)


def _candidates(examination: Examination) -> Iterator[tuple[str, str, str]]:
    """List what hooks would start: its origin, its path, and why it is passed over."""
    environment = examination.environment
    if named := environment.get(_VARIABLE):
        yield _VARIABLE, named, why_not_startable(named)
    if recorded := recorded_program(examination.project):
        yield _RECORD, recorded, why_not_startable(recorded) or _why_not_grove(recorded)
    folders = dict.fromkeys(environment.get("PATH", "").split(os.pathsep))
    found = [(_ON_PATH, f"{folder}/grove") for folder in folders if folder]
    for origin, path in (*found, (f"~/{_LOCAL}", f"{environment.get('HOME', '')}/{_LOCAL}")):
        if os.access(path, os.X_OK):
            is_launcher = origin == _ON_PATH and Path(path).with_name("grove-hook").is_file()
            complaint = why_not_startable(path) or _why_not_grove(path)
            yield origin, path, _LAUNCHER if is_launcher else complaint


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


def _why_not_grove(path: str) -> str:
    return "" if b"grove_core" in _head(path) else "is another program of this name"


def _head(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(_HEAD_BYTES)
    except OSError:
        return b""
