"""Several people write to one server and search it at the same time; nothing is lost or doubled."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

from sample_learnings import samples

from grove_backend_mcp.client import connect
from grove_backend_mcp.mappings.profiles import match_profile
from grove_backend_mcp.speaking.memory_server import MemoryServer

MEMBER = Path(__file__).parents[1] / "mcp" / "harness" / "team_member.py"
MEMBERS = 4
EACH = 25


def member(url, home, number):
    """A process of a person with a home of their own."""
    home.mkdir()
    return subprocess.Popen(
        [sys.executable, str(MEMBER), url, "shop", str(number), str(EACH)],
        env={**os.environ, "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_four_people_store_and_search_at_once(team_server, tmp_path):
    url = team_server.entry["url"]
    members = [member(url, tmp_path / str(number), number) for number in range(MEMBERS)]
    stored = set()
    for one in members:
        out, err = one.communicate(timeout=300)
        assert one.returncode == 0, err
        said = json.loads(out)
        assert said["lost"] == []
        stored.update(said["stored"])
    assert len(stored) == MEMBERS * EACH
    with connect(team_server.endpoint) as connection:
        profile = match_profile(connection.tools(), connection.server_name)
        memory = MemoryServer(connection, profile.mapping, "shop")
        listed = memory.listing()
        ids = Counter(one.learning_id for one in listed)
        assert ids == Counter(stored)
        whole = {one.learning_id: one for one in memory.fetched(listed, len(listed))}
    for number in range(MEMBERS):
        for learning in samples(number, EACH).values():
            assert whole[learning.id].learning == learning
            assert whole[learning.id].project == "shop"
