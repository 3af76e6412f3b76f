"""Why a learning was shown beside a file that was touched, or was not."""

from collections.abc import Sequence

from grove_core.flow.occasions import Explanation, Outcome, injection_of, plainly
from grove_core.injection import VIA_FILE
from grove_core.learning_index.tables import NOTING
from grove_core.model.session import EventType, Session
from grove_core.retrieval.entry import Entry
from grove_core.workspace import Workspace


def explain_files(
    workspace: Workspace, session: Session, learning_id: str, entry: Entry | None
) -> Explanation:
    """Return whether a learning was shown when a file was touched that it names."""
    events = [
        one
        for one in session.trace.events
        if one.event_type is EventType.LEARNINGS_INJECTED and one.details.get("via") == VIA_FILE
    ]
    for one in events:
        if one.details.get("learnings") == learning_id:
            reason = f"shown when {one.details.get('file', 'a file that it names')} was touched"
            return plainly(one.timestamp, VIA_FILE, Outcome.SHOWN, reason)
    at = session.updated_at
    if entry is None:
        reason = "only active learnings are shown beside files"
        return plainly(at, VIA_FILE, Outcome.NOT_ACTIVE, reason)
    outcome, reason = _why_not(workspace, session, entry)
    files = set(entry.fields()["context_files"])
    first = [one for one in events if one.details.get("file") in files]
    if first and outcome is Outcome.NOT_TOUCHED:
        at, outcome, told = first[-1].timestamp, Outcome.LIMIT, first[-1].details
        reason = f"one is shown at a time, and when {told['file']} was touched,"
        reason += f" {told.get('learnings', 'another one')} came first"
    return plainly(at, VIA_FILE, outcome, reason)


def _why_not(workspace: Workspace, session: Session, entry: Entry) -> tuple[Outcome, str]:
    retrieval = workspace.config.retrieval
    files: Sequence[str] = entry.fields()["context_files"]
    shown = sum(one.via == VIA_FILE for one in session.injected)
    before = injection_of(session, entry.id)
    if entry.category not in NOTING or not files:
        what = "it names no file" if entry.category in NOTING else f"it is a {entry.category}"
        reason = f"pitfalls and conventions are shown beside the files they name; {what}"
        return Outcome.NOT_FOR_FILES, reason
    if not retrieval.on_file:
        return Outcome.SWITCHED_OFF, "retrieval.on_file is off"
    if before is not None:
        return Outcome.SHOWN_BEFORE, f"shown before in this session ({before.via})"
    if shown >= retrieval.max_per_file_session:
        reason = f"{shown} were shown beside files, and no more are in a session"
        return Outcome.SESSION_LIMIT, reason
    return Outcome.NOT_TOUCHED, f"no touch of {', '.join(files)} was seen"
