"""A stand-in of tissue 26.1.19, which no package registry has: an append-only JSONL store.

It knows `init`, `new`, `status`, `edit --status`, `show` and `list`, with their exit codes and output.
"""

import argparse
import hashlib
import json
import os
import sys
import time
from pathlib import Path

STATUSES = ("open", "in_progress", "paused", "duplicate", "closed")


def fail(message):
    sys.exit(f"tissue: {message}")


def find_store():
    """The nearest `.tissue` upwards, else `TISSUE_STORE`."""
    for directory in (Path.cwd(), *Path.cwd().parents):
        if (directory / ".tissue").is_dir():
            return directory / ".tissue"
    if "TISSUE_STORE" in os.environ:
        return Path(os.environ["TISSUE_STORE"])
    return fail("no store found")


def issues(store):
    """Each issue in its newest revision."""
    newest = {}
    for line in (store / "issues.jsonl").read_text().splitlines():
        issue = json.loads(line)
        if issue["rev"] >= newest.get(issue["id"], issue)["rev"]:
            newest[issue["id"]] = issue
    return newest


def append(store, issue):
    now = time.time_ns()
    line = {**issue, "rev": f"{now:026d}", "updated_at": now // 1_000_000}
    with (store / "issues.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    return line


def find(store, typed):
    """The one issue that is meant by an id, a unique beginning of one, or its hash."""
    found = [
        issue
        for one, issue in issues(store).items()
        if one.lower().startswith(typed.lower()) or one.lower().endswith(f"-{typed.lower()}")
    ]
    return found[0] if len(found) == 1 else fail(f"issue not found: {typed}")


def set_status(options):
    if options.status not in STATUSES:
        fail(f"invalid status: {options.status}")
    store = find_store()
    issue = append(store, {**find(store, options.id), "status": options.status})
    print(json.dumps(issue) if options.json else issue["id"])


def init(options):
    store = Path(".tissue")
    store.mkdir()
    (store / "issues.jsonl").touch()
    (store / "prefix").write_text(options.prefix)
    (store / ".gitignore").write_text("*\n!issues.jsonl\n!.gitignore\n")


def new(options):
    store = find_store()
    digest = hashlib.sha256(options.title.encode()).hexdigest()[:8]
    issue = {
        "type": "issue",
        "id": f"{(store / 'prefix').read_text()}-{digest}",
        "title": options.title,
        "body": options.body,
        "status": "open",
        "priority": 2,
        "tags": options.tag,
        "created_at": time.time_ns() // 1_000_000,
    }
    print(append(store, issue)["id"])


def show(options):
    print(json.dumps({"issue": find(find_store(), options.id), "comments": [], "deps": []}))


def list_issues(options):
    found = [
        one for one in issues(find_store()).values() if options.status in (None, one["status"])
    ]
    print(json.dumps([{**one, "tags": ",".join(one["tags"])} for one in reversed(found)]))


def main():
    parser = argparse.ArgumentParser(prog="tissue", add_help=False, allow_abbrev=False)
    commands = parser.add_subparsers(required=True)
    for name, function, *arguments in (
        ("init", init, ("--prefix", {})),
        (
            "new",
            new,
            ("title", {}),
            ("-b", {"dest": "body", "default": ""}),
            ("-t", {"dest": "tag", "action": "append", "default": []}),
        ),
        ("status", set_status, ("id", {}), ("status", {}), ("--quiet", {"action": "store_true"})),
        ("edit", set_status, ("id", {}), ("--status", {"required": True})),
        ("show", show, ("id", {})),
        ("list", list_issues, ("--status", {})),
    ):
        command = commands.add_parser(name, add_help=False, allow_abbrev=False)
        command.set_defaults(function=function)
        command.add_argument("--json", action="store_true")
        for argument, settings in arguments:
            command.add_argument(argument, **settings)
    # The real one answers every fault, `--help` of a command included, with 1.
    parser.exit_on_error = False
    try:
        options = parser.parse_args()
    except SystemExit:
        sys.exit(1)
    except argparse.ArgumentError as error:
        fail(error)
    options.function(options)


if __name__ == "__main__":
    main()
