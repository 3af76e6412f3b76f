"""``grove why``."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import rich_click as click
from attrs import frozen

from grove_core.cli.app import Invocation, find_session, grove_command
from grove_core.cli.considered_report import occasion_document, occasion_lines
from grove_core.cli.options import session_option
from grove_core.cli.result import Result
from grove_core.cli.suggestions import learning_ids
from grove_core.cli.timeparse import local_time
from grove_core.model.session import Session
from grove_core.retrieval.entry import Entry
from grove_core.retrieval.explaining import explanation_of, lines_of
from grove_core.text import clean_line
from grove_core.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console

    from grove_core.flow.hindsight import Hindsight
    from grove_core.flow.occasions import Explanation
    from grove_core.model.events import StatsEvent

_LONGEST: Final = 300
_MOST_WORDS: Final = 12
_GONE: Final = "gone"


@frozen(kw_only=True)
class Answer:
    """Why one learning was shown in a session, or was not."""

    learning_id: str
    entry: Entry | None
    explanations: "Sequence[Explanation]"


@click.command("why")
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=learning_ids)
@session_option
@grove_command
def command(invocation: Invocation, *, ids: tuple[str, ...], session_id: str | None) -> Result:
    """Say why learnings were shown in a session, or were not.

    For each start and each prompt, and for the files that were touched. Without ID it lists what
    was considered last, the best first.
    """
    from grove_core.flow.hindsight import Hindsight

    invocation, session = find_session(invocation, session_id)
    hindsight = Hindsight(invocation.workspace, session)
    if not ids:
        return _latest(session, hindsight)
    known, unknown = _split(invocation.workspace, hindsight, list(dict.fromkeys(ids)))
    answers = _answers(invocation.workspace, hindsight, known)
    document: dict[str, Any] = {
        "session_id": session.id,
        "occasion": None,
        "learnings": [_document(one) for one in answers],
        "unknown": unknown,
    }
    if unknown:
        document["error"] = _complaint(invocation.workspace, unknown)
    return Result(
        document=document,
        human=lambda console: _human(answers, console),
        ids=[one.learning_id for one in answers if any(each.shown for each in one.explanations)],
        exit_code=1 if unknown else 0,
        warnings=[document["error"]] if unknown else (),
    )


def _latest(session: Session, hindsight: "Hindsight") -> Result:
    occasion = hindsight.occasions[-1] if hindsight.occasions else None

    def human(console: "Console") -> None:
        if occasion is None:
            console.print(f"Nothing was considered in session {session.id} yet.")
            return
        for line in occasion_lines(occasion):
            console.print(line)

    return Result(
        document={
            "session_id": session.id,
            "occasion": None if occasion is None else occasion_document(occasion),
            "learnings": [],
            "unknown": [],
        },
        human=human,
        ids=[one.id for one in occasion.verdicts] if occasion is not None else [],
    )


def _split(
    workspace: Workspace, hindsight: "Hindsight", ids: Sequence[str]
) -> tuple[dict[str, Entry | None], list[str]]:
    found = {one: workspace.finder.get(one) for one in ids}
    known = {one: entry for one, entry in found.items() if entry or hindsight.knows(one)}
    return known, [one for one in ids if one not in known]


def _answers(
    workspace: Workspace, hindsight: "Hindsight", known: dict[str, Entry | None]
) -> list[Answer]:
    from grove_core.flow.event_history import find_events
    from grove_core.flow.standing import Standing
    from grove_core.model.events import Archived, Corrected, Restored
    from grove_core.model.learning import LearningStatus

    logged = find_events(workspace, [Archived, Restored, Corrected], [*known]) if known else []
    events: list[StatsEvent] = [one.event for one in logged]
    answers = []
    for learning_id, entry in known.items():
        status = entry.status if entry else _GONE
        if hidden := workspace.hidden.get(learning_id):
            reason = f"decayed, on this machine only so far: {hidden.reason}"
            events.append(Archived(ts=hidden.since, learning_id=learning_id, reason=reason))
            status = LearningStatus.ARCHIVED.value
        standing = Standing.of(learning_id, status, events)
        explanations = hindsight.explain(learning_id, entry, standing)
        answers.append(Answer(learning_id=learning_id, entry=entry, explanations=explanations))
    return answers


def _complaint(workspace: Workspace, unknown: Sequence[str]) -> str:
    from difflib import get_close_matches

    known = [one.id for one in workspace.finder.index.entries()]
    near = [match for one in unknown for match in get_close_matches(one, known, n=1)]
    hint = (
        f"did you mean {', '.join(near)}?" if near else "`grove list --all` names those there are"
    )
    return f"no learning has the id {', '.join(unknown)}; {hint}"


def _document(answer: Answer) -> dict[str, Any]:
    entry = answer.entry
    return {
        "id": answer.learning_id,
        "summary": entry.fields()["summary"] if entry is not None else None,
        "status": entry.status if entry is not None else _GONE,
        "shown": any(one.shown for one in answer.explanations),
        "occasions": [
            {
                "at": one.at,
                "via": one.via,
                "outcome": one.outcome,
                "reason": one.reason,
                "rank": one.rank,
                "score": None if one.score is None else explanation_of(one.score),
                "floor": one.floor,
                "shared": one.shared,
                "missing": one.missing,
                "unknown_words": one.unknown,
                "before": one.before,
                "worked_out_again": one.worked_out_again,
            }
            for one in answer.explanations
        ],
    }


def _human(answers: Sequence[Answer], console: "Console") -> None:
    from rich.text import Text

    for number, answer in enumerate(answers):
        if number:
            console.print()
        entry = answer.entry
        line = Text(clean_line(answer.learning_id, _LONGEST), style="bold")
        line.append(f"  {entry.category}  {entry.status}" if entry else "  gone", style="cyan")
        console.print(line)
        if entry is not None:
            console.print(Text(f"  {clean_line(entry.fields()['summary'], _LONGEST)}"))
        for one in answer.explanations:
            console.print()
            _paragraph(one, console)


def _paragraph(one: "Explanation", console: "Console") -> None:
    from rich.text import Text

    head = Text(f"{local_time(one.at)}  {one.via}  ")
    head.append("shown" if one.shown else "not shown", style="green" if one.shown else "yellow")
    reason = clean_line(one.reason, _LONGEST)
    rank = f" (place {one.rank})" if one.rank is not None else ""
    head.append(f"{rank}: {reason}" if reason != "shown" else rank)
    console.print(head)
    for line in _details(one):
        console.print(Text(f"  {clean_line(line, 2 * _LONGEST)}", style="dim"))


def _details(one: "Explanation") -> list[str]:
    lines = [f"shown before it: {', '.join(one.before)}"] if one.before and not one.shown else []
    if one.shared:
        lines.append(f"in common: {'; '.join(one.shared)}")
    if one.missing or one.unknown:
        lines.append(f"not in it: {_words(one)}")
    if one.score is not None:
        lines += lines_of(one.score)
    if one.worked_out_again:
        lines.append("it is not on record, and was worked out again with the learnings of now")
    return lines


def _words(one: "Explanation") -> str:
    named = list(one.missing[:_MOST_WORDS])
    left = len(one.missing) - len(named)
    if left:
        named.append(f"{left} more")
    if one.unknown:
        named.append(f"{one.unknown} that no learning holds")
    return ", ".join(named)
