"""Hook command that records its stdin and the client's variables, then answers as told.

    recorder.py OUT_FOLDER EVENT [RULES.json] [LABEL]

RULES.json: {"EVENT" or "EVENT/LABEL": [{"exit": 2, "stdout": "…", "stderr": "…", "sleep": 1}, …]}.
The n-th call of an event takes the n-th answer; past the end the hook passes silently (exit 0).
"""

import json
import os
import sys
import time
from itertools import count
from pathlib import Path

# By this on stderr, which nobody reads at exit 0, a transcript tells the recorder from other hooks.
SILENT = "harness: recorded\n"


def free_record(folder, name):
    """Opens the record with the next free number, which parallel hooks must not share."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in count(1):
        path = folder / f"{name}-{number}.json"
        try:
            path.open("x").close()
        except FileExistsError:
            continue
        return number, path
    raise AssertionError


def answer_for(rules, event, label, number):
    """The answer to the number-th call, empty when the rules have none."""
    answers = rules.get(f"{event}/{label}") if label else None
    if answers is None:
        answers = rules.get(event, [])
    return answers[number - 1] if number <= len(answers) else {}


def client_variables():
    """What the client gave this hook in its environment, without anything secret."""
    return {
        name: "<redacted>" if "TOKEN" in name or "KEY" in name else value
        for name, value in sorted(os.environ.items())
        if name.startswith("CLAUDE") or name == "AI_AGENT"
    }


def give(answer):
    """Gives the answer and ends this process."""
    if answer.get("env_file") and os.environ.get("CLAUDE_ENV_FILE"):
        with Path(os.environ["CLAUDE_ENV_FILE"]).open("a") as file:
            file.write(answer["env_file"] + "\n")
    time.sleep(answer.get("sleep", 0))
    stdout = answer.get("stdout")
    if stdout is not None:
        sys.stdout.write(stdout if isinstance(stdout, str) else json.dumps(stdout))
        sys.stdout.flush()
    if answer.get("stderr"):
        sys.stderr.write(answer["stderr"])
        sys.stderr.flush()
    if answer.get("kill"):
        os.kill(os.getpid(), answer["kill"])
    sys.exit(answer.get("exit", 0))


def main():
    started = time.time()
    out, event, rules_path, label = (*sys.argv[1:], "", "")[:4]
    rules = json.loads(Path(rules_path).read_text()) if rules_path else {}
    raw = sys.stdin.read()
    try:
        payload = json.loads(raw)
    except ValueError:
        payload = {"_unparsed": raw}
    number, path = free_record(Path(out), f"{event}-{label}" if label else event)
    answer = answer_for(rules, event, label, number)
    record = {
        "event": event,
        "label": label,
        "n": number,
        "started": started,
        "argv": sys.argv,
        "cwd": str(Path.cwd()),
        "env": client_variables(),
        "stdin": payload,
        "answer": answer,
    }
    path.write_text(json.dumps(record, indent=1))
    give(answer or {"stderr": SILENT})


if __name__ == "__main__":
    main()
