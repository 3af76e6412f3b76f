"""Hooks in the client's settings: all there, once, with a program that can start."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.errors import StorageError
from grove_core.files import read_bytes
from grove_core.health.check import Check, broken, ok, warning
from grove_core.health.matchers import covers
from grove_core.health.program import complaint_about
from grove_core.hosts.claude_hooks import SHELL_TOOL, SLOTS
from grove_core.hosts.claude_settings import Registration, registrations, settings_sources
from grove_core.workspace import Workspace

_SWITCH: Final = "disableAllHooks"
_EVENTS: Final = frozenset(slot.name for slot in SLOTS)
_REGISTER: Final = (
    "grove init --hooks writes them into the project's settings; or start the client with"
    " --plugin-dir and grove's plugin"
)


@frozen(kw_only=True)
class MatchedTools:
    """What a ticket system's matcher looks at.

    Attributes:
        system: The ticket system.
        tools: Names of tools.
        words: Words without which no shell command closes anything.
        takes_part: Whether the system's closes count in this project.
    """

    system: str
    tools: tuple[str, ...]
    words: tuple[str, ...]
    takes_part: bool


@frozen(kw_only=True)
class HookFacts:
    """grove's hooks as the client is told of them.

    Attributes:
        registrations: The hooks.
        complaints: Why programs that they name cannot start, by program.
        disabled_by: The settings file that switches all hooks off, if one does.
        unreadable: Settings files that are no JSON.
        matchers: What installed ticket systems look at.
        ran_lately: Whether a hook has run here within some days.
    """

    registrations: tuple[Registration, ...]
    complaints: Mapping[str, str]
    disabled_by: Path | None
    unreadable: tuple[Path, ...]
    matchers: tuple[MatchedTools, ...]
    ran_lately: bool


def gather_hooks(workspace: Workspace, *, ran_lately: bool) -> HookFacts:
    """Read the client's settings.

    Args:
        workspace: The project.
        ran_lately: Whether a hook has run here within some days.

    Returns:
        The facts.
    """
    environment = workspace.environment
    found = tuple(registrations(workspace.root, environment))
    programs = {one.program for one in found}
    disabled_by, unreadable = _switches(workspace.root, environment)
    return HookFacts(
        registrations=found,
        complaints={
            program: complaint
            for program in sorted(programs)
            if (complaint := _complaint(program, environment))
        },
        disabled_by=disabled_by,
        unreadable=unreadable,
        matchers=_matchers(workspace),
        ran_lately=ran_lately,
    )


def _complaint(program: str, environment: Mapping[str, str]) -> str:
    """Tell why a program cannot start; it is a stranger's text and is never run."""
    if "/" in program:
        return complaint_about(program)
    found = shutil.which(program, path=environment.get("PATH", ""))
    return complaint_about(found) if found else "is not on PATH"


def _switches(root: Path, environment: Mapping[str, str]) -> tuple[Path | None, tuple[Path, ...]]:
    disabled_by: Path | None = None
    unreadable = []
    for _, path in settings_sources(root, environment):
        try:
            settings = json.loads((read_bytes(path) or b"{}").decode("utf-8-sig"))
        except (StorageError, ValueError, RecursionError):
            unreadable.append(path)
            continue
        if isinstance(settings, dict) and _SWITCH in settings:
            disabled_by = path if settings[_SWITCH] is True else None
    return disabled_by, tuple(unreadable)


def _matchers(workspace: Workspace) -> tuple[MatchedTools, ...]:
    used = {one.probe.name for one in workspace.tickets().all if one.takes_part}
    return tuple(
        MatchedTools(
            system=one.value.system,
            tools=tuple(one.value.tools),
            words=tuple(one.value.literals),
            takes_part=one.value.system in used,
        )
        for one in workspace.plugins.close_matchers()
    )


def judge_hooks(facts: HookFacts) -> Sequence[Check]:
    """Tell whether the client runs every hook, once, and of what it does not tell grove.

    Args:
        facts: grove's hooks as the client is told of them.

    Returns:
        The checks.
    """
    checks = [_registered(facts), *_switched_off(facts)]
    if facts.registrations:
        checks += [*_programs(facts), *_twice(facts), _tools(facts), *_conditions(facts)]
    return checks


def _registered(facts: HookFacts) -> Check:
    name = "hooks registered"
    if not facts.registrations:
        if facts.ran_lately:
            return ok(name, "hooks run here, from a plugin that was given on the command line")
        return broken(name, "the client's settings name no hook of grove's", _REGISTER)
    covered = {one.event for one in facts.registrations}
    missing = [slot.name for slot in SLOTS if slot.name not in covered]
    where = ", ".join(sorted({f"{one.kind} {one.source}" for one in facts.registrations}))
    if missing:
        detail = f"the client does not tell grove of {', '.join(missing)} ({where})"
        return broken(name, detail, _REGISTER)
    return ok(name, f"all {len(SLOTS)} events ({where})")


def _switched_off(facts: HookFacts) -> Sequence[Check]:
    name = "client's settings"
    checks = []
    if facts.disabled_by is not None:
        detail = f"{facts.disabled_by} says {_SWITCH}: the client runs no hook at all"
        checks.append(broken(name, detail, f"Take {_SWITCH} out of {facts.disabled_by}"))
    for path in facts.unreadable:
        detail = f"{path} cannot be read as JSON, so nothing in it counts"
        checks.append(broken(name, detail, f"Mend {path}"))
    return checks


def _programs(facts: HookFacts) -> Sequence[Check]:
    name = "registered program"
    checks = []
    for program, complaint in facts.complaints.items():
        sources = sorted({str(one.source) for one in facts.registrations if one.program == program})
        mend = f"grove init --hooks names this program anew; it stands in {', '.join(sources)}"
        checks.append(broken(name, f"{program} {complaint}", mend))
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
    mend = "Keep one: grove init --uninstall takes out what init --hooks wrote"
    return [warning("registered twice", detail, mend)]


def _tools(facts: HookFacts) -> Check:
    name = "tools of ticket systems"
    missed = [
        f"{tool} ({one.system}, {slot.name})"
        for slot in SLOTS
        if slot.for_tools
        for one in facts.matchers
        for tool in one.tools
        if tool not in _EVENTS  # a matcher's name for an event that is registered by itself
        and not any(covers(each.matcher, tool) for each in _of(facts, slot.name))
    ]
    if missed:
        detail = f"no hook is registered for {', '.join(missed)}: closes by them are not seen"
        return broken(name, detail, "Add the tools to the matchers; grove init --hooks knows them")
    return ok(name, "every tool that can close a ticket is looked at")


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
        and not any(word in condition for word in one.words for condition in conditions)
    ]
    if not missed:
        return ()
    detail = f"closes of {', '.join(missed)} are not seen: hooks are narrowed to"
    detail = f"{detail} {', '.join(dict.fromkeys(conditions))}"
    return [broken("conditions of hooks", detail, "grove init --hooks writes them anew")]


def _of(facts: HookFacts, event: str) -> Sequence[Registration]:
    return [one for one in facts.registrations if one.event == event]
