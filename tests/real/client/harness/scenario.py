"""The turns that scenarios are made of, and what every run is asked afterwards."""

import json

from hosts import Call, Failure

MAY_SPEAK = {"SessionStart", "UserPromptSubmit", "PostToolUse"}
HELD = "one step left"


def bash(command, **options):
    """A shell command of the agent."""
    return Call("Bash", {"command": command, "description": "Run it", **options})


def agent(prompt, **options):
    """A call of a subagent, in the foreground unless told."""
    words = {"description": "Help", "prompt": prompt, "subagent_type": "general-purpose"}
    return Call("Agent", {**words, "run_in_background": False, **options})


def submission(value, *options):
    """`grove reflect` in the form that the skill shows."""
    words = " ".join(("grove reflect", *options))
    return bash(f"{words} <<< \"$(cat <<'EOF'\n{json.dumps(value, indent=2)}\nEOF\n)\"")


def reflection(candidate, *options):
    """`grove reflect` with one candidate."""
    return submission({"candidates": [candidate]}, *options)


SUMMARY = "OrderReport.rows() runs one query per order unless items are prefetched"
CANDIDATE = {
    "category": "pitfall",
    "summary": SUMMARY,
    "detail": (
        "OrderReport.rows() in reports/orders.py reads order.items in a loop; with 2,000 orders it "
        "took 40 s. Call prefetch_related('items') first. It's guarded by test_report_query_count."
    ),
    "tags": ["orders", "n-plus-one", "prefetch"],
    "criteria_met": ["behavior_changing"],
    "scope": "project",
    "confidence": "high",
    "context_files": ["reports/orders.py"],
}
OTHER_CANDIDATE = {
    **CANDIDATE,
    "category": "convention",
    "summary": "Exports stream rows through csv.writer; a list of all rows does not fit in memory",
    "detail": (
        "reports/export.py hands a generator to StreamingHttpResponse. With 200,000 orders a list "
        "needs 3 GB, and the worker is killed without a message; test_export_memory keeps it below "
        "100 MB, so never build one there."
    ),
    "tags": ["export", "csv", "memory"],
    "context_files": ["reports/export.py"],
}

CLOSE = bash("bd close bd-1 --reason done")
CLOSE_OTHER = bash("bd close bd-2 --reason done")
REFLECT = reflection(CANDIDATE)
STATUS = bash("grove status --json")
FINISHED = "Finished."
# The client ends the turn at once and without a stop: what is owed stays owed.
CUT_OFF = Failure(403, "cut off")


def stops(transcript):
    """How each stop ended, whichever hook answered it: 2 when it was held."""
    moments = {}
    for hook in transcript["hooks"]:
        if hook["hook_event"] == "Stop":
            moments.setdefault(hook["moment"], []).append(2 if holds(hook) else hook["exit_code"])
    return [max(codes) for codes in moments.values()]


def holds(hook):
    """Whether a hook held the agent, by its exit code or, on the server, by its answer."""
    return hook["exit_code"] == 2 or '"decision": "block"' in (hook["stdout"] or "")


def injected(transcript, request=None):
    """What hooks gave the model, in one request or in all."""
    return "\n".join(
        each["text"] for each in transcript["injected"] if request in (None, each["request"])
    )


def held(transcript):
    """The reasons for which the main agent was held, each as the model read it first."""
    feedback = [
        each
        for each in transcript["injected"]
        if HELD in each["text"] and each["text"].startswith("Stop hook feedback")
    ]
    assert {each["conversation"] for each in feedback} <= {"main"}
    return [each["text"] for each in feedback]


def results(transcript):
    """What the tools answered."""
    new = (block for request in transcript["requests"] for block in request["new"])
    return [block["tool_result"] for block in new if "tool_result" in block]


def statuses(transcript):
    """What `grove status --json` said of the session, each time that the agent ran it."""
    found = []
    for answer in results(transcript):
        if answer.startswith("{"):
            document = json.loads(answer)
            if "live_sessions" not in document:
                continue  # a tool's answer
            sessions = {each["id"]: each for each in document["live_sessions"]}
            found.append(sessions.get(transcript["session_ids"][-1]))
    return found


def recorded(transcript, event):
    """What the client wrote to the hooks of an event."""
    return [each["stdin"] for each in transcript["recorded"] if each["event"] == event]


def assert_hooks_kept_their_contract(transcript):
    """Exit codes and standard output as the client's contract wants them."""
    for hook in transcript["hooks"]:
        assert hook["exit_code"] in ({0, 2} if hook["hook_event"] == "Stop" else {0}), hook
        assert_said_only_context(hook)


def assert_said_only_context(hook):
    """Nothing on stdout but context for the model, where that is allowed; never a permission."""
    if not hook["stdout"]:
        return
    answer = json.loads(hook["stdout"])
    if not answer:
        return
    if hook["hook_event"] == "Stop":
        assert set(answer) in ({"decision", "reason"}, {"systemMessage"})
        return
    assert hook["hook_event"] in MAY_SPEAK, hook
    if hook["hook_event"] == "SessionStart":
        answer.pop("systemMessage", None)  # for the person
    assert set(answer) == {"hookSpecificOutput"}
    assert set(answer["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert answer["hookSpecificOutput"]["hookEventName"] == hook["hook_event"]


def assert_ended_well(transcript):
    """The client ended by itself and said its last word, and every hook kept its contract."""
    assert transcript["exit_code"] == 0, transcript["stderr"]
    assert transcript["ended_by"] == ""
    assert not transcript["is_error"]
    assert transcript["final_text"] == "Finished."
    assert transcript["left_running"] == ()
    assert transcript["plugins"] == ["grove"]
    assert_hooks_kept_their_contract(transcript)
