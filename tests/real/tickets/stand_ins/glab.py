"""A stand-in of glab, GitLab's program, which no package registry has: issues in a file of the home.

It knows `issue close`, `issue reopen` and `issue view`, with their exit codes and output.
"""

import json
import sys
from pathlib import Path

STATE = Path.home() / "glab-stand-in.json"


def fail(message):
    sys.exit(f"ERROR: {message}")


def main(words):
    if "-h" in words or "--help" in words:
        print("Close an issue.\n\nUSAGE\n  glab issue close [<id> | <url>] [flags]")
        return
    issues = json.loads(STATE.read_text())
    match words:
        case ["issue", ("close" | "reopen" | "view") as verb, typed, *rest]:
            number = typed.lstrip("#").rsplit("/", maxsplit=1)[-1]
        case _:
            fail("accepts 1 arg(s)")
    if verb != "view" and rest:
        fail(f"accepts 1 arg(s), received {1 + len(rest)}")
    if number not in issues:
        fail("404 Not Found")
    if verb == "view":
        print(json.dumps({"iid": int(number), **issues[number]}))
        return
    issues[number]["state"] = "closed" if verb == "close" else "opened"
    STATE.write_text(json.dumps(issues))
    doing, done = ("Closing", "Closed") if verb == "close" else ("Reopening", "Reopened")
    print(f"- {doing} Issue...\n✓ {done} Issue #{number}")


if __name__ == "__main__":
    main(sys.argv[1:])
