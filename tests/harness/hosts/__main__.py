"""Run a client once by hand: python -m hosts CLIENT COMMAND...

The model has the client's shell run each command in the folder that this is started in, and then says
that it is done. What it was sent meanwhile is printed. The home is a new one, but $HOST_HOME if set.
"""

import os
import sys
import tempfile
from pathlib import Path

from hosts import CLIENTS, Shell, play


def main():
    client = {each.name: each for each in CLIENTS}[sys.argv[1]]
    if client.missing:
        sys.exit(client.missing)
    project = Path.cwd()
    home = Path(os.environ.get("HOST_HOME") or tempfile.mkdtemp(prefix=f"{client.name}-home-"))
    client.configure(home, project)
    client.trust_hooks(home, project)
    run = play(client, [*map(Shell, sys.argv[2:]), "Done."], project, home=home)
    for number, request in enumerate(run.requests):
        print(f"--- request {number}\n{request.new if number else request.messages[-1][1]}")
    print(f"--- exit code {run.exit_code}, session {run.session}, {run.seconds} s, home {home}")
    print(run.stderr, file=sys.stderr)


if __name__ == "__main__":
    main()
