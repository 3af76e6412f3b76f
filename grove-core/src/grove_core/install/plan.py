"""What ``grove init`` changes, and how it is taken back."""

import os
import shutil
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from difflib import unified_diff
from pathlib import Path
from typing import Final

from attrs import Factory, define, evolve, frozen

from grove_core.config.edit import render_default_config
from grove_core.errors import CodecError, StorageError
from grove_core.install import clone
from grove_core.plugins.descriptors import EnabledWhen
from grove_core.plugins.hosts import DEFAULT_HOST, HostContext, HostFile, HostSpec, Registration
from grove_core.project import Project
from grove_core.storage import files
from grove_core.storage.paths import outer_project, place_in

_RESTART: Final = "start a new session of the client: it reads its settings when it starts"
_RULES: Final = Path(__file__).with_name("rules.md")
_NEW_FILE_MODE: Final = 0o644


@frozen(kw_only=True)
class FileChange:
    """A planned change of a file."""

    path: Path
    before: str | None
    after: str | None
    backup: Path | None = None
    """Where a client's file is kept as it was."""
    is_pristine: bool = False
    """Whether there is nothing of grove's in it yet."""

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
        lines = unified_diff(
            (self.before or "").splitlines(),
            (self.after or "").splitlines(),
            "/dev/null" if self.before is None else name,
            "/dev/null" if self.after is None else name,
            lineterm="",
        )
        return "".join(f"{line}\n" for line in lines)

    def make(self, root: Path) -> None:
        """Make the change, if the file is still the same."""
        # In a person's own directory links are the person's choice.
        inside = root if self.path.is_relative_to(root) else None
        files.confined(self.path, inside)
        if self.before is not None and self.after is not None:
            files.edit_text(self.path, self._edited, inside=inside)
            return
        text = self._edited(files.read_text(self.path))
        if self.after is not None:
            files.make_directory(self.path.parent)
            files.replace(self.path, text.encode("utf-8", "surrogateescape"), mode=_NEW_FILE_MODE)
        else:
            self.path.unlink()
            inner = self.path.relative_to(root).parents[:-1] if inside else ()
            for folder in [root / one for one in inner] or [self.path.parent]:
                with suppress(OSError):  # what is not empty stays
                    folder.rmdir()

    def _edited(self, current: str | None) -> str:
        if current != self.before:
            raise StorageError(f"{self.path} was changed meanwhile, nothing was done; try again")
        return self.after or ""


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
        """Where the clients' files in the project are kept as they were before."""
        return self.project.paths.installed / self.project.files.key

    def backup(self, host: str, path: Path) -> Path:
        """Name the backup of a client's file."""
        name = path.name if host == DEFAULT_HOST else f"{host}-{path.name}"
        is_own = path.is_relative_to(self.project.root)
        return (self.backups if is_own else self.backups.with_name("user")) / f"{name}.before"

    def edit(self, host: str, file: HostFile) -> None:
        """Plan to change a client's file, once where several clients read it."""
        if any(one.path == file.path for one in self.changes):
            return
        before = read_own(file.path, self.project.root)
        with _naming(file.path):
            after = file.put(before or "")
            without = file.take(before or "", "")
            is_pristine = before is not None and file.said(without) == file.said(before)
        if (before or "") != after:
            self.changes.append(
                FileChange(
                    path=file.path,
                    before=before,
                    after=after,
                    backup=self.backup(host, file.path),
                    is_pristine=is_pristine,
                )
            )

    def make(self, program: str | None) -> None:
        """Keep the clients' files as they were, then write."""
        if program:
            # For launchers: the client's PATH often lacks a virtual environment's programs.
            files.replace_text(self.project.paths.program_file, f"{program}\n")
        for change in self.changes:
            if change.before is None and change.backup is not None:
                change.backup.unlink(missing_ok=True)
            elif change.is_pristine and change.backup is not None:
                files.replace_text(change.backup, change.before or "")
        for change in (*self.own, *self.changes):
            change.make(self.project.root)
        clone.leave_out(self.project.root, self.private)
        clone.drop_merge_driver(self.project.root)

    def take_back(self) -> None:
        """Change the clients' files back, and forget that init was there."""
        clone.drop_merge_driver(self.project.root)
        for change in self.changes:
            change.make(self.project.root)
            if change.backup is not None:
                change.backup.unlink(missing_ok=True)
        root = self.project.root
        gone = [one for one in self.changes if one.after is None]
        clone.leave_in(root, [one.name(root) for one in gone if one.path.is_relative_to(root)])
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


def plan_for(project: Project, hosts: Sequence[str], wanted: HostContext) -> Plan:
    """Plan everything; nothing is written."""
    if project.foreign_notice:
        raise StorageError(f"{project.foreign_notice}; ask its owner, or move it away")
    plan = Plan(project, own=list(_project_files(project)))
    plan.notes += clone.swallowed(project.root)
    if outer := outer_project(project.root, project.paths.home):
        plan.notes.append(f"{outer} has a .grove, too: that is another project")
    if not project.library.project_backends:
        plan.notes.append("no memory backend is installed: grove doctor says which one to install")
    for name in hosts:
        _plan_hooks(plan, wanted, find_host(project, name))
    if wanted.rules and not hosts:
        _plan_hooks(plan, evolve(wanted, hooks=False), find_host(project, DEFAULT_HOST))
    return plan


def find_host(project: Project, name: str) -> HostSpec:
    """Return a client's adapter by its name."""
    host = project.plugins.host(name)
    if host is None:
        known = ", ".join(one.name for one in project.plugins.hosts()) or "none"
        raise StorageError(f"no adapter for the client {name} is installed (installed: {known})")
    return host.value


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


def context_of(project: Project, program: str, **more: bool) -> HostContext:
    """Describe the project to a client's adapter."""
    gates, tickets = project.gates(), project.tickets()
    # One that counts where it is the active one may once the project has its .grove.
    used = {
        one.probe.name
        for one in tickets.all
        if one.enabled
        or (one.probe.enabled_when is EnabledWhen.ACTIVE and one.detection and one.detection.usable)
    }
    return HostContext(
        root=project.root,
        environment=project.environment,
        program=program,
        matchers=tuple(one.value for one in tickets.matchers if one.value.system in used),
        gate_words=tuple(sorted({word for one in gates for word in one.gate.literals})),
        tools=tuple(name for one in gates for name in one.gate.tools),
        agents=tuple(name for one in gates for name in one.gate.agents),
        protocol=_RULES.read_text(encoding="utf-8"),
        **more,
    )


def _plan_hooks(plan: Plan, wanted: HostContext, host: HostSpec) -> None:
    """Plan to register grove's hooks, unless the client runs them already."""
    root = plan.project.root
    setup = host.setup(wanted)
    elsewhere = running_hooks(plan.project, host, [one.path for one in setup.files])
    # A person's hooks for all projects and the team's do not stand for each other.
    serves_all = any(not (one.is_whole or one.path.is_relative_to(root)) for one in setup.files)
    apart = "user" if wanted.shared else "project" if serves_all else ""
    if wanted.hooks and elsewhere is not None and elsewhere.kind != apart:
        plan.notes.append(
            f"grove's hooks run already, by {elsewhere.kind} {elsewhere.source}: none were added"
        )
        setup = evolve(setup, files=tuple(one for one in setup.files if one.is_whole), notes=())
    before = len(plan.changes)
    for file in setup.files:
        plan.edit(host.name, file)
    changes, hooks = plan.changes[before:], [one for one in setup.files if not one.is_whole]
    if hooks:
        name = place_in(root, hooks[0].path)
        plan.notes.append(_RESTART if changes else f"{name} holds the hooks already")
    plan.notes += setup.notes if changes or not hooks else ()
    plan.notes += _notes_on(host, wanted, changes) if wanted.hooks else ()
    inside = [one.name(root) for one in changes if one.path.is_relative_to(root)]
    names = inside if wanted.hooks and not wanted.shared else []
    private = [name for name in names if not clone.is_left_out(root, name)]
    plan.private += private
    plan.notes += [
        f"{name} is yours alone: git leaves it out here (.git/info/exclude)" for name in private
    ]


def _notes_on(host: HostSpec, wanted: HostContext, changes: Sequence[FileChange]) -> Iterator[str]:
    """Say what is not plain from the files that are written for a client."""
    if host.name != DEFAULT_HOST and (wanted.server or wanted.allow or wanted.status_line):
        ours = "--server, --allow-grove and --statusline"
        yield f"{ours} are for {DEFAULT_HOST} and change nothing in {host.title}"
    for one in changes:
        if not one.path.is_relative_to(wanted.root):
            yield f"{one.path} has {host.title} run grove in all your projects"
    written = [one.after or "" for one in changes]
    is_bare = any("grove hook" in one and wanted.program not in one for one in written)
    if is_bare and not shutil.which("grove", path=wanted.environment.get("PATH", "")):
        folder = Path(wanted.program).parent
        yield f"hooks run the grove on PATH, and there is none: add {folder}"


def running_hooks(
    project: Project, host: HostSpec, apart_from: Collection[Path] = ()
) -> Registration | None:
    """Find a hook of grove's that runs here already, by other means than some files."""
    search = project.environment.get("PATH", "")
    for one in registrations_of(project, host):
        if one.source not in apart_from and shutil.which(one.program, path=search):
            return one
    return None


def registrations_of(project: Project, host: HostSpec) -> Sequence[Registration]:
    """Find grove's hooks in a client's settings."""
    return host.registered(HostContext(root=project.root, environment=project.environment))


def plan_removal(project: Project, hosts: Sequence[str], *, shared: bool) -> Plan:
    """Plan to take back what init has written; out of the committed settings only if asked to.

    A file outside of the project serves all of them: only a host that is named is taken out of it.
    """
    plan = Plan(project)
    whole: set[Path] = set()  # several clients may read one
    all_of_it = context_of(project, "", server=True, allow=True, rules=True, status_line=True)
    for one in project.plugins.hosts():
        if hosts and one.name not in hosts:
            continue
        own, team = (one.value.setup(evolve(all_of_it, shared=shared)) for shared in (False, True))
        mine = {file.path for file in own.files}
        for file in {each.path: each for each in (*own.files, *team.files)}.values():
            if file.path in whole:
                continue
            whole |= {file.path} if file.is_whole else set()
            is_committed = file.is_whole and clone.is_committed(project.root, file.path)
            is_kept = not shared and (file.path not in mine or is_committed)
            _plan_taking_out(plan, one.value, file, is_kept=is_kept, is_named=bool(hosts))
    return plan


def _plan_taking_out(
    plan: Plan, host: HostSpec, file: HostFile, *, is_kept: bool, is_named: bool
) -> None:
    """Plan to take grove's entries out of a file; where no one has edited it, it is as before."""
    root, name = plan.project.root, place_in(plan.project.root, file.path)
    before = None
    with suppress(StorageError):  # init does not write there, either
        before = read_own(file.path, root)
    if not before or "grove" not in before:
        return  # whether it can be read or not
    backup = plan.backup(host.name, file.path)
    original = files.read_text(backup)
    with _naming(file.path):
        after: str | None = file.take(before, original or "")
        if after == before:
            if file.is_whole:
                plan.notes.append(f"{name} was changed since: kept, delete it yourself")
            return
        if is_kept:
            plan.notes.append(
                f"{name} is there for all who work here: kept, grove init --uninstall --shared"
                " takes grove out of it"
            )
            return
        if not (is_named or file.path.is_relative_to(root)):
            how = f"grove init --uninstall --hooks {host.name}"
            plan.notes.append(f"{name} runs grove in all your projects: kept, {how} takes it out")
            return
        if file.said(after or "") == file.said(original or ""):
            after = original
        elif not file.is_whole:
            plan.notes.append(f"{name} was changed since: only grove's entries are taken out")
    plan.changes.append(FileChange(path=file.path, before=before, after=after, backup=backup))


def read_own(path: Path, root: Path) -> str | None:
    """Read a file that must be the project's own."""
    files.confined(path, root if path.is_relative_to(root) else None)
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
