"""Evaluating candidates with what a project, its plugins and its session bring to the pipeline."""

from collections.abc import Collection, Sequence
from typing import Final

from attrs import frozen

from grove_core.config.schema import WriteGateMode
from grove_core.memory.backends import FoundLearning, OpenBackend
from grove_core.model.learning import (
    Candidate,
    Confidence,
    Learning,
    RejectedCandidate,
    Rejection,
    Stage,
)
from grove_core.model.memory import Capability, Filters, Query
from grove_core.model.session import Session
from grove_core.model.ticket import Ticket
from grove_core.plugins.descriptors import Area, ReflectionContext
from grove_core.project import Project
from grove_core.reflection.pipeline import (
    CheckStage,
    Doubt,
    PassedCandidate,
    Pipeline,
    PipelineResult,
    ShownText,
    find_echo,
    fingerprint,
)
from grove_core.reflection.secrets import find_leak
from grove_core.reflection.submission import Submission
from grove_core.services.messages import example_candidate
from grove_core.services.sessions import current_ticket
from grove_core.services.storing import check_routing
from grove_core.similarity import topic_of

# So often one lesson is refused in a cycle for saying too little.
REFUSALS_MAX: Final = 2
_SEARCH_SECONDS: Final = 1.0
_SEARCH_HITS: Final = 5


@frozen(kw_only=True)
class Known:
    """Stored learnings that a submission may not repeat."""

    learnings: Sequence[Learning]
    personal_ids: Collection[str]


def gather_known(project: Project, session: Session, submission: Submission) -> Known:
    """Collect what candidates are compared with."""
    found = {one.hit.learning.id: one for one in _search_similar(project, submission)}
    found |= {one.hit.learning.id: one for one in project.library.iterate()}
    for shown in session.injected:
        stored = None if shown.learning_id in found else project.library.get(shown.learning_id)
        if stored is not None:
            found[shown.learning_id] = stored
    shown_personal = {one.learning_id for one in session.injected if one.personal}
    stored_personal = {key for key, one in found.items() if one.area is Area.PERSONAL}
    return Known(
        learnings=[one.hit.learning for one in found.values()],
        personal_ids=shown_personal | stored_personal,
    )


def _search_similar(project: Project, submission: Submission) -> list[FoundLearning]:
    """Ask backends that cannot list their learnings for what is like a candidate."""
    if not any(map(_cannot_list, project.library.project_backends)):
        return []
    found: list[FoundLearning] = []
    for one in submission.candidates:
        summary = one.get("summary") if isinstance(one, dict) else None
        # A search goes to another program.
        if isinstance(summary, str) and find_leak(one, ()) is None:
            found += project.library.search(
                Query(text=summary),
                Filters(limit=_SEARCH_HITS),
                seconds=_SEARCH_SECONDS,
                asked=_cannot_list,
            )
    return found


def _cannot_list(opened: OpenBackend) -> bool:
    return Capability.ITERATE not in opened.backend.capabilities


def evaluate_candidates(
    project: Project, session: Session, submission: Submission, known: Known
) -> PipelineResult:
    """Send the candidates of a submission through every stage."""
    # What this session has stored counts as its own even if a crash kept it from saying so.
    written = {one.fingerprint: one.learning_id for one in session.written} | {
        fingerprint(learning): learning.id
        for learning in known.learnings
        if learning.session_id == session.id
    }
    pipeline = Pipeline(
        existing=[one for one in known.learnings if one.id not in project.hidden],
        written=written,
        root=project.root,
        checks=_checks(project, session, known),
        allowed=project.config.secrets.allow,
    )
    result = pipeline.run(submission.candidates)
    return _limited(result, project.config.reflection.max_learnings)


def _limited(result: PipelineResult, most: int) -> PipelineResult:
    """Leave out what is over the limit of a reflection: what says least by the write gate."""
    if len(result.accepted) <= most:
        return result
    from grove_core.reflection.write_gate import evaluate

    def rank(one: PassedCandidate) -> tuple[bool, float]:
        candidate = one.candidate
        return candidate.confidence is Confidence.LOW, -evaluate(candidate).score

    best = sorted(result.accepted, key=rank)[:most]
    places = sorted(one.position + 1 for one in best)
    reason = (
        f"a reflection stores {most} (reflection.max_learnings): the ones that say most are"
        f" {', '.join(map(str, places))}; send others with the next reflection"
    )
    left = [
        RejectedCandidate(
            one.position,
            one.candidate.summary,
            one.candidate.tags,
            Stage.ROUTING,
            Rejection(reason=reason),
        )
        for one in result.accepted
        if one not in best
    ]
    rejected = sorted((*result.rejected, *left), key=lambda one: one.position)
    kept = [one for one in result.accepted if one in best]
    return PipelineResult(accepted=kept, repeated=result.repeated, rejected=rejected)


def _checks(project: Project, session: Session, known: Known) -> list[CheckStage]:
    ticket = current_ticket(session.gate)
    mode = project.config.gate.write_gate.mode
    learnings = {learning.id: learning for learning in known.learnings}
    shown: list[ShownText] = []
    for one in session.injected:
        stored = learnings.get(one.learning_id)
        text = f"{one.summary}\n{stored.summary}\n{stored.detail}" if stored else one.summary
        shown.append(ShownText(text=text, learning_id=one.learning_id, summary=one.summary))
    form = example_candidate()
    form_text = [ShownText(text=f"{form['summary']}\n{form['detail']}")]
    checks = [
        # An unfilled form is no candidate at all, whatever the write gate's mode.
        CheckStage(stage=Stage.SCHEMA, check=lambda one: find_echo(one, form_text)),
        CheckStage(stage=Stage.DUPLICATE, check=lambda one: find_echo(one, shown)),
        CheckStage(
            stage=Stage.PLUGIN, check=lambda one: check_by_plugins(project, session.id, ticket, one)
        ),
        CheckStage(stage=Stage.ROUTING, check=lambda one: check_routing(project, one.scope)),
        CheckStage(
            stage=Stage.WRITE_GATE,
            check=lambda one: check_by_write_gate(project, one, session.refused),
            warns=mode is WriteGateMode.WARN,
        ),
    ]
    return [
        one for one in checks if one.stage is not Stage.WRITE_GATE or mode is not WriteGateMode.OFF
    ]


def check_by_write_gate(
    project: Project,
    candidate: Candidate,
    refused: Sequence[str] = (),
    *,
    refusals_max: int = REFUSALS_MAX,
) -> Rejection | Doubt | None:
    """Ask the write gate, whatever its mode; what it has refused often enough it only doubts."""
    try:
        from grove_core.reflection.instructions import find_instruction
        from grove_core.reflection.write_gate import evaluate

        order = find_instruction(candidate)
        assessment = evaluate(candidate)
    except Exception as error:  # noqa: BLE001 - a fault of grove refuses no lesson
        project.diagnostics.log("error", f"the write gate failed and lets pass: {error!r}")
        return None
    if order is not None:
        return order
    if assessment.rejection is None:
        return Doubt(assessment.hint) if assessment.hint else None
    topic = topic_of(candidate.summary, ())
    refusals = sum(topic.is_same(topic_of(one, ())) for one in refused)
    return assessment.rejection if refusals < refusals_max else Doubt(assessment.rejection.reason)


def check_by_plugins(
    project: Project, session_id: str, ticket: Ticket | None, candidate: Candidate
) -> Rejection | None:
    """Join the objections of all plugins, each under its plugin's name."""
    context = ReflectionContext(
        root=project.root, session_id=session_id, ticket=ticket, now=project.now
    )
    objections = project.plugins.check_candidate(candidate, context)
    if not objections:
        return None
    first = objections[0].value
    reason = "; ".join(f"plugin {one.source.name}: {one.value.reason}" for one in objections)
    return Rejection(reason=reason, field=first.field, existing_id=first.existing_id)
