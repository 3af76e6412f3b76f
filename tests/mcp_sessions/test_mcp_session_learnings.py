"""Learnings of a project with a memory server: written, searched, put away, on both sides."""

import json

import pytest

ANOTHER = {
    "summary": "ledger.close_month() must run before the tax export, else TaxExport.rows() is empty",
    "detail": (
        "TaxExport.rows() in shop/tax.py joins on ledger_months, which only ledger.close_month()"
        " fills; run without it, the export had 0 of 412 rows and raised nothing."
    ),
    "tags": ["tax", "ledger"],
    "context_files": ["shop/tax.py"],
}


def accepted(done):
    """What became of the one candidate that was handed in."""
    assert done.code == 0, done.stderr
    (one,) = done.json["accepted"]
    return one


def flushed(world):
    done = world.grove("maintain", "flush", "--json")
    return done.code, done.json


def found(world, *words):
    """What `grove search` finds, by id."""
    return {one["id"]: one for one in world.grove("search", "--json", *words).json["results"]}


def status_here(world, learning_id):
    return world.grove("show", "--json", learning_id).json["status"]


def status_there(memory, learning_id):
    """The status in the block that the server holds of a learning."""
    texts = memory.entities[learning_id]["observations"]
    (block,) = (text for text in texts if text.startswith("grove-meta:v1 "))
    return json.loads(block.removeprefix("grove-meta:v1 "))["status"]


@pytest.mark.parametrize("way", ["flush", "reflect", "child"])
def test_what_the_server_cannot_take_waits_and_gets_there_once(memory, reflecting, candidate, way):
    world = memory.world
    memory.behaves(down=True)
    one = accepted(reflecting.reflects(candidate()))
    assert (one["status"], one["backend"]) == ("queued", "mcp")
    (note,) = one["notes"]
    assert "waits for the memory server" in note
    # The gate opens all the same, and the learning counts here from now on.
    assert world.gate() == "reflected"
    reflecting.is_let_go()
    assert memory.entities == {}
    assert [*found(world, "export", "orders")] == [one["id"]]
    assert one["id"] in world.agent("session-2").starts()
    memory.wait()

    memory.behaves()
    memory.forget_failures()
    if way == "flush":
        code, document = flushed(world)
        assert (code, [each["learning_id"] for each in document["delivered"]]) == (0, [one["id"]])
        assert document["waiting"] == []
    elif way == "reflect":
        agent = world.agent("session-3")
        agent.starts()
        agent.closes("bd-3")
        assert accepted(agent.reflects(candidate(2, **ANOTHER)))["status"] == "stored"
    else:
        memory.pass_time(4000)
        world.agent("session-3").starts()
        memory.wait()
    assert memory.created().count(one["id"]) == 1

    # Once, and no more.
    assert flushed(world)[0] == 0
    assert memory.created().count(one["id"]) == 1
    listed = [each["id"] for each in world.grove("list", "--json").json["learnings"]]
    assert listed.count(one["id"]) == 1


def test_what_is_put_away_here_is_put_away_on_the_server_and_on_other_machines(memory, colleague):
    world = memory.world
    (learning_id,) = memory.teach(1)
    # It is found before anything was synchronised, and shown to the next session.
    (one,) = found(colleague.world, "orders").values()
    assert (one["id"], one["complete"], one["status"]) == (learning_id, True, "active")
    assert learning_id in colleague.world.agent().starts()
    colleague.wait()
    for word, status in (("archive", "archived"), ("restore", "active")):
        assert world.grove("maintain", word, learning_id).code == 0
        assert bool(found(world, "export", "orders")) == (status == "active")
        assert flushed(world)[0] == 0
        assert status_there(memory, learning_id) == status
        assert flushed(colleague.world)[1]["received"] == 1
        assert status_here(colleague.world, learning_id) == status
    assert [*memory.entities] == [learning_id]
