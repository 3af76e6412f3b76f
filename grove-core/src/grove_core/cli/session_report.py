"""A session in full, as lines for people: one function a section, each empty without matter."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final

from grove_core.cli.render import counted
from grove_core.cli.session_argument import ticket_in_words
from grove_core.cli.timeparse import local_time, time_ago
from grove_core.cli.why import headline, retrieval_lines
from grove_core.flow.session_debts import DebtKind, debts_of, life_of
from grove_core.flow.session_files import FastFile, SessionFiles
from grove_core.gate.stopping import CYCLE_FACTOR
from grove_core.model.gate import Gate, GatePolicy
from grove_core.model.session import Session
from grove_core.model.ticket import CloseIntent, TicketClose
from grove_core.retrieval.log import Retrieval
from grove_core.text import clean_line
from grove_core.workspace import Workspace

_LONGEST: Final = 200
_MOST_LINES: Final = 50

Section = tuple[str, Sequence[str]]


def report(
    session: Session,
    files: SessionFiles,
    fast: FastFile | None,
    retrievals: Sequence[Retrieval],
    workspace: Workspace,
) -> list[Section]:
    """Write down everything that is known of a session."""
    now = workspace.now
    sections = [
        ("Session", list(_identity(session, workspace))),
        ("Gate", list(_gate(session, workspace.policy))),
        ("Closes that wait for confirmation", [_intent(one) for one in session.intents]),
        ("Closes that nobody could confirm", [_close(one) for one in session.unproven]),
        ("Baseline of session mode", list(_baseline(session, now))),
        ("Learnings shown", list(_injected(session))),
        ("Learnings considered", list(_considered(retrievals))),
        ("Learnings written", _written(session)),
        ("Notes of subagents", _observations(session)),
        ("Refused last time", _refusals(session)),
        ("Fast path", _fast(fast)),
        ("Files", _files(files, session)),
        ("Trace", _trace(session)),
    ]
    return [(title, lines) for title, lines in sections if lines]


def _identity(session: Session, workspace: Workspace) -> Iterator[str]:
    now = workspace.now
    yield f"{session.id}, {life_of(session, workspace).value}"
    yield f"project    {_clean(session.project_root)}"
    if session.cwd != session.project_root:
        yield f"directory  {_clean(session.cwd)}"
    process = f", process {session.process_id}" if session.process_id is not None else ""
    yield f"client     {_clean(session.host)}{process}"
    yield f"started    {_time(session.created_at, now)}"
    yield f"written    {_time(session.updated_at, now)}"
    if session.ended_at is not None:
        yield f"ended      {_time(session.ended_at, now)}"
    if session.prompt_id is not None:
        yield f"prompt     {_clean(session.prompt_id)}"
    yield f"tickets    {_clean(session.ticket_system or 'no active system')}"


def _gate(session: Session, policy: GatePolicy) -> Iterator[str]:
    gate = session.gate
    yield gate.status.value
    if gate.ticket is not None:
        yield f"ticket     {ticket_in_words(gate.ticket)}, in progress"
    if gate.cycle is not None:
        closed = ", ".join(map(ticket_in_words, gate.cycle.tickets)) or "no ticket"
        opened = local_time(gate.cycle.opened_at)
        yield f"cycle      {closed}; opened {opened}, before it {gate.cycle.before.value}"
    yield from _breaker(gate, policy)
    yield from _settled(gate)
    if gate.session_mode.last_cycle_at is not None:
        mode = gate.session_mode
        yield (
            f"changes    {counted(mode.cycles, 'cycle')} of session mode, the last at"
            f" {local_time(gate.session_mode.last_cycle_at)}"
        )
    if gate.seen_shells:
        yield f"shells     seen running: {', '.join(map(_clean, gate.seen_shells))}"
    for debt in debts_of(session):
        if debt.kind is not DebtKind.OPEN:
            since = f" ({local_time(debt.since)})" if debt.since is not None else ""
            yield f"debt       {debt}{since}"


def _settled(gate: Gate) -> Iterator[str]:
    if gate.credit is not None:
        earned = local_time(gate.credit.earned_at)
        yield f"credit     {gate.credit.kind.value} ahead of the next close, at {earned}"
    if gate.reflection is not None:
        result = gate.reflection
        yield (
            f"reflected  {local_time(result.completed_at)}, {result.candidates_accepted} of"
            f" {counted(result.candidates_produced, 'candidate')} accepted"
        )
    if gate.skip is not None:
        skip, when = gate.skip, local_time(gate.skip.timestamp)
        yield f"skipped    {when}, by {skip.decider.value}: {_clean(skip.reason)}"


def _breaker(gate: Gate, policy: GatePolicy) -> Iterator[str]:
    breaker = gate.breaker
    tripped = "; it has let the agent go" if breaker.tripped else ""
    yield (
        f"breaker    {breaker.block_count} of {counted(policy.max_blocks, 'block')},"
        f" {breaker.cycle_blocks} of {CYCLE_FACTOR * policy.max_blocks} in this cycle,"
        f" counted anew after {policy.cooldown_seconds} s{tripped}"
    )
    if breaker.last_block_at is not None:
        yield (
            f"blocked    last at {local_time(breaker.last_block_at)}, session"
            f" {_clean(breaker.last_blocked_session_id or 'unknown')}"
        )


def _intent(intent: CloseIntent) -> str:
    closes = ", ".join(map(_close, intent.closes))
    text = f"{closes} by {_clean(intent.call.name)}, announced {local_time(intent.recorded_at)}"
    if intent.agent_id is not None:
        text += f", of subagent {_clean(intent.agent_id)}"
    if intent.background_task_id is not None:
        text += f", in background task {_clean(intent.background_task_id)}"
    return f"{text} [{_clean(intent.key)}]"


def _close(close: TicketClose) -> str:
    return f"{_clean(close.system)} {_clean(close.ticket_id or '(id not known yet)')}"


def _baseline(session: Session, now: datetime) -> Iterator[str]:
    baseline, measurement = session.baseline, session.measurement
    if baseline is not None:
        yield f"taken      {_time(baseline.taken_at, now)}"
        yield f"commit     {_clean(baseline.head or 'none') if baseline.head is not None else '-'}"
        for one in baseline.dirty[:_MOST_LINES]:
            yield f"changed    {_clean(one.path)}, {counted(one.lines, 'line')}"
        yield from _rest(len(baseline.dirty))
        if baseline.excluded:
            yield f"not work   {', '.join(map(_clean, baseline.excluded))}"
    if measurement is not None:
        lines = "size unknown" if measurement.lines is None else counted(measurement.lines, "line")
        yield f"since then {lines} changed"


def _injected(session: Session) -> Iterator[str]:
    for one in session.injected[:_MOST_LINES]:
        store = ", personal" if one.personal else ""
        yield (
            f"{_clean(one.learning_id)}  {one.outcome.value}, at {_clean(one.via)}{store},"
            f" score {one.score:.2f}  {_clean(one.summary)}"
        )
    yield from _rest(len(session.injected))


def _considered(retrievals: Sequence[Retrieval]) -> Iterator[str]:
    """The latest retrieval in full, after a line for each of those before."""
    for one in retrievals[-_MOST_LINES:-1]:
        yield headline(one)
    for one in retrievals[-1:]:
        yield from retrieval_lines(one, parts=True)


def _written(session: Session) -> list[str]:
    stays = {one.id for one in session.ephemeral}
    return [
        f"{_clean(one.learning_id)}{' (in this session only)' if one.learning_id in stays else ''}"
        for one in session.written
    ]


def _observations(session: Session) -> list[str]:
    notes = session.observations[:_MOST_LINES]
    lines = [f"{local_time(one.timestamp)}  {_clean(one.note)}" for one in notes]
    return [*lines, *_rest(len(session.observations))]


def _refusals(session: Session) -> list[str]:
    return [
        f"{_clean(one.summary)}: {_clean(one.rejection.reason)} ({one.stage.value})"
        for one in session.last_rejections
    ]


def _fast(fast: FastFile | None) -> list[str]:
    if fast is None:
        return ["no file: the next hook takes its full way and makes one"]
    waits = "a close waits for its confirmation" if fast.close_waits else "no close waits"
    return [waits, f"words: {', '.join(map(_clean, fast.words)) or 'none'}"]


def _files(files: SessionFiles, session: Session) -> list[str]:
    lines = [f"state      {files.state}"] if files.state is not None else []
    lines += [f"set aside  {path}" for path in files.set_aside]
    lines += [f"derived    {path}" for path in files.derived]
    if session.transcript_path:
        lines.append(f"transcript {_clean(session.transcript_path)}")
    return lines


def _trace(session: Session) -> list[str]:
    trace = session.trace
    dropped = f", {trace.dropped} dropped" if trace.dropped else ""
    return [f"{counted(len(trace.events), 'event')}{dropped}: grove trace {session.id}"]


def _rest(number: int) -> list[str]:
    return [f"and {number - _MOST_LINES} more: --json has all"] if number > _MOST_LINES else []


def _time(instant: datetime, now: datetime) -> str:
    return f"{local_time(instant)}, {time_ago(instant, now)}"


def _clean(text: str) -> str:
    return clean_line(text, _LONGEST)
