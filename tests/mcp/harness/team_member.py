"""One member of a team at work: stores learnings and searches between them.

    python team_member.py URL PROJECT NUMBER COUNT

Prints a JSON object: the ids that it has stored, and those of its own that it did not find at the end.
"""

import json
import sys
import time

from sample_learnings import samples

from grove_backend_mcp.client import connect
from grove_backend_mcp.mappings.profiles import match_profile
from grove_backend_mcp.servers import Endpoint, Transport
from grove_backend_mcp.speaking.memory_server import MemoryServer
from grove_core import Query

PATIENCE_SECONDS = 30


def found(memory, word):
    """The ids of the learnings that are found by a word."""
    return [one.learning_id for one in memory.search(Query(text=word), 5) if one.learning_id]


def found_in_time(memory, word, learning_id):
    """Whether it is found; a server may fill its index behind its answers."""
    until = time.monotonic() + PATIENCE_SECONDS
    while learning_id not in found(memory, word):
        if time.monotonic() > until:
            return False
        time.sleep(0.2)
    return True


def main(url, project, number, count):
    learnings = samples(int(number), int(count))
    with connect(Endpoint(name="team", transport=Transport.HTTP, url=url)) as connection:
        profile = match_profile(connection.tools(), connection.server_name)
        memory = MemoryServer(connection, profile.mapping, project)
        memory.prepare()
        for at, (word, learning) in enumerate(learnings.items()):
            memory.store(learning)
            if at % 5 == 0:
                found(memory, word)
        lost = [
            learning.id
            for word, learning in learnings.items()
            if not found_in_time(memory, word, learning.id)
        ]
    print(json.dumps({"stored": [one.id for one in learnings.values()], "lost": lost}))


if __name__ == "__main__":
    main(*sys.argv[1:])
