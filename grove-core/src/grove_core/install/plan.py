"""What ``grove init`` changes, and how it is taken back."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from difflib import unified_diff
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any, Final

from attrs import Factory, define, frozen

from grove_core.config.edit import render_default_config
from grove_core.errors import CodecError, StorageError
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
from grove_core.plugin_gates import literals_of
from grove_core.plugins.descriptors import EnabledWhen
from grove_core.project import Project
from grove_core.storage import files
from grove_core.storage.paths import outer_project, place_in
from grove_core.ticketing import TicketSystem

_ADVICE: Final = (
    "the client asks you before the agent runs grove, unless a permission rule lets it:"
    f" grove init --hooks --allow-grove adds {ALLOW_RULE}"
)
_RESTART: Final = "start a new session of the client: it reads its settings when it starts"
_RULES: Final = Path(__file__).with_name("rules.md")
_NEW_FILE_MODE: Final = 0o644
_OLD_RECORD: Final = "record.json"
"""Of version 0.1, beside the backups."""


@frozen(kw_only=True)
class FileChange:
    """A planned change of a file."""

    path: Path
    before: str | None
    after: str | None

    @property
    def action(self) -> str:
        """Return ``create``, ``change`` or ``remove``."""
        if self.before is None:
            return "create"
        return "remove" if self.after is None else "change"

    def name(self, root: Path) -> str:
        """Name the file for people."""
        return place_in(root, self.path).as_posix()

    def diff(self, root: Path) -> str:
        """Show the change."""
        name = self.name(root)
        old, new = (name, name) if name.startswith("/") else (f"a/{name}", f"b/{name}")
        lines = unified_diff(
            (self.before or "").splitlines(),
            (self.after or "").splitlines(),
            "/dev/null" if self.before is None else old,
            "/dev/null" if self.after is None else new,
            lineterm="",
        )
        return "".join(f"{line}\n" for line in lines)

    def make(self, root: Path) -> None:
        """Make the change, if the file is still the same."""
        files.confined(self.path, root)
        if self.before is not None and self.after is not None:
            files.edit_text(self.path, self._edited, inside=root)
            return
        text = self._edited(files.read_text(self.path))
        if self.after is not None:
            files.make_directory(self.path.parent)
            files.replace(self.path, text.encode("utf-8", "surrogateescape"), mode=_NEW_FILE_MODE)
        else:
            self.path.unlink()
            for folder in self.path.relative_to(root).parents[:-1]:
                with suppress(OSError):  # what is not empty stays
                    (root / folder).rmdir()

    def _edited(self, current: str | None) -> str:
        if current != self.before:
            raise StorageError(f"{self.path} was changed meanwhile, nothing was done; try again")
        return self.after or ""


@frozen(kw_only=True)
class InitOptions:
    """What the command line, or the person at the terminal, asks for."""

    hooks: bool = False
    server: bool = False
    shared: bool = False
    allow: bool = False
    rules: bool = False
    status_line: bool = False


@define
class Plan:
    """Changes of the project's own files, and of the client's."""

    project: Project
    own: list[FileChange] = Factory(list)
    changes: list[FileChange] = Factory(list)
    notes: list[str] = Factory(list)
    private: list[str] = Factory(list)

    @property
    def kept(self) -> list[Path]:
        """Return which of the project's own files are there already, and stay."""
        changed = {one.path for one in self.own}
        return [one for one in _own_files(self.project) if one not in changed]

    @property
    def backups(self) -> Path:
        """Where the client's files are kept as they were before."""
        return self.project.paths.installed / self.project.files.key

    def backup(self, path: Path) -> Path:
        """Name the backup of a file."""
        return self.backups / f"{path.name}.before"

    def edit(self, path: Path, change: Callable[[str], str]) -> None:
        """Plan to change the client's settings."""
        before = read_own(path, self.project.root)
        with _naming(path):
            after = change(before or "")
        if before != after:
            self.changes.append(FileChange(path=path, before=before, after=after))

    def make(self, program: str | None) -> None:
        """Keep the client's files as they were, then write."""
        if program:
            # For launchers: the client's PATH often lacks a virtual environment's programs.
            files.replace_text(self.project.paths.program_file, f"{program}\n")
        for change in self.changes:
            if change.before is None:
                self.backup(change.path).unlink(missing_ok=True)
            elif client.without_own(change.before) == change.before:
                files.replace_text(self.backup(change.path), change.before)
        for change in (*self.own, *self.changes):
            change.make(self.project.root)
        clone.leave_out(self.project.root, self.private)
        clone.drop_merge_driver(self.project.root)

    def take_back(self) -> None:
        """Change the client's files back, and forget that init was there."""
        clone.drop_merge_driver(self.project.root)
        for change in self.changes:
            change.make(self.project.root)
            self.backup(change.path).unlink(missing_ok=True)
        (self.backups / _OLD_RECORD).unlink(missing_ok=True)
        with suppress(OSError):  # what the team shares may have stayed
            self.backups.rmdir()
            self.backups.parent.rmdir()


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except CodecError as error:
        message = f"{path}: {error}; fix it and try again, it was not touched"
        raise StorageError(message) from error


def plan_for(project: Project, options: InitOptions, program: str | None) -> Plan:
    """Plan everything; nothing is written."""
    if project.foreign_notice:
        raise StorageError(f"{project.foreign_notice}; ask its owner, or move it away")
    plan = Plan(project, own=list(_project_files(project)))
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
    gates = plan.project.gates(MOST_BLOCKS_IN_A_ROW)
    conditions = conditions_for(_shell_words(plan.project), sorted(literals_of(gates)))
    groups = hook_groups(program, conditions)
    server = client.server_file(root)
    if options.server or client.has_own_server(files.read_text(server) or ""):
        groups = hook_groups_with_server(program)
        plan.edit(server, partial(client.with_own, server=program))
    tools = [name for one in gates for name in one.gate.tools]
    groups = with_gates(groups, program, tools, [name for one in gates for name in one.gate.agents])
    rule = ALLOW_RULE if options.allow else None
    line = program if options.status_line and _may_add_status_line(plan) else None
    plan.edit(target, partial(client.with_own, hooks=groups, rule=rule, status_line=line))
    name = target.relative_to(root)
    plan.notes.append(_RESTART if plan.changes else f"{name} holds the hooks already")
    if plan.changes and not options.allow:
        plan.notes.append(_ADVICE)
    names = [] if options.shared else [change.name(root) for change in plan.changes]
    plan.private += [name for name in names if not clone.is_left_out(root, name)]
    plan.notes += [
        f"{name} is yours alone: git leaves it out here (.git/info/exclude)"
        for name in plan.private
    ]


def _may_add_status_line(plan: Plan) -> bool:
    """Return whether no one has a status line here; the client shows only one."""
    root = plan.project.root
    if other := client.other_status_line(root, plan.project.environment):
        plan.notes.append(f"{other} has a status line: grove's was not added")
    return other is None


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
    if before is None:
        plan.changes.append(FileChange(path=path, before=None, after=text))
    elif before != text:
        name = path.relative_to(plan.project.root)
        plan.notes.append(f"{name} is not what this grove writes: kept; delete it to have it again")


def plan_removal(project: Project, *, shared: bool) -> Plan:
    """Plan to take back what init has written; out of the committed settings only if asked to."""
    root, plan = project.root, Plan(project)
    team = client.settings_file(root, shared=True)
    for path in (client.settings_file(root, shared=False), team, client.server_file(root)):
        if text := _read_to_take_out(path, root):
            _plan_taking_out(plan, path, text, keep=path == team and not shared)
    rules = client.rules_file(root)
    text = _read_to_take_out(rules, root)
    if text and not shared and clone.is_committed(root, rules):
        plan.notes.append(f"{rules.relative_to(root)} is the team's: --shared takes it out")
    elif text == _RULES.read_text(encoding="utf-8"):
        plan.changes.append(FileChange(path=rules, before=text, after=None))
    elif text:
        plan.notes.append(f"{rules.relative_to(root)} was changed since: kept, delete it yourself")
    return plan


def _read_to_take_out(path: Path, root: Path) -> str | None:
    with suppress(StorageError):  # init does not write there, either
        return read_own(path, root)
    return None


def _plan_taking_out(plan: Plan, path: Path, before: str, *, keep: bool) -> None:
    """Plan to take grove's entries out of a file; where no one has edited it, it is as before."""
    if "grove" not in before:
        return  # whether it can be read or not
    name = path.relative_to(plan.project.root)
    original = files.read_text(plan.backup(path))
    with _naming(path):
        if client.without_own(before) == before:
            return
        if keep:
            plan.notes.append(
                f"{name} holds hooks of grove for all who work here: kept, grove init --uninstall"
                " --shared takes them out"
            )
            return
        was_allowed = original is not None and client.allows(original, ALLOW_RULE)
        after: str | None = client.without_own(before, rule=None if was_allowed else ALLOW_RULE)
        if _said(after) == _said(original):
            after = original
        else:
            plan.notes.append(f"{name} was changed since: only grove's entries are taken out")
    plan.changes.append(FileChange(path=path, before=before, after=after))


def _said(text: str | None) -> dict[str, Any]:
    """Return what settings say, without the sections and lists that are empty."""
    document = client.parse_settings(text or "")
    hooks, permissions = document.get("hooks", {}), document.get("permissions", {})
    document["hooks"] = {event: groups for event, groups in hooks.items() if groups}
    document["permissions"] = {name: one for name, one in permissions.items() if one != []}
    return {name: one for name, one in document.items() if one != {}}


def read_own(path: Path, root: Path) -> str | None:
    """Read a file that must be the project's own."""
    files.confined(path, root)
    text = files.read_text(path)
    if text is None and path.is_symlink():
        raise StorageError(f"{path} is a symbolic link to {path.readlink()}, which is not there")
    return text


def find_program() -> str | None:
    """Find the program ``grove`` of this interpreter, else the one on ``PATH``."""
    beside = Path(sys.executable).with_name("grove")
    program = str(beside) if beside.exists() else shutil.which("grove")
    return os.path.abspath(program) if program else None  # noqa: PTH100 - links stay as they are


def recorded_program(project: Project) -> str | None:
    """Read which program launchers are told to run."""
    return (files.read_text(project.paths.program_file) or "").strip() or None
