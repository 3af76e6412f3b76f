"""The project's ``.grove``: there, writable, inside the project, and looked after by git."""

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import frozen

from grove_core import git
from grove_core.health.check import Check, broken, ok, warning
from grove_core.health.processes import ask
from grove_core.install.plan import has_merge_driver
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
    in_git: bool = False
    old_driver: bool = False
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
        in_git=in_git,
        old_driver=has_merge_driver(project.root),
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
    return [_directory(name, facts), *_driver(facts), *_sharing(facts)]


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


def _driver(facts: ProjectFacts) -> Sequence[Check]:
    if not facts.old_driver:
        return ()
    detail = "registered in this clone by an older grove, which this one does not know"
    return [warning("merge driver", detail, "grove init takes it out")]


def _sharing(facts: ProjectFacts) -> Sequence[Check]:
    name = "git"
    if not facts.in_git:
        return ()
    if facts.ignored:
        named = ", ".join(str(one.relative_to(facts.root)) for one in facts.ignored)
        mend = "To share learnings, take .grove out of .gitignore (git check-ignore -v tells where)"
        return [warning(name, f"git ignores {named}: nobody else gets them", mend)]
    return [ok(name, "git ignores nothing of .grove")]
