"""``grove import``."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.progress import Begin, name_slow_backend, progress
from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.errors import GroveError
from grove_core.flow.import_events import NOT_INITIALISED, EventsOutcome
from grove_core.flow.import_judging import ImportState, Outcome
from grove_core.flow.import_sources import ImportFormat
from grove_core.model.learning import Scope, Stage
from grove_core.text import clean_line

if TYPE_CHECKING:
    from rich.console import Console

    from grove_core.flow.importing import ImportReport

_LISTED: Final = 20
_INTERRUPTED: Final = (
    "interrupted; what has been stored stays, and the same command again imports the rest"
)
_INTERRUPTED_DRY: Final = "interrupted; nothing was written"
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

    FORMAT is what PATH holds: `older-grove`, the older program's .grove folder, its learnings.md or
    its stats.log; `solutions`, documents of solved problems such as docs/solutions/; `notes`,
    CLAUDE.md, MEMORY.md and their like, a bullet or section a learning; `jsonl`, what
    `grove export` writes, or simpler objects, one a line.

    Each entry is cleaned, and refused when it holds a secret. What is here already is left as it
    is, so an import may be repeated. The files are only read. Exit code 1 when something was
    refused.
    """
    from grove_core.flow.importing import import_from

    workspace = invocation.workspace
    if not dry_run:
        name_slow_backend(workspace.library)
    try:
        with progress() as begin:
            report = import_from(
                workspace,
                ImportFormat(form),
                path,
                scope=Scope(scope),
                dry_run=dry_run,
                progress=_Progress(begin).tell,
            )
    except KeyboardInterrupt:
        raise GroveError(_INTERRUPTED if not dry_run else _INTERRUPTED_DRY) from None
    return _result(report, form, path, dry_run=dry_run)


class _Progress:
    """Shows on a terminal how far each step of an import has got."""

    def __init__(self, begin: Begin) -> None:
        self._begin = begin
        self._advance: dict[str, Callable[[], None]] = {}
        self._done: dict[str, int] = {}

    def tell(self, what: str, done: int, total: int) -> None:
        if what not in self._advance:
            self._advance[what] = self._begin(f"entries {what}", total)
        for _ in range(done - self._done.get(what, 0)):
            self._advance[what]()
        self._done[what] = done


def _result(report: "ImportReport", form: str, path: Path, *, dry_run: bool) -> Result:
    counts = {state.value: report.count(state) for state in ImportState}
    refused = _refusals(report)
    document: dict[str, Any] = {
        "format": form,
        "path": path.absolute(),
        "dry_run": dry_run,
        "counts": counts,
        "entries": [_document(one) for one in report.outcomes],
        "events": None if report.events is None else _events_document(report.events),
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


class _Refusal(NamedTuple):
    """A piece that was refused."""

    place: str
    shown: str
    stage: str
    reason: str
    has_place: bool = True


def _refusals(report: "ImportReport") -> list[_Refusal]:
    found = [
        _Refusal(
            place=_place(one.path, one.line),
            shown=f" {one.summary!r}",
            stage=_stage(one),
            reason=one.reason,
            has_place=one.stage is not Stage.ROUTING,
        )
        for one in report.outcomes
        if one.state is ImportState.REFUSED
    ]
    for name, line, why in report.events.refused if report.events is not None else ():
        place = _place(name, line)
        found.append(_Refusal(place, "", "", why, has_place=why != NOT_INITIALISED))
    return found


def _warnings(refused: Iterable[_Refusal]) -> Iterator[str]:
    """Word what was refused; what many have been refused for is said once."""
    alike: dict[tuple[str, str], list[_Refusal]] = {}
    for one in refused:
        alike.setdefault((one.stage, one.reason), []).append(one)
    for (stage, reason), group in alike.items():
        if len(group) == 1:
            yield f"{group[0].place}: refused{stage}{group[0].shown}: {reason}"
        elif group[0].has_place:
            places = _listed([one.place for one in group])
            yield f"{len(group)} refused{stage}, at {places}: {reason}"
        else:
            yield f"{len(group)} refused{stage}: {reason}"


def _listed(places: Sequence[str]) -> str:
    more = f" and {len(places) - _LISTED} more" if len(places) > _LISTED else ""
    return f"{', '.join(places[:_LISTED])}{more}"


def _place(path: str, line: int) -> str:
    """Name a line of a file, whose name may be a stranger's and hold anything."""
    return f"{clean_line(path, _LONGEST_PATH)}:{line}"


def _stage(one: Outcome) -> str:
    return "" if one.stage is None else f" ({one.stage.value})"


def _is_imported(one: Outcome) -> bool:
    return one.state is ImportState.IMPORTED


def _document(one: Outcome) -> dict[str, Any]:
    return {
        "path": one.path,
        "line": one.line,
        "state": one.state,
        "summary": one.summary,
        "id": one.learning.id if _is_imported(one) and one.learning else None,
        "existing_id": one.existing_id,
        "stage": one.stage,
        "field": one.field,
        "reason": one.reason,
        "backend": one.backend or None,
        "waits": one.waits,
        "notes": one.notes,
    }


def _events_document(events: EventsOutcome) -> dict[str, Any]:
    return {
        "imported": events.imported,
        "present": events.present,
        "refused": [
            {"path": path, "line": line, "reason": reason} for path, line, reason in events.refused
        ],
        "unknown": events.unknown,
        "unreadable": [{"path": path, "line": line} for path, line in events.unreadable],
    }


def _human(report: "ImportReport", console: "Console", *, dry_run: bool) -> None:
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
    if report.events is not None:
        _human_events(report.events, console)
    parts = [
        f"{number} {words}" for state, words in _WORDS.items() if (number := report.count(state))
    ]
    told = ", ".join(parts) or "nothing to import"
    console.print(f"{'Dry run, nothing was written: ' if dry_run else ''}{told}.")


def _human_events(events: EventsOutcome, console: "Console") -> None:
    if not (events.imported or events.present or events.unknown or events.unreadable):
        return
    console.print(
        f"Events: {events.imported} imported, {events.present} there already"
        f"{_unknown(events.unknown)}"
    )
    places = [_place(path, line) for path, line in events.unreadable]
    if places:
        console.print(f"  no events: {_listed(places)}", style="dim")


def _unknown(unknown: Mapping[str, int]) -> str:
    if not unknown:
        return ""
    kinds = ", ".join(f"{count} {name}" for name, count in sorted(unknown.items()))
    return f"; without a counterpart here: {kinds}"
