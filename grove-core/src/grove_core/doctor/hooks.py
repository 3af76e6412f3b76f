"""Hooks in the clients' settings: all there, once, with a program that can start."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from attrs import evolve

from grove_core.clock import format_instant
from grove_core.doctor.check import Examination, HostExamination
from grove_core.doctor.program import is_other, why_not_startable
from grove_core.install.plan import find_program
from grove_core.model.check import CheckResult, broken, ok, warning
from grove_core.plugins.hosts import Hold, HostAbilities, Registration

_RECENTLY: Final = timedelta(days=7)
_PLUGIN: Final = "plugin"
_KEEP_ONE: Final = (
    "Keep those of one file: grove init --uninstall takes grove's hooks out of the project's"
    " settings (with --shared of the committed ones, with --hooks CLIENT of your own for all"
    " projects); others go by hand"
)
_HOLDS: Final = {
    Hold.HOLDS: "holds the agent at a stop",
    Hold.ASKS: "can ask the agent at a stop, not hold it",
    Hold.NONE: "cannot hold the agent",
}


def registered(examination: Examination) -> Iterator[CheckResult]:
    """Check that each client is told of every event."""
    for host in examination.hosts:
        found = host.registrations
        missing = [name for name in host.spec.events if not _of(found, name)]
        ran = [one.updated_at for one in examination.here if one.host == host.spec.name]
        last_ran = max(ran, default=None)
        name, init = host.named("hooks registered"), host.init
        if not found and last_ran is not None and examination.now - last_ran <= _RECENTLY:
            detail = f"they stand in no file; hooks last ran at {format_instant(last_ran)}"
            fix = init if host.argument else f"If the client is given no plugin: {init}"
            yield warning(detail, fix, name=name)
        elif not found:
            plugin = "" if host.argument else "; or load grove's plugin"
            fix = f"{init} writes them into the client's settings{plugin}"
            say = broken if examination.files.initialised else warning
            yield say("the client's settings name no hook of grove's", fix, name=name)
        elif missing:
            detail = f"the client does not tell grove of {', '.join(missing)} ({_sources(found)})"
            yield broken(detail, _rewrite(host), name=name)
        yield ok(f"all {len(host.spec.events)} events ({_sources(found)})", name=name)


def registered_program(examination: Examination) -> Iterator[CheckResult]:
    """Check the programs that the settings name; a stranger's text, they are never run."""
    for host in examination.hosts:
        name = host.named("registered program")
        programs = sorted({one.program for one in host.registrations})
        for program in programs:
            named = [one for one in host.registrations if one.program == program]
            path = examination.environment.get("PATH", "")
            found = program if "/" in program else shutil.which(program, path=path)
            where = f"it stands in {_sources(named)}"
            if found is None and "/" not in program:
                fix = f"Put {Path(find_program() or program).parent} on the PATH of the client"
                yield broken(f"{program} is not on PATH ({where})", fix, name=name)
            elif complaint := why_not_startable(found or program):
                yield broken(f"{program} {complaint} ({where})", _rewrite(host), name=name)
            elif program.startswith("/") and named[0].kind != _PLUGIN and is_other(program):
                detail = f"{program} is another installation; this is {find_program()}"
                yield warning(f"{detail} ({where})", _rewrite(host), name=name)
        if programs:
            yield ok(", ".join(programs), name=name)


def registered_twice(examination: Examination) -> Iterator[CheckResult]:
    """Name events that stand in more than one file."""
    for host in examination.hosts:
        found = host.registrations
        twice = [
            name for name in host.spec.events if len({each.source for each in _of(found, name)}) > 1
        ]
        if twice:
            where = _sources(one for one in found if one.event in twice)
            detail = f"{', '.join(twice)} stand in two files, so hooks run twice: {where}"
            yield warning(detail, _KEEP_ONE, name=host.named("registered twice"))


def settings(examination: Examination) -> Iterator[CheckResult]:
    """Ask each client's adapter what else keeps its hooks from running."""
    for host in examination.hosts:
        for one in host.spec.check(examination.context) if host.spec.check else ():
            yield evolve(one, name=host.named(one.name or "client's settings"))


def abilities(examination: Examination) -> Iterator[CheckResult]:
    """Say what each client can do for grove."""
    for host in examination.hosts:
        said = f"{host.spec.title} {'; '.join(_said(host.spec.abilities))}"
        trust = host.spec.abilities.trust
        yield ok(f"{said}. {trust}" if trust else said, name=host.named("client"))


def _said(abilities: HostAbilities) -> Iterator[str]:
    yield _HOLDS[abilities.hold]
    cap = abilities.most_blocks
    yield f"obeys {cap} blocks in a row" if cap else "obeys any number of blocks, so grove counts"
    if not abilities.results:
        yield "does not say whether a command failed, so the ticket system is asked"
    if not abilities.background:
        yield "does not say what still runs at a stop"
    if not abilities.session_variables:
        yield "does not tell the agent's shell its session"
    if abilities.sandboxed:
        yield "keeps the agent's shell from writing outside of the project"
    if not abilities.fails_open:
        yield "takes a hook that fails for a denial"
    if not abilities.driven:
        yield "was not tried with the client itself"


def _of(found: Iterable[Registration], event: str) -> Sequence[Registration]:
    return [one for one in found if one.event == event]


def _sources(found: Iterable[Registration]) -> str:
    return ", ".join(sorted({f"{one.kind} {one.source}" for one in found}))


def _rewrite(host: HostExamination) -> str:
    """Return how the files are written again that hooks stand in."""
    return (
        f"{host.init} writes them again (with --shared those that are committed); grove's plugin"
        " is installed again, and other files are edited by hand"
    )
