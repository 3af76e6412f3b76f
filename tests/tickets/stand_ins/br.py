"""A stand-in of beads_rust 0.1.12 (`br`): `.beads/beads.db` and its export `issues.jsonl`.

The crate has no 0.1.12; of its others 0.1.14 cannot make its own store, and 0.7.6 builds too long.
This one knows `init`, `create`, `update`, `close`, `reopen`, `dep add`, `list` and `show`, with their
exit codes and output. Its database is the export.
"""

import argparse
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path


def fail(message):
    sys.exit(f"Error: {message}")


def find_store():
    """`BEADS_DIR`, else the first `.beads` upwards, whatever it holds."""
    if "BEADS_DIR" in os.environ:
        return Path(os.environ["BEADS_DIR"])
    for directory in (Path.cwd(), *Path.cwd().parents):
        if (directory / ".beads").is_dir():
            return directory / ".beads"
    return fail("no .beads directory found")


def load():
    lines = (find_store() / "issues.jsonl").read_text().splitlines()
    return {issue["id"]: issue for issue in map(json.loads, lines)}


def save(issues, touched):
    store = find_store()
    now = datetime.now(UTC).isoformat()
    issues[touched]["updated_at"] = now
    text = "".join(f"{json.dumps(issue)}\n" for issue in issues.values())
    (store / "beads.db").write_text(text)
    (store / "issues.jsonl").write_text(text)
    (store / "last-touched").write_text(f"{touched}\n")


def resolve(issues, ids):
    """The issues that are meant: the one touched last, if none is named."""
    ids = ids or [(find_store() / "last-touched").read_text().strip()]
    unknown = [one for one in ids if one not in issues]
    return fail(f"Issue not found: {unknown[0]}") if unknown else ids


def init(options):
    store = Path(".beads")
    store.mkdir()
    (store / "issues.jsonl").touch()
    (store / "beads.db").touch()
    (store / "metadata.json").write_text('{"database": "beads.db", "jsonl_export": "issues.jsonl"}')
    (store / "config.yaml").write_text(f"issue_prefix: {options.prefix}\n")
    (store / ".gitignore").write_text("beads.db*\nlast-touched\n")


def create(options):
    issues = load()
    prefix = (find_store() / "config.yaml").read_text().split()[-1]
    issue_id = f"{prefix}-{len(issues) + 1:03d}"
    issues[issue_id] = {
        "id": issue_id,
        "title": options.title,
        "description": options.description,
        "status": "open",
        "priority": 2,
        "issue_type": "task",
        "labels": options.labels.split(",") if options.labels else [],
        "blocked_by": [],
    }
    save(issues, issue_id)
    print(json.dumps(issues[issue_id]) if options.json else f"Created {issue_id}: {options.title}")


def add_dependency(options):
    issues = load()
    issues[options.issue]["blocked_by"].append(options.on)
    save(issues, options.issue)


def close(options):
    issues = load()
    closed, skipped = [], []
    for one in resolve(issues, options.ids):
        issue = issues[one]
        blockers = [other for other in issue["blocked_by"] if issues[other]["status"] != "closed"]
        if issue["status"] == "closed":
            skipped.append(f"Skipped {one}: already closed")
        elif blockers and not options.force:
            skipped.append(f"Skipped {one}: blocked by: {', '.join(blockers)}")
        else:
            issue |= {"status": "closed", "close_reason": options.reason}
            save(issues, one)
            closed.append(issue)
    for line in skipped:
        print(line, file=sys.stderr)
    if options.json:
        print(json.dumps([{**issue, "closed_at": issue["updated_at"]} for issue in closed]))
    else:
        for issue in closed:
            print(f"Closed {issue['id']}: {issue['title']} ({options.reason})")


def set_status(options):
    issues = load()
    for one in resolve(issues, options.ids):
        issues[one]["status"] = options.status.lower()
        save(issues, one)
        print(f"Updated {one}: {issues[one]['title']}")


def list_issues(options):
    for issue in load().values():
        if options.status in {None, issue["status"]}:
            print(f"{issue['id']} {issue['title']}")


def show(options):
    issues = load()
    print(json.dumps([issues[one] for one in resolve(issues, options.ids)]))


def arguments():
    parser = argparse.ArgumentParser(prog="br", allow_abbrev=False)
    commands = parser.add_subparsers(required=True)
    several = ("ids", {"nargs": "*"})
    for name, function, *wanted in (
        ("init", init, ("--prefix", {})),
        (
            "create",
            create,
            ("title", {}),
            ("-d", {"dest": "description", "default": ""}),
            ("-l", {"dest": "labels"}),
        ),
        (
            "close",
            close,
            several,
            ("-r", {"dest": "reason", "default": "done"}),
            ("--force", {"action": "store_true"}),
        ),
        ("update", set_status, several, (("-s", "--status"), {"required": True})),
        ("reopen", set_status, several),
        ("list", list_issues, ("--status", {})),
        ("show", show, several),
        ("dep", add_dependency, ("verb", {"choices": ["add"]}), ("issue", {}), ("on", {})),
    ):
        command = commands.add_parser(name, allow_abbrev=False)
        command.set_defaults(function=function, status="open" if name == "reopen" else None)
        command.add_argument("--json", action="store_true")
        for names, settings in wanted:
            command.add_argument(*([names] if isinstance(names, str) else names), **settings)
    return parser.parse_args()


if __name__ == "__main__":
    chosen = arguments()
    chosen.function(chosen)
