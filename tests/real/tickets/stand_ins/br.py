"""A stand-in of beads_rust 0.1.12 (`br`): `.beads/beads.db` and its export `issues.jsonl`.

The crate has no 0.1.12; of its others 0.1.14 cannot make its own store, and 0.7.6 builds too long.
This one knows `init`, `create`, `update`, `close`, `reopen`, `dep add` and `list`, with their exit
codes and output. Its database is the export.
"""

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path


def fail(message):
    sys.exit(f"Error: {message}")


def find_store():
    """The first `.beads` upwards, whatever it holds."""
    for directory in (Path.cwd(), *Path.cwd().parents):
        if (directory / ".beads").is_dir():
            return directory / ".beads"
    return fail("no .beads directory found")


def load():
    lines = (find_store() / "issues.jsonl").read_text().splitlines()
    return {issue["id"]: issue for issue in map(json.loads, lines)}


def save(issues, touched):
    store = find_store()
    issues[touched]["updated_at"] = datetime.now(UTC).isoformat()
    text = "".join(f"{json.dumps(issue)}\n" for issue in issues.values())
    (store / "beads.db").write_text(text)
    (store / "issues.jsonl").write_text(text)
    (store / "last-touched").write_text(f"{touched}\n")


def init():
    store = Path(".beads")
    store.mkdir()
    for name in ("issues.jsonl", "beads.db", "config.yaml"):
        (store / name).touch()
    (store / "metadata.json").write_text('{"database": "beads.db", "jsonl_export": "issues.jsonl"}')
    (store / ".gitignore").write_text("beads.db*\nlast-touched\n")


def create(options):
    issues = load()
    issue_id = f"sh-{len(issues) + 1:03d}"
    issues[issue_id] = {
        "id": issue_id,
        "title": options.words[0],
        "description": options.d,
        "status": "open",
        "labels": options.l.split(",") if options.l else [],
        "blocked_by": [],
    }
    save(issues, issue_id)
    print(json.dumps(issues[issue_id]) if options.json else f"Created {issue_id}")


def set_status(issues, one, options, status):
    issue = issues[one]
    open_ones = [other for other in issue["blocked_by"] if issues[other]["status"] != "closed"]
    if status == "closed" and options.command == "close":
        if issue["status"] == "closed":
            return print(f"Skipped {one}: already closed", file=sys.stderr)
        if open_ones:
            return print(f"Skipped {one}: blocked by: {', '.join(open_ones)}", file=sys.stderr)
    issue["status"] = status
    save(issues, one)
    closed = f"Closed {one}: {issue['title']} ({options.r})"
    line = closed if options.command == "close" else f"Updated {one}: {issue['title']}"
    return print(json.dumps([{**issue, "closed_at": "x"}]) if options.json else line)


def main():
    parser = argparse.ArgumentParser(prog="br", allow_abbrev=False)
    parser.add_argument("command")
    parser.add_argument("words", nargs="*")
    for name in ("-d", "-l", "-r", "--prefix"):
        parser.add_argument(name, default="")
    parser.add_argument("-s", "--status", default="")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    match options.command:
        case "init":
            init()
        case "create":
            create(options)
        case "dep":
            issues = load()
            issues[options.words[1]]["blocked_by"].append(options.words[2])
            save(issues, options.words[1])
        case "list":
            found = [one for one in load().values() if options.status in ("", one["status"])]
            print(*(one["id"] for one in found), sep="\n")
        case "close" | "reopen" | "update":
            status = {"close": "closed", "reopen": "open"}.get(options.command, options.status)
            issues = load()
            for one in options.words:
                if one not in issues:
                    fail(f"Issue not found: {one}")
                set_status(issues, one, options, status.lower())
        case _:
            fail(f"unrecognized subcommand '{options.command}'")


if __name__ == "__main__":
    main()
