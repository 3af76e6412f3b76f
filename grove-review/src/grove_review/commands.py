"""``grove reviewer``: what to look at, the decision, and how reviews went."""

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import rich_click as click  # noqa: TID253 - imported when the command is called

from grove_core import GateAnswer, GateSessions, GroveError, Session, Share
from grove_review.machine import approve, resolved, taken_up, with_issues
from grove_review.outcomes import outcomes_of, past_reviews, templates_of
from grove_review.settings import NAME, ReviewSettings
from grove_review.state import Issues, State, instant, read, seconds_since, write
from grove_review.texts import LONGEST_MESSAGE, quoted

_GRANT_SECONDS: Final = 300
_MOST_FILES: Final = 100
_TOO_FEW: Final = 20
"""Below so many, a rate tells little."""

_json = click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")


@click.group("reviewer")
def command() -> None:
    """Reviews of an agent's work, for reviewers and for people."""


def _sessions() -> GateSessions:
    """Look at the project that the command line names."""
    context = click.get_current_context(silent=True)
    return GateSessions(NAME, context.meta.get("grove_core.project") if context else None)


def _show(document: Mapping[str, Any], lines: Sequence[str], *, as_json: bool) -> None:
    click.echo(json.dumps(document, ensure_ascii=False) if as_json else "\n".join(lines))


@command.command("context")
@click.argument("session_id", metavar="[SESSION]", required=False)
@_json
def show_context(*, session_id: str | None, as_json: bool) -> None:
    """Show what is to be reviewed: what was asked for, what has changed, earlier issues."""
    sessions = _sessions()
    session = sessions.find(session_id)
    cycle = read(sessions.state(session)).cycle
    work = sessions.work(session)
    settings: ReviewSettings = sessions.settings or ReviewSettings()
    gate = session.gate
    tickets = gate.cycle.tickets if gate.cycle else ((gate.ticket,) if gate.ticket else ())
    document = {
        "session_id": session.id,
        "review": write(State(cycle=cycle)).get("cycle"),
        "tickets": [{"id": one.ticket_id, "title": one.title} for one in tickets],
        "files": list(work.files),
        "lines": work.lines,
        "second_opinion": list(settings.second_opinion),
    }
    lines = [f"Session {session.id}"]
    if cycle is None:
        lines.append("No review is owed.")
    else:
        lines += [f"Review {cycle.id} is owed: {cycle.about}"]
        for number, prompt in enumerate(cycle.prompts, start=1):
            is_cut = prompt.size > len(prompt.text.encode())
            more = f" (the first of {prompt.size} bytes)" if is_cut else ""
            lines += [f"What the user asked, {number}{more}:", quoted(prompt.text)]
        if cycle.tool_input is not None:
            lines += [f"The call that waits for an approval, {cycle.tool}:"]
            lines += [quoted(cycle.tool_input.text)]
        for found in cycle.issues:
            lines += [f"Issues found at {found.at}:", quoted(f"{found.summary}\n{found.message}")]
            lines += [quoted(f"Second opinion: {one}") for one in found.opinions]
    lines += [
        "Tickets (quoted data):",
        *(quoted(f"{one.ticket_id} {one.title}") for one in tickets),
    ]
    lines += [f"Changed files ({work.lines if work.lines is not None else 'unknown'} lines):"]
    lines += [quoted(one) for one in work.files[:_MOST_FILES]]
    if len(work.files) > _MOST_FILES:
        lines.append(f"and {len(work.files) - _MOST_FILES} more: see git status and git diff")
    if settings.second_opinion:
        lines.append(f"Ask for a second opinion: {', '.join(settings.second_opinion)}")
    _show(document, lines, as_json=as_json)


@command.command("decide")
@click.argument("session_id", metavar="SESSION")
@click.argument("decision", type=click.Choice(["COMPLETE", "ISSUES"], case_sensitive=False))
@click.argument("summary")
@click.option("-m", "--message", default="", help="What is to be done; needed with ISSUES.")
@click.option("-o", "--opinion", "opinions", multiple=True, help="What another one thinks.")
@_json
def decide(
    *,
    session_id: str,
    decision: str,
    summary: str,
    message: str,
    opinions: tuple[str, ...],
    as_json: bool,
) -> None:
    """Decide on a review: the work may count as done, or there are issues.

    A reviewer's subagent may, once for each time that the client tells grove of its call; and a
    person at a terminal.
    """
    if decision == "ISSUES" and not message.strip():
        raise GroveError("ISSUES needs --message: what is to be done, for the agent")
    if max(map(len, (message, summary, *opinions))) > LONGEST_MESSAGE:
        raise GroveError(f"the agent is told all of it: at most {LONGEST_MESSAGE} characters each")
    sessions = _sessions()
    try:
        session = sessions.find(session_id)
    except GroveError:
        _note_wrong_id(sessions)
        raise
    is_person = not sessions.by_agent and sys.stdin.isatty()
    refusal = ""

    def change(stored: Mapping[str, Any]) -> GateAnswer:
        nonlocal refusal
        state = taken_up(read(stored))
        refusal = _refusal(state, sessions, is_person=is_person)
        if refusal or state.cycle is None:
            return GateAnswer(state=stored, trace=(f"decide refused: {refusal}",))
        by = "user" if is_person or state.cycle.grant is None else state.cycle.grant.agent
        outcome = ""
        if decision == "COMPLETE":
            outcome = "approved after issues" if state.cycle.issues else "approved at first look"
            decided = approve(state, by, sessions.now)
        else:
            at = instant(sessions.now)
            found = Issues(summary=summary, message=message, by=by, at=at, opinions=opinions)
            decided = with_issues(state, found)
        said = (f"second opinion: {one}" for one in opinions)
        trace = (f"{decision} by {by}: {summary}", *said)
        return GateAnswer(state=write(decided), trace=trace, outcome=outcome)

    sessions.update(session, change)
    if refusal:
        raise GroveError(refusal)
    document = {"session_id": session.id, "decision": decision, "summary": summary}
    _show(document, [f"{decision} is recorded for session {session.id}."], as_json=as_json)


def _refusal(state: State, sessions: GateSessions, *, is_person: bool) -> str:
    """Say why this caller may not decide; empty when it may."""
    if state.cycle is None:
        return "no review is owed in this session"
    grant = state.cycle.grant
    if is_person or (grant and seconds_since(grant.at, sessions.now) <= _GRANT_SECONDS):
        return ""
    return (
        "only a reviewer may decide, as a subagent whose call the client tells grove of, or a"
        " person at a terminal"
    )


def _note_wrong_id(sessions: GateSessions) -> None:
    """Note that a reviewer was given another session's id, or a wrong one."""
    for session in sessions.all():
        cycle = read(sessions.state(session)).cycle
        if cycle is not None and cycle.grant is not None:
            sessions.update(session, _with_wrong_id)
            return


def _with_wrong_id(stored: Mapping[str, Any]) -> GateAnswer:
    state = read(stored)
    return GateAnswer(
        state=write(resolved(state, "bad_session_id")), trace=("a wrong session id was given",)
    )


@command.command("list")
@_json
def list_reviews(*, as_json: bool) -> None:
    """List the reviews of this project's sessions, those that are owed first."""
    sessions = _sessions()
    rows = [_row(one, read(sessions.state(one))) for one in sessions.all()]
    rows.sort(key=lambda row: not row["owed"])
    lines = [
        f"{row['session_id']}  {row['owed'] or 'nothing owed'};"
        f" {row['approved']} approved, {row['given_up']} given up"
        for row in rows
    ]
    _show({"reviews": rows}, lines or ["No reviews yet."], as_json=as_json)


def _row(session: Session, state: State) -> dict[str, Any]:
    outcomes = Counter(one.outcome for one in state.past)
    return {
        "session_id": session.id,
        "owed": state.cycle.about if state.cycle else "",
        "approved": outcomes["approved"],
        "ended": outcomes["ended"],
        "given_up": outcomes["given_up"],
        "learnings": [name for one in state.past for name in one.learnings],
    }


@command.command("stats")
@_json
def show_statistics(*, as_json: bool) -> None:
    """Show how reviews went, and which block messages led to one."""
    past = past_reviews(_sessions())
    outcomes = outcomes_of(past)
    templates = templates_of(past)
    lines = [f"{name}: {_rate(share)}" for name, share in outcomes.items()]
    lines += [f"message {name}: led to a review {_rate(one)}" for name, one in templates.items()]
    if past and len(past) < _TOO_FEW:
        lines.append(f"{len(past)} reviews are too few to tell.")
    document = {
        "reviews": len(past),
        "outcomes": {name: _plain(share) for name, share in outcomes.items()},
        "templates": {name: _plain(share) for name, share in templates.items()},
    }
    _show(document, lines if past else ["No reviews yet."], as_json=as_json)


def _rate(share: Share) -> str:
    if share.rate is None or share.interval is None:
        return "none yet"
    low, high = share.interval
    return f"{share.count} of {share.total} ({share.rate:.0%}, 95 % interval {low:.0%}–{high:.0%})"


def _plain(share: Share) -> dict[str, Any]:
    interval = None if share.interval is None else list(share.interval)
    return {"count": share.count, "total": share.total, "rate": share.rate, "interval": interval}
