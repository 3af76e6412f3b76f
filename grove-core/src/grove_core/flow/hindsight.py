"""Why a learning was shown in a session, or was not: one answer for each occasion."""

from datetime import datetime
from typing import Final

from attrs import evolve

from grove_core.config.schema import DEFAULT_ENGINE
from grove_core.flow.considering import occasions_of
from grove_core.flow.hindsight_files import explain_files
from grove_core.flow.occasions import (
    Explanation,
    Moment,
    Outcome,
    injection_of,
    moments_of,
    plainly,
)
from grove_core.flow.standing import Standing
from grove_core.hosts.contract import StartSource
from grove_core.injection import VIA_PROMPT, VIA_START
from grove_core.model.session import InjectedLearning, Session
from grove_core.retrieval import choosing, considered
from grove_core.retrieval.considered import Considered, Occasion
from grove_core.retrieval.entry import Entry
from grove_core.retrieval.matching import in_words, matches_of, missing_words, spellings
from grove_core.retrieval.query_terms import QueryTerms
from grove_core.retrieval.ranking import Ranked, Score, rank
from grove_core.retrieval.strategy import RetrievalStrategy
from grove_core.stats.log_lines import instant
from grove_core.workspace import Workspace

_SAYS_THE_SAME: Final = "says the same as "


_OUTCOMES: Final = {
    choosing.SHOWN: Outcome.SHOWN,
    choosing.SHOWN_BEFORE: Outcome.SHOWN_BEFORE,
    choosing.BELOW_FLOOR: Outcome.BELOW_FLOOR,
    choosing.NO_EXACT_MATCH: Outcome.STRATEGY,
    choosing.BEYOND_LIMIT: Outcome.LIMIT,
    considered.NO_ROOM: Outcome.NO_ROOM,
}


class Hindsight:
    """Looking back at a session."""

    def __init__(self, workspace: Workspace, session: Session) -> None:
        """Read what was considered in a session."""
        self._workspace = workspace
        self._session = session
        self.occasions = occasions_of(workspace.paths.cache, session.id)
        self._moments = moments_of(session, self.occasions)

    def knows(self, learning_id: str) -> bool:
        """Return whether a learning that is gone was considered or shown in the session."""
        verdicts = (one.id for occasion in self.occasions for one in occasion.verdicts)
        return learning_id in {*verdicts, *(one.learning_id for one in self._session.injected)}

    def explain(
        self, learning_id: str, entry: Entry | None, standing: Standing
    ) -> list[Explanation]:
        """Say for each occasion whether a learning was shown, and why not."""
        found = [self._at(moment, learning_id, entry, standing) for moment in self._moments]
        if not any(one.via == VIA_START for one in self._moments):
            reason = "the start of the session was not seen: grove came to it later"
            never = (self._session.created_at, VIA_START, Outcome.NOT_STARTED)
            found.insert(0, plainly(*never, reason))
        active = entry if standing.is_active else None
        return [*found, explain_files(self._workspace, self._session, learning_id, active)]

    def _at(
        self, moment: Moment, learning_id: str, entry: Entry | None, standing: Standing
    ) -> Explanation:
        occasion = moment.occasion
        if occasion is not None:
            for one in occasion.verdicts:
                if one.id == learning_id:
                    return self._recorded(moment, occasion, one, entry)
        return (
            self._shown_or_not(moment, learning_id)
            or _not_yet(moment, entry, standing)
            or self._not_considered(moment, entry)
            or self._again(moment, entry)
        )

    def _recorded(
        self, moment: Moment, occasion: Occasion, one: Considered, entry: Entry | None
    ) -> Explanation:
        outcome, reason = _OUTCOMES.get(one.reason, Outcome.LIMIT), one.reason
        if reason.startswith(_SAYS_THE_SAME):
            outcome = Outcome.SAYS_THE_SAME
        if outcome is Outcome.BELOW_FLOOR:
            reason = _below(one.score, occasion)
        if outcome is Outcome.SHOWN and occasion.query is not None and not any(occasion.query):
            reason = "nothing was known about the work; shown as one of the most proven recent ones"
        shown = (each for each in occasion.verdicts if each.reason == choosing.SHOWN)
        found = Explanation(
            at=moment.at,
            via=moment.via,
            outcome=outcome,
            reason=reason,
            rank=one.rank,
            score=one.score,
            before=tuple(each.id for each in shown if each.rank < one.rank),
        )
        return self._compared(found, occasion, entry)

    def _compared(self, found: Explanation, occasion: Occasion, entry: Entry | None) -> Explanation:
        """Add what a learning and the query have in common, and what not."""
        floor = occasion.circumstances.floor
        judged_by_index = occasion.circumstances.engine == DEFAULT_ENGINE
        if entry is None or occasion.query is None or not judged_by_index:
            return evolve(found, floor=floor)
        if found.score is not None and found.score.reasons:
            return evolve(found, floor=floor)  # its backend has found it, in its own way
        shared = in_words(matches_of(occasion.query, entry))
        missing, unknown = missing_words(occasion.query, entry, self._spelled(occasion))
        return evolve(found, floor=floor, shared=tuple(shared), missing=missing, unknown=unknown)

    def _spelled(self, occasion: Occasion) -> dict[str, str]:
        found = (self._workspace.finder.get(one.id) for one in occasion.verdicts)
        return spellings(one for one in found if one is not None)

    def _shown_or_not(self, moment: Moment, learning_id: str) -> Explanation | None:
        """Answer by what the session was shown."""
        is_compact = moment.source == StartSource.COMPACT.value
        shown = injection_of(self._session, learning_id)
        if shown is not None and _is_by_then(shown, moment, is_compact=is_compact):
            then = (shown.injected_at, shown.via) == (moment.at, moment.via)
            if then:
                return plainly(moment.at, moment.via, Outcome.SHOWN, "shown")
            if is_compact:
                words = "shown again after a compaction, as long as it is active"
                return plainly(moment.at, moment.via, Outcome.SHOWN, words)
            words = f"shown before in this session ({shown.via})"
            return plainly(moment.at, moment.via, Outcome.SHOWN_BEFORE, words)
        if is_compact:
            words = "after a compaction, only what was shown before is shown again"
            return plainly(moment.at, moment.via, Outcome.LIMIT, words)
        return None

    def _not_considered(self, moment: Moment, entry: Entry | None) -> Explanation | None:
        """Answer where the learning could not be considered."""
        occasion = moment.occasion
        if occasion is None:
            return self._unrecorded(moment)
        if entry is not None and any(
            one.endswith(f" of {entry.backend}") for one in occasion.circumstances.failed
        ):
            reason = f"its backend {entry.backend} could not be reached"
            return plainly(moment.at, moment.via, Outcome.NOT_REACHED, reason)
        if not occasion.circumstances.complete:
            reason = "not all learnings were in the index yet, and it was not found"
            return plainly(moment.at, moment.via, Outcome.NOT_INDEXED, reason)
        return None

    def _unrecorded(self, moment: Moment) -> Explanation:
        retrieval, injected = self._workspace.config.retrieval, self._session.injected
        # Moments are told to the second: what this very prompt had shown would be on record.
        given = sum(one.via == VIA_PROMPT and one.injected_at <= moment.at for one in injected)
        if moment.via == VIA_PROMPT and not retrieval.on_prompt:
            outcome, reason = Outcome.SWITCHED_OFF, "retrieval.on_prompt is off"
        elif moment.via == VIA_PROMPT and given >= retrieval.max_per_session:
            outcome = Outcome.SESSION_LIMIT
            reason = f"prompts had already brought up {given}, and no more are shown in a session"
        else:
            outcome, reason = Outcome.NOT_RECORDED, "what was considered is not on record"
        return plainly(moment.at, moment.via, outcome, reason)

    def _again(self, moment: Moment, entry: Entry | None) -> Explanation:
        """Work the score out again, with what was looked for and the learnings as they are now."""
        occasion = moment.occasion
        assert occasion is not None, "unrecorded ones have been answered"
        if entry is None or occasion.query is None:
            gone = "the learning is gone" if entry is None else "what was looked for was too long"
            reason = f"it was not among the best, and {gone}"
            return plainly(moment.at, moment.via, Outcome.NOT_RECORDED, reason)
        if not any(occasion.query):
            return plainly(moment.at, moment.via, *_without_query(occasion, entry))
        if occasion.circumstances.engine != DEFAULT_ENGINE:
            reason = f"it was not among the best {len(occasion.verdicts)} of {occasion.found} that"
            reason += f" the engine {occasion.circumstances.engine} has found"
            return plainly(moment.at, moment.via, Outcome.NOT_AMONG_BEST, reason)
        ranked = self._rank_again(moment.at, occasion.query, entry)
        if ranked is None:
            outcome = Outcome.NOTHING_IN_COMMON
            reason = "it has nothing in common with what was looked for"
        else:
            outcome, reason = _judged_again(occasion, ranked)
        found = evolve(
            plainly(moment.at, moment.via, outcome, reason),
            score=None if ranked is None else ranked.score,
            worked_out_again=True,
        )
        return self._compared(found, occasion, entry)

    def _rank_again(self, at: datetime, query: QueryTerms, entry: Entry) -> Ranked | None:
        workspace = self._workspace
        found = workspace.finder.index.find(
            query, all_statuses=True, admits=lambda one: one.id == entry.id
        )
        days = workspace.config.retrieval.recency_days_to_30_percent
        return next(iter(rank(found, workspace.usage([entry.id]), at, days)), None)


def _is_by_then(shown: InjectedLearning, moment: Moment, *, is_compact: bool) -> bool:
    """Return whether something had been shown at a moment; moments are told to the second."""
    if shown.injected_at == moment.at and moment.via == VIA_START and not is_compact:
        return shown.via == VIA_START  # what comes in the same second comes after the start
    return shown.injected_at <= moment.at


def _not_yet(moment: Moment, entry: Entry | None, standing: Standing) -> Explanation | None:
    """Answer where the learning could not be shown to anybody."""
    if entry is not None and instant(entry.created) > moment.at:
        reason = f"it was written later ({instant(entry.created):%Y-%m-%d %H:%M:%S} UTC)"
        return plainly(moment.at, moment.via, Outcome.NOT_WRITTEN_YET, reason)
    if reason := standing.objection(moment.at):
        return plainly(moment.at, moment.via, Outcome.NOT_ACTIVE, reason)
    return None


def _without_query(occasion: Occasion, entry: Entry) -> tuple[Outcome, str]:
    if entry.personal:
        reason = "nothing was known about the work, and then only the project's own are shown"
        return Outcome.NOTHING_IN_COMMON, reason
    reason = "nothing was known about the work, and others have proven themselves more or are newer"
    return Outcome.NOT_AMONG_BEST, f"{reason}; {occasion.found} were considered"


def _judged_again(occasion: Occasion, ranked: Ranked) -> tuple[Outcome, str]:
    score = ranked.score
    if score.relevance < occasion.circumstances.floor:
        return Outcome.BELOW_FLOOR, _below(score, occasion)
    strategy = occasion.circumstances.strategy
    asks_for_exact = strategy == RetrievalStrategy.CONSERVATIVE.value
    if asks_for_exact and not choosing.is_exact(ranked, occasion.exact):
        return Outcome.STRATEGY, choosing.NO_EXACT_MATCH
    better = sum(one.score.total > score.total for one in occasion.verdicts)
    if better < len(occasion.verdicts) or occasion.found <= len(occasion.verdicts):
        reason = "it was not found then, and fits now: it or other learnings have changed since"
    else:
        reason = f"the best {better} of {occasion.found} that were found fit better"
    return Outcome.NOT_AMONG_BEST, reason


def _below(score: Score, occasion: Occasion) -> str:
    return f"relevance {score.relevance:.5f} is below the floor {occasion.circumstances.floor:g}"
