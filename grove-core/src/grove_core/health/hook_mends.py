"""How hooks in the client's settings are mended: by which command, or by hand. Pure."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core.hosts.claude_hooks import SLOTS
from grove_core.hosts.claude_settings import LOCAL, PLUGIN, PROJECT, USER, Registration

_COMMANDS: Final = {PROJECT: "grove init --hooks --shared", LOCAL: "grove init --hooks"}
"""What writes hooks anew into which file of a project."""
_BEST_LIVING: Final = (PLUGIN, USER, PROJECT, LOCAL)
"""Whose hooks serve the most projects and people, these first."""
_BEST_DEAD: Final = (PROJECT, LOCAL, USER, PLUGIN)
"""Whose hooks a command writes anew, these first."""


@frozen(kw_only=True)
class _Source:
    """A file that registers hooks."""

    path: Path
    kind: str
    events: frozenset[str]
    dead: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether it alone would do."""
        return not self.dead and len(self.events) == len(SLOTS)


def mend_of(
    registrations: Sequence[Registration], complaints: Mapping[str, str], own: str | None
) -> str:
    """Return what leaves every hook registered once, with a program that can start."""
    sources = _sources(registrations, complaints)
    if len(sources) == 1:
        return _anew(sources[0], own)
    kept = min(sources, key=_rank)
    removed = [one for one in sources if one is not kept]
    steps = _removals(kept, removed)
    written_again = kept.kind in _COMMANDS and any(one.kind in _COMMANDS for one in removed)
    then = ""
    if written_again or not kept.is_whole:
        then = f"; then: {_COMMANDS.get(kept.kind) or _anew(kept, own)}"
    return f"Keep those of {kept.path}: {', '.join(steps)}{then}"


def _sources(
    registrations: Sequence[Registration], complaints: Collection[str]
) -> Sequence[_Source]:
    found = []
    for path in dict.fromkeys(one.source for one in registrations):
        own = [one for one in registrations if one.source == path]
        dead = dict.fromkeys(one.program for one in own if one.program in complaints)
        events = frozenset(one.event for one in own)
        found.append(_Source(path=path, kind=own[0].kind, events=events, dead=tuple(dead)))
    return found


def _rank(source: _Source) -> tuple[bool, int, int]:
    order = _BEST_DEAD if source.dead else _BEST_LIVING
    return bool(source.dead), -len(source.events), order.index(source.kind)


def _anew(source: _Source, own: str | None) -> str:
    if source.kind in _COMMANDS:
        return f"{_COMMANDS[source.kind]} writes {source.path} anew"
    if source.kind == PLUGIN:
        return f"Install grove's plugin anew ({source.path})"
    if source.dead:
        program = own or "the program grove"
        return f"Edit {source.path}: name {program} instead of {', '.join(source.dead)}"
    return f"Take grove's hooks out of {source.path} by hand; then: {_COMMANDS[LOCAL]}"


def _removals(kept: _Source, removed: Sequence[_Source]) -> Sequence[str]:
    steps = []
    written = [one for one in removed if one.kind in _COMMANDS]
    if written and kept.kind in _COMMANDS:
        # What init has on record goes from both, whichever is meant.
        steps.append("grove init --uninstall --shared takes grove's hooks out of both")
    elif written:
        option = " --shared" if any(one.kind == PROJECT for one in written) else ""
        paths = " and ".join(str(one.path) for one in written)
        steps.append(f"grove init --uninstall{option} takes grove's hooks out of {paths}")
    for one in removed:
        if one.kind == USER:
            steps.append(f"take grove's hooks out of {one.path} by hand")
        if one.kind == PLUGIN:
            steps.append(f"uninstall grove's plugin ({one.path})")
    return steps
