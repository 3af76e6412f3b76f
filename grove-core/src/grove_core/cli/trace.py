"""``grove trace``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import rich_click as click

from grove_core.cli.app import Invocation, grove_command
from grove_core.cli.render import counted
from grove_core.cli.result import Result
from grove_core.cli.session_argument import find_named, session_argument
from grove_core.cli.timeparse import local_time
from grove_core.model.session import EventType, Trace, TraceEvent
from grove_core.services.sessions import KEPT_FROM_START
from grove_core.text import clean_line

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST_DETAIL: Final = 400
_WIDEST_TYPE: Final = max(len(kind.value) for kind in EventType)


@click.command("trace")
@session_argument
@click.option(
    "--type",
    "kinds",
    multiple=True,
    type=click.Choice([kind.value for kind in EventType], case_sensitive=False),
    metavar="TYPE",
    help="Only events of this type; may be given several times.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Only this many, the newest.")
@grove_command
def command(
    invocation: Invocation,
    *,
    session: str | None,
    session_id: str | None,
    kinds: tuple[str, ...],
    limit: int | None,
) -> Result:
    """Show what happened in a session, oldest first.

    Without SESSION it is the one that runs this command, else the only live one of this project.
    A trace keeps the first ten events and the newest ones; it says how many were dropped between.
    """
    _, found = find_named(invocation, session, session_id)
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
        human=lambda console: _human(found.trace, shown, console),
        ids=[found.id],
    )


def _human(trace: Trace, shown: Sequence[TraceEvent], console: "Console") -> None:
    first_after_gap = trace.events[KEPT_FROM_START:][:1] if trace.dropped else ()
    for event in shown:
        if any(event is one for one in first_after_gap):
            console.print(f"… {counted(trace.dropped, 'event')} dropped …", style="yellow")
        _print_event(event, console)
    left = len(trace.events) - len(shown)
    if left or trace.dropped:
        parts = [f"{len(shown)} of {counted(len(trace.events), 'event')} shown"]
        parts += [f"{trace.dropped} dropped"] if trace.dropped else []
        console.print(f"{', '.join(parts)}.", style="dim")
    elif not shown:
        console.print("Nothing happened yet.")


def _print_event(event: TraceEvent, console: "Console") -> None:
    from rich.text import Text

    line = Text()
    line.append(local_time(event.timestamp), style="dim")
    line.append(f"  {event.event_type.value:<{_WIDEST_TYPE}}", style="bold")
    line.append(f"  {details_in_words(event)}".rstrip())
    console.print(line)


def details_in_words(event: TraceEvent) -> str:
    """Write the details of an event in one line."""
    words = []
    for name, value in event.details.items():
        text = clean_line(value, _LONGEST_DETAIL)
        quoted = f'"{text}"' if not text or " " in text else text
        words.append(f"{clean_line(name, _LONGEST_DETAIL)}={quoted}")
    return " ".join(words)
