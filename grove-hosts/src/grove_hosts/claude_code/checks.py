"""What of Claude Code's settings keeps hooks from running, beside those that are missing."""

import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from grove_core import (
    CheckResult,
    CodecError,
    HostContext,
    Registration,
    Status,
    StorageError,
    read_bytes,
)
from grove_hosts.claude_code.hooks import SHELL_TOOL, SLOTS
from grove_hosts.claude_code.settings import parse_settings, registrations, settings_sources

_SWITCH: Final = "disableAllHooks"
_REWRITE: Final = "grove init --hooks writes the hooks again (with --shared the committed ones)"
_NAMES: Final = re.compile(r"[A-Za-z0-9_\- ,|]*")
_SEPARATORS: Final = re.compile(r"[,|]")


def check(context: HostContext) -> Iterator[CheckResult]:
    """Look at the settings, and at what their hooks are narrowed to."""
    found = registrations(context.root, context.environment)
    yield from client_settings(context)
    if found:
        yield from tools_of_tickets(context, found)
        yield from conditions(context, found)


def client_settings(context: HostContext) -> Iterator[CheckResult]:
    """Check that the client's settings can be read and do not switch hooks off."""
    disabled_by: Path | None = None
    for _, path in settings_sources(context.root, context.environment):
        try:
            settings = parse_settings((read_bytes(path) or b"{}").decode("utf-8"))
        except (StorageError, CodecError, UnicodeDecodeError) as error:
            detail = f"{path} cannot be used, so nothing in it counts: {error}"
            yield _broken("client's settings", detail, f"Correct {path}")
            continue
        if _SWITCH in settings:
            disabled_by = path if settings[_SWITCH] is True else None
    if disabled_by is not None:
        detail = f"{disabled_by} says {_SWITCH}: the client runs no hook at all"
        yield _broken("client's settings", detail, f"Take {_SWITCH} out of {disabled_by}")


def tools_of_tickets(context: HostContext, found: Sequence[Registration]) -> Iterator[CheckResult]:
    """Check that hooks run for every tool that can close a ticket."""
    seen = {slot.name for slot in SLOTS}  # a matcher may name an event that is registered by itself
    hooks = [_of(found, slot.name) for slot in SLOTS if slot.for_tools]
    missed = [
        f"{tool} ({one.system})"
        for one in context.matchers
        for tool in one.tools
        if tool not in seen
        and not all(any(covers(one.matcher, tool) for one in each) for each in hooks)
    ]
    if missed:
        named = ", ".join(dict.fromkeys(missed))
        detail = f"hooks do not run for {named}: closes by them are not seen"
        yield _broken(
            "tools of ticket systems", detail, f"Add the tools to the matchers, or: {_REWRITE}"
        )
    yield CheckResult(
        name="tools of ticket systems",
        status=Status.OK,
        detail="every tool that can close a ticket is looked at",
    )


def conditions(context: HostContext, found: Sequence[Registration]) -> Iterator[CheckResult]:
    """Check that hooks narrowed by ``if`` see closes of the ticket systems that are used."""
    shell = [one for one in _of(found, "PreToolUse") if covers(one.matcher, SHELL_TOOL)]
    narrowed = [one.condition for one in shell if one.condition is not None]
    if not narrowed or len(narrowed) < len(shell):
        return
    missed = [
        one.system
        for one in context.matchers
        if SHELL_TOOL in one.tools
        # Some of its words may stand in other tools' calls only.
        and not any(lets_in(each, words) for words in one.literals for each in narrowed)
    ]
    if missed:
        named = ", ".join(dict.fromkeys(narrowed))
        detail = f"closes of {', '.join(dict.fromkeys(missed))} are not seen: hooks are narrowed"
        yield _broken("conditions of hooks", f"{detail} to {named}", _REWRITE)


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


def _of(found: Sequence[Registration], event: str) -> Sequence[Registration]:
    return [one for one in found if one.event == event]


def _broken(name: str, detail: str, fix: str) -> CheckResult:
    return CheckResult(name=name, status=Status.BROKEN, detail=detail, fix=fix)
