"""Which program hooks and agents start when they say ``grove``."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import evolve, frozen

from grove_core import __version__
from grove_core.health.check import Check, broken, ok, warning
from grove_core.health.processes import ask
from grove_core.storage.paths import Paths

VARIABLE: Final = "GROVE_PROGRAM"
_ON_PATH: Final = "PATH"
_LOCAL: Final = ".local/bin"
_VERSION_SECONDS: Final = 1.5
_HEAD_LINES: Final = 12
_PACKAGE: Final = b"grove_core"
_NOT_OURS: Final = "is another program of this name"
_LAUNCHER: Final = "is the launcher of the client's plugin, which looks further"


@frozen(kw_only=True)
class Candidate:
    """A program that may be started as ``grove``."""

    origin: str
    path: str
    complaint: str = ""
    is_this: bool = False
    is_launcher: bool = False


@frozen(kw_only=True)
class ProgramFacts:
    """What is there to be started."""

    own: str | None
    version: str
    record: str
    candidates: tuple[Candidate, ...]
    chosen_version: str = ""
    start_complaint: str = ""

    @property
    def chosen(self) -> Candidate | None:
        """The program that hooks start."""
        return next((one for one in self.candidates if not one.complaint), None)


def gather_program(paths: Paths, environment: Mapping[str, str]) -> ProgramFacts:
    """Look for programs as hooks do, and start the one that they would start."""
    own = own_program()
    record = paths.program_file
    candidates = tuple(_candidates(record, environment, own))
    facts = ProgramFacts(own=own, version=__version__, record=str(record), candidates=candidates)
    if facts.chosen is None:
        return facts
    answer = ask([facts.chosen.path, "--version"], environment, _VERSION_SECONDS)
    words = answer.output.split()
    if answer.code == 0 and words[:1] == ["grove"]:
        version, complaint = " ".join(words[1:]), ""
    else:
        version, complaint = "", answer.complaint or f"ended with exit code {answer.code}"
    return evolve(facts, chosen_version=version, start_complaint=complaint)


def complaint_about(path: str) -> str:
    """Tell why a program cannot be started, without starting it."""
    if not path.startswith("/"):
        return "is no absolute path"
    if not os.path.exists(path):  # noqa: PTH110 - Path.exists may raise
        return "does not exist"
    if not os.path.isfile(path):  # noqa: PTH113 - never raises
        return "is no file"
    if not os.access(path, os.X_OK):
        return "is not executable"
    interpreter = _interpreter(_head(path))
    if interpreter and not os.access(interpreter, os.X_OK):
        return f"cannot start, as its interpreter {interpreter} is gone"
    return ""


def own_program() -> str | None:
    """Find the program of the installation that runs now."""
    called = sys.argv[0]
    if os.path.basename(called) == "grove" and os.path.isfile(called):  # noqa: PTH113, PTH119
        return os.path.abspath(called)  # noqa: PTH100 - links stay as they are
    beside = Path(sys.executable).with_name("grove")
    return str(beside) if beside.is_file() else None


def _candidates(
    record: Path, environment: Mapping[str, str], own: str | None
) -> Sequence[Candidate]:
    named = [(VARIABLE, environment.get(VARIABLE, "")), (str(record), _recorded(record))]
    folders = dict.fromkeys(environment.get("PATH", "").split(os.pathsep))
    named += [(_ON_PATH, os.path.join(folder, "grove")) for folder in folders if folder]  # noqa: PTH118
    local = os.path.join(environment.get("HOME", ""), _LOCAL, "grove")  # noqa: PTH118
    named.append((f"~/{_LOCAL}", local))
    return [
        _candidate(origin, path, own)
        for origin, path in named
        # Of the places that are searched only those count in which there is one.
        if path and (origin in (VARIABLE, str(record)) or os.access(path, os.X_OK))
    ]


def _candidate(origin: str, path: str, own: str | None) -> Candidate:
    complaint = complaint_about(path)
    launcher = os.path.join(os.path.dirname(path), "grove-hook")  # noqa: PTH118, PTH120
    is_launcher = origin == _ON_PATH and os.path.isfile(launcher)  # noqa: PTH113 - never raises
    if is_launcher:
        complaint = _LAUNCHER
    elif not complaint and origin != VARIABLE and _PACKAGE not in b"".join(_head(path)):
        complaint = _NOT_OURS
    is_this = own is not None and os.path.realpath(path) == os.path.realpath(own)
    return Candidate(
        origin=origin, path=path, complaint=complaint, is_this=is_this, is_launcher=is_launcher
    )


def _recorded(record: Path) -> str:
    try:
        return os.fsdecode(record.read_bytes()).partition("\n")[0].strip()
    except OSError:
        return ""


def _head(path: str) -> Sequence[bytes]:
    try:
        with Path(path).open("rb") as file:
            return [file.readline(1024) for _ in range(_HEAD_LINES)]
    except OSError:
        return ()


def _interpreter(head: Sequence[bytes]) -> str:
    if not head or not head[0].startswith(b"#!"):
        return ""
    words = os.fsdecode(head[0][2:]).split()
    return words[0] if words else ""


def judge_program(facts: ProgramFacts) -> Sequence[Check]:
    """Return whether hooks and agents start this grove."""
    return [_started(facts), _on_path(facts), *_passed_over(facts)]


def _started(facts: ProgramFacts) -> Check:
    name, chosen = "program of hooks", facts.chosen
    init = f"Run `{facts.own or 'grove'} init` in your project: it records this program"
    if chosen is None:
        recorded = [one for one in facts.candidates if one.origin == facts.record]
        detail = "no grove is to be found for the hooks of the client's plugin"
        return broken(name, detail, init) if recorded else warning(name, detail, init)
    where = f"{chosen.path} (from {chosen.origin})"
    if facts.start_complaint:
        mend = f"Install grove anew, or let hooks use another program. {init}"
        return broken(name, f"{where} does not start: {facts.start_complaint}", mend)
    if chosen.is_this:
        return ok(name, where)
    detail = f"{where} is another installation: grove {facts.chosen_version}"
    return warning(name, f"{detail}; this is {facts.own or 'a module'}, {facts.version}", init)


def _on_path(facts: ProgramFacts) -> Check:
    name = "program of agents"
    found = next((one for one in facts.candidates if one.origin == _ON_PATH), None)
    folder = str(Path(facts.own).parent) if facts.own else "grove's own folder"
    mend = f"Put {folder} on PATH, before others"
    if found is None:
        detail = "no grove is on PATH; agents find one only where the client's plugin is loaded"
        return warning(name, detail, mend)
    if found.is_launcher:
        return ok(name, f"{found.path}, {found.complaint.removeprefix('is ')}")
    if found.complaint:
        return warning(name, f"{found.path} on PATH {found.complaint}", mend)
    if not found.is_this:
        return warning(name, f"{found.path} on PATH is another installation", mend)
    return ok(name, f"{found.path} (from PATH)")


def _passed_over(facts: ProgramFacts) -> Sequence[Check]:
    checks = []
    for one in facts.candidates:
        if one.complaint and one.origin == facts.record:
            mend = f"Run `{facts.own or 'grove'} init` in your project: it records this program"
            detail = f"{one.path} (from {one.origin}) {one.complaint}"
            checks.append(warning("recorded program", detail, mend))
        if one.complaint and one.origin == VARIABLE:
            detail = f"{one.path} (from {one.origin}) {one.complaint}"
            checks.append(warning(VARIABLE, detail, "Correct the variable, or unset it"))
    return checks
