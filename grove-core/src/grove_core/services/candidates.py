"""Evaluating candidates with what a project, its plugins and its session bring to the pipeline."""

from collections.abc import Callable, Sequence
from typing import Final

from attrs import frozen

from grove_core.config.schema import WriteGateMode
from grove_core.memory.backends import FoundLearning, OpenBackend
from grove_core.model.learning import Candidate, Learning, LearningStatus, Rejection, Stage
from grove_core.model.memory import Capability, Filters, Query
from grove_core.model.session import Session
from grove_core.plugins.descriptors import Area, ReflectionContext
from grove_core.plugins.manager import Contribution
from grove_core.project import Project
from grove_core.reflection.pipeline import (
    CheckStage,
    Pipeline,
    PipelineResult,
    ShownText,
    find_echo,
    fingerprint,
)
from grove_core.reflection.secrets import objection_to
from grove_core.reflection.submission import Submission
from grove_core.services.messages import example_submission
from grove_core.services.sessions import current_ticket
from grove_core.services.storing import why_not_stored

_SEARCH_SECONDS: Final = 1.0
_SEARCH_HITS: Final = 5


@frozen(kw_only=True)
class Known:
    """Stored learnings that a submission may not repeat."""

    learnings: tuple[Learning, ...]
    personal_ids: frozenset[str]


def gather_known(project: Project, session: Session, submission: Submission) -> Known:
    """Collect what candidates are compared with."""
    found = {one.hit.learning.id: one for one in project.library.iterate()}
    for one in _search_similar(project, submission):
        found.setdefault(one.hit.learning.id, one)
    personal = {one.learning_id for one in session.injected if one.personal}
    for shown in session.injected:
        stored = None if shown.learning_id in found else project.library.get(shown.learning_id)
        if stored is not None:
            found[shown.learning_id] = stored
    personal |= {key for key, one in found.items() if one.area is Area.PERSONAL}
    return Known(
        learnings=tuple(one.hit.learning for one in found.values()),
        personal_ids=frozenset(personal),
    )


def _search_similar(project: Project, submission: Submission) -> list[FoundLearning]:
    """Ask backends that cannot list their learnings for what is like a candidate."""
    if not any(map(_cannot_list, project.library.project_backends)):
        return []
    summaries = [
        one["summary"]
        for one in submission.candidates
        if isinstance(one, dict)
        and isinstance(one.get("summary"), str)
        # A search goes to another program.
        and objection_to(one, ()) is None
    ]
    filters = Filters(limit=_SEARCH_HITS)
    return [
        hit
        for summary in summaries
        for hit in project.library.search(
            Query(text=summary), filters, seconds=_SEARCH_SECONDS, asked=_cannot_list
        )
    ]


def _cannot_list(opened: OpenBackend) -> bool:
    return Capability.ITERATE not in opened.backend.capabilities


def evaluate_candidates(
    project: Project, session: Session, submission: Submission, known: Known
) -> PipelineResult:
    """Send the candidates of a submission through every stage."""
    allowed = project.config.secrets.allow
    # What this session has stored counts as its own even if a crash kept it from saying so.
    written = {one.fingerprint: one.learning_id for one in session.written} | {
        fingerprint(learning): learning.id
        for learning in known.learnings
        if learning.session_id == session.id
    }
    pipeline = Pipeline(
        existing=[
            one
            for one in known.learnings
            if one.status is LearningStatus.ACTIVE and one.id not in project.hidden
        ],
        written=written,
        root=project.root,
        checks=_checks(project, session, known),
        screen=lambda raw: objection_to(raw, allowed),
    )
    return pipeline.run(submission.candidates)


def _checks(project: Project, session: Session, known: Known) -> list[CheckStage]:
    context = ReflectionContext(
        root=project.root,
        session_id=session.id,
        ticket=current_ticket(session.gate),
        now=project.now,
    )
    shown = _shown_texts(session, known)
    form = example_submission("")["candidates"][0]
    form_text = [ShownText(text=f"{form['summary']}\n{form['detail']}")]
    checks = [
        # An unfilled form is no candidate at all, whatever the write gate's mode.
        CheckStage(stage=Stage.SCHEMA, check=lambda candidate: find_echo(candidate, form_text)),
        CheckStage(stage=Stage.DUPLICATE, check=lambda candidate: find_echo(candidate, shown)),
        CheckStage(stage=Stage.PLUGIN, check=plugins_check(project, context)),
        CheckStage(stage=Stage.ROUTING, check=lambda candidate: _check_routing(project, candidate)),
    ]
    mode = project.config.gate.write_gate.mode
    if mode is not WriteGateMode.OFF:
        checks.append(
            CheckStage(
                stage=Stage.WRITE_GATE,
                check=lambda candidate: _check_write_gate(project, candidate),
                warns=mode is WriteGateMode.WARN,
            )
        )
    return checks


def _shown_texts(session: Session, known: Known) -> list[ShownText]:
    """Collect the learnings that grove has put before the agent."""
    learnings = {learning.id: learning for learning in known.learnings}
    shown: list[ShownText] = []
    for one in session.injected:
        stored = learnings.get(one.learning_id)
        text = f"{one.summary}\n{stored.summary}\n{stored.detail}" if stored else one.summary
        shown.append(ShownText(text=text, learning_id=one.learning_id, summary=one.summary))
    return shown


def _check_routing(project: Project, candidate: Candidate) -> Rejection | None:
    reason = why_not_stored(project, candidate.scope)
    return None if reason is None else Rejection(reason=reason, field="scope")


def _check_write_gate(project: Project, candidate: Candidate) -> Rejection | None:
    try:
        from grove_core.reflection.write_gate import evaluate

        return evaluate(candidate).rejection
    except Exception as error:  # noqa: BLE001 - a fault of grove refuses no lesson
        project.diagnostics.log("error", f"the write gate failed and lets pass: {error!r}")
        return None


def plugins_check(
    project: Project, context: ReflectionContext
) -> Callable[[Candidate], Rejection | None]:
    """Make the check that asks all plugins."""

    def check(candidate: Candidate) -> Rejection | None:
        objections = project.plugins.check_candidate(candidate, context)
        return _merged(objections) if objections else None

    return check


def _merged(objections: Sequence[Contribution[Rejection]]) -> Rejection:
    """Join the objections of all plugins, each under its plugin's name."""
    first = objections[0].value
    reason = "; ".join(f"plugin {one.source.name}: {one.value.reason}" for one in objections)
    return Rejection(reason=reason, field=first.field, existing_id=first.existing_id)
