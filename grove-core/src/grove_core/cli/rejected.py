"""``grove list --rejected``: what the pipeline refused, and why."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from grove_core.cli.result import Result
from grove_core.cli.timeparse import local_time, parse_time
from grove_core.model.events import Rejected
from grove_core.model.learning import Stage
from grove_core.project import Project
from grove_core.reflection.pipeline import WITHHELD
from grove_core.services.history import LoggedEvent, find_events
from grove_core.text import clean_line, counted

if TYPE_CHECKING:
    from rich.console import Console

_LONGEST: Final = 500


def rejected_result(project: Project, since: str | None, limit: int | None) -> Result:
    """List candidates that were refused, newest first."""
    after = parse_time(since, project.now, "--since") if since else None
    found = [
        _document(one.event, one)
        for one in reversed(find_events(project, [Rejected]))
        # Of others' refusals only the numbers are published.
        if isinstance(one.event, Rejected) and (one.event.summary or one.event.reason)
        if after is None or one.event.ts > after
    ]
    shown = found[:limit]
    return Result(
        document={"count": len(shown), "total": len(found), "rejected": shown},
        human=lambda console: _human(shown, len(found), console),
    )


def _document(event: Rejected, logged: LoggedEvent) -> dict[str, Any]:
    """Describe a refusal; a log comes with a clone, so its texts are cleaned."""
    # The digest in the log is the candidate's, and lets nothing pass.
    is_secret = event.stage == Stage.SECRET.value
    return {
        "at": event.ts,
        "session_id": clean_line(event.session_id, _LONGEST),
        "summary": WITHHELD if is_secret else clean_line(event.summary, _LONGEST),
        "tags": [clean_line(tag, _LONGEST) for tag in event.tags],
        "stage": clean_line(event.stage, _LONGEST),
        "reason": clean_line(event.reason, _LONGEST),
        "personal": logged.personal,
    }


def _human(shown: Sequence[dict[str, Any]], total: int, console: "Console") -> None:
    for one in shown:
        at: datetime = one["at"]
        console.print(f"{local_time(at)}  {one['stage'] or 'unknown stage'}  {one['summary']}")
        console.print(f"    {one['reason'] or 'no reason was recorded'}", style="dim")
    if not total:
        console.print("No candidate was refused.")
    elif total > len(shown):
        console.print(f"{len(shown)} of {counted(total, 'refusal')} shown.", style="dim")
