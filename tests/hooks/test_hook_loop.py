"""The gate from outside: a ticket closes, the agent is stopped, reflects or skips, and goes."""

import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

HEAD = "grove: ticket bd-1 is closed – one step left before you finish."
SHELL = {"id": "shell-1", "type": "shell", "status": "running", "description": "x"}
SUBAGENT = {"id": "sub-1", "type": "subagent", "status": "running", "description": "x"}


@pytest.fixture
def agent(beads):
    return beads.agent()


def own_fields(event):
    """An event's fields apart from those that every line of the log has."""
    return {key: value for key, value in event.items() if key not in {"v", "ts", "grove", "event"}}


def gate_event(world, session_id="session-1"):
    """The only finished cycle of a session, without its duration."""
    (event,) = [one for one in world.events("gate") if one["session_id"] == session_id]
    fields = own_fields(event)
    assert fields.pop("seconds") >= 0
    del fields["session_id"]
    return fields


# --- the whole loop -----------------------------------------------------------------------------


def test_a_close_is_reflected_on_and_the_learning_comes_back(beads, agent, candidate):
    beads.start_ticket("bd-1", title="Orders report takes 40 seconds")
    assert agent.starts() == ""
    assert beads.gate() == "active"
    call = agent.announces(command="bd close bd-1 --reason done")
    beads.close_ticket("bd-1")
    agent.succeeds(call, "✓ Closed bd-1 — Orders report takes 40 seconds: done")

    reason = agent.is_blocked()
    assert reason.startswith(f"{HEAD}\n")
    assert "grove reflect --session-id session-1" in reason
    assert "grove skip" in reason

    reflected = agent.reflects(candidate(1))
    assert (reflected.code, reflected.stderr) == (0, "")
    (accepted,) = reflected.json["accepted"]
    assert (accepted["status"], accepted["backend"]) == ("stored", "markdown")
    assert reflected.json["gate"] == "reflected"
    agent.is_let_go(active=True)
    agent.ends()

    entry = beads.learnings_file.read_text()
    assert beads.learning_ids() == [accepted["id"]]
    assert "- **Origin:** ticket bd-1 | session session-1\n" in entry

    beads.start_ticket("bd-2", title="Orders export is slow, too")
    context = beads.agent("session-2").starts()
    assert candidate(1)["summary"] in context
    (about,) = re.findall(rf"\[pitfall \| {accepted['id']} \| (.*)\]", context)
    assert about == "today | confidence high | from ticket bd-1 | files shop/export.py"
    for line in (candidate(1)["summary"], *candidate(1)["detail"].split("\n")):
        assert f"\n> {line}" in context
    assert "quoted data, not instructions" in context.partition("[")[0]
    assert "`grove ref ID" in context

    (reflection,) = beads.events("reflection")
    assert own_fields(reflection) == {
        "session_id": "session-1",
        "candidates": 1,
        "accepted": 1,
        "categories": ["pitfall"],
        "criteria": ["behavior_changing"],
        "ticket_id": "bd-1",
        "backend": "markdown",
    }
    assert gate_event(beads) == {"ticket_id": "bd-1", "outcome": "reflected", "blocks": 1}
    (surfaced,) = beads.events("surfaced")
    assert 0 < surfaced["score"] <= 1
    assert own_fields(surfaced) == {
        "learning_id": accepted["id"],
        "session_id": "session-2",
        "via": "start",
        "score": surfaced["score"],
    }


def test_the_command_in_the_reason_opens_the_gate(beads, agent, candidate):
    """The skeleton has the right shape; handed in as it is, it says nothing."""
    agent.closes("bd-1")
    skeleton = re.search(r"<<'EOF'\n(.*?)\nEOF", agent.is_blocked(), re.DOTALL).group(1)
    unchanged = agent.grove("reflect", "--session-id", "session-1", stdin=skeleton)
    assert unchanged.code == 1
    assert "refused (schema)" in unchanged.stderr
    assert "grove's own form" in unchanged.stderr
    filled = json.loads(skeleton)
    filled["candidates"][0] |= {name: candidate()[name] for name in ("summary", "detail")}
    reflected = agent.grove("reflect", "--session-id", "session-1", stdin=json.dumps(filled))
    assert reflected.code == 0, reflected.stderr
    agent.is_let_go()


@pytest.mark.parametrize(
    ("command", "decider"),
    [
        (("skip", "only a label was renamed"), "agent"),
        (("skip", "only a label was renamed", "--decider", "user"), "user"),
        (("reflect",), "agent"),
    ],
    ids=["skip", "skip by the user", "nothing learned"],
)
def test_a_reason_not_to_reflect_opens_the_gate(beads, agent, command, decider):
    agent.closes("bd-1")
    agent.is_blocked()
    nothing = json.dumps({"nothing_learned": "only a label was renamed"})
    assert agent.grove(*command, stdin=nothing).code == 0
    agent.is_let_go()
    (skip,) = beads.events("skip")
    fields = own_fields(skip)
    assert fields.pop("lines_changed", None) is None
    assert fields == {
        "session_id": "session-1",
        "reason": "only a label was renamed",
        "decider": decider,
        "ticket_id": "bd-1",
    }
    assert gate_event(beads) == {"ticket_id": "bd-1", "outcome": "skipped", "blocks": 1}
    assert beads.learning_ids() == []


def test_a_skip_without_the_clients_variable_is_the_users(beads, agent):
    agent.starts()
    assert beads.grove("skip", "not worth a note").code == 0
    (skip,) = beads.events("skip")
    assert skip["decider"] == "user"


def test_a_refused_reflection_opens_nothing(beads, agent, candidate):
    """Every reason is told, the gate stays, and the next block says what was wrong."""
    agent.closes("bd-1")
    first = agent.is_blocked()
    short = candidate(1, summary="Short")
    no_tags = candidate(2, tags=[])
    refused = agent.reflects(short, no_tags)
    assert refused.code == 1
    assert refused.json["error"]
    assert [one["position"] for one in refused.json["rejected"]] == [0, 1]
    assert [one["field"] for one in refused.json["rejected"]] == ["summary", "tags"]
    for one in refused.json["rejected"]:
        assert one["stage"] == "schema"
        assert one["reason"] in refused.stderr
    assert beads.gate() == "blocked"
    assert beads.learning_ids() == []

    second = agent.is_blocked(active=True)
    assert second.startswith(HEAD)
    assert len(second) < len(first)
    for one in refused.json["rejected"]:
        assert one["reason"][:60] in second

    rejected = [{"tags": [], **own_fields(one)} for one in beads.events("rejected")]
    assert rejected == [
        {
            "session_id": "session-1",
            "summary": short["summary"],
            "tags": short["tags"],
            "stage": "schema",
            "reason": refused.json["rejected"][0]["reason"],
        },
        {
            "session_id": "session-1",
            "summary": no_tags["summary"],
            "tags": [],
            "stage": "schema",
            "reason": refused.json["rejected"][1]["reason"],
        },
    ]


def test_an_empty_reflection_opens_nothing(beads, agent):
    agent.closes("bd-1")
    nothing = '{"nothing_learned": "no"}'
    for text in ('{"candidates": []}', "[]", "{}", "no JSON", "", nothing, b"\xff\xfe"):
        done = agent.grove("reflect", "--json", stdin=text)
        assert done.code == 1
        assert set(done.json) == {"error"}
        assert done.json["error"] in done.stderr
        assert beads.gate() == "pending"
    agent.is_blocked()


def test_an_old_refusal_is_forgotten_with_its_cycle(beads, agent, candidate):
    agent.closes("bd-1")
    agent.is_blocked()
    assert agent.reflects(candidate(1, summary="Short")).code == 1
    assert agent.grove("skip", "nothing to it").code == 0
    agent.closes("bd-2")
    agent.is_blocked()
    assert "Short" not in agent.is_blocked(active=True)


def test_one_bad_candidate_spoils_no_other(beads, agent, candidate):
    agent.closes("bd-1")
    done = agent.reflects(candidate(1, summary="Short"), candidate(2), "no object")
    assert done.code == 0
    assert [one["summary"] for one in done.json["accepted"]] == [candidate(2)["summary"]]
    assert [one["position"] for one in done.json["rejected"]] == [0, 2]
    assert len(beads.learning_ids()) == 1
    agent.is_let_go()


def test_the_same_submission_twice_writes_nothing_twice(beads, agent, candidate):
    agent.closes("bd-1")
    first = agent.reflects(candidate(1), candidate(2))
    ids = [one["id"] for one in first.json["accepted"]]
    before = beads.learnings_file.read_bytes()
    agent.closes("bd-2")
    again = agent.reflects(candidate(1), candidate(2))
    assert again.code == 0
    assert again.json["accepted"] == []
    assert again.json["repeated"] == ids
    assert beads.learnings_file.read_bytes() == before
    agent.is_let_go()


def test_three_blocks_then_the_breaker(beads, agent):
    agent.starts()
    agent.closes("bd-1")
    for number in (1, 2, 3):
        reason = agent.is_blocked(active=number > 1)
        assert reason.startswith(HEAD)
        assert ("At the next stop grove lets you go" in reason) == (number == 3)
    let_go = agent.stops(active=True)
    assert let_go.code == 0
    assert "3 times" in let_go.stderr
    agent.is_let_go(active=True)
    assert gate_event(beads) == {"ticket_id": "bd-1", "outcome": "breaker", "blocks": 3}
    assert "breaker" in beads.log()

    debts = beads.grove("status", "--json").json["debts"]
    assert len(debts) == 1
    assert "bd-1" in debts[0]
    agent.ends()
    notice = beads.agent("session-2").starts()
    assert "session-1" in notice
    assert "bd-1" in notice
    # It is paid by a reflection of the session that owes it.
    paid = beads.grove("skip", "it was done by hand", "--session-id", "session-1")
    assert paid.code == 0
    assert beads.grove("status", "--json").json["debts"] == []


def test_the_blocks_are_configured(beads, agent):
    (beads.project / ".grove" / "config.toml").write_text("[circuit_breaker]\nmax_blocks = 1\n")
    agent.closes("bd-1")
    agent.is_blocked()
    assert agent.stops(active=True).code == 0


# --- deferrals ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields",
    [{"permission_mode": "plan"}, {"background_tasks": [SUBAGENT]}],
    ids=["plan mode", "background subagent"],
)
def test_a_stop_is_deferred_as_long_as_it_must(beads, agent, fields):
    agent.closes("bd-1")
    agent.is_let_go(**fields)
    agent.is_let_go(**fields)
    assert beads.gate() == "pending"
    assert agent.is_blocked().startswith(HEAD)


def test_a_background_shell_defers_once(beads, agent):
    agent.closes("bd-1")
    agent.is_let_go(background_tasks=[SHELL])
    agent.is_blocked(background_tasks=[SHELL])
    # A further shell is new again; a task that has ended defers nothing.
    agent.is_let_go(background_tasks=[SHELL, {**SHELL, "id": "shell-2"}])
    agent.is_blocked(background_tasks=[{**SUBAGENT, "status": "completed"}])


# --- what counts as a close ---------------------------------------------------------------------


def test_a_failed_close_arms_nothing(beads, agent):
    agent.fails(agent.announces(command="bd close bd-9"), "Exit code 127\n/bin/sh: bd: not found")
    agent.is_let_go()
    assert beads.session()["intents"] == []


@pytest.mark.parametrize("error", ["Error: resolving bd-9: none", "Error resolving ID bd-9: none"])
def test_a_failure_that_is_hidden_by_a_pipe_arms_nothing(beads, agent, error):
    agent.succeeds(agent.announces(command="bd close bd-9 | cat"), error)
    agent.is_let_go()


def test_a_close_before_a_failure_counts(beads, agent):
    call = agent.announces(command="bd close bd-1 && false")
    beads.close_ticket("bd-1")
    agent.fails(call)
    assert agent.is_blocked().startswith(HEAD)


def test_a_call_that_never_reported_needs_proof(beads, agent):
    """A denied call has a PreToolUse only; so has one whose PostToolUse was lost."""
    agent.announces(command="bd close bd-1")
    agent.announces(command="bd close bd-2")
    beads.close_ticket("bd-2")
    assert "ticket bd-2 is closed" in agent.is_blocked()


def test_a_prompt_drops_what_never_reported(beads, agent):
    agent.announces(command="bd close bd-1")
    agent.asks("Go on, please.")
    beads.close_ticket("bd-1")
    agent.is_let_go()


def test_a_close_that_nobody_could_confirm_is_looked_at_once_more(beads, agent):
    agent.succeeds(agent.announces(command="bd close bd-1"))
    assert beads.gate() == "pending"
    beads.install_bd("open")
    agent.is_let_go()
    assert gate_event(beads) == {"ticket_id": "bd-1", "outcome": "no_change", "blocks": 0}


def test_a_proven_close_is_not_taken_back_by_another_look(beads, agent):
    """Another branch, or another work tree, may hold an older state of the ticket."""
    agent.succeeds(agent.announces(command="bd close bd-1"), "✓ Closed bd-1")
    beads.install_bd("open")
    agent.is_blocked()


def test_a_subagents_call_in_flight_is_waited_for(beads, agent):
    call = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-1"}, "tool_use_id": "t1"}
    agent.silent("PreToolUse", **call, agent_id="a1", agent_type="general-purpose")
    agent.is_let_go(background_tasks=[SUBAGENT])
    agent.succeeds(call, "✓ Closed bd-1")
    agent.is_blocked()


def test_the_project_of_the_session_counts_wherever_the_agent_has_gone(beads, agent):
    agent.starts()
    agent.closes("bd-1")
    elsewhere = beads.project / "sub"
    (elsewhere / ".grove").mkdir(parents=True)
    reason = agent.send("Stop", stop_hook_active=False, cwd=str(elsewhere))
    assert reason.code == 2
    assert list((elsewhere / ".grove").iterdir()) == []


def test_a_debt_that_the_breaker_let_go_is_named_when_the_session_goes_on(beads, agent):
    agent.starts()
    agent.closes("bd-1")
    for _ in range(3):
        agent.is_blocked()
    agent.send("Stop", stop_hook_active=True)
    assert "bd-1" in agent.starts("resume")


def test_a_background_close_counts_when_it_is_done(beads, agent):
    call = agent.announces(command="bd close bd-1", run_in_background=True)
    agent.succeeds(call, backgroundTaskId=SHELL["id"])
    agent.is_let_go(background_tasks=[SHELL])
    agent.asks("Anything new?")
    beads.close_ticket("bd-1")
    assert agent.is_blocked().startswith(HEAD)


def test_a_subagents_close_counts_for_the_main_agent(beads, agent):
    subagent = {"agent_id": "a872a6c475997fe1c", "agent_type": "general-purpose"}
    call = {"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {"command": "bd close 1"}}
    agent.silent("PreToolUse", **call, **subagent)
    beads.close_ticket("bd-1")
    response = {"stdout": "✓ Closed bd-1", "stderr": ""}
    agent.silent("PostToolUse", **call, **subagent, tool_response=response)
    assert agent.grove("observe", "rows() is called twice by the export").code == 0
    agent.silent("SubagentStop", **subagent, stop_hook_active=False)
    reason = agent.is_blocked()
    assert "one step left" in reason
    assert "- rows() is called twice by the export" in reason


def test_two_tickets_in_one_turn_are_paid_by_one_reflection(beads, agent, candidate):
    agent.closes("bd-1")
    agent.closes("bd-2", "bd-3")
    assert "tickets bd-1, bd-2, bd-3 are closed" in agent.is_blocked()
    assert agent.reflects(candidate(1)).code == 0
    agent.is_let_go()
    assert "ticket bd-1 " in beads.learnings_file.read_text()
    assert gate_event(beads) == {"ticket_id": "bd-1", "outcome": "reflected", "blocks": 1}


def test_an_intent_that_is_announced_twice_is_written_once(beads, agent):
    """Several `if` entries start the hook side by side for one call."""
    call = agent.announces(command="bd close bd-1")
    agent.silent("PreToolUse", **call)
    assert len(beads.session()["intents"]) == 1
    agent.succeeds(call)
    agent.succeeds(call)
    assert "ticket bd-1 is closed" in agent.is_blocked()


def test_a_reflection_ahead_of_the_close_counts_once(beads, agent, candidate):
    beads.start_ticket("bd-1")
    agent.starts()
    assert agent.reflects(candidate(1)).code == 0
    agent.closes("bd-1")
    agent.is_let_go()
    assert gate_event(beads) == {"ticket_id": "bd-1", "outcome": "reflected", "blocks": 0}
    agent.closes("bd-2")
    agent.is_blocked()


def test_other_commands_arm_nothing(beads, agent):
    for command in ("ls", "bd show bd-1", "echo 'bd close bd-1'", "git commit -m 'bd close bd-1'"):
        agent.succeeds(agent.announces(command=command))
    agent.is_let_go()


def test_a_marker_arms_the_gate_and_the_first_reflection_makes_the_rest(world, candidate):
    world.use_beads()
    agent = world.agent()
    agent.starts()
    agent.closes("bd-1")
    agent.is_blocked()
    assert not (world.project / ".grove").exists()
    assert agent.reflects(candidate(1)).code == 0
    agent.is_let_go()
    assert len(world.learning_ids()) == 1


# --- the client's own tasks ---------------------------------------------------------------------


def store_task(world, number, status, session_id="session-1"):
    """A task as the client keeps it."""
    folder = world.home / ".claude" / "tasks" / session_id
    folder.mkdir(parents=True, exist_ok=True)
    task = {"id": str(number), "subject": f"Task {number}", "status": status}
    (folder / f"{number}.json").write_text(json.dumps(task))


def complete_task(agent, number):
    """What the client sends while a task is completed; no hook may hold it up."""
    call = agent.announces("TaskUpdate", taskId=str(number), status="completed")
    agent.silent("TaskCompleted", task_id=str(number), task_subject=f"Task {number}")
    store_task(agent.world, number, "completed")
    change = {"from": "in_progress", "to": "completed"}
    agent.succeeds(call, success=True, taskId=str(number), statusChange=change)


def test_the_last_task_of_the_list_arms_the_gate(world):
    world.initialise()
    agent = world.agent()
    store_task(world, 1, "in_progress")
    store_task(world, 2, "pending")
    agent.starts()
    complete_task(agent, 1)
    agent.is_let_go()
    complete_task(agent, 2)
    assert "ticket 2 is closed" in agent.is_blocked()
    assert agent.grove("skip", "nothing to it").code == 0
    # At most once a prompt.
    store_task(world, 3, "in_progress")
    complete_task(agent, 3)
    agent.is_let_go()
    agent.prompt_id = "prompt-2"
    agent.asks("And another one.")
    store_task(world, 4, "in_progress")
    complete_task(agent, 4)
    agent.is_blocked()


@pytest.mark.parametrize("initialised", [True, False], ids=["with beads", "not initialised"])
def test_tasks_are_no_tickets_elsewhere(world, initialised):
    if initialised:
        world.initialise()
        world.use_beads()
    agent = world.agent()
    store_task(world, 1, "in_progress")
    agent.starts()
    complete_task(agent, 1)
    agent.is_let_go()


# --- the client holds grove's hooks twice ---------------------------------------------------------


def test_two_sets_of_hooks_count_a_stop_once_and_three_blocks_are_really_given(beads):
    """A plugin's hooks and those of the settings are called side by side for each stop."""
    of_settings, of_plugin = beads.agent(), beads.agent(CLAUDE_PLUGIN_ROOT="/plugins/grove")
    of_settings.starts()
    of_plugin.starts()
    of_settings.asks("go", prompt_id="p-1")
    of_settings.closes("bd-1")
    for number, pair in enumerate([(of_settings, of_plugin), (of_plugin, of_settings)] * 2, 1):
        first, second = (one.stops(prompt_id="p-1", active=number > 1) for one in pair)
        assert first.code == (2 if number <= 3 else 0)
        assert (second.code, second.stdout, second.stderr) == (0, "", "")
    assert gate_event(beads)["outcome"] == "breaker"
    assert gate_event(beads)["blocks"] == 3


@pytest.fixture
def many(beads):
    """More learnings of one kind than may be shown at once."""
    config = "[retrieval]\nmax_injections = 3\nmax_per_prompt = 1\n"
    (beads.project / ".grove/config.toml").write_text(config)
    parts = "export import report ledger search backup parser router mailer orders".split()
    for number, part in enumerate(parts):
        summary = f"Order{part.title()}.rows() of {part}s asks {part} tables once per order"
        beads.learning(f"cl_20300102_aaaaa{number}", summary, tags=f"orders, {part}")
    beads.start_ticket("bd-1", title="Rows per order of the tables")
    return beads


@pytest.mark.parametrize("noted", [False, True], ids=["without a note", "with a note"])
@pytest.mark.parametrize("at_once", [False, True], ids=["one by one", "side by side"])
def test_two_sets_of_hooks_show_what_one_may_show(many, noted, at_once):
    for number in range(3 if noted else 0):
        earlier = many.agent(f"earlier-{number}")
        earlier.starts()
        earlier.asks("Why are rows() slow?")
        earlier.ends()

    def twice(event, **fields):
        """Both sets report the same event; what they show together."""
        known = {"session_id": "session-1", "cwd": str(many.project), "hook_event_name": event}
        data = (json.dumps({**known, **fields}) + "\n").encode()
        name = re.sub(r"(?<!^)(?=[A-Z])", "-", event).lower()

        def report(_):
            return many.start("hook", name).communicate(data, timeout=60)[0].decode()

        with ThreadPoolExecutor() as both:
            said = "".join((both.map if at_once else map)(report, range(2)))
        return re.findall(r"\| (cl_20300102_\w+) \|", said)

    assert len(twice("SessionStart", source="startup")) == 3
    prompt = (
        "Which tables do rows() of export, import, parser, router, mailer, search ask per order?"
    )
    assert len(twice("UserPromptSubmit", prompt=prompt, prompt_id="p-1")) == 1
    session = many.session()
    assert [one["via"] for one in session["injected"]] == ["start"] * 3 + ["prompt"]
    events = [one["event_type"] for one in session["trace"]["events"]]
    assert events.count("prompt") == 1
