"""The review gate: the table of its states, what starts it, who decides, when it gives up."""

import os
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from attrs import evolve

from grove_core import GateCall, Ticket, TicketClose, ToolCall
from grove_core.testing import GateContract
from grove_review.gate import ReviewGate
from grove_review.machine import Machine, approve, with_issues
from grove_review.patterns import Pattern, tools_to_register
from grove_review.settings import Mode, ReviewSettings, Scope
from grove_review.state import LONGEST_TEXT, Issues, cut, read, write
from grove_review.texts import LONGEST_MESSAGE

NOW = datetime(2026, 11, 26, 9, 0, tzinfo=UTC)
SESSION = "session-1"
CLOSE = TicketClose(system="tk", ticket_id="ab-1")


class TestContract(GateContract):
    """Without a trigger it holds nobody."""

    plugin = "grove_review"


class TestContractWithEverything(GateContract):
    plugin = "grove_review"
    gate_settings = ReviewSettings(mode=Mode.ALWAYS, tools=("Bash:rm *",), closes=True)


def machine(settings, **templates):
    patterns = [one for one in map(Pattern, settings.tools) if one.is_sound]
    return Machine(settings, patterns, templates)


class Story:
    """A session, told to the gate event by event."""

    def __init__(self, **settings):
        settings = ReviewSettings(**settings)
        self.gate = ReviewGate(settings, Path())
        self.gate._machine = machine(settings, default="{{about}} {{session_id}}")
        self.state, self.now, self.uses = {}, NOW, 0

    def _ask(self, method, **told):
        self.now += timedelta(seconds=1)
        call = GateCall(session_id=SESSION, **told)
        answer = getattr(self.gate, method)(call, self.state, self.now)
        self.state = answer.state
        return answer

    def prompt(self, text, prompt_id="p1", **told):
        return self._ask("on_prompt", prompt=text, prompt_id=prompt_id, **told)

    def stop(self, **told):
        return self._ask("on_stop", **{"prompt_id": "p1", **told})

    def run(self, line, *, closes=(), tool="Bash", use=None, **told):
        self.uses += 1
        call = ToolCall(name=tool, input={"command": line}, use_id=use or f"use-{self.uses}")
        commands = (tuple(line.split()),) if tool == "Bash" else ()
        told = {"prompt_id": "p1", **told}
        return self._ask("before_tool", tool=call, commands=commands, closes=closes, **told)

    def close(self, **told):
        return self.run("tk close ab-1", closes=(CLOSE,), **told)

    def approve(self):
        self.state = write(approve(read(self.state), "a1", self.now))

    def find_issues(self, message="add a test"):
        found = Issues(summary="no test", message=message, by="a1", at="")
        self.state = write(with_issues(read(self.state), found))

    def wait(self, seconds):
        self.now += timedelta(seconds=seconds)

    @property
    def owed(self):
        return read(self.state).cycle is not None


@pytest.mark.parametrize(
    ("prompt", "starts"),
    [
        ("#review do it", True),
        ("  #roz do it", True),
        ("#REVIEW", True),
        ("#review, please", True),
        ("#reviewer do it", False),
        ("#rozzer", False),
        ("#review-board", False),
        ("please #review", False),
        ("#review off", False),
        ("do it", False),
    ],
)
def test_which_prompts_start_a_review(prompt, starts):
    story = Story()
    answer = story.prompt(prompt)
    assert story.owed is starts
    assert bool(answer.context) is starts


def test_the_table_from_prompt_to_approval():
    story = Story()
    assert not story.stop().block
    story.prompt("#review do it")
    assert "your prompt session-1" in story.stop().block
    story.find_issues("add a test\nfor the empty list")
    told = story.stop().block
    assert "> add a test\n> for the empty list" in told
    assert "your prompt" in story.stop().block
    story.approve()
    assert not story.stop().block
    assert not story.gate.pending(story.state)
    (past,) = read(story.state).past
    assert (past.outcome, past.blocks, past.issues) == ("approved", 3, 1)
    assert [one.outcome for one in past.attempts] == ["issues", "success", "success"]


def test_off_ends_what_is_owed():
    story = Story()
    story.prompt("#review do it")
    assert story.prompt("#review off").context
    assert not story.stop().block
    assert read(story.state).past[0].outcome == "ended"


def test_issues_are_given_before_the_breaker():
    story = Story(max_blocks=1)
    story.prompt("#review do it")
    story.stop()
    story.find_issues()
    assert "add a test" in story.stop().block


@pytest.mark.parametrize("blocks", [1, 2, 3, 5])
def test_it_blocks_as_often_as_it_says_and_is_visible_after(blocks):
    story = Story(max_blocks=blocks)
    story.prompt("#review do it")
    assert [bool(story.stop().block) for _ in range(blocks + 2)] == [True] * blocks + [False] * 2
    assert "let go without a review" in story.gate.pending(story.state)


def test_it_warns_when_it_gives_up_and_counts_anew_in_each_review():
    story = Story(max_blocks=1)
    for _ in range(3):
        story.prompt("#review do it")
        assert story.stop().block
        assert story.stop().warning
    assert len(read(story.state).past) == 3


def test_it_holds_again_once_after_the_pause():
    story = Story(max_blocks=1, cooldown_seconds=60)
    story.prompt("#review do it")
    assert [bool(story.stop().block) for _ in range(3)] == [True, False, False]
    story.wait(61)
    assert [bool(story.stop().block) for _ in range(3)] == [True, False, False]
    story.wait(61)
    assert not story.stop().block


def test_a_decision_that_comes_late_counts():
    story = Story(max_blocks=1)
    story.prompt("#review do it")
    assert [bool(story.stop().block) for _ in range(2)] == [True, False]
    story.run("grove reviewer decide session-1 COMPLETE ok", **REVIEWER)
    story.approve()
    assert not story.gate.pending(story.state)


def test_denials_count_and_the_pause_holds_for_calls():
    story = Story(closes=True, max_denials=2, cooldown_seconds=60)
    assert [bool(story.close().deny) for _ in range(4)] == [True, True, False, False]
    story.wait(61)
    assert story.close().deny


@pytest.mark.parametrize("told", [{"plan_mode": True}, {"background": True}])
def test_it_waits_while_the_agent_plans_or_has_others_at_work(told):
    from grove_core.model.ticket import BackgroundTask

    if "background" in told:
        told = {"background": (BackgroundTask(id="b1", kind="subagent"),)}
    story = Story()
    story.prompt("#review do it")
    assert not story.stop(**told).block
    assert story.owed
    assert story.stop().block


def test_two_sets_of_hooks_count_a_denied_call_once():
    story = Story(closes=True)
    assert story.close(use="one").deny
    assert story.close(use="one").deny
    assert read(story.state).cycle.denials == 1


@pytest.mark.parametrize(
    ("scope", "next_prompt", "other_call", "same_again"),
    [
        (Scope.SESSION, True, True, True),
        (Scope.PROMPT, False, True, True),
        (Scope.TOOL, True, False, False),
    ],
)
def test_what_an_approval_covers(scope, next_prompt, other_call, same_again):
    def approved():
        story = Story(closes=True, scope=scope)
        assert story.close().deny
        story.prompt("and tell me why", prompt_id="p2")
        story.approve()
        return story

    story = approved()
    assert not story.close(prompt_id="p2").deny, (
        "a prompt that came while it was owed belongs to it"
    )
    assert not story.close().deny if same_again else story.close().deny
    assert bool(approved().close(prompt_id="p3").deny) is not next_prompt
    other = approved().run("tk close ab-2", closes=(CLOSE,))
    assert bool(other.deny) is not other_call


def test_an_approval_ends_and_then_stop_and_call_agree():
    story = Story(closes=True, scope=Scope.SESSION, ttl_seconds=60)
    story.close()
    story.approve()
    story.wait(61)
    assert story.close().deny
    assert story.stop().block


def test_two_sets_of_hooks_use_an_approval_of_a_call_once():
    story = Story(closes=True, scope=Scope.TOOL)
    story.close()
    story.approve()
    assert not story.close(use="one").deny
    assert not story.close(use="one").deny
    assert story.close(use="two").deny


def test_without_ids_of_prompts_an_approval_ends_with_the_next_one():
    story = Story(closes=True)
    story.close(prompt_id=None)
    story.approve()
    assert not story.close(prompt_id=None).deny
    story.prompt("and the next", prompt_id=None)
    assert story.close(prompt_id=None).deny


def test_a_plan_lets_no_call_through():
    """An agent may switch to a plan by itself."""
    assert Story(closes=True).close(plan_mode=True).deny


def test_what_an_agent_says_of_a_command_is_no_part_of_it():
    story = Story(closes=True, scope=Scope.TOOL)
    story.close()
    story.approve()
    call = ToolCall(name="Bash", input={"command": "tk close ab-1", "description": "other words"})
    told = GateCall(session_id=SESSION, tool=call, closes=(CLOSE,))
    assert not story.gate.before_tool(told, story.state, story.now).deny


def test_only_changes_lead_to_a_review_in_mode_always():
    story = Story(mode=Mode.ALWAYS)
    story.prompt("why?", work="one")
    assert not story.stop(work="one").block
    story.prompt("do it", work="one")
    assert story.stop(work="two").block
    assert [one.text for one in read(story.state).cycle.prompts] == ["do it"]
    story.approve()
    assert not story.stop(work="two").block
    story.prompt("outside of git", prompt_id="p2", work="")
    assert not story.stop(work="", prompt_id="p2").block


def test_mode_always_goes_on_after_a_review_was_given_up():
    story = Story(mode=Mode.ALWAYS, max_blocks=1, cooldown_seconds=60)
    story.prompt("do it", work="one")
    for held in (True, False):
        assert bool(story.stop(work="two").block) is held
    story.prompt("more", prompt_id="p2", work="two")
    assert not story.stop(work="three", prompt_id="p2").block, "the pause holds"
    story.wait(61)
    assert [bool(story.stop(work="three").block) for _ in range(3)] == [True, False, False]
    story.wait(61)
    story.prompt("and more", prompt_id="p3", work="three")
    assert story.stop(work="four", prompt_id="p3").block


@pytest.mark.parametrize("is_held", [True, False])
def test_off_holds_for_what_has_changed_in_mode_always(is_held):
    story = Story(mode=Mode.ALWAYS)
    story.prompt("do it", work="one")
    if is_held:
        assert story.stop(work="two").block
    story.prompt("#review off", prompt_id="p2", work="three")
    assert not story.stop(work="three", prompt_id="p2").block


def test_an_approval_of_a_call_ends_the_review_of_its_changes():
    story = Story(mode=Mode.ALWAYS, scope=Scope.TOOL)
    story.prompt("do it", work="one")
    assert story.stop(work="two").block
    story.find_issues()
    assert story.stop(work="two").block
    story.approve()
    assert not story.stop(work="mended").block


GATED = """\
gh issue close 1
/usr/bin/gh issue close 1
gh --repo o/r issue close 1
gh issue close --comment done 1
gh issue close -R o/r 1
gh -R o/r --verbose issue close 1
gh --verbose -R o/r issue -q close -c 'is done' --web 1"""
FREE = """\
gh issue list --search close
gh issue view 1
echo gh issue close 1
gh pr close 1"""


@pytest.mark.parametrize("line", GATED.splitlines())
def test_a_pattern_matches_a_command_however_it_is_spelled(line):
    assert Story(tools=("Bash:gh issue close*",)).run(line).deny


@pytest.mark.parametrize("line", FREE.splitlines())
def test_a_pattern_leaves_other_commands_alone(line):
    assert not Story(tools=("Bash:gh issue close*",)).run(line).deny


@pytest.mark.parametrize(
    ("pattern", "tool", "matches"),
    [
        ("Edit", "Edit", True),
        ("Edit", "MultiEdit", False),
        ("mcp__tissue__*", "mcp__tissue__close", True),
        ("Bash", "Bash", True),
        ("Bash:", "Bash", False),
        ("", "Bash", False),
    ],
)
def test_a_pattern_names_tools(pattern, tool, matches):
    assert bool(Story(tools=(pattern,)).run("ls", tool=tool).deny) is matches


def test_what_hooks_must_look_for():
    patterns = [Pattern(one) for one in ("Bash:gh issue close*", "Edit", "mcp__x__*", "Note*")]
    assert [one.literal for one in patterns] == ["gh issue", "Edit", "", ""]
    assert tools_to_register(patterns) == ("Edit", "Note.*")


REVIEWER = {"agent_id": "a1", "agent_type": "grove:reviewer"}


@pytest.mark.parametrize(
    ("line", "who", "granted"),
    [
        ("grove reviewer decide session-1 COMPLETE fine", REVIEWER, True),
        ("/opt/bin/grove -C . reviewer decide session-1 COMPLETE fine", REVIEWER, True),
        ("grove reviewer decide session-1 COMPLETE fine", {}, False),
        ("grove reviewer decide session-1 COMPLETE fine", {"agent_type": "grove:reviewer"}, False),
        (
            "grove reviewer decide session-1 COMPLETE fine",
            {"agent_id": "a1", "agent_type": "general-purpose"},
            False,
        ),
    ],
)
def test_only_a_reviewers_subagent_may_decide(line, who, granted):
    story = Story()
    story.prompt("#review do it")
    answer = story.run(line, **who)
    assert bool(answer.deny) is not granted
    assert (read(story.state).cycle.grant is not None) is granted


def test_a_reviewer_may_look_but_not_close():
    story = Story(tools=("Bash:git *",), closes=True)
    story.prompt("#review do it")
    assert not story.run("git diff", **REVIEWER).deny
    assert story.close(**REVIEWER).deny


def test_a_reviewer_that_does_not_decide_is_held_once():
    story = Story()
    story.prompt("#review do it")
    story.stop()
    assert "COMPLETE" in story._ask("on_subagent_stop", **REVIEWER).block
    story.now -= timedelta(seconds=1)
    assert story._ask("on_subagent_stop", **REVIEWER).block, "another set of hooks reports the stop"
    assert not story._ask("on_subagent_stop", **REVIEWER).block
    assert [one.outcome for one in read(story.state).cycle.attempts] == ["no_decision"]
    story.find_issues()
    assert not story._ask("on_subagent_stop", agent_id="a2", agent_type="grove:reviewer").block
    assert not story._ask("on_subagent_stop", agent_id="a3", agent_type="other").block


@pytest.mark.parametrize("text", ["", "x" * LONGEST_TEXT, "ü" * LONGEST_TEXT, "\ud800"])
def test_long_texts_are_cut_at_a_character(text):
    kept = cut(text)
    assert len(kept.text.encode()) <= LONGEST_TEXT
    assert kept.size >= len(kept.text)
    assert text.startswith(kept.text) or kept.text == "?"


def test_prompts_that_are_kept_are_bounded_and_the_first_stays():
    story = Story()
    story.prompt("#review the first")
    for number in range(50):
        story.prompt(f"prompt {number}", prompt_id=f"p{number}")
    prompts = [one.text for one in read(story.state).cycle.prompts]
    assert (prompts[0], prompts[-1]) == ("#review the first", "prompt 49")
    assert len(prompts) < 20


def test_what_is_kept_fits_in_any_script():
    story = Story()
    for number in range(20):
        story.prompt("#review " + "ж" * LONGEST_TEXT, prompt_id=f"p{number}")
        story.find_issues("ж" * LONGEST_MESSAGE)
    assert story.stop().block


def test_messages_are_drawn_by_weight_and_stay_the_same_in_a_review():
    settings = ReviewSettings(templates={"one": 1, "two": 1})
    gate = machine(settings, one="one", two="two")
    drawn = set()
    for number in range(40):
        call = GateCall(session_id=f"session-{number}", prompt="#review")
        state = gate.on_prompt(call, {}, NOW).state
        first = gate.on_stop(call, state, NOW)
        assert gate.on_stop(call, first.state, NOW).block == first.block
        drawn.add(first.block)
    assert drawn == {"one", "two"}


def test_a_block_names_the_tickets():
    gate = machine(ReviewSettings(), default="{{tickets}} by {{reviewer}}")
    call = GateCall(
        session_id=SESSION, prompt="#review", tickets=(Ticket(ticket_id="ab-1", source="tk"),)
    )
    state = gate.on_prompt(call, {}, NOW).state
    assert gate.on_stop(evolve(call, prompt=""), state, NOW).block == "ab-1 by grove:reviewer"


SEQUENCES = 10_000 if os.environ.get("GROVE_TESTS_LONG") else 100
EVENTS = 40


def session(number):
    """One session: what must hold after each event, whatever came before."""
    chance = random.Random(number)
    story = Story(
        closes=True,
        scope=chance.choice([*Scope]),
        max_blocks=chance.randint(1, 5),
        max_denials=chance.randint(1, 6),
        cooldown_seconds=chance.choice([0, 30, 300]),
        ttl_seconds=chance.choice([None, 20]),
    )
    settings = story.gate._settings
    blocks = denials = 0
    for _ in range(EVENTS):
        before = read(story.state).cycle
        due = before is not None and before.is_message_due
        prompt_id = chance.choice(["p1", "p2"])
        match chance.randrange(8):
            case 0:
                story.prompt(chance.choice(["#review", "do it", "#review off"]), prompt_id)
            case 1 | 2:
                said = story.stop(prompt_id=prompt_id).block
                assert ("add a test" in said) is due, "issues are told at the next chance, and once"
                if before is None:
                    assert not said or read(story.state).cycle.was_resumed
                blocks += bool(said)
            case 3 | 4:
                said = story.close(prompt_id=prompt_id).deny
                assert ("add a test" in said) is due
                denials += bool(said)
            case 5 if before is not None:
                story.find_issues()
                blocks -= 1  # what it found is told over the limit, if need be
            case 6 if before is not None:
                story.approve()
                assert not story.stop(prompt_id=prompt_id).block
            case _:
                story.wait(chance.choice([1, 10, 60]))
                story._ask("on_subagent_stop", **REVIEWER)
        after = read(story.state).cycle
        if after is None or before is None or after.id != before.id:
            blocks = after.blocks if after else 0
            denials = after.denials if after else 0
        if after is not None:
            assert blocks <= 2 * settings.max_blocks
            assert denials <= 2 * settings.max_denials + len(after.issues)
    return story


@pytest.mark.parametrize("part", range(10))
def test_sessions_of_any_order(part):
    for number in range(part, SEQUENCES, 10):
        session(number)


@pytest.mark.parametrize("scope", Scope)
def test_a_stop_and_a_call_agree_after_any_session(scope):
    """Where a call is denied, the next stop is held as well."""
    for number in range(20):
        story = session(number)
        story.prompt("next", prompt_id=f"last-{scope.value}")
        if story.run("tk close ab-9", closes=(CLOSE,), prompt_id="last").deny:
            assert story.stop(prompt_id="last").block or read(story.state).given_up
