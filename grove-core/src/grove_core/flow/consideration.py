"""Remembering what was considered for showing, so that somebody can ask why."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from grove_core.clock import format_instant
from grove_core.finder import terms_of
from grove_core.flow.considering import keep_line
from grove_core.model.memory import Query
from grove_core.retrieval.choosing import Choice
from grove_core.retrieval.considered import Circumstances, line_of

if TYPE_CHECKING:
    from grove_core.workspace import Workspace


class Consideration(NamedTuple):
    """What was looked for, and what came of it."""

    query: Query
    choice: Choice
    limit: int
    max_chars: int
    via: str


def keep(
    workspace: "Workspace",
    session_id: str,
    consideration: Consideration,
    shown: Sequence[str] = (),
) -> None:
    """Keep what was considered; whatever goes wrong, what is shown is shown."""
    retrieval, finder = workspace.config.retrieval, workspace.finder
    try:
        circumstances = Circumstances(
            at=format_instant(workspace.now),
            via=consideration.via,
            strategy=retrieval.strategy.value,
            limit=consideration.limit,
            floor=finder.floor,
            max_chars=consideration.max_chars,
            engine=finder.judged_by,
            complete=finder.complete,
            failed=tuple(one.what for one in workspace.problems),
        )
        line = line_of(circumstances, terms_of(consideration.query), consideration.choice, shown)
        keep_line(workspace.paths.cache, session_id, line)
    except Exception as error:  # noqa: BLE001 - whatever it is, work goes on
        workspace.diagnostics.crash(error, session_id, "keeping what was considered")
