"""`grove hook HOST` with the adapter alone: replies as a test wants, and keeps what was called.

$HOOK_FOLDER/replies.json has a list of replies for an event; its n-th call gets the n-th.
"""

import json
import os
import pickle
import sys
from itertools import count
from pathlib import Path

from grove_core import HookReply


def spec_of(host):
    """The adapter of a host, or None."""
    from importlib.metadata import entry_points

    found = [each.load() for each in entry_points(group="grove.hosts") if each.name == host]
    return found[0].grove_hosts()[0] if found else None


def main():
    folder, spec = Path(os.environ["HOOK_FOLDER"]), spec_of(sys.argv[2])
    call = spec.parse("".join(sys.argv[3:]), json.load(sys.stdin), os.environ)
    if call is None:
        return
    for number in count():
        try:
            with (folder / f"{call.event.name}-{number}").open("xb") as file:
                pickle.dump(call, file)
            break
        except FileExistsError:
            continue
    replies = json.loads((folder / "replies.json").read_text()).get(call.event.name, [])
    reply = HookReply(**replies[number]) if number < len(replies) else HookReply()
    answer = spec.answer(call, reply)
    sys.stdout.write(answer.stdout)
    sys.stderr.write(answer.stderr)
    sys.exit(answer.exit_code)


if __name__ == "__main__":
    main()
