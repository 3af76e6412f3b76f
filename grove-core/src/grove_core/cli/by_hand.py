"""``grove add``, ``edit`` and ``rm``: what a person does with a learning."""

import os
import re
import sys
from pathlib import Path, PurePath

import rich_click as click

from grove_core.cli.app import grove_command
from grove_core.cli.options import choice_option, dry_run_option
from grove_core.cli.result import Result
from grove_core.errors import GroveError, LearningNotFoundError
from grove_core.model.learning import Category, Learning, Scope
from grove_core.project import Project
from grove_core.reflection.secrets import find_leak
from grove_core.services.curate import Curator
from grove_core.services.imports import add_learning
from grove_core.services.reflect import refuse_secrets
from grove_core.storage import files
from grove_core.storage.paths import place_in


@click.command("add")
@click.argument("summary")
@click.option("--why", required=True, help="What happened, where, and what to do: 20 characters.")
@choice_option(
    "--category",
    "category",
    [one.value for one in Category],
    "Of which kind it is",
    default=Category.CONVENTION.value,
)
@click.option("--tag", "tags", multiple=True, help="Topics, separated by commas; may be repeated.")
@click.option("--file", "paths", multiple=True, help="A file it is about; may be repeated.")
@choice_option(
    "--scope",
    "scope",
    [one.value for one in Scope if one is not Scope.EPHEMERAL],
    "Whose it is",
    default=Scope.PROJECT.value,
)
@dry_run_option
@grove_command
def command(  # noqa: PLR0913 - one for each option
    project: Project,
    *,
    summary: str,
    why: str,
    category: str,
    tags: tuple[str, ...],
    paths: tuple[str, ...],
    scope: str,
    dry_run: bool,
) -> Result:
    """Write a learning down yourself.

    grove add "Prices are kept in cents" --why "Sums of floats were off by a cent in March" --file
    shop/price.py

    It passes the same checks as an agent's; what the write gate would say of it is only a hint.
    """
    fields = {
        "summary": summary,
        "detail": why,
        "category": category,
        "tags": [tag for given in tags for tag in given.split(",")],
        "context_files": [_from_root(path, project.root) for path in paths],
        "scope": scope,
    }
    return add_learning(project, fields, dry_run=dry_run)


def _from_root(path: str, root: Path) -> str:
    """Name a file from the project's root, wherever one stands; what is not there may be so."""
    place = place_in(root, path)
    is_from_here = (root / place).exists() or ".." in PurePath(path).parts
    return place.as_posix() if is_from_here and not place.is_absolute() else path


@click.command("rm")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@click.option("--reason", required=True, help="Why it does not hold any more.")
@dry_run_option
@grove_command
def rm_command(project: Project, *, ids: tuple[str, ...], reason: str, dry_run: bool) -> Result:
    """Archive learnings: no session is shown them until they are restored."""
    refuse_secrets(project, reason, "--reason")
    return Curator(project, dry_run=dry_run).archive(ids, reason)


@click.command("edit")
@click.argument("learning_id", metavar="ID")
@grove_command
def edit_command(project: Project, *, learning_id: str) -> Result:
    """Open the file that holds a learning in $EDITOR.

    An edit that loses the learning, changes its status or brings a secret in is taken back; your
    text is kept among grove's backups.
    """
    before = project.library.get(learning_id)
    if before is None:
        raise LearningNotFoundError(f"no learning has the id {learning_id}")
    path = _file_of(project, learning_id)
    text = files.read_text(path) or ""
    if not (sys.stdin.isatty() or os.environ.get("VISUAL") or os.environ.get("EDITOR")):
        raise GroveError(f"there is no terminal to open an editor in; change {path}, or set EDITOR")
    click.edit(filename=str(path))
    edited = files.read_text(path) or ""
    wrong = []
    if fault := _fault(project, before.hit.learning, edited):
        kept = project.paths.backups / f"{learning_id}.md"
        files.make_directory(kept.parent)
        files.replace_text(kept, edited)
        files.replace_text(path, text)
        wrong.append(f"{learning_id} {fault}: taken back; your text is in {kept}")
    changed = not wrong and edited != text
    return Result(
        document={"id": learning_id, "path": path, "changed": changed, "warnings": wrong},
        lines=[f"{'changed' if changed else 'as before'}  {path}"],
        ids=[learning_id] if changed else [],
        exit_code=1 if wrong else 0,
        warnings=wrong,
    )


def _fault(project: Project, before: Learning, edited: str) -> str | None:
    after = project.elsewhere(project.root).library.get(before.id)
    if after is None:
        return "is not found any more"
    if after.hit.learning.status is not before.status:
        return "has another status"
    leak = find_leak({"entry": edited}, project.config.secrets.allow)
    return None if leak is None else leak.reason


def _file_of(project: Project, learning_id: str) -> Path:
    """Find the text file that holds an entry."""
    heading = re.compile(rf"^#+ .*{re.escape(learning_id)}\b", re.MULTILINE)
    for source in project.library.sources() or ():
        for path in sorted(source.glob("*.md")) if source.is_dir() else [source]:
            if path.suffix == ".md" and heading.search(files.read_text(path) or ""):
                return path
    raise GroveError(f"{learning_id} is in no text file that can be edited here")
