"""The project's ``.grove``: there, writable, inside the project, and looked after by git."""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core import git
from grove_core.errors import StorageError
from grove_core.flow.merge_driver import (
    MergeDriver,
    attributes_in_force,
    find_driver,
    missing_attributes,
)
from grove_core.health.check import Check, broken, ok, warning
from grove_core.health.processes import ask
from grove_core.storage import files
from grove_core.storage.paths import ProjectPaths

_GIT_SECONDS: Final = 1.0
_IGNORED: Final = 0
# A work tree's own settings must not make this run a program.
_SAFE_OPTIONS: Final = ("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")


@frozen(kw_only=True)
class ProjectFacts:
    """A project's ``.grove`` as it is."""

    root: Path
    directory: Path
    exists: bool
    leads_to: Path | None = None
    unwritable: tuple[Path, ...] = ()
    read_only: bool = False
    attributes: str | None = None
    attributes_in_force: frozenset[str] = frozenset()
    in_git: bool = False
    driver: MergeDriver | None = None
    ignored: tuple[Path, ...] = ()


def gather_project(project: ProjectPaths, environment: Mapping[str, str]) -> ProjectFacts:
    """Look at a project's ``.grove``."""
    directory = project.grove_directory
    if not project.initialised:
        return ProjectFacts(root=project.root, directory=directory, exists=False)
    real = Path(os.path.realpath(directory))
    folders = (project.learnings_folder, project.published_events)
    there = (one for one in folders if os.path.isdir(one))  # noqa: PTH112 - never raises
    kept = (project.learnings_file, *there)
    in_git = git.find_top(project.root) is not None
    return ProjectFacts(
        root=project.root,
        directory=directory,
        exists=True,
        leads_to=None if real.is_relative_to(os.path.realpath(project.root)) else real,
        unwritable=tuple(one for one in (directory, *kept) if _is_unwritable(one)),
        read_only=_is_read_only(directory),
        attributes=_text(directory / ".gitattributes"),
        attributes_in_force=attributes_in_force(project.root) if in_git else frozenset(),
        in_git=in_git,
        driver=find_driver(project.root) if in_git else None,
        ignored=_ignored(project.root, kept, environment) if in_git else (),
    )


def _is_unwritable(path: Path) -> bool:
    if not os.path.exists(path):  # noqa: PTH110 - Path.exists may raise
        return os.path.lexists(path)
    needed = os.W_OK | os.X_OK if os.path.isdir(path) else os.W_OK  # noqa: PTH112 - never raises
    return not os.access(path, needed)


def _is_read_only(directory: Path) -> bool:
    try:
        return bool(os.statvfs(directory).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _text(path: Path) -> str | None:
    try:
        return files.read_text(path)
    except StorageError:
        return None


def _ignored(root: Path, paths: Sequence[Path], environment: Mapping[str, str]) -> tuple[Path, ...]:
    """Ask git; what is tracked counts as not ignored, whatever the patterns say."""
    ignored = []
    for path in paths:
        words = ("git", *_SAFE_OPTIONS, "-C", str(root), "check-ignore", "--quiet", "--", str(path))
        variables = {**environment, "GIT_OPTIONAL_LOCKS": "0"}
        if ask(words, variables, _GIT_SECONDS).code == _IGNORED:
            ignored.append(path)
    return tuple(ignored)


def judge_project(facts: ProjectFacts) -> Sequence[Check]:
    """Return whether the project can keep learnings and share them."""
    name = "project"
    if not facts.exists:
        detail = f"{facts.root} has no .grove; it is gated only where it has a ticket system"
        return [warning(name, detail, "If it is to use grove: grove init")]
    return [_directory(name, facts), _attributes(facts), *_driver(facts), *_sharing(facts)]


def _directory(name: str, facts: ProjectFacts) -> Check:
    if facts.leads_to is not None:
        detail = f"{facts.directory} leads out of the project, to {facts.leads_to}"
        return broken(name, detail, "Replace the link by a directory; grove writes to no other")
    if facts.unwritable:
        named = ", ".join(str(one) for one in facts.unwritable)
        mend = f"chmod u+w {shlex.join(str(one) for one in facts.unwritable)}"
        if facts.read_only:
            mend = "Its file system is mounted read-only: mount it to be written to"
        return broken(name, f"nothing can be written to {named}", mend)
    return ok(name, str(facts.directory))


def _attributes(facts: ProjectFacts) -> Check:
    name, path = "git attributes", facts.directory / ".gitattributes"
    missing = missing_attributes(facts.attributes, facts.attributes_in_force)
    if not missing:
        return ok(name, "git knows how the learnings of two branches are merged")
    if facts.attributes is None:
        return warning(name, f"{path} is missing: branches will conflict", "grove init")
    named = ", ".join(line.split()[0] for line in missing)
    detail = f"{path} does not say how these are merged, branches will conflict: {named}"
    return warning(name, detail, "grove init adds the lines")


def _driver(facts: ProjectFacts) -> Sequence[Check]:
    name = "merge driver"
    if facts.driver is None:
        return ()
    if facts.driver.registered is None:
        detail = "not registered in this clone: learnings of two branches are merged as plain text"
        return [warning(name, detail, "grove init")]
    if facts.driver.is_foreign:
        detail = f"merge.grove.driver is not grove's: {facts.driver.registered}"
        return [warning(name, detail, "git config --unset merge.grove.driver, then grove init")]
    if facts.driver.is_outdated:
        detail = "registered by an earlier grove: a branch's learnings are lost when it cannot run"
        return [warning(name, detail, "grove init renews it")]
    return [ok(name, "git merges learnings entry by entry")]


def _sharing(facts: ProjectFacts) -> Sequence[Check]:
    name = "git"
    if not facts.in_git:
        return ()
    if facts.ignored:
        named = ", ".join(str(one.relative_to(facts.root)) for one in facts.ignored)
        mend = "To share learnings, take .grove out of .gitignore (git check-ignore -v tells where)"
        return [warning(name, f"git ignores {named}: nobody else gets them", mend)]
    return [ok(name, "git ignores nothing of .grove")]
