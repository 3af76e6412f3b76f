"""What ``grove init`` changes, and how it is taken back."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Final

from attrs import Factory, define, frozen

from grove_core.config.edit import render_default_config
from grove_core.errors import CodecError, GroveError, StorageError
from grove_core.hosts import claude_settings as client
from grove_core.hosts.claude_code import MOST_BLOCKS_IN_A_ROW
from grove_core.hosts.claude_hooks import (
    ALLOW_RULE,
    SHELL_TOOL,
    conditions_for,
    hook_groups,
    hook_groups_with_server,
    with_gates,
)
from grove_core.install import clone
from grove_core.install.record import FileChange, InstallationRecord, read_own
from grove_core.plugin_gates import OpenGate, literals_of, open_gates
from grove_core.plugins.descriptors import EnabledWhen
from grove_core.project import Project
from grove_core.storage import files
from grove_core.storage.paths import outer_project
from grove_core.ticketing import TicketSystem

_ADVICE: Final = (
    "the client asks you before the agent runs grove, unless a permission rule lets it:"
    f" grove init --hooks --allow-grove adds {ALLOW_RULE}"
)
_RESTART: Final = "start a new session of the client: it reads its settings when it starts"
_RULES: Final = Path(__file__).with_name("rules.md")


@frozen(kw_only=True)
class InitOptions:
    """What the command line, or the person at the terminal, asks for."""

    hooks: bool = False
    server: bool = False
    shared: bool = False
    allow: bool = False
    rules: bool = False


@define
class Plan:
    """Changes of the project's own files, and of the client's with the record of them."""

    project: Project
    record: InstallationRecord
    own: list[FileChange] = Factory(list)
    changes: list[FileChange] = Factory(list)
    notes: list[str] = Factory(list)
    private: list[str] = Factory(list)

    @property
    def kept(self) -> list[Path]:
        """Return which of the project's own files are there already, and stay."""
        changed = {one.path for one in self.own}
        return [one for one in _own_files(self.project) if one not in changed]

    def edit(self, path: Path, change: Callable[[str], str]) -> None:
        """Plan to change the client's settings."""
        before = read_own(path, self.project.root)
        with _naming(path):
            after = change(before or "")
        original = without_init(self.record, path, before) if self.record.holds(path) else before
        if before != after:
            self.changes.append(
                FileChange(path=path, before=before, after=after, original=original)
            )

    def make(self, program: str | None) -> None:
        """Write the record, then the files."""
        self.record.write(self.changes, program)
        if program:
            # For launchers: the client's PATH often lacks a virtual environment's programs.
            files.replace_text(self.project.paths.program_file, f"{program}\n")
        for change in (*self.own, *self.changes):
            change.make(self.project.root)
        clone.drop_merge_driver(self.project.root)
        clone.exclude(self.project.root, self.private)

    def take_back(self) -> None:
        """Change the client's files back, and forget that init was there."""
        for change in self.changes:
            change.make(self.project.root)
        clone.drop_merge_driver(self.project.root)
        clone.include_again(self.project.root)
        self.record.remove()
        for change in self.own:
            change.path.unlink(missing_ok=True)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except CodecError as error:
        message = f"{path}: {error}; fix it and try again, it was not touched"
        raise StorageError(message) from error


def without_init(record: InstallationRecord, path: Path, current: str | None) -> str | None:
    """Return what a settings file would be if init had never written into it."""
    original = record.original(path)
    if current is None or record.is_as_written(path, current):
        return None if current is None else original
    with _naming(path):
        was_allowed = original is not None and client.allows(original, ALLOW_RULE)
        rest = client.without_own(current, rule=None if was_allowed else ALLOW_RULE)
        return rest if original is not None or client.parse_settings(rest) else None


def plan_for(project: Project, options: InitOptions, program: str | None) -> Plan:
    """Plan everything; nothing is written."""
    record = InstallationRecord(project.paths, project.root)
    plan = Plan(project, record, own=list(_project_files(project)))
    plan.notes += clone.swallowed(project.root)
    if outer := outer_project(project.root, project.paths.home):
        plan.notes.append(f"{outer} has a .grove, too: that is another project")
    if options.hooks and program:
        _plan_hooks(plan, options, program)
    if options.rules:
        _plan_rules(plan)
    return plan


def _own_files(project: Project) -> tuple[Path, Path]:
    config = project.files.config_file
    return config, config.with_name(".gitattributes")


def _project_files(project: Project) -> Iterator[FileChange]:
    config, attributes = _own_files(project)
    if not os.path.lexists(config):
        yield FileChange(path=config, before=None, after=render_default_config())
    before = read_own(attributes, project.root)
    after = clone.attributes(before or "")
    if before != after:
        yield FileChange(path=attributes, before=before, after=after)


def _plan_hooks(plan: Plan, options: InitOptions, program: str) -> None:
    """Plan to register grove's hooks, unless the client runs them already."""
    root = plan.project.root
    target = client.settings_file(root, shared=options.shared)
    elsewhere = running_hooks(plan.project, apart_from=target)
    if elsewhere is not None:
        plan.notes.append(
            f"grove's hooks run already, by {elsewhere.kind} {elsewhere.source}: none were added"
        )
        return
    gates = _gates(plan.project)
    words = [*_shell_words(plan.project), *literals_of(gates)]
    groups = hook_groups(program, () if "" in words else conditions_for(words))
    server = client.server_file(root)
    if options.server or plan.record.holds(server):
        groups = hook_groups_with_server(program)
        plan.edit(server, partial(client.with_own, server=program))
    tools = [name for one in gates for name in one.gate.tools]
    groups = with_gates(groups, program, tools, [name for one in gates for name in one.gate.agents])
    rule = ALLOW_RULE if options.allow else None
    plan.edit(target, partial(client.with_own, hooks=groups, rule=rule))
    name = target.relative_to(root)
    plan.notes.append(_RESTART if plan.changes else f"{name} holds the hooks already")
    if plan.changes and not options.allow:
        plan.notes.append(_ADVICE)
    if not options.shared:
        names = [change.name(root) for change in plan.changes]
        plan.private = [name for name in names if not clone.is_left_out(root, name)]
    plan.notes += [f"git is told to ignore {name}, which is yours alone" for name in plan.private]


def _gates(project: Project) -> list[OpenGate]:
    offered = project.plugins.gates()
    settings = project.gate_settings() if offered else {}
    left = MOST_BLOCKS_IN_A_ROW - project.policy.max_blocks
    return open_gates(project.plugins, project.context(), settings, left)


def running_hooks(
    project: Project, *, apart_from: Path | None = None
) -> client.Registration | None:
    """Find a hook of grove's that runs here already, by other means than a settings file."""
    search = project.environment.get("PATH", "")
    for one in client.registrations(project.root, project.environment):
        if one.source != apart_from and shutil.which(one.program, path=search):
            return one
    return None


def _shell_words(project: Project) -> list[str]:
    """Collect the words of which one stands in every shell command that closes a ticket here."""
    tickets = project.tickets()
    used = {one.probe.name for one in tickets.all if _may_be_enabled(one)}
    return [
        word
        for matcher in (one.value for one in tickets.matchers)
        if matcher.system in used and any(fnmatchcase(SHELL_TOOL, one) for one in matcher.tools)
        for word in matcher.literals
    ]


def _may_be_enabled(system: TicketSystem) -> bool:
    """Return whether a system is enabled, or may be once the project has its ``.grove``."""
    is_used = system.detection is not None and system.detection.usable
    return system.enabled or (is_used and system.probe.enabled_when is EnabledWhen.ACTIVE)


def _plan_rules(plan: Plan) -> None:
    """Plan to write the gate's protocol as a rule file, unless a person has changed it."""
    path = client.rules_file(plan.project.root)
    before, text = read_own(path, plan.project.root), _RULES.read_text(encoding="utf-8")
    if before is not None and before != text and not plan.record.is_as_written(path, before):
        name = path.relative_to(plan.project.root)
        plan.notes.append(f"{name} is not as grove wrote it: kept")
    elif before != text:
        plan.changes.append(FileChange(path=path, before=before, after=text))


def plan_removal(project: Project, *, shared: bool) -> Plan:
    """Plan to take back what init has written; of the committed settings only if it wrote there."""
    root, record = project.root, InstallationRecord(project.paths, project.root)
    plan = Plan(project, record)
    for path in [root / one.path for one in record.done.files]:
        before = read_own(path, root)
        plan.changes.append(_taken_back(plan, path, before))
    team = client.settings_file(root, shared=True)
    for path in (client.settings_file(root, shared=False), team, client.server_file(root)):
        if not record.holds(path):
            plan.changes.append(_without_own(plan, path, keep=path == team and not shared))
    plan.changes = [one for one in plan.changes if one.before != one.after]
    program = record.done.program
    if program and program == recorded_program(project) and record.is_last():
        path = project.paths.program_file
        plan.own.append(FileChange(path=path, before=f"{program}\n", after=None))
    return plan


def _taken_back(plan: Plan, path: Path, before: str | None) -> FileChange:
    name = path.relative_to(plan.project.root)
    is_changed = before is not None and not plan.record.is_as_written(path, before)
    if is_changed and path == client.rules_file(plan.project.root):
        plan.notes.append(f"{name} was changed since: kept, delete it yourself")
        return FileChange(path=path, before=before, after=before)
    if is_changed:
        plan.notes.append(f"{name} was changed since: only grove's entries were taken out")
    return FileChange(path=path, before=before, after=without_init(plan.record, path, before))


def _without_own(plan: Plan, path: Path, *, keep: bool) -> FileChange:
    """Take grove's entries out of a file that init has not written, as far as it can be read."""
    try:
        before = read_own(path, plan.project.root)
        after = None if before is None else client.without_own(before)
    except GroveError:
        before = after = None
    if before != after and keep:
        plan.notes.append(
            f"{path.relative_to(plan.project.root)} holds hooks of grove that were not written from"
            " here: kept, grove init --uninstall --shared takes them out"
        )
        after = before
    return FileChange(path=path, before=before, after=after)


def find_program() -> str | None:
    """Find the program ``grove`` of this interpreter, else the one on ``PATH``."""
    beside = Path(sys.executable).with_name("grove")
    program = str(beside) if beside.exists() else shutil.which("grove")
    return os.path.abspath(program) if program else None  # noqa: PTH100 - links stay as they are


def recorded_program(project: Project) -> str | None:
    """Read which program launchers are told to run."""
    return (files.read_text(project.paths.program_file) or "").strip() or None
