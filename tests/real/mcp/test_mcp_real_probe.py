"""`grove backends mcp probe` tries a real server out with a learning of no one's."""

import json

NAME = "team-memory"


def test_a_probe_tells_what_a_real_server_can_do(world, running_server, server):
    world.initialise()
    # The server's own data; a session of the client would change it, too.
    world.lent.append(running_server.home.parent)
    registered = {"mcpServers": {NAME: running_server.entry}}
    (world.home / ".claude").mkdir()
    (world.home / ".claude" / ".claude.json").write_text(json.dumps(registered))
    done = world.grove("backends", "mcp", "probe", NAME, "--json")
    assert done.code == 0, done.stdout + done.stderr
    assert done.json["profile"] == server.profile
    # What a server has no tool for is no failure, and told from what works.
    outcomes = {step["name"]: step["ok"] for step in done.json["steps"]}
    assert outcomes.pop("setup", True) is True
    assert outcomes == {
        "write": True,
        "search": server.finds or None,
        "update": server.updates or None,
        "delete": server.deletes or None,
    }
