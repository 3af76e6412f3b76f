"""The gate around tickets: several at once, opened again, in the background, by others, by patterns."""

import json

import pytest

SHELL = {"id": "shell-1", "type": "shell", "status": "running", "description": "x"}


ACME = '[[ticketing.patterns]]\nname = "acme"\ncommand = "acme ticket finish|close {id}"\n'


def cycles(world, session_id="session-1"):
    """How the session's cycles ended: the first ticket, the outcome, the blocks."""
    events = [one for one in world.events("gate") if one["session_id"] == session_id]
    return [(one["ticket_id"], one["outcome"], one["blocks"]) for one in events]


def owed(world, session_id="session-1"):
    """The ids of the tickets that are owed for, or `None` without a debt."""
    gate = world.session(session_id)["gate"]
    owes = gate["status"] in {"pending", "blocked"}
    return [one["ticket_id"] for one in gate["cycle"]["tickets"]] if owes else None


def set_status(world, ticket_id, status):
    """The line that beads leaves when the status of a ticket changes."""
    with (world.project / ".beads" / "issues.jsonl").open("a") as file:
        file.write(json.dumps({"id": ticket_id, "status": status}) + "\n")


def install_bd(world, ticket_id, status):
    """A `bd` on PATH that lists one issue with this status, whatever it is asked."""
    world.install_bd(status)
    answer = json.dumps([{"id": ticket_id, "status": status}])
    (world.others / "bin" / "bd").write_text(f"#!/bin/sh\necho '{answer}'\n")


def reopens(agent, ticket_id, command="bd reopen {}", **fields):
    """The agent opens a ticket again with a command that works."""
    call = agent.announces(command=command.format(ticket_id), **fields)
    set_status(agent.world, ticket_id, "open")
    agent.succeeds(call, f"↻ Reopened {ticket_id}")


def is_named(reason, words):
    assert reason.startswith(f"grove: {words} – one step left before you finish."), reason


def test_tickets_of_one_turn_are_one_cycle_and_one_reflection(beads, agent, candidate):
    agent.closes("bd-1", "bd-2")
    call = agent.announces(command="bd close bd-2 bd-2; bd update bd-3 --status closed")
    beads.close_ticket("bd-3")
    agent.succeeds(call)
    is_named(agent.is_blocked(), "tickets bd-1, bd-2, bd-3 are closed")
    agent.closes("bd-4")
    is_named(agent.is_blocked(active=True), "tickets bd-1, bd-2, bd-3, bd-4 are closed")
    assert agent.reflects(candidate(1)).code == 0
    agent.is_let_go(active=True)
    assert cycles(beads) == [("bd-1", "reflected", 2)]


@pytest.mark.parametrize("command", ["bd reopen {}", "bd update {} --status open"])
def test_a_ticket_that_is_opened_again_is_not_owed_for(beads, agent, command):
    agent.closes("bd-1")
    assert owed(beads) == ["bd-1"]
    reopens(agent, "bd-1", command)
    assert owed(beads) is None
    agent.is_let_go()
    assert cycles(beads) == [("bd-1", "no_change", 0)]
    assert beads.session()["intents"] == []
    # The work on it goes on, and it is closed in earnest.
    agent.closes("bd-1")
    agent.is_blocked()
    reopens(agent, "bd-1")
    agent.is_let_go(active=True)
    # The blocks of a cycle that was taken back do not count for the next.
    agent.closes("bd-1")
    for _ in range(3):
        agent.is_blocked()
    assert "lets the agent go" in agent.stops(active=True).stderr
    assert beads.session()["gate"]["broken_cycles"]
    reopens(agent, "bd-1", command)
    assert beads.session()["gate"]["broken_cycles"] == []


def test_a_reopening_that_failed_keeps_the_debt(beads, agent):
    agent.closes("bd-1")
    agent.fails(agent.announces(command="bd reopen bd-1"), "Exit code 1\nError: locked")
    call = agent.announces(command="bd reopen bd-1 | cat")
    agent.succeeds(call, "Error: database is locked")
    agent.is_blocked()
    assert (owed(beads), beads.session()["intents"]) == (["bd-1"], [])
    # What failed after it had opened the ticket again takes the debt back.
    call = agent.announces(command="bd reopen bd-1 && false")
    install_bd(beads, "bd-1", "open")
    agent.fails(call)
    agent.is_let_go()


def test_a_reopening_in_a_background_shell_counts_when_it_is_done(beads, agent):
    agent.closes("bd-1")
    call = agent.announces(command="bd reopen bd-1", run_in_background=True)
    agent.succeeds(call, backgroundTaskId=SHELL["id"])
    agent.is_let_go(background_tasks=[SHELL])
    assert owed(beads) == ["bd-1"]
    set_status(beads, "bd-1", "open")
    agent.is_let_go()
    assert owed(beads) is None


def test_without_a_debt_a_reopening_leaves_nothing(beads, agent, candidate):
    """Most are the start of work on a ticket."""
    agent.starts()
    before = beads.session()
    reopens(agent, "bd-1", "bd update {} --claim")
    assert beads.session() == before
    agent.closes("bd-1")
    assert agent.reflects(candidate(1)).code == 0
    before = beads.session()
    reopens(agent, "bd-1")
    assert beads.session() == before
    # Closed again, it is owed for again.
    agent.closes("bd-1")
    assert owed(beads) == ["bd-1"]


def closes_in_background(agent, ticket_id="bd-1"):
    call = agent.announces(command=f"bd close {ticket_id}", run_in_background=True)
    agent.succeeds(call, backgroundTaskId=SHELL["id"])


def test_a_background_close_that_is_done_later_holds_the_next_stop(beads, agent):
    closes_in_background(agent)
    assert owed(beads) is None
    agent.closes("bd-2")
    agent.is_let_go(background_tasks=[SHELL])
    agent.asks("Anything new?")
    assert len(beads.session()["intents"]) == 1
    beads.close_ticket("bd-1")
    is_named(agent.is_blocked(), "tickets bd-2, bd-1 are closed")
    assert beads.session()["intents"] == []


def test_a_close_during_or_after_the_reflection_opens_a_cycle_of_its_own(beads, agent, candidate):
    agent.closes("bd-1")
    agent.is_blocked()
    closes_in_background(agent, "bd-3")
    # The reflection is accepted while the call runs, and the close counts when it is over.
    call = agent.announces(command="grove reflect --json < candidates.json; bd close bd-2")
    assert agent.reflects(candidate(1)).json["gate"] == "reflected"
    beads.close_ticket("bd-2")
    agent.succeeds(call, "✓ Closed bd-2")
    beads.close_ticket("bd-3")
    is_named(agent.is_blocked(active=True), "tickets bd-2, bd-3 are closed")
    assert agent.reflects(candidate(2)).code == 0
    agent.is_let_go(active=True)
    assert cycles(beads) == [("bd-1", "reflected", 1), ("bd-2", "reflected", 1)]


BURST = range(1, 4)


def store_task(world, number, status):
    """A task as the client keeps it."""
    folder = world.home / ".claude" / "tasks" / "session-1"
    folder.mkdir(parents=True, exist_ok=True)
    task = {"id": str(number), "subject": f"Task {number}", "status": status}
    (folder / f"{number}.json").write_text(json.dumps(task))


def update_of(agent, number, status="completed"):
    return agent.announces("TaskUpdate", taskId=str(number), status=status)


def tells_of(agent, number):
    agent.silent("TaskCompleted", task_id=str(number), task_subject=f"Task {number}")


def is_stored(agent, number, call, change=("in_progress", "completed")):
    store_task(agent.world, number, change[1])
    change = dict(zip(("from", "to"), change, strict=True))
    agent.succeeds(call, success=True, taskId=str(number), statusChange=change)


def one_by_one(agent, numbers=BURST):
    for number in numbers:
        store_task(agent.world, number, "in_progress")
    for number in numbers:
        call = update_of(agent, number)
        tells_of(agent, number)
        is_stored(agent, number, call)


def all_stored_first(agent, numbers=BURST):
    """Calls that run side by side may all be done before the first one reports."""
    calls = {number: update_of(agent, number) for number in numbers}
    for number in numbers:
        tells_of(agent, number)
        store_task(agent.world, number, "completed")
    for number, call in calls.items():
        is_stored(agent, number, call)


def with_tasks(world):
    for number in BURST:
        store_task(world, number, "in_progress")
    agent = world.agent()
    agent.starts()
    return agent


@pytest.mark.parametrize("burst", [one_by_one, all_stored_first])
def test_a_burst_of_to_dos_is_at_most_one_cycle_a_prompt(world, burst):
    world.initialise()
    agent = with_tasks(world)
    burst(agent)
    assert len(owed(world)) == 1
    agent.is_blocked()
    assert agent.grove("skip", "nothing to it").code == 0
    assert world.session()["intents"] == []
    # Further ones in the same prompt ask no more; those of the next prompt may.
    burst(agent, (1,))
    agent.is_let_go(active=True)
    agent.prompt_id = "prompt-2"
    agent.asks("Once more, please.")
    burst(agent, (2,))
    agent.is_blocked()


def test_while_a_to_do_is_open_nobody_is_held(world):
    world.initialise()
    agent = with_tasks(world)
    one_by_one(agent, (1, 2))
    agent.is_let_go()
    # A teammate completes the last one: the session sees no call of a tool.
    tells_of(agent, 3)
    store_task(world, 3, "completed")
    assert "is closed – one step left" in agent.is_blocked()
    assert len(owed(world)) == 1


def test_a_list_of_to_dos_without_files_is_one_cycle(world):
    """TodoWrite sends the whole list each time and stores it nowhere."""
    world.initialise("[ticketing.overrides]\ntasks = true\n")
    store_task(world, 1, "completed")  # else nothing gives tasks away
    agent = world.agent()
    todos = [{"content": f"Do {number}", "activeForm": "x", "status": "pending"} for number in "12"]
    for todo in todos:
        old = [dict(one) for one in todos]
        todo["status"] = "completed"
        call = agent.announces("TodoWrite", todos=todos)
        agent.succeeds(call, oldTodos=old, newTodos=todos)
    assert owed(world) == [None]
    is_named(agent.is_blocked(), "ticket of tasks is closed")


@pytest.mark.parametrize("used", ["beads", "acme", "nothing"])
def test_to_dos_are_no_tickets_elsewhere(world, used):
    """Beside a ticket system, or in a project that does not use grove."""
    if used != "nothing":
        world.initialise(ACME if used == "acme" else "")
    if used == "beads":
        world.use_beads()
    agent = with_tasks(world)
    one_by_one(agent, (1, 2, 3))
    assert world.session()["intents"] == []
    agent.is_let_go()


def test_a_pattern_arms_the_gate(world, candidate):
    world.initialise(ACME)
    agent = world.agent()
    for command in ("acme ticket close", "acme ticket close --help A-1"):
        agent.succeeds(agent.announces(command=command))
    agent.fails(agent.announces(command="acme ticket close A-1"))
    agent.is_let_go()
    agent.succeeds(agent.announces(command="cd /srv && /opt/acme ticket finish A-1 --yes | cat"))
    is_named(agent.is_blocked(), "ticket A-1 is closed")
    assert agent.reflects(candidate(1)).code == 0
    agent.is_let_go()
    assert cycles(world) == [("A-1", "reflected", 1)]
    call = agent.announces(command="acme ticket close A-2", run_in_background=True)
    agent.succeeds(call, backgroundTaskId=SHELL["id"])
    agent.is_let_go(background_tasks=[SHELL])
    is_named(agent.is_blocked(), "ticket A-2 is closed")
