"""A stand-in of tissue 26.1.19, which no package registry has: an append-only JSONL store.

It knows `init`, `new`, `status`, `edit --status` and `list`, with their exit codes and output.
"""

import hashlib
import json
import sys
import time
from pathlib import Path

STATUSES = ("open", "in_progress", "paused", "duplicate", "closed")


def fail(message):
    sys.exit(f"tissue: {message}")


def find_store():
    """The nearest `.tissue` upwards."""
    for directory in (Path.cwd(), *Path.cwd().parents):
        if (directory / ".tissue").is_dir():
            return directory / ".tissue"
    return fail("no store found")


def issues(store):
    """Each issue in its newest revision, which is the last one."""
    lines = (store / "issues.jsonl").read_text().splitlines()
    return {issue["id"]: issue for issue in map(json.loads, lines)}


def append(store, issue):
    now = time.time_ns()
    line = {**issue, "rev": f"{now:026d}", "updated_at": now // 1_000_000}
    with (store / "issues.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    return line


def set_status(typed, status, *flags):
    if status not in STATUSES:
        fail(f"invalid status: {status}")
    if unknown := {*flags} - {"--json", "--quiet"}:
        fail(f"unknown flag: {unknown.pop()}")
    store = find_store()
    found = [issue for one, issue in issues(store).items() if one.startswith(typed)]
    if len(found) != 1:
        fail(f"issue not found: {typed}")
    issue = append(store, {**found[0], "status": status})
    print(json.dumps(issue) if "--json" in flags else issue["id"])


def new(title, *options):
    pairs = [*zip(options[::2], options[1::2], strict=True)]
    issue = {
        "type": "issue",
        "id": f"sh-{hashlib.sha256(title.encode()).hexdigest()[:8]}",
        "title": title,
        "body": dict(pairs).get("-b", ""),
        "status": "open",
        "tags": [value for name, value in pairs if name == "-t"],
    }
    print(append(find_store(), issue)["id"])


def main(words):
    match words:
        case ["init", *_]:
            Path(".tissue").mkdir()
            (Path(".tissue") / "issues.jsonl").touch()
        case ["new", title, *options]:
            new(title, *options)
        case ["status", typed, status, *flags]:
            set_status(typed, status, *flags)
        case ["edit", typed, "--status", status, *flags]:
            set_status(typed, status, *flags)
        case ["list", *_]:
            print(json.dumps([*issues(find_store()).values()]))
        case _:
            # The real one answers every fault, `--help` of a command included, with 1.
            fail("unknown command or flag")


if __name__ == "__main__":
    main(sys.argv[1:])
