"""A stand-in of schpet/linear-cli 2.3.0; its npm package holds nothing but a downloader.

It knows `issue update -s`, `issue view --json` and `issue id`; issues are in a file of the home. Without
an id it takes the one in the branch's name.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

STATE = Path.home() / "linear-stand-in.json"
TYPES = {"completed": "Done", "canceled": "Canceled", "started": "In Progress", "unstarted": "Todo"}


def fail(message):
    sys.exit(message)


def id_of_branch():
    words = ["git", "branch", "--show-current"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = re.search(r"[a-z]{2,5}-\d+", done.stdout, re.IGNORECASE)
    return found[0].upper() if found else fail("Could not determine issue ID from the branch")


def take_option(words, *names):
    """Takes an option with its value out of words, in place."""
    for number, word in enumerate(words):
        if word in names:
            value = words[number + 1]
            del words[number : number + 2]
            return value
    return None


def main(words):
    if "-h" in words or "--help" in words:
        print("Usage: linear issue update [issueId]")
        return
    if words[:1] != ["issue"] or len(words) == 1:
        fail("unknown command")
    verb, rest = words[1], words[2:]
    state = take_option(rest, "-s", "--state")
    as_json = "--json" in rest
    ids = [word.upper() for word in rest if not word.startswith("-")]
    issues = json.loads(STATE.read_text())
    issue_id = ids[0] if ids else id_of_branch()
    if any(word.startswith("--") and word != "--json" for word in rest):
        fail(f'error: Unknown option "{next(word for word in rest if word.startswith("--"))}".')
    if verb == "update":
        print(f"Updating issue {issue_id}\n", flush=True)
    issue = issues.get(issue_id) or fail(f"✗ Failed to update issue {issue_id}: Entity not found")
    if verb == "id":
        print(issue_id)
    elif verb == "view":
        print(json.dumps({"identifier": issue_id, **issue}) if as_json else issue["title"])
    elif verb == "update" and state:
        names = {name.lower(): name for name in TYPES.values()}
        name = TYPES.get(state.lower()) or names.get(state.lower())
        issue["state"] = {"name": name or fail(f"Could not find workflow state '{state}'")}
        STATE.write_text(json.dumps(issues))
        print(f"✓ Updated issue {issue_id}: {issue['title']}")
    else:
        fail("unknown command")


if __name__ == "__main__":
    main(sys.argv[1:])
