"""What happens to sessions that owe nothing, decided on the stored document itself.

Most stops find nothing to do, and turning a session into objects costs several times what Python
itself costs to start. So the commonest starts and prompts, approved stops, and ends of sessions
without a debt are worked out here on plain JSON values. They must come out as ``gate`` and
``hooks`` would have it, byte for byte; whatever is not plainly settled is left to those.
"""

from grove_core.trace_bounds import KEPT_FROM_START, LONGEST_DETAIL, surplus

TYPE_CHECKING = False  # typing.TYPE_CHECKING, without the import
if TYPE_CHECKING:
    from typing import Any

    Document = dict[str, Any]

SCHEMA_VERSION = 1
_MEASURED = ("idle", "reflected", "skipped")
_SETTLED = ("active", *_MEASURED)


def is_settled(document: "Document") -> bool:
    """Tell whether a session owes nothing.

    Args:
        document: A session as stored.

    Returns:
        Whether this module may judge it: ``False`` also for what another version has written.
    """
    return document["schema_version"] == SCHEMA_VERSION and document["gate"]["status"] in _SETTLED


def waits(document: "Document") -> bool:
    """Tell whether a stop has more to look at than the gate.

    Args:
        document: A session as stored.

    Returns:
        Whether closes wait for their confirmation, or background work was seen running.
    """
    return bool(document["intents"] or document["unproven"] or document["gate"]["seen_shells"])


def is_measured(document: "Document") -> bool:
    """Tell whether a stop depends on what has changed in the project.

    Args:
        document: A settled session.

    Returns:
        Whether session mode applies and no ticket is in progress.
    """
    session_mode: bool = document["surroundings"]["session_mode"]
    return session_mode and document["gate"]["status"] in _MEASURED


def harmless_lines(document: "Document", key: str) -> int | None:
    """Tell how much has changed since the baseline where that is known and lets a stop through.

    Args:
        document: A settled session of session mode.
        key: The digest of the work tree's state.

    Returns:
        Changed lines, or ``None`` when they must be counted or the gate must judge them.
    """
    measurement = document["measurement"]
    if measurement is None or measurement["key"] != key:
        return None
    lines: int | None = measurement["lines"]
    return lines if lines == 0 or measurement["small"] else None


def stopped(
    document: "Document", *, now: str, stop_hook_active: bool, measured: tuple[str, int] | None
) -> "Document":
    """Approve a stop.

    Args:
        document: A settled session that waits for nothing.
        now: The time as text.
        stop_hook_active: The client's flag of that name, for the trace.
        measured: Key and changed lines, where they were looked at.

    Returns:
        The session afterwards.
    """
    reason = document["gate"]["status"]
    if measured is not None:
        reason = "small change" if measured[1] else "no change"
    details = {
        "verdict": "approve",
        "reason": reason,
        "stop_hook_active": str(stop_hook_active).lower(),
    }
    after = {**document, "updated_at": now}
    if measured is not None:
        key, lines = measured
        details["lines"] = str(lines)
        after["measurement"] = {"key": key, "lines": lines, "small": lines > 0}
    return _traced(after, ("stop_hook_called", details))


def may_end(document: "Document") -> bool:
    """Tell whether the end of a settled session changes nothing but itself and what it was shown.

    Args:
        document: A settled session.

    Returns:
        Whether no debt is to be named later, no plugin is to be told, and the trace can name what
        was shown without being cut.
    """
    told = document["gate"]["status"] == "active" and document["surroundings"]["observed"]
    owed = document["recovered_from"] is not None or document["gate"]["broken_cycles"]
    return not (told or owed) and len(_ids_of_dismissed(document)) <= LONGEST_DETAIL


def unlogged_small_change(document: "Document") -> int | None:
    """Tell how large a small change is that the end of the session logs as skipped.

    Args:
        document: A settled session.

    Returns:
        Changed lines, or ``None`` when there is none.
    """
    measurement = document["measurement"]
    if document["baseline"] is None or measurement is None or not measurement["small"]:
        return None
    lines: int = measurement["lines"]
    return lines if document["gate"]["status"] in _MEASURED else None


def reason_of_skip(lines: int) -> str:
    """Say why a small change is skipped.

    Args:
        lines: Changed lines.

    Returns:
        Words for the log and the trace.
    """
    return f"small change of {lines} line{'' if lines == 1 else 's'}"


def ended(document: "Document", *, now: str, reason: str) -> "Document":
    """End a session: what was shown and not used is dismissed, and a small change is skipped.

    Args:
        document: A settled session that may end so.
        now: The time as text.
        reason: The client's reason.

    Returns:
        The session afterwards.
    """
    gate, notes = document["gate"], [*_dismissal(document), ("session_end", {"reason": reason})]
    lines = unlogged_small_change(document)
    if lines is not None:
        why = {"reason": reason_of_skip(lines), "decider": "auto"}
        skip = {**why, "timestamp": now, "lines_changed": lines}
        memory = {**gate["session_mode"], "lines_at_last_cycle": 0}
        gate = {**gate, "skip": skip, "session_mode": memory}
        notes.append(("skip", why))
    if gate["status"] == "active":
        gate = {**gate, "status": "idle"}
        notes.append(("gate_status_changed", {"from": "active", "to": "idle"}))
    injected = [
        {**one, "outcome": "dismissed"} if one["outcome"] == "pending" else one
        for one in document["injected"]
    ]
    after = {
        **document,
        "updated_at": now,
        "ended_at": now,
        "gate": gate,
        "injected": injected,
        "baseline": None,
        "measurement": None,
    }
    return _traced(after, *notes)


def begun(
    document: "Document", *, source: str, fields: "Document", shown: "list[Document]"
) -> "Document":
    """Let a session begin as another one did.

    Args:
        document: The state of that session before anything was shown, at the time of this one.
        source: Why this one starts.
        fields: What is its own, by field.
        shown: The learnings that are shown, as a session keeps them.

    Returns:
        The session.
    """
    start, *events = document["trace"]["events"]
    start = {**start, "details": {**start["details"], "source": source}}
    after = {
        **document,
        **fields,
        "injected": shown,
        "trace": {**document["trace"], "events": [start, *events]},
    }
    return _traced(after, *_showing(shown))


def awaits_no_prompt(document: "Document") -> bool:
    """Tell whether a prompt changes nothing but what is remembered of it.

    Args:
        document: A session as stored.

    Returns:
        Whether nothing waits that a prompt would drop, and the baseline is there where one is
        needed: ``False`` also for what another version has written.
    """
    without_baseline = document["baseline"] is None and document["surroundings"]["session_mode"]
    return (
        document["schema_version"] == SCHEMA_VERSION
        and not document["intents"]
        and not without_baseline
    )


def knows_prompt(document: "Document", prompt_id: str | None) -> bool:
    """Tell whether another set of hooks was faster: the client may hold two.

    Args:
        document: A session as stored.
        prompt_id: The client's id of the prompt, if it has one.

    Returns:
        Whether the prompt has been taken notice of.
    """
    return prompt_id is not None and any(
        one["event_type"] == "prompt" and one["details"] == {"prompt_id": prompt_id}
        for one in document["trace"]["events"]
    )


def prompted(
    document: "Document", *, now: str, prompt_id: str | None, shown: "list[Document]"
) -> "Document":
    """Take notice of a prompt, and of what is shown with it.

    Args:
        document: A session that awaits no prompt.
        now: The time as text.
        prompt_id: The client's id of the prompt, if it has one.
        shown: The learnings that are shown, as a session keeps them.

    Returns:
        The session afterwards.
    """
    details = {} if prompt_id is None else {"prompt_id": prompt_id}
    after = {**document, "updated_at": now, "prompt_id": prompt_id or document["prompt_id"]}
    after["injected"] = [*document["injected"], *shown]
    return _traced(after, ("prompt", details), *_showing(shown))


def dismissed(document: "Document") -> "list[Document]":
    """List what was shown and not used.

    Args:
        document: A session that has not ended yet.

    Returns:
        The learnings.
    """
    return [one for one in document["injected"] if one["outcome"] == "pending"]


def _showing(shown: "list[Document]") -> list[tuple[str, dict[str, str]]]:
    ids = " ".join(one["learning_id"] for one in shown)
    return [("learnings_injected", {"via": shown[0]["via"], "learnings": ids})] if shown else []


def _dismissal(document: "Document") -> list[tuple[str, dict[str, str]]]:
    ids = _ids_of_dismissed(document)
    return [("learning_dismissed", {"learnings": ids})] if ids else []


def _ids_of_dismissed(document: "Document") -> str:
    return " ".join(one["learning_id"] for one in dismissed(document))


def _traced(document: "Document", *notes: tuple[str, dict[str, str]]) -> "Document":
    trace, now = document["trace"], document["updated_at"]
    new = [{"event_type": kind, "timestamp": now, "details": details} for kind, details in notes]
    events = [*trace["events"], *new]
    dropped = surplus(len(events))
    del events[KEPT_FROM_START : KEPT_FROM_START + dropped]
    return {**document, "trace": {"events": events, "dropped": trace["dropped"] + dropped}}
