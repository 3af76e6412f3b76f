"""``grove why``."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import rich_click as click

from grove_core.cli.app import find_session, grove_command
from grove_core.cli.options import session_option
from grove_core.cli.timeparse import local_time
from grove_core.clock import parse_instant
from grove_core.injection import VIA_FILE
from grove_core.project import Project
from grove_core.quotation import Foreign, shown_name
from grove_core.retrieval.choosing import SHOWN
from grove_core.retrieval.terms import Entry
from grove_core.services.explain import Explanation, Retrieval, explain, retrievals_of
from grove_core.services.learnings import score_lines
from grove_core.services.result import Line, Result, line
from grove_core.text import clean_line

_LONGEST: Final = 300
_GONE: Final = "gone"
_HEAD: Final = ("place", "score", "relevance", "recency", "usage", "id", "reason")


@click.command("why")
@click.argument("ids", nargs=-1, metavar="[ID]...")
@session_option
@grove_command
def command(project: Project, *, ids: tuple[str, ...], session_id: str | None) -> Result:
    """Say why learnings were shown in a session, or were not.

    For each start and each prompt, and for the files that were touched, from what was logged then.
    Without ID it lists what was considered last, the best first.
    """
    project, session = find_session(project, session_id, newest=True)
    retrievals = retrievals_of(project.paths.cache, session.id)
    last = retrievals[-1] if retrievals and not ids else None
    considered = {one.id for each in retrievals for one in each.candidates}
    considered |= {one.learning_id for one in session.injected}
    answers: list[dict[str, Any]] = []
    unknown: list[str] = []
    lines: list[Line] = []
    for one in dict.fromkeys(ids):
        entry = project.finder.get(one)
        if entry is None and one not in considered:
            unknown.append(one)
            continue
        explanations = explain(session, retrievals, one, entry)
        lines += [*([""] if lines else []), *_lines_of(one, entry, explanations)]
        answers.append(
            {
                "id": one,
                "summary": entry and entry.summary,
                "status": entry.status if entry else _GONE,
                "shown": any(each.shown for each in explanations),
                "retrievals": explanations,
            }
        )
    named = ", ".join(unknown)
    complaint = f"no learning has the id {named}; `grove list --all` lists all ids"
    if not ids:
        nothing = [f"Nothing was considered in session {session.id} yet."]
        lines += _retrieval_lines(last) if last else nothing
    return Result(
        document={
            "session_id": session.id,
            "retrieval": last,
            "learnings": answers,
            "unknown": unknown,
            **({"error": complaint} if unknown else {}),
        },
        lines=lines,
        ids=[one.id for one in last.candidates]
        if last
        else [one["id"] for one in answers if one["shown"]],
        exit_code=1 if unknown else 0,
        warnings=[complaint] if unknown else [],
    )


def _lines_of(
    learning_id: str, entry: Entry | None, explanations: Sequence[Explanation]
) -> Iterator[Line]:
    kind = f"  {entry.category}  {entry.status}" if entry else f"  {_GONE}"
    yield [(shown_name(learning_id), "bold"), (kind, "cyan")]
    if entry is not None:
        yield line("  ", Foreign(clean_line(entry.summary, _LONGEST)))
    for one in explanations:
        place = f" (place {one.rank})" if one.rank is not None else ""
        reason = clean_line(one.reason, _LONGEST) if one.reason != SHOWN else ""
        # The name of a file is one that strangers chose.
        said = Foreign(reason) if one.via == VIA_FILE else reason
        yield [
            f"\n{local_time(one.at)}  {one.via}  ",
            ("shown", "green") if one.shown else ("not shown", "yellow"),
            place,
            *([": ", said] if reason else []),
        ]
        if one.score:
            yield from score_lines(one.score)


def _retrieval_lines(one: Retrieval) -> Iterator[Line]:
    """Write a retrieval as a table, the best learning first."""
    shown = sum(each.reason == SHOWN for each in one.candidates)
    missing = clean_line(", ".join(one.missing), _LONGEST)
    missing = f"; could not be asked: {missing}" if missing else ""
    found = f"{one.found} found, {shown} shown (threshold {one.floor:g}{missing})"
    yield f"{local_time(parse_instant(one.at))}  {one.via}: {found}"
    rows: list[Sequence[str]] = [_HEAD] if one.candidates else []
    for each in one.candidates:
        numbers = [f"{value:.4f}" for value in each.score[:4]]
        rows.append((str(each.rank), *numbers, shown_name(each.id), each.reason))
    widest = max((len(row[5]) for row in rows), default=0)
    for place, score, relevance, recency, usage, learning_id, reason in rows:
        figures = f"{place:>5}  {score:>7}  {relevance:>9}  {recency:>7}  {usage:>6}"
        yield f"{figures}  {learning_id:<{widest}}  {clean_line(reason, _LONGEST)}"
