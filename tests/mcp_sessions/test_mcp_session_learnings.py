"""Learnings of a project with a memory server: written, searched, put away, on both sides."""

import json
import os
import pty
import sys

import pytest

GROVE = (sys.executable, "-m", "grove_core._entry")
DOWN = "Error: cannot open the store"


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


@pytest.fixture
def reflecting(memory):
    """An agent of the project that has closed a ticket, and owes a reflection."""
    agent = memory.world.agent()
    agent.starts()
    memory.wait()
    agent.closes("bd-1")
    agent.is_blocked()
    return agent


# --- reflecting ---------------------------------------------------------------------------------------


def test_what_was_learned_is_on_the_server_when_reflect_has_ended(memory, reflecting, candidate):
    done = reflecting.grove("reflect", stdin=json.dumps({"candidates": [candidate()]}))
    assert done.code == 0, done.stderr
    assert "stored" in done.stdout
    assert "waits" not in done.stdout + done.stderr
    (learning_id,) = memory.entities
    assert learning_id in done.stdout
    assert candidate()["detail"] in memory.entities[learning_id]["observations"][0]
    assert memory.world.gate() == "reflected"
    assert flushed(memory.world)[1]["waiting"] == []
    assert memory.created() == [learning_id]
    assert memory.processes() == {}


WAYS_HOME = ["flush", "reflect", "child"]


@pytest.mark.parametrize("way", WAYS_HOME)
def test_what_the_server_cannot_take_waits_and_gets_there_once(memory, reflecting, candidate, way):
    world = memory.world
    memory.behaves(down=True)
    one = accepted(reflecting.reflects(candidate()))
    assert (one["status"], one["backend"]) == ("queued", "mcp")
    (note,) = one["notes"]
    assert "waits for the memory server" in note
    assert DOWN in note
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
        # What has failed a moment ago is left alone for a minute.
        until_due(memory)
        assert accepted(agent.reflects(candidate(2, **ANOTHER)))["status"] == "stored"
    else:
        until_due(memory)
        memory.pass_time(4000)
        world.agent("session-3").starts()
        memory.wait()
    assert one["id"] in memory.entities
    assert memory.created().count(one["id"]) == 1

    # Once, and no more.
    memory.pass_time(4000)
    world.agent("session-4").starts()
    memory.wait()
    assert flushed(world)[0] == 0
    assert memory.created().count(one["id"]) == 1
    listed = [each["id"] for each in world.grove("list", "--json").json["learnings"]]
    assert listed.count(one["id"]) == 1


def until_due(memory):
    """Lets attempts that have failed have been made an hour earlier."""
    (path,) = memory.world.grove_home.glob("mcp/*/journal.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if line["state"] == "tried":
            line["at"] = "2026-01-02T10:00:00Z"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


@pytest.mark.parametrize("control", [{"lose": 1}, {"soft": "Stored."}, {"refuse_writes": "full"}])
def test_what_only_says_that_it_has_stored_is_not_believed(memory, reflecting, candidate, control):
    memory.behaves(**control)
    one = accepted(reflecting.reflects(candidate()))
    assert one["status"] == "queued"
    assert memory.world.gate() == "reflected"
    code, document = flushed(memory.world)
    assert code == 1
    assert [each["id"] for each in document["waiting"]] == [one["id"]]
    assert "backends.mcp" in document["error"] or "could not be delivered" in document["error"]
    memory.behaves()
    code, document = flushed(memory.world)
    assert (code, document["waiting"], [*memory.entities]) == (0, [], [one["id"]])


def test_an_agent_that_reflects_twice_has_it_on_the_server_once(memory, reflecting, candidate):
    one = accepted(reflecting.reflects(candidate()))
    again = reflecting.reflects(candidate())
    assert [each.get("existing_id") for each in again.json["rejected"]] in ([one["id"]], [])
    assert [*memory.entities] == [one["id"]]


def test_personal_learnings_stay_at_home(memory, reflecting, candidate):
    one = accepted(reflecting.reflects(candidate(scope="personal")))
    assert (one["status"], one["backend"]) == ("stored", "markdown")
    flushed(memory.world)
    assert memory.entities == {}
    assert memory.calls("create_entities") == []


# --- putting away ---------------------------------------------------------------------------------


def test_what_is_archived_here_is_archived_on_the_server_and_back(memory):
    world = memory.world
    (learning_id,) = memory.teach(1)
    assert world.grove("maintain", "archive", learning_id).code == 0
    assert status_here(world, learning_id) == "archived"
    assert found(world, "export", "orders") == {}
    assert flushed(world)[0] == 0
    assert status_there(memory, learning_id) == "archived"
    assert found(world, "export", "orders") == {}
    assert world.grove("maintain", "restore", learning_id).code == 0
    assert flushed(world)[0] == 0
    assert (status_here(world, learning_id), status_there(memory, learning_id)) == (
        "active",
        "active",
    )
    assert [*memory.entities] == [learning_id]


def test_what_is_archived_while_the_server_is_down_is_told_later(memory):
    world = memory.world
    (learning_id,) = memory.teach(1)
    memory.behaves(down=True)
    assert world.grove("maintain", "archive", learning_id).code == 0
    assert learning_id not in world.agent().starts()
    code, document = flushed(world)
    assert (code, [one["id"] for one in document["waiting"]]) == (1, [learning_id])
    memory.wait()
    memory.behaves()
    assert flushed(world)[0] == 0
    assert status_there(memory, learning_id) == "archived"


@pytest.mark.parametrize("how", ["flush", "child"])
def test_what_another_client_archives_on_the_server_is_archived_here_as_well(memory, how):
    world = memory.world
    (learning_id,) = memory.teach(1)
    for status in ("archived", "active"):
        memory.change(learning_id, status)
        assert status_there(memory, learning_id) == status
        if how == "flush":
            assert flushed(world)[1]["received"] == 1
        else:
            memory.pass_time(4000)
            world.agent(f"session-{status}").starts()
            memory.wait()
        assert status_here(world, learning_id) == status
    assert learning_id in world.agent("session-2").starts()


def test_what_its_author_archives_is_archived_on_other_machines(memory, colleague):
    (learning_id,) = memory.teach(1)
    assert flushed(colleague.world)[1]["received"] == 1
    assert learning_id in colleague.world.agent().starts()
    colleague.wait()
    for words, status in (("archive", "archived"), ("restore", "active")):
        assert memory.world.grove("maintain", words, learning_id).code == 0
        assert flushed(memory.world)[0] == 0
        assert flushed(colleague.world)[1]["received"] == 1
        assert status_here(colleague.world, learning_id) == status


def test_what_somebody_else_has_written_is_archived_here_only(memory, colleague):
    """It may look useless where nobody has used it; that it is superseded holds for all."""
    (learning_id,) = memory.teach(1)
    flushed(colleague.world)
    assert colleague.world.grove("maintain", "archive", learning_id).code == 0
    flushed(colleague.world)
    flushed(memory.world)
    assert status_here(colleague.world, learning_id) == "archived"
    assert status_there(memory, learning_id) == "active"
    assert status_here(memory.world, learning_id) == "active"


def test_where_both_have_changed_a_status_ours_stays_and_the_server_is_told(memory, colleague):
    world = memory.world
    (learning_id,) = memory.teach(1)
    flushed(colleague.world)
    # There it is superseded meanwhile, and here archived before we hear of it.
    memory.change(learning_id, "superseded")
    assert world.grove("maintain", "archive", learning_id).code == 0
    assert flushed(world)[0] == 0
    assert status_here(world, learning_id) == "archived"
    assert status_there(memory, learning_id) == "archived"
    flushed(colleague.world)
    assert status_here(colleague.world, learning_id) == "archived"


# --- searching ------------------------------------------------------------------------------------------


def test_a_search_asks_the_server_and_shows_notes_of_others_as_such(memory):
    world = memory.world
    (learning_id,) = memory.teach(1)
    memory.add_note("Deploy", "Deploys of the shop go through the queue of orders")
    results = found(world, "orders")
    (note,) = set(results) - {learning_id}
    assert results[learning_id]["complete"] is True
    assert results[note]["complete"] is False
    assert "go through the queue" in json.dumps(results[note])
    human = world.grove("search", "orders").stdout
    assert "partial" in human or "note" in human
    # Whoever was shown it may ask for it, and hooks do not show it.
    assert "go through the queue" in world.grove("show", note).stdout
    assert "queue" not in world.agent().starts()
    refused = world.grove("maintain", "archive", note)
    assert (refused.code, "note" in refused.stderr) == (1, True)


def test_what_another_machine_has_written_is_found_before_anything_was_synchronised(
    memory, colleague
):
    (learning_id,) = memory.teach(1)
    (one,) = found(colleague.world, "orders").values()
    assert (one["id"], one["complete"], one["status"]) == (learning_id, True, "active")
    # And shown to the next session.
    assert learning_id in colleague.world.agent().starts()
    colleague.wait()


def test_what_was_archived_here_is_not_brought_back_by_the_servers_answer(memory, colleague):
    (learning_id,) = memory.teach(1)
    flushed(colleague.world)
    assert colleague.world.grove("maintain", "archive", learning_id).code == 0
    assert status_there(memory, learning_id) == "active"  # it does not know yet
    assert found(colleague.world, "orders") == {}
    assert [*found(colleague.world, "orders", "--status", "archived")] == [learning_id]


def test_what_the_server_finds_is_shown_where_no_index_finds_it(memory):
    memory.kind = "append"
    memory.configure()
    (learning_id,) = memory.teach(1)
    results = found(memory.world, "fetching", "fetch")
    assert [*results] == [learning_id]
    assert results[learning_id]["reasons"] == ["words fetch"]
    assert found(memory.world, "fetching", "fetch", "--tag", "other") == {}


TROUBLE = {
    "down": {"down": True},
    "an error": {"refuse": "the index is broken"},
    "another thing": {"soft": "Please log in first."},
}


@pytest.mark.parametrize("trouble", TROUBLE)
def test_a_server_that_fails_costs_the_local_results_nothing(memory, trouble):
    world = memory.world
    (learning_id,) = memory.teach(1)
    memory.behaves(**TROUBLE[trouble])
    done = world.grove("search", "--json", "orders")
    assert (done.code, [one["id"] for one in done.json["results"]]) == (0, [learning_id])
    told = {"down": DOWN, "an error": "the index is broken", "another thing": ""}[trouble]
    assert "mcp" in done.stderr or not told
    assert told in done.stderr
    memory.wait()


def test_a_search_with_a_server_that_hangs_ends(memory):
    (learning_id,) = memory.teach(1)
    memory.configure(call_seconds=1.0)
    memory.behaves(slow=600)
    done = memory.world.grove("search", "--json", "orders")
    assert (done.code, [one["id"] for one in done.json["results"]]) == (0, [learning_id])
    assert "did not answer in time" in done.stderr
    memory.wait()


def on_terminal(world, *words):
    """Runs `grove` on a terminal; gives what stands there."""
    number, terminal = pty.fork()
    if not number:
        os.chdir(world.project)
        os.execve(GROVE[0], [*GROVE, *words], {**world.environment, "TERM": "xterm"})
    shown = b""
    while True:
        try:
            shown += (part := os.read(terminal, 4096))
        except OSError:  # it has ended
            break
        if not part:
            break
    os.close(terminal)
    assert os.waitpid(number, 0)[1] == 0
    return shown.decode()


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_who_waits_on_a_terminal_is_told_what_for(memory):
    world = memory.world
    (learning_id,) = memory.teach(1)
    memory.behaves(slow=0.3)
    shown = on_terminal(world, "search", "orders")
    assert "grove: asking the memory server" in shown
    assert shown.index("asking the memory server") < shown.index(learning_id)
    done = world.grove("search", "orders")
    assert "asking" not in done.stdout + done.stderr
