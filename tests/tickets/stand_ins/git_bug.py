"""A stand-in of git-bug 0.8.1, which could not be had: bugs in `refs/bugs/` of the repository.

It knows `bug new`, `bug select`, `bug status open|close`, `bug show --format json`; `git bug …` finds it
as `git-bug`. A bug is a commit whose message is JSON.
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

IDENTITY = ("-c", "user.name=Dev", "-c", "user.email=dev@example.org")
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def git(*words, text=None):
    done = subprocess.run(
        ["git", *IDENTITY, *words], input=text, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"Error: {done.stderr.strip()}")
    return done.stdout.strip()


def selection():
    return Path(git("rev-parse", "--git-common-dir")) / "git-bug" / "select" / "bugs"


def bugs():
    lines = git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/bugs").splitlines()
    return {one: json.loads(git("log", "-1", "--format=%B", f"refs/bugs/{one}")) for one in lines}


def store(bug_id, bug):
    git("hash-object", "-t", "tree", "-w", "--stdin", text="")
    commit = git("commit-tree", EMPTY_TREE, text=json.dumps(bug))
    git("update-ref", f"refs/bugs/{bug_id}", commit)


def find(words):
    """The bug that is meant by the beginning of its id, or the selected one."""
    if not words:
        if not selection().exists():
            sys.exit('Error: you must provide a bug id or use the "select" command first')
        words = [selection().read_text().strip()]
    found = [one for one in bugs() if one.startswith(words[0])]
    return found[0] if len(found) == 1 else sys.exit("Error: bug doesn't exist")


def main(words):
    if "-h" in words or "--help" in words:
        print("Usage:\n  git-bug bug status [command]")
        return
    unknown = [word for word in words if word.startswith("--") and word != "--format"]
    if unknown:
        sys.exit(f"Error: unknown flag: {unknown[0]}")
    match words:
        case ["bug", "new", "-t", title, "-m", message]:
            bug_id = hashlib.sha256(title.encode()).hexdigest()
            store(bug_id, {"title": title, "message": message, "status": "open", "labels": []})
            print(f"{bug_id[:7]} created")
        case ["bug", "label", "new", bug_id, *labels]:
            bug_id = find([bug_id])
            store(bug_id, {**bugs()[bug_id], "labels": labels})
        case ["bug", "select", bug_id]:
            selection().parent.mkdir(parents=True, exist_ok=True)
            selection().write_text(find([bug_id]))
        case ["bug", "status", ("close" | "open") as verb, *rest]:
            bug_id = find(rest)
            store(bug_id, {**bugs()[bug_id], "status": "closed" if verb == "close" else "open"})
        case ["bug", "show", *rest]:
            bug_id = find([word for word in rest if word not in {"--format", "json"}])
            bug = bugs()[bug_id]
            comments = [{"id": bug_id, "human_id": bug_id[:7], "message": bug.pop("message")}]
            print(json.dumps({"id": bug_id, "human_id": bug_id[:7], **bug, "comments": comments}))
        case _:
            sys.exit(f'Error: unknown command {" ".join(words)!r} for "git-bug"')


if __name__ == "__main__":
    main(sys.argv[1:])
