"""The gate around tickets: several at once, opened again, in the background, by others, by patterns."""

import json

import pytest

SHELL = {"id": "shell-1", "type": "shell", "status": "running", "description": "x"}
SUBAGENT = {"id": "sub-1", "type": "subagent", "status": "running", "description": "x"}
IS_SUBAGENT = {"agent_id": "a872a6c475997fe1c", "agent_type": "general-purpose"}
ACME = '[[ticketing.patterns]]\nname = "acme"\ncommand = "acme ticket finish|close {id}"\n'


@pytest.fixture
def agent(beads):
    started = beads.agent()
    started.starts()
    return started


def cycles(world, session_id="session-1"):
    """How the session's cycles ended: the first ticket, the outcome, the blocks."""
    events = [one for one in world.events("gate") if one["session_id"] == session_id]
    return [(one["ticket_id"], one["outcome"], one["blocks"]) for one in events]


def traced(world, *names):
    """The trace of some kinds of events, in order."""
    events = world.session()["trace"]["events"]
    return [one for one in events if one["event_type"] in names]


def owed(world):
    """The ids of the tickets that are owed for, or `None` without a debt."""
    gate = world.session()["gate"]
    owes = gate["status"] in {"pending", "blocked"}
    return [one["ticket_id"] for one in gate["cycle"]["tickets"]] if owes else None


def set_status(world, ticket_id, status):
    """The line that beads leaves when the status of a ticket changes."""
    extra = {"field": "status", "new_value": status}
    entry = {"kind": "field_change", "issue_id": ticket_id, "extra": extra}
    with (world.project / ".beads" / "interactions.jsonl").open("a") as file:
        file.write(json.dumps(entry) + "\n")


def install_bd(world, ticket_id, status):
    """A `bd` on PATH that lists one issue with this status, whatever it is asked."""
    world.install_bd(status)
    answer = json.dumps([{"id": ticket_id, "status": status}])
    (world.others / "bin" / "bd").write_text(f"#!/bin/sh\necho '{answer}'\n")


def reopens(agent, ticket_id, *, command=None):
    """The agent opens a ticket again with a command that works."""
    call = agent.announces(command=command or f"bd reopen {ticket_id}")
    set_status(agent.world, ticket_id, "open")
    agent.succeeds(call, f"↻ Reopened {ticket_id}")


def is_named(reason, words):
    assert reason.startswith(f"grove: {words} – one step left before you finish."), reason


# --- several tickets ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "commands",
    [
        ["bd close bd-1 bd-2 bd-3"],
        ["bd close bd-1 && bd close bd-2; bd update bd-3 --status closed"],
        ["bd close bd-1", "bd close bd-2", "bd close bd-3"],
        ["bd close bd-1 bd-2", "for i in bd-3; do bd close bd-3; done"],
    ],
    ids=["one command", "one call", "three calls", "two calls"],
)
def test_tickets_of_one_turn_are_one_cycle_and_one_reflection(beads, agent, candidate, commands):
    for command in commands:
        call = agent.announces(command=command)
        for number in "123":
            if f"bd-{number}" in command:
                beads.close_ticket(f"bd-{number}")
        agent.succeeds(call)
    is_named(agent.is_blocked(), "tickets bd-1, bd-2, bd-3 are closed")
    is_named(agent.is_blocked(active=True), "tickets bd-1, bd-2, bd-3 are closed")
    assert agent.reflects(candidate(1)).code == 0
    agent.is_let_go(active=True)
    assert cycles(beads) == [("bd-1", "reflected", 2)]


def test_tickets_of_two_systems_are_one_cycle(world, candidate):
    world.initialise(ACME)
    world.use_beads()
    agent = world.agent()
    agent.starts()
    call = agent.announces(command="bd close bd-1 && acme ticket close A-7")
    world.close_ticket("bd-1")
    agent.succeeds(call)
    is_named(agent.is_blocked(), "tickets bd-1, A-7 are closed")
    assert agent.reflects(candidate(1)).code == 0
    agent.is_let_go()
    assert cycles(world) == [("bd-1", "reflected", 1)]


def test_of_many_tickets_the_first_are_named_and_the_others_counted(beads, agent):
    agent.closes(*(f"bd-{number}" for number in range(1, 41)))
    reason = agent.is_blocked()
    is_named(reason, "tickets bd-1, bd-2, bd-3, bd-4, bd-5, bd-6 and 34 more are closed")
    assert len(owed(beads)) == 40
    assert agent.grove("skip", "a clean-up of old tickets").code == 0
    agent.is_let_go()
    assert cycles(beads) == [("bd-1", "skipped", 1)]


def test_a_ticket_that_is_closed_while_another_is_owed_for_joins_it(beads, agent, candidate):
    agent.closes("bd-1")
    is_named(agent.is_blocked(), "ticket bd-1 is closed")
    agent.closes("bd-2")
    is_named(agent.is_blocked(active=True), "tickets bd-1, bd-2 are closed")
    assert agent.reflects(candidate(1)).code == 0
    agent.is_let_go()
    assert cycles(beads) == [("bd-1", "reflected", 2)]


# --- the same ticket twice ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "commands",
    [["bd close bd-1", "bd close bd-1"], ["bd close bd-1 bd-1"], ["bd close bd-1; bd close bd-1"]],
)
def test_a_ticket_that_is_closed_twice_is_owed_for_once(beads, agent, commands):
    for command in commands:
        call = agent.announces(command=command)
        beads.close_ticket("bd-1")
        agent.succeeds(call, "✓ Closed bd-1")
    assert owed(beads) == ["bd-1"]
    is_named(agent.is_blocked(), "ticket bd-1 is closed")
    assert agent.grove("skip", "nothing to it").code == 0
    agent.is_let_go()
    assert cycles(beads) == [("bd-1", "skipped", 1)]


def test_a_ticket_that_is_closed_again_in_a_later_turn_is_owed_for_again(beads, agent, candidate):
    agent.closes("bd-1")
    agent.is_blocked()
    assert agent.reflects(candidate(1)).code == 0
    agent.is_let_go()
    agent.prompt_id = "prompt-2"
    reopens(agent, "bd-1")
    agent.is_let_go()
    agent.closes("bd-1")
    is_named(agent.is_blocked(), "ticket bd-1 is closed")
    assert agent.grove("skip", "the same once more").code == 0
    assert cycles(beads) == [("bd-1", "reflected", 1), ("bd-1", "skipped", 1)]


# --- closed and opened again --------------------------------------------------------------------


@pytest.mark.parametrize("command", ["bd reopen bd-1", "bd update bd-1 --status open"])
def test_a_ticket_that_is_opened_again_before_the_stop_is_not_owed_for(beads, agent, command):
    agent.closes("bd-1")
    assert owed(beads) == ["bd-1"]
    reopens(agent, "bd-1", command=command)
    assert owed(beads) is None
    agent.is_let_go()
    assert cycles(beads) == [("bd-1", "no_change", 0)]
    assert beads.session()["intents"] == []
    (event,) = traced(beads, "ticket_reopened")
    assert event["details"]["ticket"] == "bd-1"
    # The work on it goes on, and it is closed in earnest.
    agent.closes("bd-1")
    agent.is_blocked()


def test_a_ticket_that_is_opened_again_after_a_block_is_not_owed_for_any_more(beads, agent):
    agent.closes("bd-1")
    agent.is_blocked()
    reopens(agent, "bd-1")
    agent.is_let_go(active=True)
    assert cycles(beads) == [("bd-1", "no_change", 1)]
    # The blocks of a cycle that was taken back do not count for the next.
    agent.closes("bd-1")
    for _ in range(3):
        agent.is_blocked()


def test_of_several_tickets_the_others_stay_owed_for(beads, agent):
    agent.closes("bd-1", "bd-2")
    reopens(agent, "bd-1")
    is_named(agent.is_blocked(), "ticket bd-2 is closed")
    reopens(agent, "bd-2")
    agent.is_let_go()


def test_the_ticket_in_progress_is_in_progress_again(beads):
    beads.start_ticket("bd-1", title="Orders report is slow")
    agent = beads.agent()
    agent.starts()
    agent.closes("bd-1")
    reopens(agent, "bd-1")
    assert beads.gate() == "active"
    assert beads.session()["gate"]["ticket"]["title"] == "Orders report is slow"
    agent.is_let_go()


@pytest.mark.parametrize(("closed", "opened"), [("bd-1", "1"), ("1", "bd-1"), ("bd-1", "BD-1")])
def test_the_id_may_be_typed_in_another_way(beads, agent, closed, opened):
    call = agent.announces(command=f"bd close {closed}")
    beads.close_ticket("bd-1")
    agent.succeeds(call, "✓ Closed bd-1")
    call = agent.announces(command=f"bd reopen {opened}")
    install_bd(beads, "bd-1", "open")
    agent.succeeds(call, "↻ Reopened bd-1")
    assert owed(beads) is None
    agent.is_let_go()


@pytest.mark.parametrize(
    "command",
    [
        "bd close bd-1 && bd reopen bd-1",
        "bd close bd-1; bd update bd-1 -s open",
        "bd close bd-1; bd reopen 1",
    ],
)
@pytest.mark.parametrize("knows", [True, False], ids=["bd is asked", "only the files"])
def test_a_call_that_opens_again_what_it_closes_owes_nothing(beads, agent, command, knows):
    call = agent.announces(command=command)
    beads.close_ticket("bd-1")
    set_status(beads, "bd-1", "open")
    if knows:
        install_bd(beads, "bd-1", "open")
    agent.succeeds(call, "✓ Closed bd-1\n↻ Reopened bd-1")
    agent.is_let_go()
    assert cycles(beads) == []
    assert beads.session()["intents"] == []


def test_a_call_that_closes_again_what_it_opens_is_owed_for(beads, agent):
    call = agent.announces(command="bd reopen bd-1 && bd close bd-1")
    set_status(beads, "bd-1", "open")
    beads.close_ticket("bd-1")
    agent.succeeds(call, "↻ Reopened bd-1\n✓ Closed bd-1")
    is_named(agent.is_blocked(), "ticket bd-1 is closed")
    # Also where it was owed for before.
    agent.succeeds(agent.announces(command="bd reopen bd-1; bd close bd-1"), "✓ Closed bd-1")
    assert owed(beads) == ["bd-1"]


def test_a_reopening_that_failed_keeps_the_debt(beads, agent):
    agent.closes("bd-1")
    call = agent.announces(command="bd reopen bd-1")
    agent.fails(call, "Exit code 1\nError: database is locked")
    assert owed(beads) == ["bd-1"]
    call = agent.announces(command="bd reopen bd-1 | cat")
    agent.succeeds(call, "Error: database is locked")
    assert owed(beads) == ["bd-1"]
    agent.is_blocked()
    assert beads.session()["intents"] == []
    assert traced(beads, "ticket_reopened") == []


def test_a_call_that_failed_after_it_opened_a_ticket_again_takes_the_debt_back(beads, agent):
    agent.closes("bd-1")
    call = agent.announces(command="bd reopen bd-1 && false")
    install_bd(beads, "bd-1", "open")
    agent.fails(call)
    agent.is_let_go()


@pytest.mark.parametrize("happened", [True, False])
def test_a_reopening_that_never_reported_needs_proof(beads, agent, happened):
    """A call that was denied has a PreToolUse only."""
    agent.closes("bd-1")
    agent.announces(command="bd reopen bd-1")
    install_bd(beads, "bd-1", "open" if happened else "closed")
    if happened:
        agent.is_let_go()
    else:
        agent.is_blocked()
    assert beads.session()["intents"] == []


def test_a_reopening_in_a_background_shell_counts_when_it_is_done(beads, agent):
    agent.closes("bd-1")
    call = agent.announces(command="bd reopen bd-1", run_in_background=True)
    agent.succeeds(call, backgroundTaskId=SHELL["id"])
    agent.is_let_go(background_tasks=[SHELL])
    assert owed(beads) == ["bd-1"]
    set_status(beads, "bd-1", "open")
    agent.is_let_go()
    assert owed(beads) is None


@pytest.mark.parametrize(
    "command", ["bd reopen bd-1", "bd update bd-1 --claim", "bd update bd-1 --status in_progress"]
)
def test_without_a_debt_a_reopening_leaves_nothing(beads, agent, command):
    """Most are the start of work on a ticket."""
    before = beads.session()
    call = agent.announces(command=command)
    assert beads.session() == before
    set_status(beads, "bd-1", "in_progress")
    agent.succeeds(call)
    assert beads.session() == before
    agent.is_let_go()
    assert cycles(beads) == []


def test_a_reopening_after_the_reflection_changes_nothing(beads, agent, candidate):
    agent.closes("bd-1")
    assert agent.reflects(candidate(1)).code == 0
    before = beads.session()
    reopens(agent, "bd-1")
    assert beads.session() == before
    assert beads.gate() == "reflected"


def test_a_reopening_of_another_system_changes_nothing(world):
    world.initialise()
    world.use_beads()
    use_tissue(world)
    agent = world.agent()
    agent.starts()
    agent.closes("bd-1")
    agent.succeeds(agent.announces(command="tissue status bd-1 open"), "bd-1")
    is_named(agent.is_blocked(), "ticket bd-1 is closed")


# --- the same in tissue -------------------------------------------------------------------------


def use_tissue(world):
    (world.project / ".tissue").mkdir()
    (world.project / ".tissue" / "issues.jsonl").write_text("")


def set_tissue(world, ticket_id, status, revision):
    """The line that tissue appends for a new revision of an issue."""
    record = {
        "type": "issue",
        "id": ticket_id,
        "status": status,
        "title": "Orders report is slow",
        "rev": f"01HZ{revision:04}",
        "updated_at": 1_700_000_000_000 + revision,
    }
    with (world.project / ".tissue" / "issues.jsonl").open("a") as file:
        file.write(json.dumps(record) + "\n")


@pytest.fixture
def tissue(world):
    world.initialise()
    use_tissue(world)
    set_tissue(world, "shop-1a2b", "in_progress", 1)
    return world


@pytest.mark.parametrize(
    "command",
    [
        "tissue status shop-1a2b open",
        "tissue status 1a2b in_progress",
        "tissue edit shop-1a2b --status open",
    ],
)
@pytest.mark.parametrize("blocked", [False, True])
def test_an_issue_of_tissue_that_is_opened_again_is_not_owed_for(tissue, command, blocked):
    agent = tissue.agent()
    agent.starts()
    call = agent.announces(command="tissue status shop-1a2b closed")
    set_tissue(tissue, "shop-1a2b", "closed", 2)
    agent.succeeds(call, "shop-1a2b")
    assert owed(tissue) == ["shop-1a2b"]
    if blocked:
        agent.is_blocked()
    call = agent.announces(command=command)
    set_tissue(tissue, "shop-1a2b", "open", 3)
    agent.succeeds(call, "shop-1a2b")
    agent.is_let_go()
    assert cycles(tissue) == [("shop-1a2b", "no_change", int(blocked))]


def test_a_call_that_opens_an_issue_of_tissue_again_owes_nothing(tissue):
    agent = tissue.agent()
    agent.starts()
    command = "tissue status 1a2b closed && tissue status shop-1a2b open"
    call = agent.announces(command=command)
    set_tissue(tissue, "shop-1a2b", "closed", 2)
    set_tissue(tissue, "shop-1a2b", "open", 3)
    agent.succeeds(call, "shop-1a2b\nshop-1a2b")
    agent.is_let_go()
    assert cycles(tissue) == []


def test_a_reopening_that_tissue_refused_keeps_the_debt(tissue):
    agent = tissue.agent()
    agent.starts()
    call = agent.announces(command="tissue status shop-1a2b closed")
    set_tissue(tissue, "shop-1a2b", "closed", 2)
    agent.succeeds(call, "shop-1a2b")
    agent.succeeds(agent.announces(command="tissue status shop-1a2b open || true"), "error")
    agent.is_blocked()


# --- in a background shell ----------------------------------------------------------------------


def closes_in_background(agent, ticket_id="bd-1"):
    call = agent.announces(command=f"bd close {ticket_id}", run_in_background=True)
    agent.succeeds(call, backgroundTaskId=SHELL["id"])
    assert owed(agent.world) is None


def test_a_background_close_that_is_done_before_the_stop_holds_it(beads, agent):
    closes_in_background(agent)
    beads.close_ticket("bd-1")
    is_named(agent.is_blocked(), "ticket bd-1 is closed")


def test_a_background_close_that_is_done_later_holds_the_next_stop(beads, agent):
    closes_in_background(agent)
    agent.is_let_go(background_tasks=[SHELL])
    agent.is_let_go(background_tasks=[SHELL])
    assert len(beads.session()["intents"]) == 1
    beads.close_ticket("bd-1")
    is_named(agent.is_blocked(), "ticket bd-1 is closed")
    assert beads.session()["intents"] == []


def test_a_background_close_that_failed_holds_nobody(beads, agent):
    closes_in_background(agent)
    install_bd(beads, "bd-1", "open")
    agent.is_let_go()
    assert beads.session()["intents"] == []
    (event,) = traced(beads, "ticket_close_discarded")
    assert event["details"]["why"] == "confirmed no"


def test_a_background_close_that_nobody_can_confirm_counts(beads, agent):
    closes_in_background(agent)
    agent.is_blocked()


def test_a_background_close_and_one_in_the_foreground_are_one_cycle(beads, agent):
    closes_in_background(agent)
    agent.closes("bd-2")
    agent.is_let_go(background_tasks=[SHELL])
    beads.close_ticket("bd-1")
    is_named(agent.is_blocked(), "tickets bd-2, bd-1 are closed")


# --- by a subagent ------------------------------------------------------------------------------


def subagent_closes(agent, ticket_id, use_id):
    call = {
        "tool_name": "Bash",
        "tool_use_id": use_id,
        "tool_input": {"command": f"bd close {ticket_id}"},
    }
    agent.silent("PreToolUse", **call, **IS_SUBAGENT)
    agent.world.close_ticket(ticket_id)
    response = {"stdout": f"✓ Closed {ticket_id}", "stderr": ""}
    agent.silent("PostToolUse", **call, **IS_SUBAGENT, tool_response=response)


def test_closes_of_subagents_and_of_the_main_agent_are_one_cycle(beads, agent, candidate):
    subagent_closes(agent, "bd-1", "toolu_s1")
    agent.silent("SubagentStop", **IS_SUBAGENT, stop_hook_active=False)
    agent.closes("bd-2")
    subagent_closes(agent, "bd-3", "toolu_s3")
    is_named(agent.is_blocked(), "tickets bd-1, bd-2, bd-3 are closed")
    assert agent.reflects(candidate(1)).code == 0
    agent.is_let_go()
    assert cycles(beads) == [("bd-1", "reflected", 1)]


def test_the_main_agent_waits_for_a_subagent_that_closes(beads, agent):
    agent.is_let_go(background_tasks=[SUBAGENT])
    subagent_closes(agent, "bd-1", "toolu_s1")
    agent.is_let_go(background_tasks=[SUBAGENT])
    is_named(agent.is_blocked(), "ticket bd-1 is closed")


def test_a_subagent_opens_again_what_the_main_agent_has_closed(beads, agent):
    agent.closes("bd-1")
    call = {
        "tool_name": "Bash",
        "tool_use_id": "toolu_s1",
        "tool_input": {"command": "bd reopen bd-1"},
    }
    agent.silent("PreToolUse", **call, **IS_SUBAGENT)
    set_status(beads, "bd-1", "open")
    response = {"stdout": "↻ Reopened bd-1", "stderr": ""}
    agent.silent("PostToolUse", **call, **IS_SUBAGENT, tool_response=response)
    agent.is_let_go()


# --- while a cycle is reflected -----------------------------------------------------------------


def test_a_ticket_that_is_closed_after_the_reflection_opens_a_cycle_of_its_own(
    beads, agent, candidate
):
    agent.closes("bd-1")
    agent.is_blocked()
    assert agent.reflects(candidate(1)).code == 0
    agent.closes("bd-2")
    is_named(agent.is_blocked(active=True), "ticket bd-2 is closed")
    assert agent.reflects(candidate(2)).code == 0
    agent.is_let_go(active=True)
    assert cycles(beads) == [("bd-1", "reflected", 1), ("bd-2", "reflected", 1)]


def test_a_call_that_reflects_and_closes_opens_a_cycle(beads, agent, candidate):
    """The reflection is accepted while the call runs, and the close counts when it is over."""
    agent.closes("bd-1")
    agent.is_blocked()
    call = agent.announces(command="grove reflect --json < candidates.json; bd close bd-2")
    assert agent.reflects(candidate(1)).json["gate"] == "reflected"
    beads.close_ticket("bd-2")
    agent.succeeds(call, "✓ Closed bd-2")
    is_named(agent.is_blocked(active=True), "ticket bd-2 is closed")
    assert cycles(beads) == [("bd-1", "reflected", 1)]


def test_a_background_close_that_ends_after_the_reflection_opens_a_cycle(beads, agent, candidate):
    agent.closes("bd-1")
    closing = agent.announces(command="bd close bd-2", run_in_background=True)
    agent.succeeds(closing, backgroundTaskId=SHELL["id"])
    assert agent.reflects(candidate(1)).code == 0
    agent.is_let_go(background_tasks=[SHELL])
    beads.close_ticket("bd-2")
    is_named(agent.is_blocked(), "ticket bd-2 is closed")


# --- to-dos -------------------------------------------------------------------------------------

BURST = range(1, 11)


def store_task(world, number, status, session_id="session-1"):
    """A task as the client keeps it."""
    folder = world.home / ".claude" / "tasks" / session_id
    folder.mkdir(parents=True, exist_ok=True)
    task = {"id": str(number), "subject": f"Task {number}", "status": status}
    (folder / f"{number}.json").write_text(json.dumps(task))


def update_of(agent, number):
    return agent.announces("TaskUpdate", taskId=str(number), status="completed")


def tells_of(agent, number):
    agent.silent("TaskCompleted", task_id=str(number), task_subject=f"Task {number}")


def is_stored(agent, number, call):
    store_task(agent.world, number, "completed")
    change = {"from": "in_progress", "to": "completed"}
    agent.succeeds(call, success=True, taskId=str(number), statusChange=change)


@pytest.fixture
def ten_tasks(world):
    """Ten to-dos and no ticket system."""
    world.initialise()
    for number in BURST:
        store_task(world, number, "in_progress")
    started = world.agent()
    started.starts()
    return started


def one_by_one(agent, numbers=BURST):
    for number in numbers:
        call = update_of(agent, number)
        tells_of(agent, number)
        is_stored(agent, number, call)


def all_at_once(agent, numbers=BURST):
    calls = {number: update_of(agent, number) for number in numbers}
    for number in numbers:
        tells_of(agent, number)
    for number, call in calls.items():
        is_stored(agent, number, call)


def all_stored_first(agent, numbers=BURST):
    """Calls that run side by side may all be done before the first one reports."""
    calls = {number: update_of(agent, number) for number in numbers}
    for number in numbers:
        tells_of(agent, number)
        store_task(agent.world, number, "completed")
    for number, call in calls.items():
        is_stored(agent, number, call)


@pytest.mark.parametrize("burst", [one_by_one, all_at_once, all_stored_first])
def test_a_burst_of_to_dos_is_at_most_one_cycle(world, ten_tasks, candidate, burst):
    burst(ten_tasks)
    assert len(owed(world)) == 1
    ten_tasks.is_blocked()
    assert ten_tasks.reflects(candidate(1)).code == 0
    ten_tasks.is_let_go(active=True)
    assert world.session()["intents"] == []
    # Further ones in the same prompt ask no more; those of the next prompt may.
    further(ten_tasks, burst)
    ten_tasks.is_let_go(active=True)
    assert [outcome for _, outcome, _ in cycles(world)] == ["reflected"]
    ten_tasks.prompt_id = "prompt-2"
    ten_tasks.asks("Once more, please.")
    further(ten_tasks, burst)
    ten_tasks.is_blocked()


def further(agent, burst):
    for number in (1, 2):
        store_task(agent.world, number, "in_progress")
    burst(agent, (1, 2))


def test_a_to_do_that_is_taken_up_again_before_the_stop_is_not_owed_for(world):
    world.initialise()
    store_task(world, 1, "in_progress")
    agent = world.agent()
    agent.starts()
    one_by_one(agent, (1,))
    assert owed(world) == ["1"]
    call = agent.announces("TaskUpdate", taskId="1", status="in_progress")
    store_task(world, 1, "in_progress")
    change = {"from": "completed", "to": "in_progress"}
    agent.succeeds(call, success=True, taskId="1", statusChange=change)
    agent.is_let_go()
    assert cycles(world) == [("1", "no_change", 0)]


def test_a_burst_that_only_the_event_tells_of_is_at_most_one_cycle(world, ten_tasks):
    """A teammate completes tasks: the session sees no call of a tool."""
    for number in BURST:
        tells_of(ten_tasks, number)
        store_task(world, number, "completed")
    ten_tasks.is_blocked()
    assert len(owed(world)) == 1
    assert world.session()["intents"] == []
    assert ten_tasks.grove("skip", "nothing to it").code == 0
    ten_tasks.is_let_go()


def test_while_a_to_do_is_open_a_burst_holds_nobody(world, ten_tasks):
    store_task(world, 11, "pending")
    one_by_one(ten_tasks)
    ten_tasks.is_let_go()
    assert cycles(world) == []


def test_a_list_of_to_dos_without_files_is_one_cycle(world):
    """TodoWrite sends the whole list each time and stores it nowhere."""
    world.initialise("[ticketing.overrides]\ntasks = true\n")
    store_task(world, 1, "completed")  # else nothing gives tasks away
    agent = world.agent()
    agent.starts()
    todos = [
        {"content": f"Do {number}", "activeForm": "x", "status": "pending"} for number in BURST
    ]
    for todo in todos:
        old = [dict(one) for one in todos]
        todo["status"] = "completed"
        call = agent.announces("TodoWrite", todos=todos)
        agent.succeeds(call, oldTodos=old, newTodos=todos)
    assert owed(world) == [None]
    is_named(agent.is_blocked(), "ticket of tasks is closed")


@pytest.mark.parametrize("used", ["beads", "tissue", "acme"])
def test_to_dos_beside_a_ticket_system_are_none(world, used):
    world.initialise(ACME if used == "acme" else "")
    {"beads": world.use_beads, "tissue": lambda: use_tissue(world), "acme": lambda: None}[used]()
    for number in BURST:
        store_task(world, number, "in_progress")
    agent = world.agent()
    agent.starts()
    one_by_one(agent)
    done = [{"content": "Do it", "activeForm": "Doing it", "status": "completed"}]
    call = agent.announces("TodoWrite", todos=done)
    agent.succeeds(call, oldTodos=[{**done[0], "status": "pending"}], newTodos=done)
    assert world.session()["intents"] == []
    agent.is_let_go()
    assert cycles(world) == []


def test_to_dos_beside_a_ticket_that_is_closed_are_not_named(beads, agent):
    for number in BURST:
        store_task(beads, number, "in_progress")
    one_by_one(agent)
    agent.closes("bd-1")
    is_named(agent.is_blocked(), "ticket bd-1 is closed")


def test_to_dos_count_beside_a_ticket_system_where_that_is_configured(world):
    world.initialise("[ticketing.overrides]\ntasks = true\n")
    world.use_beads()
    for number in BURST:
        store_task(world, number, "in_progress")
    agent = world.agent()
    agent.starts()
    one_by_one(agent)
    assert len(owed(world)) == 1


# --- commands of a team's own -------------------------------------------------------------------


def test_a_pattern_arms_the_gate(world, candidate):
    world.initialise(ACME)
    agent = world.agent()
    agent.starts()
    for command in ("acme ticket list", "acme ticket close", "acme ticket close --help A-1", "ls"):
        agent.succeeds(agent.announces(command=command))
    agent.is_let_go()
    agent.fails(agent.announces(command="acme ticket close A-1"))
    agent.is_let_go()
    agent.succeeds(agent.announces(command="cd /srv && /opt/acme ticket finish A-1 --yes | cat"))
    is_named(agent.is_blocked(), "ticket A-1 is closed")
    assert agent.reflects(candidate(1)).code == 0
    agent.is_let_go()
    assert cycles(world) == [("A-1", "reflected", 1)]
    assert "ticket A-1 " in world.learnings_file.read_text()


def test_a_pattern_closes_in_the_background_and_by_subagents(world):
    world.initialise(ACME)
    agent = world.agent()
    agent.starts()
    call = agent.announces(command="acme ticket close A-1", run_in_background=True)
    agent.succeeds(call, backgroundTaskId=SHELL["id"])
    agent.is_let_go(background_tasks=[SHELL])
    is_named(agent.is_blocked(), "ticket A-1 is closed")


def test_a_pattern_of_the_user_counts_in_projects_that_use_grove(world):
    """Elsewhere nothing is armed by it: the project's people have not asked for grove."""
    world.grove_home.mkdir()
    (world.grove_home / "config.toml").write_text(ACME)
    for session_id, initialised in (("session-1", False), ("session-2", True)):
        if initialised:
            world.initialise()
        agent = world.agent(session_id)
        agent.starts()
        agent.succeeds(agent.announces(command="acme ticket close A-1"))
        assert agent.stops().code == (2 if initialised else 0)
        assert (world.project / ".grove").exists() is initialised


def test_a_pattern_that_is_switched_off_arms_nothing(world):
    world.initialise(ACME + "[ticketing.overrides]\nacme = false\n")
    agent = world.agent()
    agent.starts()
    agent.succeeds(agent.announces(command="acme ticket close A-1"))
    agent.is_let_go()


def test_a_wrong_pattern_costs_itself_only(world):
    world.initialise(f'{ACME}[[ticketing.patterns]]\nname = "other"\n')
    world.use_beads()
    agent = world.agent()
    agent.starts()
    agent.succeeds(agent.announces(command="acme ticket close A-1"))
    agent.is_let_go()
    agent.closes("bd-1")
    is_named(agent.is_blocked(), "ticket bd-1 is closed")


# --- GitHub -------------------------------------------------------------------------------------

CLOSES_ISSUE = "gh issue close 12 --repo shop/orders"


@pytest.mark.parametrize(
    ("config", "counts"),
    [("", False), ("[ticketing.overrides]\ngithub = true\n", True)],
    ids=["by default", "switched on"],
)
def test_github_is_off_unless_it_is_switched_on(world, config, counts):
    """A repository alone does not say that its issues are the tickets of the work."""
    world.initialise(config)
    world.make_git()
    world.git("remote", "add", "origin", "git@github.com:shop/orders.git")
    agent = world.agent()
    agent.starts()
    call = agent.announces(command=CLOSES_ISSUE)
    assert len(world.session()["intents"]) == int(counts)
    agent.succeeds(call, "✓ Closed issue shop/orders#12 (Orders report is slow)")
    if counts:
        reason = agent.is_blocked()
        assert "#12 is closed – one step left" in reason
    else:
        agent.is_let_go()


# --- hooks that are called more than once -------------------------------------------------------


def run_together(world, event, payload, times):
    """Calls a hook for one and the same event in several processes side by side."""
    base = {"session_id": "session-1", "cwd": str(world.project), "prompt_id": "prompt-1"}
    data = json.dumps({**base, "hook_event_name": event, **payload}).encode()
    with world.watched():
        processes = [world.start("hook", event) for _ in range(times)]
        for process in processes:
            process.stdin.write(data)
            process.stdin.close()
            process.stdin = None
        answers = [process.communicate(timeout=60) for process in processes]
    assert [
        (process.returncode, answer) for process, answer in zip(processes, answers, strict=True)
    ] == [(0, (b"", b""))] * times


def test_a_close_that_several_entries_match_leaves_one_intent(beads, agent, candidate):
    """Each `if` entry that fits starts the hook again, side by side."""
    call = {
        "tool_name": "Bash",
        "tool_use_id": "toolu_1",
        "tool_input": {"command": 'bash -c "bd close bd-1"'},
    }
    run_together(beads, "pre-tool-use", call, 4)
    (intent,) = beads.session()["intents"]
    assert intent["key"] == "toolu_1"
    assert len(traced(beads, "ticket_close_detected")) == 1
    beads.close_ticket("bd-1")
    response = {"stdout": "✓ Closed bd-1", "stderr": ""}
    run_together(beads, "post-tool-use", {**call, "tool_response": response}, 4)
    assert beads.session()["intents"] == []
    assert len(traced(beads, "ticket_closed")) == 1
    is_named(agent.is_blocked(), "ticket bd-1 is closed")
    assert agent.reflects(candidate(1)).code == 0
    agent.is_let_go()
    assert cycles(beads) == [("bd-1", "reflected", 1)]


def test_a_reopening_that_several_entries_match_is_taken_back_once(beads, agent):
    agent.closes("bd-1")
    call = {
        "tool_name": "Bash",
        "tool_use_id": "toolu_2",
        "tool_input": {"command": 'bash -c "bd reopen bd-1"'},
    }
    run_together(beads, "pre-tool-use", call, 3)
    assert len(beads.session()["intents"]) == 1
    set_status(beads, "bd-1", "open")
    run_together(beads, "post-tool-use", {**call, "tool_response": {"stdout": ""}}, 3)
    assert len(traced(beads, "ticket_reopened")) == 1
    agent.is_let_go()
    assert cycles(beads) == [("bd-1", "no_change", 0)]
