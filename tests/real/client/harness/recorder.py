"""Hook command that records its stdin: recorder.py OUT_FOLDER EVENT"""

import json
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
        return path
    raise AssertionError


def main():
    started = time.time()
    out, event = sys.argv[1:]
    raw = sys.stdin.read()
    try:
        payload = json.loads(raw)
    except ValueError:
        payload = {"_unparsed": raw}
    path = free_record(Path(out), event)
    record = {"event": event, "started": started, "stdin": payload}
    path.write_text(json.dumps(record, indent=1))
    sys.stderr.write(SILENT)


if __name__ == "__main__":
    main()
