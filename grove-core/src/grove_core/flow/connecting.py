"""What ``grove init`` writes for Claude Code: hooks, a permission rule, the gate's rules."""

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from grove_core.errors import CodecError, StorageError
from grove_core.flow.file_changes import FileChange, refuse_dangling
from grove_core.flow.install_plan import Plan, relative_to
from grove_core.flow.installation import (
    WrittenFile,
    digest_of,
)
from grove_core.hosts import claude_merge
from grove_core.hosts.claude_hooks import ALLOW_RULE, SHELL_TOOL, conditions_for, hook_groups
from grove_core.hosts.claude_settings import (
    PLUGIN,
    Registration,
    allowed,
    denied,
    registrations,
    rules_file,
    settings_file,
)
from grove_core.plugins.descriptors import Participation
from grove_core.storage import files
from grove_core.ticketing import TicketSystem
from grove_core.workspace import Workspace

_RULES: Final = Path(__file__).parents[1] / "hosts" / "claude_code_rules.md"
_ENOUGH: Final = frozenset({ALLOW_RULE, "Bash(grove:*)", SHELL_TOOL, f"{SHELL_TOOL}(*)"})
_ABOUT_GROVE: Final = ("Bash(grove ", "Bash(grove:", "Bash(grove*", "Bash(grove)")


def unusable(path: Path, error: CodecError) -> StorageError:
    """Say that settings cannot be changed."""
    return StorageError(f"{path}: {error}; mend it and try again, it was not touched")


def read_inside(path: Path, root: Path) -> str | None:
    """Read a file of the client's, which must be the project's own."""
    files.confined(path, root)
    return files.read_text(path)


def plan_hooks(
    plan: Plan, workspace: Workspace, program: str, *, shared: bool, allow: bool
) -> None:
    """Plan to register grove's hooks, unless the client runs them already."""
    target = settings_file(workspace.root, shared=shared)
    elsewhere = registered_elsewhere(workspace, target)
    if elsewhere is not None:
        plan.notes.append(_already(elsewhere, workspace.root))
        return
    before = read_inside(target, workspace.root)
    refuse_dangling(target, workspace.root)
    conditions = conditions_for(shell_words(workspace))
    try:
        hooked = claude_merge.with_hooks(before or "", hook_groups(program, conditions))
        after = claude_merge.with_rule(hooked, ALLOW_RULE) if allow else hooked
        if after != before:
            plan.write(target, before, after, adds_rule=after != hooked)
        else:
            place = relative_to(target, workspace.root)
            plan.notes.append(f"the hooks are there already, nothing changed ({place})")
    except CodecError as error:
        raise unusable(target, error) from error


def registered_elsewhere(workspace: Workspace, target: Path) -> Registration | None:
    """Find a hook of grove's that runs here already, by other means than a settings file."""
    search = workspace.environment.get("PATH", "")
    for one in registrations(workspace.root, workspace.environment):
        if one.source != target and shutil.which(one.program, path=search):
            return one
    return None


def _already(found: Registration, root: Path) -> str:
    if found.kind == PLUGIN:
        folder = found.source.parents[1]
        return f"grove's plugin is installed ({folder}): its hooks run already, none were added"
    where = found.source
    place = relative_to(where, root) if where.is_relative_to(root) else str(where)
    return (
        f"grove's hooks stand in {place} already, none were added; grove init --uninstall takes"
        " those back that grove init wrote"
    )


def may_run_unasked(workspace: Workspace) -> bool:
    """Return whether the agent may run grove without a question."""
    return not _ENOUGH.isdisjoint(allowed(workspace.root, workspace.environment))


def denied_rules(workspace: Workspace) -> tuple[str, ...]:
    """Find the rules that keep the agent from running grove, all of it or some of its commands."""
    rules = denied(workspace.root, workspace.environment)
    return tuple(sorted(one for one in rules if one in _ENOUGH or one.startswith(_ABOUT_GROVE)))


def denies_all(rules: Iterable[str]) -> bool:
    """Return whether rules that deny something leave the agent no command of grove's."""
    return not _ENOUGH.isdisjoint(rules)


def shell_words(workspace: Workspace) -> tuple[str, ...]:
    """Collect the words of which one stands in every shell command that closes a ticket here."""
    tickets = workspace.tickets()
    used = {one.probe.name for one in tickets.all if _may_take_part(one)}
    return tuple(
        word
        for matcher in (one.value for one in tickets.matchers)
        if matcher.system in used and any(_is_shell(tool) for tool in matcher.tools)
        for word in matcher.literals
    )


def _may_take_part(system: TicketSystem) -> bool:
    """Return whether a system takes part, or may do so once the project has its ``.grove``."""
    is_used = system.detection is not None and system.detection.usable
    return system.takes_part or (is_used and system.probe.participation is Participation.ACTIVE)


def _is_shell(pattern: str) -> bool:
    stem = pattern.removesuffix("*")
    return pattern == SHELL_TOOL or (pattern != stem and SHELL_TOOL.startswith(stem))


def plan_rules(plan: Plan, workspace: Workspace) -> None:
    """Plan to write the gate's protocol as a rule file, unless a person has changed it."""
    path = rules_file(workspace.root)
    text = _RULES.read_text(encoding="utf-8")
    before = read_inside(path, workspace.root)
    refuse_dangling(path, workspace.root)
    known = plan.recorded(path)
    if before == text:
        return
    if before is not None and (known is None or digest_of(before) != known.digest):
        plan.notes.append(f"{relative_to(path, workspace.root)} is not as grove wrote it: kept")
        return
    written = WrittenFile(
        path=relative_to(path, workspace.root), digest=digest_of(text), existed=False
    )
    plan.installation = plan.installation.with_file(written)
    plan.changes.append(FileChange(path=path, before=before, after=text))
