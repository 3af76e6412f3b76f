"""What beads' store says: from its files where they can tell, else from ``bd`` itself."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from grove_core import ProjectContext
from grove_tickets.asking import CURRENT_SECONDS, STATUS_SECONDS, ask
from grove_tickets.beads.store import find_store
from grove_tickets.files import read_file
from grove_tickets.places import exists
from grove_tickets.records import is_same_issue, records, text_field

_EXPORTS: Final = ("issues.jsonl", "beads.jsonl")
# `show` would change which issue was touched last, even when it is told to write nothing, and with
# that what a `bd close` without an id closes.
_READ: Final = ("list", "--json", "--readonly")
# Reading must not start anything that stays: old versions have a daemon, newer ones a server.
_NOTHING_STAYS: Final = {
    "BEADS_NO_DAEMON": "1",
    "BEADS_AUTO_START_DAEMON": "false",
    "BEADS_DOLT_AUTO_START": "0",
}
_SAFE_MODES: Final = frozenset({"", "embedded", "server"})
_LOCAL_HOSTS: Final = frozenset({"", "127.0.0.1", "localhost", "::1"})
_MAX_TOUCHED_BYTES: Final = 4096
_MAX_METADATA_BYTES: Final = 65536


def read_current(context: ProjectContext) -> dict[str, Any] | None:
    """Read the issue in progress."""
    store = find_store(context.cwd, context.environment)
    if store is None:
        return None
    issue = read_touched(store)
    if issue is not None:
        return issue
    touched = _last_touched(store)
    started = _ask(
        ("--status", "in_progress"), store, context.cwd, context.environment, CURRENT_SECONDS
    )
    return max(
        started,
        key=lambda one: (text_field(one, "id") == touched, text_field(one, "updated_at")),
        default=None,
    )


def read_touched(store: Path) -> dict[str, Any] | None:
    """Read the issue that was touched last from the files of a store."""
    touched = _last_touched(store)
    issue = _exported(store, touched) if touched else None
    return None if issue is None or text_field(issue, "status") == "closed" else issue


def is_closed(ticket_id: str, directory: str | None, context: ProjectContext) -> bool | None:
    """Return whether an issue is closed now."""
    start = context.cwd if directory is None else Path(directory)
    environment = dict(context.environment)
    if directory is not None:
        environment.pop("BEADS_DIR", None)
    store = find_store(start, environment)
    if store is None:
        return None
    # The files tell of closes and not of every reopening.
    for issue in _ask(("--all", f"--id={ticket_id}"), store, start, environment, STATUS_SECONDS):
        if is_same_issue(ticket_id, text_field(issue, "id")):
            return text_field(issue, "status") == "closed"
    was_closed = _logged_as_closed(store, ticket_id) or _exported_as_closed(store, ticket_id)
    return True if was_closed else None


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
    content = read_file(store / "last-touched", _MAX_TOUCHED_BYTES) or b""
    return content.decode("utf-8", "replace").strip() or None


def _ask(
    filters: tuple[str, ...],
    store: Path,
    cwd: Path,
    environment: Mapping[str, str],
    seconds: float,
) -> list[dict[str, Any]]:
    """Ask ``bd`` for issues; it may be missing, slow or of another version."""
    if not _may_be_asked(store, environment):
        return []
    output = ask("bd", (*_READ, *filters), cwd, {**environment, **_NOTHING_STAYS}, seconds)
    try:
        answer = json.loads(output)
    except (ValueError, RecursionError):
        return []
    if isinstance(answer, dict) and "data" in answer:
        answer = answer["data"]
    issues = answer if isinstance(answer, list) else [answer]
    return [one for one in issues if isinstance(one, dict) and text_field(one, "id")]


def _may_be_asked(store: Path, environment: Mapping[str, str]) -> bool:
    """Return whether reading is known to start nothing and to stay on this machine."""
    if environment.get("BEADS_DOLT_SERVER_HOST", "") not in _LOCAL_HOSTS:
        return False
    path = store / "metadata.json"
    content = read_file(path, _MAX_METADATA_BYTES)
    if content is None:
        return not exists(path)  # an old store has none
    try:
        metadata = json.loads(content, object_pairs_hook=_fold_names)
    except (ValueError, RecursionError):
        return False
    if not isinstance(metadata, dict):
        return False
    modes, hosts = metadata.get("dolt_mode", ()), metadata.get("dolt_server_host", ())
    return _SAFE_MODES.issuperset(modes) and _LOCAL_HOSTS.issuperset(hosts)


def _fold_names(pairs: list[tuple[str, Any]]) -> dict[str, list[str]]:
    """Keep every value of a name, which ``bd`` takes in any letter case and more than once."""
    fields: dict[str, list[str]] = {}
    for name, value in pairs:
        fields.setdefault(name.casefold(), []).append(str(value or ""))
    return fields
