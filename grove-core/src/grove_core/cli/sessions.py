"""``grove sessions`` and ``grove clean``."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import rich_click as click
from attrs import asdict

from grove_core.cli.app import grove_command
from grove_core.cli.options import limit_option
from grove_core.cli.result import Result
from grove_core.cli.timeparse import local_time, parse_time
from grove_core.model.session import Session
from grove_core.project import Project
from grove_core.quotation import quote_line
from grove_core.services.cleanup import (
    Choice,
    clean,
    modified_at,
    survey,
)
from grove_core.services.messages import name_of
from grove_core.services.overview import (
    Liveness,
    PendingReflection,
    liveness_of,
    pending_reflections,
)
from grove_core.services.result import Line
from grove_core.text import clean_line, counted

_EMPTY: Final = "it is empty: the process that made it died before it wrote"
_LONGEST: Final = 300
_LONGEST_TITLE: Final = 120
_STYLES: Final = {Liveness.LIVE: "green", Liveness.ENDED: "dim", Liveness.DIED: "yellow"}
_NAMED: Final = ("pending", "unreadable", "failed")


@click.command("sessions")
@click.option("--all", "everywhere", is_flag=True, help="Sessions of all projects.")
@limit_option()
@grove_command
def command(project: Project, *, everywhere: bool, limit: int | None) -> Result:
    """List the sessions of this project, the one that was written last first.

    A session is live, has ended, or died: then its client is gone, or it has been idle for a day.
    A pending reflection stays visible until it is given. State that cannot be read is named with
    the reason, of whatever project it was.
    """
    found = survey(project)
    own = [
        one.session
        for one in found
        if one.session is not None and (everywhere or one.session.project_root == str(project.root))
    ]
    shown = own[:limit]
    document: dict[str, Any] = {
        "count": len(shown),
        "total": len(own),
        "sessions": [_document(one, project) for one in shown],
        "unreadable": [
            {
                "session_id": one.session_id,
                "path": one.state,
                "reason": one.fault or _EMPTY,
                "modified_at": modified_at(one.state),
            }
            for one in found
            if one.state is not None and one.session is None
        ],
        "set_aside": [
            {"session_id": one.session_id, "path": path, "modified_at": modified_at(path)}
            for one in found
            for path in one.set_aside
        ],
    }

    lines: list[Line] = []
    for session in shown:
        lines += _session_lines(session, project)
        if everywhere:
            lines.append((f"    {clean_line(session.project_root, _LONGEST)}", "dim"))
    if not own:
        where = "" if everywhere else " of this project; --all lists those of others"
        lines.append(f"grove knows no session{where}.")
    elif len(own) > len(shown):
        lines.append((f"{len(shown)} of {len(own)} shown.", "dim"))
    for one in document["unreadable"]:
        lines.append((f"{one['path']} cannot be read: {one['reason']}", "yellow"))
    for one in document["set_aside"]:
        when = f" at {local_time(one['modified_at'])}" if one["modified_at"] is not None else ""
        lines.append((f"{one['path']} could not be read and was set aside{when}", "yellow"))
    return Result(document=document, lines=lines, ids=[one.id for one in shown])


def _document(session: Session, project: Project) -> dict[str, Any]:
    gate = session.gate
    return {
        "id": session.id,
        "state": liveness_of(session, project),
        "gate": gate.status,
        "ticket": gate.ticket,
        "closed": gate.closed,
        "blocks": gate.breaker.cycle_blocks,
        "notes": len(session.observations),
        "injected": len(session.injected),
        "pending": [pending_document(one) for one in pending_reflections(session)],
        "project_root": session.project_root,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "ended_at": session.ended_at,
    }


def pending_document(one: PendingReflection) -> dict[str, Any]:
    """Describe a pending reflection for ``--json``."""
    return {**asdict(one, recurse=False), "tickets": [name_of(each) for each in one.tickets]}


def _session_lines(session: Session, project: Project) -> Iterator[Line]:
    state = liveness_of(session, project)
    yield [
        (session.id, "bold"),
        (f"  {state.value}", _STYLES[state]),
        f"  gate {session.gate.status.value}",
        (f"  written {local_time(session.updated_at)}", "dim"),
    ]
    if about := _about(session):
        yield f"    {about}"
    for one in pending_reflections(session):
        since = f", since {local_time(one.since)}" if one.since is not None else ""
        yield f"    {one}{since}", "yellow"


def _about(session: Session) -> str:
    counts = (
        (session.gate.breaker.cycle_blocks, "block"),
        (len(session.observations), "note"),
        (len(session.injected), "shown learning"),
    )
    ticket = session.gate.ticket
    named, title = [], ""
    if ticket is not None:
        named = [f"ticket {name_of(ticket)}"]
        title = f" {quote_line(ticket.title, _LONGEST_TITLE)}" if ticket.title else ""
    said = [*(counted(number, noun) for number, noun in counts if number), *named]
    return ", ".join(said) + title


@click.command("clean")
@click.option(
    "--before",
    metavar="WHEN",
    help="Sessions last written longer ago than 30d, 12h or 2w, or before a date: 2026-02-06.",
)
@click.option(
    "--orphans",
    is_flag=True,
    help="Sessions left active, pending or blocked for over 24 hours, with what is pending.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be deleted, and delete nothing.")
@grove_command
def clean_command(project: Project, *, before: str | None, orphans: bool, dry_run: bool) -> Result:
    """Delete the state of old sessions, of all projects.

    With it goes what grove keeps for these sessions in its cache. Learnings and logs stay. Each
    option chooses by itself; one of `--before` and `--orphans` is needed. A live session is never
    deleted, and one with a pending reflection only by `--orphans`, with a warning.
    """
    if before is None and not orphans:
        raise click.UsageError("say what to delete: --before 30d, --orphans, or both")
    until = None if before is None else parse_time(before, project.now, "--before")
    if until is not None and until > project.now:
        raise click.BadParameter(f"{before} lies in the future", param_hint="--before")
    choices = clean(project, until, orphans=orphans, dry_run=dry_run)
    warnings = [line for one in choices if (line := one.warning(dry_run=dry_run))]
    for line in () if dry_run else warnings:
        project.diagnostics.log("warning", line)
    return Result(
        document={
            "dry_run": dry_run,
            "deleted": [
                {**_described(one), "files": one.found.all} for one in choices if one.deletes
            ],
            "kept": [_described(one) for one in choices if not one.deletes],
        },
        lines=[*_choice_lines(choices, "would be deleted" if dry_run else "deleted")],
        ids=[one.found.session_id for one in choices if one.deletes],
        exit_code=1 if any(one.reason == "failed" for one in choices) else 0,
        warnings=warnings,
    )


def _described(choice: Choice) -> dict[str, Any]:
    session = choice.found.session
    return {
        "session_id": choice.found.session_id,
        "project_root": session.project_root if session is not None else None,
        "gate": session.gate.status if session is not None else None,
        "written_at": choice.found.written_at,
        "reason": choice.reason,
        "detail": choice.detail,
        "pending": [pending_document(one) for one in choice.pending],
    }


def _choice_lines(choices: Sequence[Choice], verb: str) -> Iterator[Line]:
    deleted = [one for one in choices if one.deletes]
    for one in deleted:
        written = local_time(one.found.written_at)
        yield f"{verb}  {one.found.session_id}  {one.detail}, last written {written}"
    for one in choices:
        if one.reason in _NAMED:
            yield f"kept  {one.found.session_id}  {one.detail}", "yellow"
    kept = len(choices) - len(deleted)
    yield f"{counted(len(deleted), 'session')} {verb}, {kept} kept.", "dim"
