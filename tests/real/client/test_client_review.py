"""The review gate in the real client: asked for by a prompt, with issues, and before a close."""

import pytest
from scenario import (
    CLOSE,
    FINISHED,
    REFLECT,
    agent,
    assert_ended_well,
    bash,
    injected,
    results,
    stops,
)

SESSION = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
APPROVES = bash(f"grove reviewer decide {SESSION} COMPLETE 'read the diff, ran the tests'")
FINDS = bash(
    f"grove reviewer decide {SESSION} ISSUES 'no test' --message 'rows() has no test for no orders'"
)
DENIAL = '"permissionDecision": "deny"'
# The client itself refuses it without a rule: no hook may talk it out of that.
REFUSED = bash("touch made-by-the-agent")


def review(name="REVIEW"):
    return agent(f"{name}: look at the work", subagent_type="grove:reviewer")


def reviewer(*turns):
    return {"agents": {"REVIEW": [*turns, "Decided."]}}


@pytest.fixture
def shop(project):
    """After `grove init`, with calls that the agent may make, and no more."""
    project.command("grove", "init", "--quiet")
    return project


def play(project, turns, **options):
    allowed = ["--allowedTools", "Bash(grove *) Bash(bd *) Agent", "--session-id", SESSION]
    transcript = project.play([REFUSED, *turns], args=allowed, **options)
    # A denial is the one thing that a gate says on permissions.
    others = [one for one in transcript["hooks"] if DENIAL not in (one["stdout"] or "")]
    assert_ended_well({**transcript, "hooks": others})
    refused = [one["tool_input"]["command"] for one in transcript["permission_denials"]]
    assert REFUSED.input["command"] in refused
    assert not (project.root / "made-by-the-agent").exists()
    return transcript


def test_a_prompt_asks_for_a_review(shop):
    turns = [FINISHED, review(), FINISHED]
    context = bash(f"grove reviewer context {SESSION}")
    script = reviewer(context, APPROVES)
    transcript = play(shop, turns, script=script, prompt="#review make rows() fast")
    assert stops(transcript) == [2, 0]
    assert "wants this work reviewed" in injected(transcript, request=0)
    assert "> #review make rows() fast" in "".join(results(transcript))
    assert shop.outcomes() == [("approved at first look", 0)]


def test_what_a_reviewer_finds_reaches_the_agent_and_is_looked_at_again(shop):
    # A subagent's script goes on where an earlier one of its name has ended.
    script = reviewer(FINDS, "Found something.", APPROVES)
    turns = [FINISHED, review(), FINISHED, review(), FINISHED]
    transcript = play(shop, turns, script=script, prompt="#review make rows() fast")
    assert stops(transcript) == [2, 2, 0]
    assert "> rows() has no test for no orders" in injected(transcript)
    assert shop.outcomes() == [("approved after issues", 0)]


def test_a_close_waits_for_the_review_and_then_for_the_reflection(shop):
    shop.command("grove", "config", "set", "gates.review.closes", "true")
    turns = [CLOSE, APPROVES, review(), CLOSE, FINISHED, REFLECT, FINISHED]
    transcript = play(shop, turns, script=reviewer(APPROVES))
    said = "\n".join(results(transcript))
    assert "needs an approval first (closing bd-1)" in said
    assert "only the agent grove:reviewer may decide" in said, "the agent itself has tried"
    assert said.count("✓ Closed bd-1") == 1
    assert stops(transcript) == [2, 0]
    assert shop.outcomes() == [("approved at first look", 0), ("reflected", 1)]
