"""Many processes at once: nothing accepted is lost.

What takes longer is in tests/stress: a race of all against a model, and death at every write.
"""

import json
import re


def run_together(world, calls):
    """Runs many `grove` processes side by side; gives exit code and output of each, in order."""
    with world.watched():
        processes = []
        for words, stdin in calls:
            process = world.start(*words)
            process.stdin.write(stdin.encode())
            process.stdin.close()
            process.stdin = None
            processes.append(process)
        answers = [process.communicate(timeout=120) for process in processes]
    for _, err in answers:
        assert b"Traceback" not in err
    return [
        (process.returncode, out.decode())
        for process, (out, _) in zip(processes, answers, strict=True)
    ]


def copy_session(world, session_id):
    """A further session, as if it had been started."""
    state = {**world.session(), "id": session_id}
    (world.grove_home / "sessions" / f"{session_id}.json").write_text(json.dumps(state))


def whole_entries(world):
    """The project's learnings; every entry in the file is whole."""
    if not world.learnings_file.exists():
        return []
    text = world.learnings_file.read_text()
    entries = re.split(r"^(?=### )", text, flags=re.MULTILINE)[1:]
    for entry in entries:
        assert re.match(r"### \[cl_\w{15}\] OrderStore\.", entry)
        assert "- **Created:** " in entry
        assert re.search(r"^> .*prefetch_items\(\) first\.$", entry, re.MULTILINE)
    return [re.match(r"### \[(.*?)\]", entry).group(1) for entry in entries]


def test_forty_observations_at_once_keep_forty_notes_and_not_one(beads):
    beads.agent().starts()
    notes = [f"note {number}" for number in range(40)]
    answers = run_together(
        beads, [(("observe", note, "--session-id", "session-1"), "") for note in notes]
    )
    assert [code for code, _ in answers] == [0] * 40
    kept = [one["note"] for one in beads.session()["observations"]]
    assert sorted(kept) == sorted(notes)


def test_twenty_reflections_at_once_give_twenty_ids_and_not_three(beads, candidate):
    """Ten sessions of one project, two processes each, every one with a learning of its own."""
    beads.agent().starts()
    ids = ["session-1", *(f"session-{number}" for number in range(2, 11))]
    for session_id in ids[1:]:
        copy_session(beads, session_id)
    calls = []
    for number in range(20):
        words = ("reflect", "-q", "--session-id", ids[number % 10])
        calls.append((words, json.dumps(candidate(number))))
    answers = run_together(beads, calls)
    assert [code for code, _ in answers] == [0] * 20
    told = [out.strip() for _, out in answers]
    assert len(set(told)) == 20
    assert sorted(whole_entries(beads)) == sorted(told)
    assert len(beads.events("reflection")) == 20
    for session_id in ids:
        assert len(beads.session(session_id)["written"]) == 2
    assert beads.grove("list", "--json").json["total"] == 20


def test_the_same_reflection_many_times_at_once(beads, candidate):
    agent = beads.agent()
    agent.closes("bd-1")
    words = ("reflect", "-q", "--session-id", "session-1")
    answers = run_together(beads, [(words, json.dumps(candidate(1)))] * 4)
    assert [code for code, _ in answers] == [0] * 4
    assert {out.strip() for _, out in answers} == set(whole_entries(beads))
    assert len(whole_entries(beads)) == 1
    assert len(beads.events("gate")) == 1
    agent.is_let_go()


def test_hooks_of_one_session_side_by_side(beads):
    """Parallel tool calls: every close is announced and counted, and the blocks are counted."""
    beads.agent().starts()

    def send_together(event, payloads):
        base = {"session_id": "session-1", "cwd": str(beads.project), "prompt_id": "prompt-1"}
        return run_together(
            beads, [(("hook", event), json.dumps({**base, **payload})) for payload in payloads]
        )

    calls = [
        {
            "tool_name": "Bash",
            "tool_use_id": f"toolu_{number}",
            "tool_input": {"command": f"bd close bd-{number}"},
        }
        for number in range(5)
    ]
    assert send_together("pre-tool-use", calls) == [(0, "")] * 5
    announced = {one["key"] for one in beads.session()["intents"]}
    assert announced == {call["tool_use_id"] for call in calls}

    done = {"tool_response": {"stdout": "", "stderr": ""}}
    assert send_together("post-tool-use", [{**call, **done} for call in calls]) == [(0, "")] * 5
    assert beads.session()["intents"] == []
    closed = {one["ticket_id"] for one in beads.session()["gate"]["cycle"]["tickets"]}
    assert closed == {f"bd-{number}" for number in range(5)}

    answers = send_together("stop", [{"background_tasks": []}] * 5)
    assert sorted(code for code, _ in answers) == [0] * 2 + [2] * 3
    (event,) = beads.events("gate")
    assert (event["outcome"], event["blocks"]) == ("breaker", 3)
