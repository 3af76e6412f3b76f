"""``grove import``."""

from pathlib import Path

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.options import choice_option, dry_run_option
from grove_core.cli.progress import name_slow_backend, progress
from grove_core.cli.result import Result
from grove_core.errors import GroveError
from grove_core.model.learning import Scope
from grove_core.services.imports import FORMATS, import_learnings


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
@dry_run_option
@grove_command
def command(invocation: Invocation, *, form: str, path: Path, scope: str, dry_run: bool) -> Result:
    """Bring learnings of other programs and projects here.

    FORMAT is what PATH holds: `jsonl`, what `grove export` writes, or simpler objects, one a line;
    `markdown`, documents such as docs/solutions/ or the client's memory files, each of which
    becomes one learning; `older-grove`, the older program's .grove folder or its learnings.md.

    Each entry is cleaned, and refused when it holds a secret. What is here already is left as it
    is, so an import may be repeated. The files are only read. Exit code 1 when something was
    refused.
    """
    project, usual = invocation.project, Scope(scope)
    if not dry_run:
        name_slow_backend(project.library)
    try:
        with progress() as begin:
            return import_learnings(
                project, form, path, scope=usual, dry_run=dry_run, progress=begin
            )
    except KeyboardInterrupt:
        raise GroveError(
            "interrupted; what has been stored stays, and the same command again imports the rest"
        ) from None
