"""Hooks in the client's settings: all there, once, with a program that can start."""

import os
import shutil
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.clock import format_instant
from grove_core.errors import CodecError, StorageError
from grove_core.health.check import Check, broken, ok, warning
from grove_core.health.hook_mends import mend_of
from grove_core.health.matchers import covers
from grove_core.health.program import complaint_about, own_program
from grove_core.hosts.claude_hooks import FILE_TOOLS, SHELL_CONDITIONS, SHELL_TOOL, SLOTS
from grove_core.hosts.claude_settings import (
    LOCAL,
    PROJECT,
    Registration,
    parse_settings,
    registrations,
    settings_sources,
)
from grove_core.storage.files import read_bytes
from grove_core.workspace import Workspace

_SWITCH: Final = "disableAllHooks"
_EVENTS: Final = frozenset(slot.name for slot in SLOTS)
_CONDITIONS: Final = "conditions of hooks"
_REGISTER: Final = (
    "grove init --hooks writes them into the project's settings; or start the client with"
    " --plugin-dir and grove's plugin"
)


@frozen(kw_only=True)
class MatchedTools:
    """What a ticket system's matcher looks at."""

    system: str
    tools: tuple[str, ...]
    words: tuple[str, ...]
    takes_part: bool


@frozen(kw_only=True)
class HookFacts:
    """grove's hooks as the client is told of them."""

    registrations: tuple[Registration, ...]
    complaints: Mapping[str, str]
    disabled_by: Path | None
    unusable: tuple[tuple[Path, str], ...]
    matchers: tuple[MatchedTools, ...]
    last_ran: datetime | None
    own: str | None
    others: tuple[str, ...] = ()
    on_file: bool = True


def gather_hooks(workspace: Workspace, *, last_ran: datetime | None) -> HookFacts:
    """Read the client's settings."""
    environment = workspace.environment
    found = tuple(registrations(workspace.root, environment))
    programs = {one.program for one in found}
    disabled_by, unusable = _switches(workspace.root, environment)
    own = own_program()
    return HookFacts(
        registrations=found,
        complaints={
            program: complaint
            for program in sorted(programs)
            if (complaint := _complaint(program, environment))
        },
        disabled_by=disabled_by,
        unusable=unusable,
        matchers=_matchers(workspace),
        last_ran=last_ran,
        own=own,
        others=tuple(sorted({one.program for one in found if _is_other(one, own)})),
        on_file=workspace.config.retrieval.on_file,
    )


def _complaint(program: str, environment: Mapping[str, str]) -> str:
    """Tell why a program cannot start; it is a stranger's text and is never run."""
    if "/" in program:
        return complaint_about(program)
    found = shutil.which(program, path=environment.get("PATH", ""))
    return complaint_about(found) if found else "is not on PATH"


def _is_other(registration: Registration, own: str | None) -> bool:
    """Return whether ``grove init`` would write another program; what can be written is its own."""
    program = registration.program
    if own is None or registration.kind not in (LOCAL, PROJECT) or not Path(program).is_absolute():
        return False
    return os.path.realpath(program) != os.path.realpath(own)


def _switches(
    root: Path, environment: Mapping[str, str]
) -> tuple[Path | None, tuple[tuple[Path, str], ...]]:
    disabled_by: Path | None = None
    unusable = []
    for _, path in settings_sources(root, environment):
        try:
            text = (read_bytes(path) or b"{}").decode("utf-8-sig")
            settings = parse_settings(text)
        except UnicodeDecodeError:
            unusable.append((path, "it is not UTF-8"))
            continue
        except (StorageError, CodecError) as error:
            unusable.append((path, str(error)))
            continue
        if _SWITCH in settings:
            disabled_by = path if settings[_SWITCH] is True else None
    return disabled_by, tuple(unusable)


def _matchers(workspace: Workspace) -> tuple[MatchedTools, ...]:
    tickets = workspace.tickets()
    used = {one.probe.name for one in tickets.all if one.takes_part}
    return tuple(
        MatchedTools(
            system=one.value.system,
            tools=tuple(one.value.tools),
            words=tuple(one.value.literals),
            takes_part=one.value.system in used,
        )
        for one in tickets.matchers
    )


def judge_hooks(facts: HookFacts) -> Sequence[Check]:
    """Return whether the client runs every hook, once, and of what it does not tell grove."""
    # What makes a file unusable comes first: other mends need it.
    checks = [*_switched_off(facts), _registered(facts)]
    if facts.registrations:
        checks += [*_programs(facts), *_twice(facts), _tools(facts), *_conditions(facts)]
        checks += _touched_files(facts)
    return checks


def _registered(facts: HookFacts) -> Check:
    name = "hooks registered"
    if not facts.registrations:
        if facts.last_ran is not None:
            detail = f"they stand in no file; hooks last ran at {format_instant(facts.last_ran)}"
            mend = (
                "If no plugin is given on the client's command line (--plugin-dir):"
                " grove init --hooks"
            )
            return warning(name, detail, mend)
        if facts.unusable:
            paths = ", ".join(str(path) for path, _ in facts.unusable)
            return broken(name, f"none is found, and {paths} cannot be used", f"Mend {paths} first")
        return broken(name, "the client's settings name no hook of grove's", _REGISTER)
    covered = {one.event for one in facts.registrations}
    missing = [slot.name for slot in SLOTS if slot.name not in covered]
    where = ", ".join(sorted({f"{one.kind} {one.source}" for one in facts.registrations}))
    if missing:
        detail = f"the client does not tell grove of {', '.join(missing)} ({where})"
        return broken(name, detail, _mend(facts))
    return ok(name, f"all {len(SLOTS)} events ({where})")


def _switched_off(facts: HookFacts) -> Sequence[Check]:
    name = "client's settings"
    checks = []
    if facts.disabled_by is not None:
        detail = f"{facts.disabled_by} says {_SWITCH}: the client runs no hook at all"
        checks.append(broken(name, detail, f"Take {_SWITCH} out of {facts.disabled_by}"))
    for path, why in facts.unusable:
        detail = f"{path} cannot be used, so nothing in it counts: {why}"
        checks.append(broken(name, detail, f"Mend {path}"))
    return checks


def _programs(facts: HookFacts) -> Sequence[Check]:
    name = "registered program"
    checks = []
    for program, complaint in facts.complaints.items():
        sources = sorted({str(one.source) for one in facts.registrations if one.program == program})
        detail = f"{program} {complaint} (it stands in {', '.join(sources)})"
        checks.append(broken(name, detail, _mend(facts)))
    for program in facts.others:
        if program not in facts.complaints:
            detail = f"{program} is another installation; this is {facts.own}"
            checks.append(
                warning(name, detail, f"`{facts.own} init --hooks` has hooks run this one")
            )
    programs = sorted({one.program for one in facts.registrations})
    return checks or [ok(name, ", ".join(programs))]


def _twice(facts: HookFacts) -> Sequence[Check]:
    sources: dict[str, set[str]] = {}
    for one in facts.registrations:
        sources.setdefault(one.event, set()).add(f"{one.kind} {one.source}")
    repeated = [event for event, named in sources.items() if len(named) > 1]
    if not repeated:
        return ()
    where = ", ".join(sorted(set().union(*(sources[event] for event in repeated))))
    detail = f"{', '.join(repeated)} are registered more than once, so hooks run twice: {where}"
    return [warning("registered twice", detail, _mend(facts))]


def _tools(facts: HookFacts) -> Check:
    name = "tools of ticket systems"
    tools = dict.fromkeys(tool for one in facts.matchers for tool in one.tools)
    # A matcher may name an event that is registered by itself.
    missed = [text for tool in tools if tool not in _EVENTS and (text := _missed(facts, tool))]
    if missed:
        detail = f"no hook is registered for {', '.join(missed)}: closes by them are not seen"
        return broken(name, detail, f"Add the tools to the matchers, or: {_mend(facts)}")
    return ok(name, "every tool that can close a ticket is looked at")


def _missed(facts: HookFacts, tool: str) -> str:
    """Name a tool with its ticket systems and the events that they are not told of, if any."""
    events = [
        slot.name
        for slot in SLOTS
        if slot.for_tools and not any(covers(each.matcher, tool) for each in _of(facts, slot.name))
    ]
    systems = dict.fromkeys(one.system for one in facts.matchers if tool in one.tools)
    return f"{tool} ({', '.join(systems)}; {', '.join(events)})" if events else ""


def _touched_files(facts: HookFacts) -> Sequence[Check]:
    """Hooks that an older grove has written know nothing of files."""
    events = [slot.name for slot in SLOTS if slot.for_files]
    missed = [
        tool
        for tool in FILE_TOOLS.split("|")
        if not any(covers(one.matcher, tool) for event in events for one in _of(facts, event))
    ]
    if not missed or not facts.on_file or not any(_of(facts, event) for event in events):
        return ()
    detail = (
        f"no hook is registered for {', '.join(missed)}: what learnings say of a file is not shown"
        " when it is touched"
    )
    mend = f"{_mend(facts)}; or, to do without: retrieval.on_file = false"
    return [warning("tools that touch files", detail, mend)]


def _conditions(facts: HookFacts) -> Sequence[Check]:
    """Hooks that are narrowed by ``if`` to ticket systems that were used when they were written."""
    shell = [one for one in _of(facts, "PreToolUse") if covers(one.matcher, SHELL_TOOL)]
    conditions = [one.condition for one in shell if one.condition is not None]
    if len(conditions) < len(shell) or not shell:
        return ()
    missed = [
        one.system
        for one in facts.matchers
        if one.takes_part
        and SHELL_TOOL in one.tools
        # Some of its words may stand in other tools' calls only.
        and not any(_lets_in(condition, words) for words in one.words for condition in conditions)
    ]
    if not missed:
        return _idle_conditions(facts, conditions)
    detail = f"closes of {', '.join(dict.fromkeys(missed))} are not seen: hooks are narrowed to"
    detail = f"{detail} {', '.join(dict.fromkeys(conditions))}"
    return [broken(_CONDITIONS, detail, _mend(facts))]


def _idle_conditions(facts: HookFacts, conditions: Sequence[str]) -> Sequence[Check]:
    """Conditions of ticket systems that are not used any more; beside others they do no harm."""
    used = [word for one in facts.matchers if one.takes_part for word in one.words]
    named = [one for one in dict.fromkeys(conditions) if one not in SHELL_CONDITIONS]
    idle = [one for one in named if not any(_lets_in(one, words) for words in used)]
    if not idle:
        return ()
    systems = [
        one.system
        for one in facts.matchers
        if not one.takes_part
        and any(_lets_in(condition, words) for words in one.words for condition in idle)
    ]
    why = f"{', '.join(dict.fromkeys(systems)) or 'what they are for'} is not used here"
    detail = f"hooks are narrowed to {', '.join(idle)}, yet {why}"
    if len(idle) < len(named):
        return [
            ok(_CONDITIONS, f"{detail}; those for the ticket systems that are used stand there")
        ]
    return [warning(_CONDITIONS, detail, _mend(facts))]


def _lets_in(condition: str, words: str) -> bool:
    """Return whether a condition lets in whatever holds a literal, which may be several words."""
    pattern = condition.partition("(")[2].removesuffix(")") or "*"
    wanted = pattern.strip("* ")
    return any(
        wanted in word if pattern.startswith("*") else wanted == word for word in words.split()
    )


def _mend(facts: HookFacts) -> str:
    return mend_of(facts.registrations, facts.complaints, facts.own)


def _of(facts: HookFacts, event: str) -> Sequence[Registration]:
    return [one for one in facts.registrations if one.event == event]
