"""``grove debug`` and ``grove trace``: a session in full."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

import rich_click as click

from grove_core.cli.app import find_session, grove_command
from grove_core.cli.options import choice_option, limit_option, session_option
from grove_core.cli.sessions import pending_document
from grove_core.cli.timeparse import local_time
from grove_core.model.gate import Forced, GateStatus
from grove_core.model.session import EventType, Session, Trace, TraceEvent
from grove_core.project import Project
from grove_core.quotation import Foreign, shown_name
from grove_core.services.cleanup import files_of
from grove_core.services.explain import retrievals_of
from grove_core.services.overview import liveness_of, pending_reflections
from grove_core.services.result import Line, Part, Result
from grove_core.services.sessions import SessionUpdate, update_session
from grove_core.storage.codec import to_jsonable
from grove_core.text import clean_line, counted

_LONGEST_DETAIL: Final = 400
_INSTANT: Final = re.compile(r"[\d:.TZ-]+")
_WIDEST_TYPE: Final = max(len(kind.value) for kind in EventType)


@click.command("debug")
@click.argument("session", required=False)
@session_option
@choice_option(
    "--set-gate",
    "set_gate",
    [status.value for status in GateStatus],
    "Force the gate, past every rule, for tests",
)
@grove_command
def debug_command(
    project: Project, *, session: str | None, session_id: str | None, set_gate: str | None
) -> Result:
    """Show everything grove knows of a session, or force its gate.

    Without SESSION it is the one that runs this command, else the newest of this project.
    """
    project, found = find_session(project, session or session_id, newest=set_gate is None)
    if set_gate is not None:
        return _force(project, found, GateStatus(set_gate))
    files = files_of(project, found.id)
    retrievals = retrievals_of(project.paths.cache, found.id)
    document = {
        "state": liveness_of(found, project),
        "pending": [pending_document(one) for one in pending_reflections(found)],
        "max_blocks": project.policy.max_blocks,
        "cooldown_seconds": project.policy.cooldown_seconds,
        "file": files.state,
        "set_aside": files.set_aside,
        "derived": files.derived,
        "session": found,
        "retrievals": retrievals,
    }
    return Result(document=document, lines=list(_outline(to_jsonable(document))), ids=[found.id])


def _outline(value: Any, indent: str = "") -> Iterator[Line]:  # noqa: ANN401 - any JSON
    """Write what is not empty as an indented outline."""
    for name, one in value.items() if isinstance(value, dict) else [("-", one) for one in value]:
        label = name if name == "-" else f"{name}:"
        if isinstance(one, dict | list):
            if inner := list(_outline(one, f"{indent}  ")):
                yield f"{indent}{label}"
                yield from inner
        elif one not in (None, ""):
            text = one if isinstance(one, str) else json.dumps(one)
            said = clean_line(text, _LONGEST_DETAIL)
            is_plain = shown_name(text) == text or _INSTANT.fullmatch(text)
            foreign = isinstance(one, str) and not is_plain
            yield [f"{indent}{label} ", Foreign(said)] if foreign else f"{indent}{label} {said}"


def _force(project: Project, session: Session, status: GateStatus) -> Result:
    after, _ = update_session(
        project,
        session,
        lambda stored: SessionUpdate(session=stored, events=[Forced(status=status)]),
    )
    before = session.gate.status
    return Result(
        document={"session_id": session.id, "before": before, "gate": after.gate.status},
        lines=[
            f"The gate of session {session.id} was {before.value} and is {after.gate.status.value}."
        ],
        ids=[session.id],
    )


@click.command("trace")
@click.argument("session", required=False)
@session_option
@click.option(
    "--type",
    "kinds",
    multiple=True,
    type=click.Choice([kind.value for kind in EventType], case_sensitive=False),
    metavar="TYPE",
    help="Only events of this type; may be given several times.",
)
@limit_option("Only this many, the newest.")
@grove_command
def trace_command(
    project: Project,
    *,
    session: str | None,
    session_id: str | None,
    kinds: tuple[str, ...],
    limit: int | None,
) -> Result:
    """Show what happened in a session, oldest first.

    Without SESSION it is the one that runs this command, else the newest of this project.
    A trace keeps the first ten events and the newest ones; it says how many were dropped between.
    """
    _, found = find_session(project, session or session_id, newest=True)
    wanted = frozenset(map(EventType, kinds)) or frozenset(EventType)
    fitting = [one for one in found.trace.events if one.event_type in wanted]
    shown = fitting[-limit:] if limit else fitting
    return Result(
        document={
            "session_id": found.id,
            "count": len(shown),
            "total": len(found.trace.events),
            "dropped": found.trace.dropped,
            "events": shown,
        },
        lines=list(_trace_lines(found.trace, shown)),
        ids=[found.id],
    )


def _trace_lines(trace: Trace, shown: Sequence[TraceEvent]) -> Iterator[Line]:
    for event in shown:
        yield [
            (local_time(event.timestamp), "dim"),
            (f"  {event.event_type.value:<{_WIDEST_TYPE}}", "bold"),
            *_details(event),
        ]
    left = len(trace.events) - len(shown)
    if left or trace.dropped:
        dropped = f", {trace.dropped} dropped" if trace.dropped else ""
        yield (f"{len(shown)} of {counted(len(trace.events), 'event')} shown{dropped}.", "dim")
    elif not shown:
        yield "Nothing happened yet."


def _details(event: TraceEvent) -> Iterator[Part]:
    """Write what is plain, then what others may have written."""
    details = event.details
    plain = {name: value for name, value in details.items() if value and shown_name(value) == value}
    for name, value in plain.items():
        yield f"  {name}={value}"
    for name in details.keys() - plain.keys():
        yield Foreign(f'  {name}="{clean_line(details[name], _LONGEST_DETAIL)}"')
