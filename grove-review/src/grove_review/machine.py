"""What starts a review, what it holds, and when it lets go. All of it is pure."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from attrs import evolve, frozen

from grove_core import GateAnswer, GateCall
from grove_review import texts
from grove_review.patterns import DECIDE, Pattern
from grove_review.settings import Mode, ReviewSettings, Scope
from grove_review.state import (
    MOST_ISSUES,
    MOST_PROMPTS,
    Approval,
    Attempt,
    Cut,
    Cycle,
    Grant,
    Issues,
    Past,
    State,
    Watch,
    cut,
    digest_of,
    input_of,
    instant,
    read,
    seconds_since,
    write,
)

_TRIGGER: Final = re.compile(r"\s*#(?:review|roz)(?![\w-])[ \t]*(?P<off>off\b)?", re.IGNORECASE)
_SUBAGENT: Final = "subagent"
_SAME_STOP: Final = 1
"""Within so many seconds it is one stop of a reviewer, which two sets of hooks report."""


@frozen
class _Step:
    """What one call leads to, before it is written down."""

    state: State
    block: str = ""
    deny: str = ""
    context: str = ""
    warning: str = ""
    outcome: str = ""
    trace: tuple[str, ...] = ()

    def answer(self) -> GateAnswer:
        """Say it as grove takes it."""
        return GateAnswer(
            state=write(self.state),
            block=self.block,
            deny=self.deny,
            context=self.context,
            warning=self.warning,
            outcome=self.outcome,
            trace=self.trace,
        )


class Machine:
    """The states of a review, moved by what happens."""

    def __init__(
        self,
        settings: ReviewSettings,
        patterns: Sequence[Pattern],
        templates: Mapping[str, str],
    ) -> None:
        """Take what the configuration says, and the block messages by their names."""
        self._settings = settings
        self._patterns = patterns
        self._templates = templates

    # --- prompts ----------------------------------------------------------------------------------

    def on_prompt(self, call: GateCall, state: Mapping[str, Any], now: datetime) -> GateAnswer:
        """Begin a review that the user asks for, end it, or count the prompt to the one owed."""
        known = read(state)
        trigger = _TRIGGER.match(call.prompt)
        if trigger is not None and trigger["off"]:
            return self._switched_off(known, call, now).answer()
        if not call.prompt_id and self._settings.scope is Scope.PROMPT:
            # A client that does not tell its prompts apart: the approval was for the last one.
            known = evolve(known, approval=None)
        if known.cycle is not None:
            return _Step(evolve(known, cycle=_with_prompt(known.cycle, call))).answer()
        if trigger is not None:
            opened = self._opened(known, "prompt", "your prompt", call, now)
            return _Step(opened, context=texts.ASKED_BY_PROMPT, trace=("owed: prompt",)).answer()
        if self._settings.mode is Mode.ALWAYS:
            prompt = cut(call.prompt)
            watch = Watch(work=call.work, prompt_id=call.prompt_id or "", prompt=prompt)
            return _Step(evolve(known, watch=watch)).answer()
        return _Step(known).answer()

    def _switched_off(self, state: State, call: GateCall, now: datetime) -> _Step:
        if state.watch is not None:
            # What has changed until now is called off with it.
            state = evolve(state, watch=evolve(state.watch, work=call.work))
        if state.cycle is None and state.given_up is None:
            return _Step(state)
        ended = evolve(state, cycle=None, given_up=None)
        if state.cycle is not None:
            ended = ended.with_past(_past(state.cycle, "ended", now, by="user"))
        outcome = "called off" if state.cycle is not None else ""
        trace = ("called off by the user",)
        return _Step(ended, context=texts.SWITCHED_OFF, outcome=outcome, trace=trace)

    def _opened(
        self, state: State, trigger: str, about: str, call: GateCall, now: datetime
    ) -> State:
        number = state.number + 1
        name = hashlib.sha256(f"{call.session_id} {number}".encode()).hexdigest()[:8]
        cycle = Cycle(id=name, trigger=trigger, about=about, opened_at=instant(now))
        watch = state.watch
        if trigger == "always" and watch is not None and watch.prompt is not None:
            ids = (watch.prompt_id,) if watch.prompt_id else ()
            cycle = evolve(cycle, prompt_ids=ids, prompts=(watch.prompt,))
        cycle = _with_prompt(cycle, call)
        return evolve(state, cycle=cycle, given_up=None, approval=None, number=number)

    # --- tool calls -------------------------------------------------------------------------------

    def before_tool(self, call: GateCall, state: Mapping[str, Any], now: datetime) -> GateAnswer:
        """Deny a call that needs an approval and has none; let a reviewer decide."""
        known = read(state)
        if call.tool is None:
            return _Step(known).answer()
        if _decides(call):
            return self._granted(known, call, now).answer()
        reason = self._reason(call)
        if not reason:
            return _Step(known).answer()
        return self._gated(known, call, reason, now).answer()

    def _granted(self, state: State, call: GateCall, now: datetime) -> _Step:
        is_reviewer = bool(call.agent_id) and call.agent_type in self._settings.reviewers
        if not is_reviewer:
            refusal = texts.only_a_reviewer(self._settings.reviewers)
            return _Step(state, deny=refusal, trace=("decide refused: not a reviewer",))
        state = taken_up(state)
        if state.cycle is None:
            return _Step(state)
        grant = Grant(agent=call.agent_id or "", at=instant(now))
        cycle = evolve(state.cycle, grant=grant)
        return _Step(evolve(state, cycle=cycle), trace=("a reviewer may decide",))

    def _reason(self, call: GateCall) -> str:
        """Say why a call needs an approval; empty where it needs none."""
        if self._settings.closes and any(not one.reopens for one in call.closes):
            ids = ", ".join(dict.fromkeys(texts.named(one.ticket_id) for one in call.closes))
            return f"closing {ids}"
        # What the reviewer runs to look at the work is not work.
        if call.agent_type in self._settings.reviewers and call.agent_id:
            return ""
        return next((one.text for one in self._patterns if one.matches(call)), "")

    def _gated(self, state: State, call: GateCall, reason: str, now: datetime) -> _Step:
        if call.tool is None:
            return _Step(state)
        approval = state.approval
        if approval is not None and self._covers(approval, call, now):
            if self._settings.scope is Scope.TOOL:
                used = evolve(approval, is_used=True, use_id=call.tool.use_id or "")
                state = evolve(state, approval=used)
            return _Step(state, trace=(f"allowed: {reason}",))
        state = self._resumed(state, now)
        if state.given_up is not None and self._cools_down(state.given_up, now):
            return _Step(state, trace=(f"allowed after giving up: {reason}",))
        if state.cycle is None:
            trigger = "close" if self._settings.closes and call.closes else "tool"
            state = self._opened(state, trigger, reason, call, now)
        return self._denied(state, call, reason, now)

    def _denied(self, state: State, call: GateCall, reason: str, now: datetime) -> _Step:
        cycle, tool = state.cycle, call.tool
        if cycle is None or tool is None:
            return _Step(state)
        is_echo = bool(tool.use_id) and tool.use_id == cycle.denied
        if not is_echo and not cycle.is_message_due and self._is_spent(cycle):
            return self._given_up(state, now)
        text = texts.denial(call.session_id, cycle, reason, self._settings.reviewers)
        if is_echo:
            return _Step(state, deny=text)
        cycle = evolve(
            cycle,
            denials=cycle.denials + 1,
            denied=tool.use_id or "",
            digest=digest_of(tool),
            tool=tool.name,
            tool_input=cut(input_of(tool)),
            is_message_due=False,
        )
        return _Step(evolve(state, cycle=cycle), deny=text, trace=(f"owed: {reason}",))

    def _covers(self, approval: Approval, call: GateCall, now: datetime) -> bool:
        ttl, scope = self._settings.ttl_seconds, self._settings.scope
        if ttl is not None and seconds_since(approval.at, now) > ttl:
            return False
        if scope is Scope.SESSION:
            return True
        if scope is Scope.PROMPT or call.tool is None:
            return not approval.prompt_ids or call.prompt_id in approval.prompt_ids
        # Two sets of hooks may report the call.
        is_free = not approval.is_used or approval.use_id == (call.tool.use_id or None)
        return is_free and approval.digest == digest_of(call.tool)

    # --- stops ------------------------------------------------------------------------------------

    def on_stop(self, call: GateCall, state: Mapping[str, Any], now: datetime) -> GateAnswer:
        """Hold the agent while a review is owed."""
        known = self._resumed(self._with_changes(read(state), call, now), now)
        if known.cycle is None:
            return _Step(known).answer()
        if call.plan_mode or any(task.kind == _SUBAGENT for task in call.background):
            return _Step(known, trace=("deferred",)).answer()
        if not known.cycle.is_message_due and self._is_spent(known.cycle):
            return self._given_up(known, now).answer()
        return self._blocked(known, call, now).answer()

    def _blocked(self, state: State, call: GateCall, now: datetime) -> _Step:
        cycle = state.cycle
        if cycle is None:
            return _Step(state)
        if cycle.is_message_due:
            name, text = "issues", texts.issues(call.session_id, cycle, self._settings.reviewers)
        else:
            name = self._template_of(call.session_id, cycle)
            text = texts.filled(self._templates[name], call, cycle, self._settings.reviewers)
        blocked = evolve(
            cycle,
            blocks=cycle.blocks + 1,
            attempts=(*cycle.attempts, Attempt(template=name, at=instant(now))),
            is_message_due=False,
        )
        what = f"block {blocked.blocks} of {self._settings.max_blocks} ({name})"
        return _Step(evolve(state, cycle=blocked), block=text, trace=(what,))

    def _with_changes(self, state: State, call: GateCall, now: datetime) -> State:
        """Begin a review of what a prompt has changed, in the mode that asks for it."""
        watch = state.watch
        if self._settings.mode is not Mode.ALWAYS or watch is None or state.cycle is not None:
            return state
        approved = state.approval is not None and self._covers(state.approval, call, now)
        changed = bool(watch.work and call.work) and watch.work != call.work
        if not changed or approved or self._holds_back(state, now):
            return state
        opened = self._opened(state, "always", "the changes of this prompt", call, now)
        return evolve(opened, watch=evolve(watch, work=call.work))

    def _template_of(self, session_id: str, cycle: Cycle) -> str:
        """Draw a message by weight: the same one for all of a review."""
        names = sorted(self._templates)
        weights = [max(self._settings.templates.get(name, 0), 0) for name in names]
        if sum(weights) == 0:
            return names[0]
        drawn = int(hashlib.sha256(f"{session_id} {cycle.id}".encode()).hexdigest(), 16)
        place = drawn % sum(weights)
        for name, weight in zip(names, weights, strict=True):
            if place < weight:
                return name
            place -= weight
        return names[0]

    def on_subagent_stop(
        self, call: GateCall, state: Mapping[str, Any], now: datetime
    ) -> GateAnswer:
        """Hold a reviewer that has not decided, once."""
        known = read(state)
        cycle, agent = known.cycle, call.agent_id or ""
        is_reviewer = call.agent_type in self._settings.reviewers
        if cycle is None or not is_reviewer or cycle.is_message_due:
            return _Step(known).answer()
        text = texts.undecided(call.session_id)
        if agent in cycle.reminded and seconds_since(cycle.reminded_at, now) < _SAME_STOP:
            return _Step(known, block=text).answer()
        if agent in cycle.reminded:
            attempts = _resolved(cycle.attempts, "no_decision")
            undecided = evolve(cycle, attempts=attempts, grant=None)
            trace = ("the reviewer did not decide",)
            return _Step(evolve(known, cycle=undecided), trace=trace).answer()
        reminded = evolve(cycle, reminded=(*cycle.reminded, agent), reminded_at=instant(now))
        return _Step(evolve(known, cycle=reminded), block=text).answer()

    # --- giving up --------------------------------------------------------------------------------

    def _is_spent(self, cycle: Cycle) -> bool:
        settings = self._settings
        return cycle.blocks >= settings.max_blocks or cycle.denials >= settings.max_denials

    def _holds_back(self, state: State, now: datetime) -> bool:
        """Return whether what was given up is still to be held once more."""
        given_up = state.given_up
        return given_up is not None and not (
            given_up.was_resumed and not self._cools_down(given_up, now)
        )

    def _cools_down(self, given_up: Cycle, now: datetime) -> bool:
        return seconds_since(given_up.given_up_at, now) < self._settings.cooldown_seconds

    def _given_up(self, state: State, now: datetime) -> _Step:
        cycle = state.cycle
        if cycle is None:
            return _Step(state)
        attempts = _resolved(cycle.attempts, "not_spawned")
        given_up = evolve(cycle, attempts=attempts, given_up_at=instant(now))
        past = _past(given_up, "given_up", now)
        after = evolve(state, cycle=None, given_up=given_up).with_past(past)
        warning = texts.given_up(cycle)
        return _Step(after, warning=warning, outcome="given up", trace=("given up",))

    def _resumed(self, state: State, now: datetime) -> State:
        """Hold again, once, what was given up when the pause is over."""
        given_up = state.given_up
        if given_up is None or given_up.was_resumed or self._cools_down(given_up, now):
            return state
        again = evolve(given_up, blocks=0, denials=0, given_up_at="", was_resumed=True)
        return evolve(state, cycle=again, given_up=None)

    def pending(self, state: Mapping[str, Any]) -> str:
        """Say which review is owed."""
        known = read(state)
        if known.cycle is not None:
            return f"a review is owed ({known.cycle.about})"
        if known.given_up is not None:
            return f"was let go without a review ({known.given_up.about})"
        return ""


def _decides(call: GateCall) -> bool:
    """Return whether a call would run ``grove reviewer decide``."""
    return any(
        len(words) >= len(DECIDE)
        and (words[0] or "").rpartition("/")[2] == DECIDE[0]
        and all(word in words for word in DECIDE[1:])
        for words in call.commands
    )


def _with_prompt(cycle: Cycle, call: GateCall) -> Cycle:
    prompt_id = call.prompt_id or ""
    if prompt_id and prompt_id not in cycle.prompt_ids:
        cycle = evolve(cycle, prompt_ids=(*cycle.prompt_ids, prompt_id)[-MOST_PROMPTS:])
    if not call.prompt:
        return cycle
    prompts: tuple[Cut, ...] = (*cycle.prompts, cut(call.prompt))
    # The first one says what was asked for.
    return evolve(cycle, prompts=(*prompts[:1], *prompts[1:][-MOST_PROMPTS:]))


def _resolved(attempts: tuple[Attempt, ...], outcome: str) -> tuple[Attempt, ...]:
    return tuple(one if one.outcome else evolve(one, outcome=outcome) for one in attempts)


def _past(cycle: Cycle, outcome: str, now: datetime, by: str = "") -> Past:
    return Past(
        cycle=cycle.id,
        outcome=outcome,
        at=instant(now),
        by=by,
        blocks=cycle.blocks,
        issues=len(cycle.issues),
        attempts=cycle.attempts,
    )


# --- decisions ------------------------------------------------------------------------------------


def approve(state: State, by: str, now: datetime) -> State:
    """Take a reviewer's word that the work is done."""
    cycle = state.cycle
    if cycle is None:
        return state
    approval = Approval(
        cycle=cycle.id,
        at=instant(now),
        by=by,
        prompt_ids=cycle.prompt_ids,
        digest=cycle.digest,
    )
    ended = evolve(cycle, attempts=_resolved(cycle.attempts, "success"))
    past = _past(ended, "approved", now, by)
    return evolve(state, cycle=None, approval=approval, given_up=None).with_past(past)


def taken_up(state: State) -> State:
    """Take a review up again that was given up: somebody decides on it after all."""
    if state.cycle is not None or state.given_up is None:
        return state
    return evolve(state, cycle=evolve(state.given_up, given_up_at=""), given_up=None)


def resolved(state: State, outcome: str) -> State:
    """Say what came of the latest blocks of the review that is owed."""
    if state.cycle is None:
        return state
    attempts = _resolved(state.cycle.attempts, outcome)
    return evolve(state, cycle=evolve(state.cycle, attempts=attempts))


def with_issues(state: State, found: Issues) -> State:
    """Keep what a reviewer found; the agent is told at its next stop or denied call."""
    cycle = state.cycle
    if cycle is None:
        return state
    kept = evolve(
        cycle,
        issues=(*cycle.issues, found)[-MOST_ISSUES:],
        is_message_due=True,
        grant=None,
        attempts=_resolved(cycle.attempts, "issues"),
    )
    return evolve(state, cycle=kept)
