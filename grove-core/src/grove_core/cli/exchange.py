"""``grove export`` and ``grove import``."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Unpack

import rich_click as click

from grove_core.cli.app import grove_command
from grove_core.cli.learnings import Narrowing, filter_options, read_selection
from grove_core.cli.options import choice_option, dry_run_option
from grove_core.cli.result import Result
from grove_core.codec import learning_to_dict
from grove_core.errors import GroveError
from grove_core.interchange.jsonl import write_jsonl
from grove_core.interchange.markdown import write_markdown
from grove_core.model.learning import Scope
from grove_core.plugins.descriptors import Area
from grove_core.project import Project
from grove_core.services.imports import FORMATS, Outcome, import_learnings
from grove_core.storage import files
from grove_core.text import clean_line, counted

JSONL: Final = "jsonl"
MARKDOWN: Final = "markdown"
_SHOWN: Final = 100
_RANGE: Final = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")


@click.command("export")
@click.option(
    "--format",
    "form",
    default=JSONL,
    show_default=True,
    type=click.Choice([JSONL, MARKDOWN]),
    help="jsonl: without loss, for `grove import jsonl`; markdown: a page for people.",
)
@click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write to this file instead of standard output.",
)
@filter_options
@click.option("--all", "everything", is_flag=True, help="Archived and superseded ones as well.")
@grove_command
def export_command(
    project: Project,
    *,
    form: str,
    output: Path | None,
    everything: bool,
    **narrowing: Unpack[Narrowing],
) -> Result:
    """Write learnings as JSON Lines or as a page of markdown, oldest first.

    Active ones of the project, unless an option says otherwise. Your personal learnings are only
    written with `--scope personal`.
    """
    selection = read_selection(project.now, narrowing, everything=everything)
    is_personal = Scope.PERSONAL in selection.filters.scopes
    found = [
        one.hit.learning
        for one in project.library.iterate()
        if one.hit.complete and selection.admits(one.hit.learning)
        if is_personal
        or (one.area is not Area.PERSONAL and one.hit.learning.scope is not Scope.PERSONAL)
    ]
    if project.unread:
        raise GroveError("nothing was exported, since not everything could be read")
    found.sort(key=lambda one: (one.timestamp, one.id))
    learnings = found[-(selection.limit or len(found)) :]
    text = write_jsonl(learnings) if form == JSONL else write_markdown(learnings, project.root.name)
    if output is not None:
        if not learnings and output.exists():
            raise GroveError(f"there is nothing to export; {output} was left as it is")
        _write(project, output, text, 0o600 if is_personal else 0o644)
    written = f"{counted(len(learnings), 'learning')} written to {output}"
    return Result(
        document={
            "format": form,
            "count": len(learnings),
            "output": None if output is None else output.absolute(),
            "learnings": (learning_to_dict(one) for one in learnings if output is None),
        },
        lines=[] if output is None else [written],
        # As it is: a console would put blanks in the place of tabs.
        human=lambda _: None if output else click.echo(text, nl=False),
        ids=[one.id for one in learnings],
        warnings=[] if learnings else ["no learning fits, so there is nothing to export"],
    )


def _write(project: Project, output: Path, text: str, mode: int) -> None:
    """Write the file, but never over what grove itself keeps."""
    target = output.resolve()
    for own in (project.root / ".grove", project.paths.home):
        if target.is_relative_to(own.resolve()):
            raise GroveError(f"{output} lies among grove's own files; export to another place")
    if target.exists() and not target.is_file():
        raise GroveError(f"{output} is no regular file; without --output, the text can be piped")
    files.replace(target, text.encode("utf-8"), mode=mode)


@click.command("import")
@click.argument("form", metavar="FORMAT", type=click.Choice(list(FORMATS)))
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@choice_option(
    "--scope",
    "scope",
    [one.value for one in Scope if one is not Scope.EPHEMERAL],
    "The scope of what names none",
    default=Scope.PROJECT.value,
)
@click.option("--select", is_flag=True, help="Show what could be imported, and ask what shall be.")
@dry_run_option
@grove_command
def import_command(
    project: Project, *, form: str, path: Path, scope: str, select: bool, dry_run: bool
) -> Result:
    """Bring learnings of other programs and projects here.

    FORMAT is what PATH holds: `jsonl`, what `grove export` writes, or simpler objects, one a line;
    `markdown`, documents such as docs/solutions/ or the client's memory files, each of which
    becomes one learning; `older-grove`, the older program's .grove folder or its learnings.md.

    Each entry is cleaned and judged as a reflection's is: one with a secret or with orders to the
    agent is refused, one that says too little is kept with confidence low. What is here already is
    left as it is, so an import may be repeated; a document that has changed replaces what it was.
    A list of rules is left where it is, unless --select offers them one by one. The files are only
    read. Exit code 1 when something was refused.
    """
    if select and not sys.stdin.isatty():
        raise click.UsageError("--select asks on a terminal; --dry-run shows what there is")
    pick = _pick if select else None
    return import_learnings(project, form, path, scope=Scope(scope), dry_run=dry_run, pick=pick)


def _pick(offered: Sequence[Outcome]) -> set[int]:
    """Show a numbered table and ask for numbers, or for the lines that are left in an editor."""
    rows = [
        f"{number:>4}  {clean_line(f'{one.summary}  ({one.place})', _SHOWN)}"
        for number, one in enumerate(offered, start=1)
    ]
    click.echo("\n".join(rows), err=True)
    answer = click.prompt(
        "Import which (1,3-5, all, none; e: edit the list)", default="none", err=True
    )
    if answer == "e":
        answer = click.edit("\n".join(["# Take out what is not to be imported.", *rows])) or ""
        answer = ",".join(line.split()[0] for line in answer.splitlines() if line.strip())
    if answer == "all":
        return set(range(len(offered)))
    picked: set[int] = set()
    for part in answer.replace(" ", "").split(","):
        if found := _RANGE.fullmatch(part):
            picked.update(range(int(found[1]) - 1, int(found[2] or found[1])))
    return picked & set(range(len(offered)))
