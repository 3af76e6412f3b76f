"""The funnel with everything that a project, its plugins and its session bring to it."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from attrs import frozen

from grove_core.config.schema import WriteGateMode
from grove_core.memory.backends import FoundLearning, OpenBackend
from grove_core.model.learning import (
    Candidate,
    Learning,
    LearningStatus,
    Rejection,
    Stage,
)
from grove_core.model.memory import Capability, Filters, Query
from grove_core.model.session import Session
from grove_core.model.value import Value
from grove_core.plugins.descriptors import Area, ReflectionContext
from grove_core.plugins.facade import Provided
from grove_core.reflection.messages import example_submission
from grove_core.reflection.pipeline import (
    CheckStage,
    Pipeline,
    PipelineResult,
    ShownText,
    candidate_from,
    find_echo,
    fingerprint,
)
from grove_core.reflection.secrets import objection_to
from grove_core.reflection.submission import Submission
from grove_core.services.sessions import current_ticket
from grove_core.workspace import Workspace

_SEARCH_SECONDS: Final = 1.0
_SEARCH_HITS: Final = 5


@frozen(kw_only=True, eq=False, repr=False)
class Known(Value):
    """What is stored already, as far as a submission may not repeat it."""

    learnings: tuple[Learning, ...]
    personal_ids: frozenset[str]


def gather_known(workspace: Workspace, session: Session, submission: Submission) -> Known:
    """Collect what candidates are compared with."""
    found = {one.hit.learning.id: one for one in workspace.library.iterate()}
    for one in _searched(workspace, submission):
        found.setdefault(one.hit.learning.id, one)
    personal = {one.learning_id for one in session.injected if one.personal}
    for shown in session.injected:
        if shown.learning_id not in found:
            stored = workspace.library.get(shown.learning_id)
            if stored is not None:
                found[shown.learning_id] = stored
    waiting = [entry.learning for entry in workspace.outbox.entries(workspace.root)]
    personal |= {key for key, one in found.items() if one.area is Area.PERSONAL}
    return Known(
        learnings=(*(one.hit.learning for one in found.values()), *waiting),
        personal_ids=frozenset(personal),
    )


def judge_candidates(
    workspace: Workspace, session: Session, submission: Submission, known: Known
) -> PipelineResult:
    """Send the candidates of a submission through every stage."""
    allowed = workspace.config.secrets.allow
    # What this session has stored counts as its own even if a crash kept it from saying so.
    written = {one.fingerprint: one.learning_id for one in session.written} | {
        fingerprint(candidate_from(learning)): learning.id
        for learning in known.learnings
        if learning.session_id == session.id
    }
    pipeline = Pipeline(
        existing=[
            one
            for one in known.learnings
            if one.status is LearningStatus.ACTIVE and one.id not in workspace.hidden
        ],
        written=written,
        root=workspace.root,
        checks=_checks(workspace, session, known),
        screen=lambda raw: objection_to(raw, allowed),
    )
    return pipeline.run(submission.candidates)


def _searched(workspace: Workspace, submission: Submission) -> Sequence[FoundLearning]:
    """Ask backends that cannot list their learnings for what is like a candidate."""
    opened = workspace.library.project_backends
    if not any(map(_cannot_list, opened)):
        return ()
    summaries = [
        one["summary"]
        for one in submission.candidates
        if isinstance(one, dict)
        and isinstance(one.get("summary"), str)
        # A search goes to a program of somebody else.
        and objection_to(one, ()) is None
    ]
    filters = Filters(limit=_SEARCH_HITS)
    return [
        hit
        for summary in summaries
        for hit in workspace.library.search(
            Query(text=summary), filters, seconds=_SEARCH_SECONDS, asked=_cannot_list
        )
    ]


def _cannot_list(opened: OpenBackend) -> bool:
    return Capability.ITERATE not in opened.backend.capabilities


def _checks(workspace: Workspace, session: Session, known: Known) -> list[CheckStage]:
    context = ReflectionContext(
        root=workspace.root,
        session_id=session.id,
        ticket=current_ticket(session.gate),
        now=workspace.now,
    )
    shown = _shown_texts(session, known)
    form = _form_text()
    checks = [
        # An unfilled form is no candidate at all, whatever the write gate's mode.
        CheckStage(stage=Stage.SCHEMA, check=lambda candidate: find_echo(candidate, form)),
        CheckStage(stage=Stage.DUPLICATE, check=lambda candidate: find_echo(candidate, shown)),
        CheckStage(stage=Stage.PLUGIN, check=plugins_check(workspace, context)),
    ]
    mode = workspace.config.gate.write_gate.mode
    if mode is not WriteGateMode.OFF:
        warns = mode is WriteGateMode.WARN
        check = _write_gate(workspace)
        checks.append(CheckStage(stage=Stage.WRITE_GATE, check=check, warns=warns))
    return checks


def _write_gate(workspace: Workspace) -> Callable[[Candidate], Rejection | None]:
    def check(candidate: Candidate) -> Rejection | None:
        try:
            from grove_core.reflection.write_gate import evaluate

            return evaluate(candidate).rejection
        except Exception as error:  # noqa: BLE001 - a fault of grove refuses nobody's lesson
            workspace.diagnostics.log("error", f"the write gate failed and lets pass: {error!r}")
            return None

    return check


def _shown_texts(session: Session, known: Known) -> list[ShownText]:
    """Collect the learnings that grove has put before the agent."""
    learnings = {learning.id: learning for learning in known.learnings}
    shown: list[ShownText] = []
    for one in session.injected:
        learning = learnings.get(one.learning_id)
        detail = learning.detail if learning is not None else ""
        text = f"{one.summary}\n{learning.summary if learning is not None else ''}\n{detail}"
        shown.append(ShownText(text=text, learning_id=one.learning_id, summary=one.summary))
    return shown


def _form_text() -> list[ShownText]:
    """Return the words of the form that a block message holds."""
    form: dict[str, Any] = example_submission("")["candidates"][0]
    return [ShownText(text=f"{form['summary']}\n{form['detail']}")]


def plugins_check(
    workspace: Workspace, context: ReflectionContext
) -> Callable[[Candidate], Rejection | None]:
    """Make the check that asks all plugins."""

    def check(candidate: Candidate) -> Rejection | None:
        objections = workspace.plugins.check_candidate(candidate, context)
        return _merged(objections) if objections else None

    return check


def _merged(objections: Sequence[Provided[Rejection]]) -> Rejection:
    """Join the objections of all plugins, each under its plugin's name."""
    first = objections[0].value
    reason = "; ".join(f"plugin {one.source.name}: {one.value.reason}" for one in objections)
    return Rejection(reason=reason, field=first.field, existing_id=first.existing_id)
