"""``grove import``."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import rich_click as click
from attrs import asdict

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.progress import name_slow_backend, progress
from grove_core.cli.result import Result
from grove_core.errors import GroveError
from grove_core.model.learning import Scope, Stage
from grove_core.services.imports import (
    ImportFormat,
    ImportReport,
    ImportState,
    Outcome,
    import_from,
)
from grove_core.text import clean_line, counted

if TYPE_CHECKING:
    from rich.console import Console

_LISTED: Final = 20
_INTERRUPTED: Final = (
    "interrupted; what has been stored stays, and the same command again imports the rest"
)
_LONGEST_PATH: Final = 4_096
_WORDS: Final = {
    ImportState.IMPORTED: "imported",
    ImportState.PRESENT: "there already",
    ImportState.DUPLICATE: "duplicates",
    ImportState.REFUSED: "refused",
    ImportState.LEFT_OUT: "left out",
}


@click.command("import")
@click.argument("form", metavar="FORMAT", type=click.Choice([one.value for one in ImportFormat]))
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--scope",
    default=Scope.PROJECT.value,
    show_default=True,
    type=click.Choice([one.value for one in Scope if one is not Scope.EPHEMERAL]),
    help="The scope of what names none.",
)
@click.option("--dry-run", is_flag=True, help="Say what would become of each entry; write nothing.")
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
    project = invocation.project
    if not dry_run:
        name_slow_backend(project.library)
    try:
        with progress() as begin:
            report = import_from(
                project,
                ImportFormat(form),
                path,
                scope=Scope(scope),
                dry_run=dry_run,
                progress=begin,
            )
    except KeyboardInterrupt:
        raise GroveError(_INTERRUPTED) from None
    return _result(report, form, path, dry_run=dry_run)


def _result(report: ImportReport, form: str, path: Path, *, dry_run: bool) -> Result:
    counts = {state.value: report.count(state) for state in ImportState}
    refused = [one for one in report.outcomes if one.state is ImportState.REFUSED]
    document: dict[str, Any] = {
        "format": form,
        "path": path.absolute(),
        "dry_run": dry_run,
        "counts": counts,
        "entries": [_document(one) for one in report.outcomes],
    }
    if refused:
        document["error"] = f"{counted(len(refused), 'piece')} refused; each says why"
    return Result(
        document=document,
        human=lambda console: _human(report, console, dry_run=dry_run),
        ids=[one.learning.id for one in report.outcomes if _is_imported(one) and one.learning],
        exit_code=1 if refused else 0,
        warnings=list(_warnings(refused)),
    )


def _warnings(refused: Iterable[Outcome]) -> Iterator[str]:
    """Say once what several were refused for, and where they stand."""
    places: dict[str, list[str]] = {}
    for one in refused:
        stage = "" if one.stage is None else f" ({one.stage.value})"
        summary = "" if one.stage is Stage.ROUTING else f" {one.summary!r}"
        said = f"refused{stage}{summary}: {one.reason}"
        places.setdefault(said, []).append(_place(one.path, one.line))
    for said, at in places.items():
        more = f" and {len(at) - _LISTED} more" if len(at) > _LISTED else ""
        yield f"{', '.join(at[:_LISTED])}{more}: {said}"


def _place(path: str, line: int) -> str:
    """Name a line of a file, whose name may be a stranger's and hold anything."""
    return f"{clean_line(path, _LONGEST_PATH)}:{line}"


def _is_imported(one: Outcome) -> bool:
    return one.state is ImportState.IMPORTED


def _document(one: Outcome) -> dict[str, Any]:
    document = asdict(one, recurse=False, filter=lambda field, _: field.name != "learning")
    imported = one.learning if _is_imported(one) else None
    return {**document, "id": imported.id if imported else None, "backend": one.backend or None}


def _human(report: ImportReport, console: "Console", *, dry_run: bool) -> None:
    for one in report.outcomes:
        place = _place(one.path, one.line)
        if _is_imported(one) and one.learning is not None:
            waits = f" (waits for the backend {one.backend})" if one.waits else ""
            console.print(f"{place}  {one.learning.id}{waits}")
            console.print(f"  {one.summary}")
            for note in one.notes:
                console.print(f"  {note}", style="dim")
        elif one.state in (ImportState.DUPLICATE, ImportState.LEFT_OUT):
            console.print(f"{place}  {_WORDS[one.state]}: {one.reason}", style="dim")
    parts = [
        f"{number} {words}" for state, words in _WORDS.items() if (number := report.count(state))
    ]
    told = ", ".join(parts) or "nothing to import"
    console.print(f"{'Dry run, nothing was written: ' if dry_run else ''}{told}.")
