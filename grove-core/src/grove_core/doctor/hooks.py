"""Hooks in the client's settings: all there, once, with a program that can start."""

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from grove_core.clock import format_instant
from grove_core.doctor.check import Examination
from grove_core.doctor.program import is_other, why_not_startable
from grove_core.errors import CodecError, StorageError
from grove_core.hosts.claude_hooks import SHELL_TOOL, SLOTS
from grove_core.hosts.claude_settings import (
    LOCAL,
    PLUGIN,
    PROJECT,
    USER,
    Registration,
    parse_settings,
    settings_sources,
)
from grove_core.install.plan import find_program
from grove_core.model.check import CheckResult, broken, ok, warning
from grove_core.storage.files import read_bytes

_RECENTLY: Final = timedelta(days=7)
_SWITCH: Final = "disableAllHooks"
_INIT: Final = "grove init --hooks"
_REWRITE: Final = {
    PROJECT: "grove init --hooks --shared writes {} again",
    LOCAL: "grove init --hooks writes {} again",
    PLUGIN: "Install grove's plugin again ({})",
    USER: "Edit {} by hand: grove does not write there",
}
_KEEP_ONE: Final = (
    "Keep those of one file: grove init --uninstall takes grove's hooks out of the project's"
    " settings (with --shared of the committed ones); others go by hand"
)
_NAMES: Final = re.compile(r"[A-Za-z0-9_\- ,|]*")
_SEPARATORS: Final = re.compile(r"[,|]")


def client_settings(examination: Examination) -> Iterator[CheckResult]:
    """Check that the client's settings can be read and do not switch hooks off."""
    project = examination.project
    disabled_by: Path | None = None
    for _, path in settings_sources(project.root, project.environment):
        try:
            settings = parse_settings((read_bytes(path) or b"{}").decode("utf-8"))
        except (StorageError, CodecError, UnicodeDecodeError) as error:
            detail = f"{path} cannot be used, so nothing in it counts: {error}"
            yield broken(detail, f"Correct {path}")
            continue
        if _SWITCH in settings:
            disabled_by = path if settings[_SWITCH] is True else None
    if disabled_by is not None:
        detail = f"{disabled_by} says {_SWITCH}: the client runs no hook at all"
        yield broken(detail, f"Take {_SWITCH} out of {disabled_by}")


def registered(examination: Examination) -> Iterator[CheckResult]:
    """Check that the client is told of every event."""
    found = examination.registrations
    missing = [slot.name for slot in SLOTS if not _of(found, slot.name)]
    last_ran = max((one.updated_at for one in examination.here), default=None)
    if not found and last_ran is not None and examination.now - last_ran <= _RECENTLY:
        detail = f"they stand in no file; hooks last ran at {format_instant(last_ran)}"
        yield warning(detail, f"If the client is given no plugin (--plugin-dir): {_INIT}")
    elif not found:
        fix = f"{_INIT} writes them into the project's settings; or load grove's plugin"
        say = broken if examination.files.initialised else warning
        yield say("the client's settings name no hook of grove's", fix)
    elif missing:
        detail = f"the client does not tell grove of {', '.join(missing)} ({_sources(found)})"
        yield broken(detail, _rewrite(found))
    yield ok(f"all {len(SLOTS)} events ({_sources(found)})")


def registered_program(examination: Examination) -> Iterator[CheckResult]:
    """Check the programs that the settings name; a stranger's text, they are never run."""
    programs = sorted({one.program for one in examination.registrations})
    for program in programs:
        named = [one for one in examination.registrations if one.program == program]
        kinds = {one.kind for one in named}
        path = examination.environment.get("PATH", "")
        found = program if "/" in program else shutil.which(program, path=path)
        if complaint := why_not_startable(found) if found else "is not on PATH":
            detail = f"{program} {complaint} (it stands in {_sources(named)})"
            yield broken(detail, _rewrite(named))
        elif program.startswith("/") and {LOCAL, PROJECT} & kinds and is_other(program):
            detail = f"{program} is another installation; this is {find_program()}"
            yield warning(detail, f"`{find_program()} init --hooks` has hooks run this one")
    if programs:
        yield ok(", ".join(programs))


def registered_twice(examination: Examination) -> Iterator[CheckResult]:
    """Name events that stand in more than one file."""
    found = examination.registrations
    twice = [one.name for one in SLOTS if len({each.source for each in _of(found, one.name)}) > 1]
    if twice:
        where = _sources(one for one in found if one.event in twice)
        detail = f"{', '.join(twice)} stand in two files, so hooks run twice: {where}"
        yield warning(detail, _KEEP_ONE)


def tools_of_tickets(examination: Examination) -> Iterator[CheckResult]:
    """Check that hooks run for every tool that can close a ticket."""
    found = examination.registrations
    if not found:
        return
    seen = {slot.name for slot in SLOTS}  # a matcher may name an event that is registered by itself
    hooks = [_of(found, slot.name) for slot in SLOTS if slot.for_tools]
    missed = [
        f"{tool} ({one.value.system})"
        for one in examination.project.tickets().matchers
        for tool in one.value.tools
        if tool not in seen
        and not all(any(covers(one.matcher, tool) for one in each) for each in hooks)
    ]
    if missed:
        named = ", ".join(dict.fromkeys(missed))
        detail = f"hooks do not run for {named}: closes by them are not seen"
        yield broken(detail, f"Add the tools to the matchers, or: {_rewrite(found)}")
    yield ok("every tool that can close a ticket is looked at")


def conditions(examination: Examination) -> Iterator[CheckResult]:
    """Check that hooks narrowed by ``if`` see closes of the ticket systems that are used."""
    found = examination.registrations
    shell = [one for one in _of(found, "PreToolUse") if covers(one.matcher, SHELL_TOOL)]
    narrowed = [one.condition for one in shell if one.condition is not None]
    if not narrowed or len(narrowed) < len(shell):
        return
    tickets = examination.project.tickets()
    used = {one.probe.name for one in tickets.all if one.enabled}
    missed = [
        one.value.system
        for one in tickets.matchers
        if one.value.system in used
        and SHELL_TOOL in one.value.tools
        # Some of its words may stand in other tools' calls only.
        and not any(lets_in(each, words) for words in one.value.literals for each in narrowed)
    ]
    if missed:
        named = ", ".join(dict.fromkeys(narrowed))
        detail = f"closes of {', '.join(dict.fromkeys(missed))} are not seen: hooks are narrowed"
        yield broken(f"{detail} to {named}", _rewrite(found))


def lets_in(condition: str, words: str) -> bool:
    """Return whether a condition such as ``Bash(*bd*)`` lets a command with these words in."""
    pattern = condition.partition("(")[2].removesuffix(")") or "*"
    return any(fnmatchcase(word, pattern) for word in words.split())


def covers(matcher: str | None, tool: str) -> bool:
    """Return whether the client runs a hook with a matcher for a tool, whose name may end in *."""
    if matcher in (None, "", "*"):
        return True
    name = f"{tool[:-1]}x" if tool.endswith("*") else tool
    if _NAMES.fullmatch(matcher):
        return name in {one.strip() for one in _SEPARATORS.split(matcher)}
    try:
        return re.search(matcher, name) is not None
    except re.error:
        return False


def _of(found: Iterable[Registration], event: str) -> Sequence[Registration]:
    return [one for one in found if one.event == event]


def _sources(found: Iterable[Registration]) -> str:
    return ", ".join(sorted({f"{one.kind} {one.source}" for one in found}))


def _rewrite(found: Iterable[Registration]) -> str:
    """Return how the files are written again that hooks stand in."""
    files = dict.fromkeys((one.kind, one.source) for one in found)
    return "; ".join(_REWRITE[kind].format(path) for kind, path in files)
