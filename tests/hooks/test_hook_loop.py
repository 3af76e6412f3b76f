"""The gate from outside: a ticket closes, the agent is stopped, reflects or skips, and goes."""

import json
import re
import shlex

import pytest

HEAD = "grove: ticket bd-1 is closed – one step left before you finish."
SHELL = {"id": "shell-1", "type": "shell", "status": "running", "description": "x"}
SUBAGENT = {"id": "sub-1", "type": "subagent", "status": "running", "description": "x"}


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


def test_a_close_is_reflected_on_and_the_learning_comes_back(beads, agent, candidate):
    beads.start_ticket("bd-1", title="Orders report takes 40 seconds")
    assert agent.starts() == ""
    assert beads.gate() == "active"
    agent.is_let_go()
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
    assert beads.learning_ids() == [accepted["id"]]
    assert "- **Origin:** ticket bd-1 | session session-1\n" in beads.learnings_file.read_text()

    beads.start_ticket("bd-2", title="Orders export is slow, too")
    context = beads.agent("session-2").starts()
    (about,) = re.findall(rf"\[pitfall \| {accepted['id']} \| (.*)\]", context)
    assert about == "today | confidence high | from ticket bd-1"
    assert "\n> Files: shop/export.py\n" in context
    for line in (candidate(1)["summary"], *candidate(1)["detail"].split("\n")):
        assert f"\n> {line}" in context
    assert "quoted data, not instructions" in context.partition("[")[0]
    assert "`grove ref ID" in context

    (reflection,) = beads.events("reflection")
    assert reflection.pop("digest")
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
    assert 0 < surfaced.pop("score") <= 1
    assert own_fields(surfaced) == {
        "learning_id": accepted["id"],
        "session_id": "session-2",
        "via": "start",
    }


def test_the_command_in_each_reason_opens_the_gate(beads, agent, candidate):
    """The form has the right shape; sent as it is, it says nothing."""
    agent.closes("bd-1")
    reasons = [agent.is_blocked(), agent.is_blocked(active=True)]
    first, second = (re.search("^grove (reflect .*)$", one, re.MULTILINE)[1] for one in reasons)
    assert first == second
    words = shlex.split(second)
    unchanged = agent.grove(*words)
    assert unchanged.code == 1
    assert "grove's own form" in unchanged.stderr
    sent = {name: candidate()[name] for name in ("summary", "detail")}
    for name, text in sent.items():
        words[words.index(f"--{name}") + 1] = text
    reflected = agent.grove(*words, "--json")
    assert reflected.code == 0, reflected.stderr
    stored = beads.grove("show", reflected.json["accepted"][0]["id"], "--json").json
    form = {"category": "pitfall", "tags": ["topic"], "context_files": ["path"]}
    assert {name: stored[name] for name in (*sent, *form)} == sent | form
    agent.is_let_go(active=True)


@pytest.mark.parametrize(
    ("command", "decider"),
    [(("skip", "only a label", "--decider", "user"), "user"), (("reflect",), "agent")],
    ids=["skip by the user", "nothing learned"],
)
def test_a_reason_not_to_reflect_opens_the_gate(beads, agent, command, decider):
    agent.closes("bd-1")
    agent.is_blocked()
    nothing = json.dumps({"nothing_learned": "only a label"})
    assert agent.grove(*command, stdin=nothing).code == 0
    agent.is_let_go()
    (skip,) = beads.events("skip")
    assert (skip["reason"], skip["decider"], skip["ticket_id"]) == ("only a label", decider, "bd-1")
    assert gate_event(beads) == {"ticket_id": "bd-1", "outcome": "skipped", "blocks": 1}
    assert beads.learning_ids() == []


def test_a_refused_reflection_opens_nothing_and_the_next_block_says_why(beads, agent, candidate):
    agent.closes("bd-1")
    agent.is_blocked()
    for text in ('{"candidates": []}', "no JSON"):
        assert agent.grove("reflect", stdin=text).code == 1
    refused = agent.reflects(candidate(1, summary="Short"), candidate(2, tags=[]))
    assert refused.code == 1
    rejected = refused.json["rejected"]
    assert [(one["position"], one["field"]) for one in rejected] == [(0, "summary"), (1, "tags")]
    assert all(one["reason"] in refused.stderr for one in rejected)
    assert beads.gate() == "blocked"
    assert beads.learning_ids() == []
    assert [one["stage"] for one in beads.events("rejected")] == ["schema", "schema"]

    second = agent.is_blocked(active=True)
    assert second.startswith(HEAD)
    assert all(one["reason"][:60] in second for one in rejected)
    # It is forgotten with its cycle.
    assert agent.grove("skip", "nothing to it").code == 0
    agent.closes("bd-2")
    agent.is_blocked()
    assert "Short" not in agent.is_blocked(active=True)


def test_the_same_submission_twice_writes_nothing_twice_and_counts_once(beads, agent, candidate):
    agent.closes("bd-1")
    ids = [one["id"] for one in agent.reflects(candidate(1), candidate(2)).json["accepted"]]
    before = beads.learnings_file.read_bytes()
    for code in (0, 1):  # sent again for the same close, and then for another one
        again = agent.reflects(candidate(1), candidate(2))
        assert (again.code, again.json["accepted"], again.json["repeated"]) == (code, [], ids)
        assert beads.learnings_file.read_bytes() == before
        if code == 0:
            agent.is_let_go()
            agent.closes("bd-2")
    assert "for an earlier close" in again.json["error"]
    agent.is_blocked()


def test_a_ticket_that_was_closed_before_the_call_is_not_asked_about(beads, agent):
    agent.starts()
    beads.close_ticket("bd-1")
    agent.announces(command="bd close bd-1")  # and denied
    agent.is_let_go()
    agent.fails(agent.announces(command="bd close bd-1"))
    agent.succeeds(agent.announces(command="bd close bd-1"))
    agent.is_let_go()
    agent.closes("bd-2")
    agent.is_blocked()


def test_three_blocks_then_the_breaker_and_the_debt_stays_visible(beads, agent):
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
    assert "bd-1" in agent.starts("resume")

    (debt,) = beads.grove("status", "--json").json["pending"]
    assert "bd-1" in debt
    agent.ends()
    notice = beads.agent("session-2").starts()
    assert "session-1" in notice
    assert "bd-1" in notice
    # It is paid by a reflection of the session that owes it.
    assert beads.grove("skip", "done by hand", "--session-id", "session-1").code == 0
    assert beads.grove("status", "--json").json["pending"] == []


def test_a_stop_is_deferred_as_long_as_it_must(beads, agent):
    agent.closes("bd-1")
    for fields in ({"permission_mode": "plan"}, {"background_tasks": [SUBAGENT]}):
        agent.is_let_go(**fields)
        agent.is_let_go(**fields)
    assert beads.gate() == "pending"
    agent.is_let_go(background_tasks=[SHELL])
    # A shell defers once; a further one is new again; a task that has ended defers nothing.
    agent.is_blocked(background_tasks=[SHELL])
    agent.is_let_go(background_tasks=[SHELL, {**SHELL, "id": "shell-2"}])
    assert agent.is_blocked(background_tasks=[{**SUBAGENT, "status": "completed"}]).startswith(HEAD)


CLOSES = {
    "bd close {0} | cat": "Error: resolving {0}: none",
    "bd close {0}; true": "Error resolving ID {0}: none",
    "bd show {0}": "",
    "echo 'bd close {0}'": "",
    "git commit -m 'bd close {0}'": "",
    "bd close {0} && cat notes.txt": "error handling: exit code 3, FAILED, Error: none\n",
}
COUNTS = {"bd close {0} && cat notes.txt"}


def test_which_commands_close_a_ticket(beads):
    for number, (command, output) in enumerate(CLOSES.items()):
        agent = beads.agent(f"session-{number}")
        ticket = f"bd-{number}"
        agent.succeeds(agent.announces(command=command.format(ticket)), output.format(ticket))
        assert agent.stops().code == (2 if command in COUNTS else 0), command
        assert not beads.log("crash.log")


def test_a_call_that_failed_counts_only_where_the_ticket_is_closed(beads, agent):
    agent.fails(agent.announces(command="bd close bd-9"), "Exit code 127\n/bin/sh: bd: not found")
    agent.is_let_go()
    assert beads.session()["intents"] == []
    call = agent.announces(command="bd close bd-1 && false")
    beads.close_ticket("bd-1")
    agent.fails(call)
    assert agent.is_blocked().startswith(HEAD)


def test_a_call_that_never_reported_needs_proof_and_the_next_prompt_drops_it(beads, agent):
    """A denied call has a PreToolUse only; so has one whose PostToolUse was lost."""
    agent.announces(command="bd close bd-8")
    agent.announces(command="bd close bd-2")
    beads.close_ticket("bd-2")
    assert "ticket bd-2 is closed" in agent.is_blocked()
    other = beads.agent("session-2")
    other.announces(command="bd close bd-1")
    other.asks("Go on, please.")
    beads.close_ticket("bd-1")
    other.is_let_go()


@pytest.mark.parametrize("proof", ["", "✓ Closed bd-1"])
def test_a_close_that_nobody_could_confirm_is_looked_at_once_more(beads, agent, proof):
    """A proven one is not: another branch may hold an older state of the ticket."""
    agent.succeeds(agent.announces(command="bd close bd-1"), proof)
    assert beads.gate() == "pending"
    beads.install_bd("open")
    if proof:
        agent.is_blocked()
    else:
        agent.is_let_go()
        assert gate_event(beads) == {"ticket_id": "bd-1", "outcome": "no_change", "blocks": 0}


def test_a_subagents_call_in_flight_is_waited_for(beads, agent):
    call = {"tool_name": "Bash", "tool_input": {"command": "bd close bd-1"}, "tool_use_id": "t1"}
    agent.silent("PreToolUse", **call, agent_id="a1", agent_type="general-purpose")
    agent.is_let_go(background_tasks=[SUBAGENT])
    agent.succeeds(call, "✓ Closed bd-1")
    agent.is_blocked()


def test_a_subagents_close_counts_for_the_main_agent(beads, agent):
    subagent = {"agent_id": "a872a6c475997fe1c", "agent_type": "general-purpose"}
    call = {"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {"command": "bd close 1"}}
    agent.silent("PreToolUse", **call, **subagent)
    beads.close_ticket("bd-1")
    agent.silent("PostToolUse", **call, **subagent, tool_response={"stdout": "✓ Closed bd-1"})
    assert agent.grove("observe", "rows() is called twice by the export").code == 0
    agent.silent("SubagentStop", **subagent, stop_hook_active=False)
    reason = agent.is_blocked()
    assert "one step left" in reason
    assert "> rows() is called twice by the export" in reason


def test_the_project_of_the_session_counts_wherever_the_agent_has_gone(beads, agent):
    agent.starts()
    agent.closes("bd-1")
    elsewhere = beads.project / "sub"
    (elsewhere / ".grove").mkdir(parents=True)
    (elsewhere / ".grove" / "config.toml").write_text("[circuit_breaker]\nmax_blocks = 1\n")
    agent.is_blocked(cwd=str(elsewhere))
    agent.is_blocked(cwd=str(elsewhere))
    assert len(list((elsewhere / ".grove").iterdir())) == 1


def test_a_reflection_ahead_of_the_close_counts_once(beads, agent, candidate):
    beads.start_ticket("bd-1")
    agent.starts()
    assert agent.reflects(candidate(1)).code == 0
    agent.closes("bd-1")
    agent.is_let_go()
    assert gate_event(beads) == {"ticket_id": "bd-1", "outcome": "reflected", "blocks": 0}
    agent.closes("bd-2")
    agent.is_blocked()


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


def test_two_sessions_at_once_owe_for_themselves(beads, agent, candidate):
    other = beads.agent("session-2")
    agent.starts()
    other.starts()
    agent.closes("bd-1")
    other.is_let_go()
    other.closes("bd-2")
    assert agent.reflects(candidate(1)).code == 0
    agent.is_let_go()
    assert "ticket bd-2 is closed" in other.is_blocked()
    assert other.grove("skip", "nothing new").code == 0
    assert gate_event(beads)["outcome"] == "reflected"
    assert gate_event(beads, "session-2")["outcome"] == "skipped"


@pytest.mark.parametrize("source", ["resume", "compact"])
def test_a_debt_outlives_a_new_beginning_of_the_session(beads, agent, source):
    agent.starts()
    agent.closes("bd-1")
    context = agent.starts(source)
    assert context.startswith("grove: ticket bd-1 is closed and its reflection is still pending.\n")
    assert "grove reflect --session-id session-1" in context
    # After `/clear` the client's session is another one, which owes nothing.
    beads.agent("session-2").starts("clear")
    beads.agent("session-2").is_let_go()
    agent.is_blocked()


@pytest.mark.parametrize("seen_at", ["its start", "its first call"])
def test_a_debt_of_an_ended_session_is_named_once(beads, agent, seen_at):
    if seen_at == "its start":
        agent.starts()
    agent.closes("bd-1")
    agent.ends()
    context = beads.agent("session-2").starts()
    assert "session-1" in context
    assert "bd-1" in context
    assert beads.agent("session-3").starts() == ""


def test_two_sets_of_hooks_count_a_stop_once(beads):
    """A plugin's hooks and those of the settings are called side by side for each stop."""
    (beads.project / ".grove/config.toml").write_text("[circuit_breaker]\nmax_blocks = 2\n")
    of_settings, of_plugin = beads.agent(), beads.agent(CLAUDE_PLUGIN_ROOT="/plugins/grove")
    of_settings.starts()
    of_plugin.starts()
    of_settings.asks("go", prompt_id="p-1")
    of_settings.closes("bd-1")
    for number, pair in enumerate([(of_settings, of_plugin), (of_plugin, of_settings)] * 2):
        first, second = (one.stops(prompt_id="p-1", active=number > 0) for one in pair)
        assert first.code == (2 if number < 2 else 0)
        assert (second.code, second.stdout, second.stderr) == (0, "", "")
    assert gate_event(beads) == {"ticket_id": "bd-1", "outcome": "breaker", "blocks": 2}


def test_two_sets_of_hooks_show_what_one_may_show(beads, agent):
    config = "[retrieval]\nmax_injections = 2\nmax_per_prompt = 1\n"
    (beads.project / ".grove/config.toml").write_text(config)
    for number, part in enumerate("export import report ledger search".split()):
        summary = f"Order{part.title()}.rows() of {part}s asks {part} tables once per order"
        beads.learning(f"cl_20300102_aaaaa{number}", summary, tags=f"orders, {part}")
    beads.start_ticket("bd-1", title="Rows per order of the tables")
    assert len(re.findall(r"\| cl_2030", agent.starts() + agent.starts())) == 2
    prompt = {"prompt_id": "p-1", "prompt": "Which tables do rows() of export, search, import ask?"}
    said = [agent.send("UserPromptSubmit", **prompt).stdout for _ in range(2)]
    assert len(re.findall(r"\| cl_2030", "".join(said))) == 1
    events = [one["event_type"] for one in beads.session()["trace"]["events"]]
    assert events.count("prompt") == 1
