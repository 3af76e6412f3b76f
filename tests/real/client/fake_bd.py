"""A stand-in for beads' `bd` that really keeps state: close, reopen, update, show and list.

Output, exit codes, `--json` and `.beads/interactions.jsonl` have the form of bd 1.0.5. The issues
themselves lie in a folder that bd keeps its database in, so that nobody reads them around bd.
A file ``locked-for-writing`` or ``locked-for-reading`` beside them makes it fail as on a busy database.
"""

import argparse
import fcntl
import json
import sys
from datetime import UTC, datetime
from pathlib import Path

STORE = Path("embeddeddolt", "issues.json")


def find_beads():
    """The nearest .beads folder that counts as one."""
    for folder in (Path.cwd(), *Path.cwd().parents):
        if (folder / ".beads" / "metadata.json").exists():
            return folder / ".beads"
    sys.exit("Error: no beads database found")


def change_status(beads, issue, status, reason=""):
    """Stores the new status and leaves the line that bd leaves in its audit file, if it does."""
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    entry = {
        "id": f"int-{issue['id']}-{status}",
        "kind": "field_change",
        "created_at": now,
        "actor": "dev",
        "issue_id": issue["id"],
        "extra": {
            "field": "status",
            "old_value": issue["status"],
            "new_value": status,
            "reason": reason,
        },
    }
    issue["status"] = status
    if status == "closed":
        issue.update(closed_at=now, close_reason=reason)
    if status != "open":  # bd logs no reopening
        with (beads / "interactions.jsonl").open("a") as file:
            file.write(json.dumps(entry) + "\n")


def chosen(issues, ids):
    """The issues of these ids; an unknown one ends the program as bd ends."""
    known = {issue["id"]: issue for issue in issues}
    for each in ids:
        if each not in known:
            sys.exit(f'Error: resolving {each}: no issue found matching "{each}"')
    return [known[each] for each in ids]


def show(issues, options):
    if options.current:
        return [issue for issue in issues if issue["status"] == "in_progress"][:1]
    return chosen(issues, options.ids)


def listed(issues, options):
    if options.id:
        return [issue for issue in issues if issue["id"] in options.id.split(",")]
    if options.status:
        return [issue for issue in issues if issue["status"] == options.status]
    return [issue for issue in issues if issue["status"] != "closed"]


def close(beads, issues, options):
    for issue in chosen(issues, options.ids):
        change_status(beads, issue, "closed", options.reason)
        print(f"✓ Closed {issue['id']} — {issue['title']}: {options.reason}")


def reopen(beads, issues, options):
    for issue in chosen(issues, options.ids):
        change_status(beads, issue, "open")
        print(f"↻ Reopened {issue['id']}")


def update(beads, issues, options):
    for issue in chosen(issues, options.ids):
        change_status(beads, issue, "in_progress" if options.claim else options.status)
        print(f"✓ Updated issue: {issue['id']} — {issue['title']}")


def parser():
    root = argparse.ArgumentParser(prog="bd")
    commands = root.add_subparsers(dest="command", required=True)
    for name in ("show", "list", "close", "reopen", "update"):
        command = commands.add_parser(name)
        command.add_argument("--json", action="store_true")
        command.add_argument("--readonly", action="store_true")
        if name != "list":
            command.add_argument("ids", nargs="*")
        if name in ("list", "update"):
            command.add_argument("-s", "--status")
        if name == "list":
            command.add_argument("--all", action="store_true")
            command.add_argument("--id")
        if name == "close":
            command.add_argument("-r", "--reason", default="Closed")
        if name == "update":
            command.add_argument("--claim", action="store_true")
        if name == "show":
            command.add_argument("--current", action="store_true")
    return root


def main():
    options = parser().parse_args()
    beads = find_beads()
    reads = options.command in ("show", "list")
    locks = ["locked-for-reading"] if reads else ["locked-for-reading", "locked-for-writing"]
    if any((beads / STORE).with_name(name).exists() for name in locks):
        sys.exit("Error: database is locked by another process")
    with (beads / STORE).open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        issues = json.load(file)
        if reads:
            print(json.dumps({"show": show, "list": listed}[options.command](issues, options)))
            return
        {"close": close, "reopen": reopen, "update": update}[options.command](
            beads, issues, options
        )
        file.seek(0)
        file.truncate()
        json.dump(issues, file)


if __name__ == "__main__":
    main()
