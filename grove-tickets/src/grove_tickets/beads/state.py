"""What beads' store says: from its files where they can tell, else from ``bd`` itself."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from grove_core import ProjectContext
from grove_tickets.beads.output import is_same_issue
from grove_tickets.beads.store import find_store
from grove_tickets.records import records, text_field

_CURRENT_SECONDS: Final = 0.3
_SHOW_SECONDS: Final = 1.0
_EXPORTS: Final = ("issues.jsonl", "beads.jsonl")


def read_current(context: ProjectContext) -> dict[str, Any] | None:
    """Read the issue in progress.

    Args:
        context: Where to look.

    Returns:
        The issue that was touched last, if the store exports its issues and it is not closed;
        else the one that ``bd`` calls current, asked with a limit of 300 ms.
    """
    store = find_store(context.cwd, context.environment)
    if store is None:
        return None
    touched = _last_touched(store)
    issue = None if touched is None else _exported(store, touched)
    if issue is not None and text_field(issue, "status") != "closed":
        return issue
    return _ask(("--current",), context.cwd, context.environment, _CURRENT_SECONDS)


def is_closed(ticket_id: str, directory: str | None, context: ProjectContext) -> bool | None:
    """Tell whether an issue is closed now.

    Args:
        ticket_id: Its id as typed.
        directory: The directory whose store is meant, ``None`` for the context's own.
        context: Where the call ran.

    Returns:
        Whether it is, or ``None`` when the store does not tell within a second.
    """
    start = context.cwd if directory is None else Path(directory)
    environment = dict(context.environment)
    if directory is not None:
        environment.pop("BEADS_DIR", None)
    store = find_store(start, environment)
    if store is None:
        return None
    if _logged_as_closed(store, ticket_id) or _exported_as_closed(store, ticket_id):
        return True
    if ticket_id.startswith("-"):
        return None  # it would be a flag
    issue = _ask((ticket_id,), start, environment, _SHOW_SECONDS)
    return None if issue is None else text_field(issue, "status") == "closed"


def _logged_as_closed(store: Path, ticket_id: str) -> bool:
    """Look for the last change of status; what is not logged may still have happened."""
    status = None
    for record in records(store / "interactions.jsonl", ticket_id):
        extra = record.get("extra")
        if (
            record.get("kind") == "field_change"
            and isinstance(extra, dict)
            and extra.get("field") == "status"
            and is_same_issue(ticket_id, text_field(record, "issue_id"))
        ):
            status = extra.get("new_value")
    return status == "closed"


def _exported_as_closed(store: Path, ticket_id: str) -> bool:
    """Look at the export, which may lag behind: only what is closed there is proof."""
    issue = _exported(store, ticket_id)
    return issue is not None and text_field(issue, "status") == "closed"


def _exported(store: Path, ticket_id: str) -> dict[str, Any] | None:
    found = None
    for name in _EXPORTS:
        for record in records(store / name, ticket_id):
            if is_same_issue(ticket_id, text_field(record, "id")):
                found = record
    return found


def _last_touched(store: Path) -> str | None:
    try:
        return (store / "last-touched").read_text(encoding="utf-8").strip() or None
    except (OSError, ValueError):
        return None


def _ask(
    what: tuple[str, ...], cwd: Path, environment: Mapping[str, str], seconds: float
) -> dict[str, Any] | None:
    """Ask ``bd show``, which may be missing, slow or of another version."""
    output = _run_bd(("show", *what, "--json", "--readonly"), cwd, environment, seconds)
    try:
        answer = json.loads(output)
    except ValueError:
        return None
    if isinstance(answer, dict) and "data" in answer:
        answer = answer["data"]
    issue = answer[0] if isinstance(answer, list) and answer else answer
    return issue if isinstance(issue, dict) and text_field(issue, "id") else None


def _run_bd(
    arguments: tuple[str, ...], cwd: Path, environment: Mapping[str, str], seconds: float
) -> str:
    """Run ``bd`` and give its output; empty when it is not there, fails or takes too long."""
    import shutil

    program = shutil.which("bd", path=environment.get("PATH", ""))
    if program is None or not cwd.is_dir():
        return ""
    import os
    import signal
    import subprocess

    try:
        process = subprocess.Popen(
            [program, *arguments],
            cwd=cwd,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError):
        return ""
    with process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # npm's `bd` starts another process
            return ""
    return output.decode("utf-8", "replace") if process.returncode == 0 else ""
