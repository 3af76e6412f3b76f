"""A stand-in of tk 0.3.2 (`ticket`), a shell script that no package registry has: one file a ticket.

It knows `create`, `start`, `close`, `reopen`, `status` and `show`, with their exit codes and output.
"""

import os
import re
import sys
from pathlib import Path

USAGE = "Usage: tk <command> [args]\n\nCommands: create start close reopen status show closed\n"


def fail(message):
    sys.exit(f"Error: {message}")


def find_folder():
    if "TICKETS_DIR" in os.environ:
        return Path(os.environ["TICKETS_DIR"])
    for directory in (Path.cwd(), *Path.cwd().parents):
        if (directory / ".tickets").is_dir():
            return directory / ".tickets"
    return Path(".tickets")


def find(typed):
    """The one ticket whose id holds these letters."""
    found = sorted(find_folder().glob(f"*{typed}*.md"))
    if not found:
        fail(f"ticket '{typed}' not found")
    return found[0] if len(found) == 1 else fail(f"ambiguous ID '{typed}' matches multiple tickets")


def create(title, *options):
    values = dict(zip(options[::2], options[1::2], strict=True))
    folder = find_folder()
    folder.mkdir(exist_ok=True)
    ticket_id = f"sh-{len(list(folder.glob('*.md'))) + 1:04d}"
    (folder / f"{ticket_id}.md").write_text(
        f"---\nid: {ticket_id}\nstatus: open\ndeps: []\nlinks: []\ncreated: 2030-01-01T00:00:00Z\n"
        f"type: task\npriority: 2\ntags: [{values.get('--tags', '')}]\n---\n"
        f"# {title}\n\n{values.get('-d', '')}\n"
    )
    print(ticket_id)


def set_status(typed, status):
    path = find(typed)
    path.write_text(re.sub(r"(?m)^status: .*$", f"status: {status}", path.read_text(), count=1))
    print(f"Updated {path.stem} -> {status}")


def main(words):
    match words:
        case ["create", title, *options]:
            create(title, *options)
        case ["start", typed, *_]:
            set_status(typed, "in_progress")
        case ["close", typed, *_]:
            set_status(typed, "closed")
        case ["reopen", typed, *_]:
            set_status(typed, "open")
        case ["status", typed, ("open" | "in_progress" | "closed") as status, *_]:
            set_status(typed, status)
        case ["show", typed, *_]:
            print(find(typed).read_text())
        case ["closed", *_]:
            for path in sorted(find_folder().glob("*.md")):
                if "status: closed" in path.read_text():
                    print(path.stem)
        case [] | ["help" | "--help" | "-h", *_]:
            print(USAGE)
        case _:
            fail("unknown command or missing argument")


if __name__ == "__main__":
    main(sys.argv[1:])
