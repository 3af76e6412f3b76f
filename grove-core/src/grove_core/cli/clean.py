"""``grove clean``."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.cli.session_argument import debt_document
from grove_core.cli.timeparse import local_time, parse_time
from grove_core.flow.session_cleaning import (
    Choice,
    CleaningLimits,
    Reason,
    clean,
    warning_of,
)

if TYPE_CHECKING:
    from rich.console import Console

_NAMED: Final = (Reason.OWES, Reason.UNREADABLE, Reason.FAILED)
_COUNTED: Final = {
    Reason.LIVE: "live",
    Reason.RECENT: "too new",
    Reason.FINISHED: "no orphans",
}


@click.command("clean")
@click.option(
    "--before",
    metavar="WHEN",
    help="Sessions last written longer ago than 30d, 12h or 2w, or before a date: 2026-02-06.",
)
@click.option(
    "--orphans",
    is_flag=True,
    help="Sessions left active, pending or blocked for over 24 hours, with what they owe.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be deleted, and delete nothing.")
@grove_command
def command(invocation: Invocation, *, before: str | None, orphans: bool, dry_run: bool) -> Result:
    """Delete the state of old sessions, of all projects.

    With it goes what grove keeps for these sessions in its cache. Learnings and logs stay. Each
    option chooses by itself; one of `--before` and `--orphans` is needed. A live session is never
    deleted, and one that owes a reflection only by `--orphans`, with a warning.
    """
    if before is None and not orphans:
        raise click.UsageError("say what to delete: --before 30d, --orphans, or both")
    workspace = invocation.workspace
    limits = CleaningLimits(
        before=_past_moment(before, workspace.now) if before is not None else None,
        orphans=orphans,
    )
    choices = clean(workspace, limits, dry_run=dry_run)
    warnings = []
    for choice in choices:
        if line := warning_of(choice, dry_run=dry_run):
            warnings.append(line)
            if not dry_run:
                workspace.diagnostics.log("warning", line, session=choice.found.session_id)
    return Result(
        document=_document(choices, dry_run=dry_run),
        human=lambda console: _human(choices, dry_run, console),
        ids=[one.found.session_id for one in choices if one.reason.deletes],
        exit_code=1 if any(one.reason is Reason.FAILED for one in choices) else 0,
        warnings=warnings,
    )


def _past_moment(text: str, now: datetime) -> datetime:
    moment = parse_time(text, now, "--before")
    if moment > now:
        raise click.BadParameter(f"{text} lies in the future", param_hint="--before")
    return moment


def _document(choices: Sequence[Choice], *, dry_run: bool) -> dict[str, Any]:
    return {
        "dry_run": dry_run,
        "deleted": [
            {**_described(one), "files": one.removed} for one in choices if one.reason.deletes
        ],
        "kept": [_described(one) for one in choices if not one.reason.deletes],
    }


def _described(choice: Choice) -> dict[str, Any]:
    session = choice.found.session
    return {
        "session_id": choice.found.session_id,
        "project_root": session.project_root if session is not None else None,
        "gate": session.gate.status if session is not None else None,
        "written_at": choice.found.written_at,
        "reason": choice.reason,
        "detail": choice.detail,
        "debts": [debt_document(one) for one in choice.debts],
    }


def _human(choices: Sequence[Choice], dry_run: bool, console: "Console") -> None:  # noqa: FBT001 - the command's own flag
    verb = "would be deleted" if dry_run else "deleted"
    deleted = [one for one in choices if one.reason.deletes]
    for one in deleted:
        written = local_time(one.found.written_at)
        console.print(f"{verb}  {one.found.session_id}  {one.detail}, last written {written}")
    for one in choices:
        if one.reason in _NAMED:
            console.print(f"kept  {one.found.session_id}  {one.detail}", style="yellow")
    console.print(_summary(choices, verb), style="dim")


def _summary(choices: Sequence[Choice], verb: str) -> str:
    numbers = Counter(one.reason for one in choices)
    named = sum(numbers[reason] for reason in _NAMED)
    kept = [f"{numbers[reason]} {words}" for reason, words in _COUNTED.items() if numbers[reason]]
    kept += [f"{named} named above"] if named else []
    deleted = sum(number for reason, number in numbers.items() if reason.deletes)
    detail = f" ({', '.join(kept)})" if kept else ""
    return f"{counted(deleted, 'session')} {verb}, {len(choices) - deleted} kept{detail}."
