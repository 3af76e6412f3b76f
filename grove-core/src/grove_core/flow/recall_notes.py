"""Leaving a note of what showing learnings depends on, for the next hook's short way."""

import os

from grove_core import recall_note
from grove_core.config.schema import DEFAULT_ENGINE
from grove_core.derived_database import IN_MEMORY
from grove_core.flow.synchronising import servers_of
from grove_core.model.session import Session, Surroundings
from grove_core.recall_note import RecallNote
from grove_core.retrieval.strategy import RetrievalStrategy
from grove_core.surroundings import stamp, with_marker
from grove_core.workspace import Workspace


def leave_note(workspace: Workspace, session: Session) -> None:
    """Leave a note, where the index knows all learnings and judges them itself.

    Args:
        workspace: The project, after its learnings were searched.
        session: The session that was just looked at.
    """
    note = note_of(workspace, session)
    if note is not None:
        recall_note.leave(workspace.project_cache, note)


def note_of(workspace: Workspace, session: Session) -> RecallNote | None:
    """Say what was found, where the index knows all learnings and judges them itself.

    Args:
        workspace: The project, after its learnings were searched.
        session: The session that was just looked at.

    Returns:
        What a note may say, or ``None``.
    """
    retrieval, surroundings = workspace.config.retrieval, session.surroundings
    sources = workspace.library.sources()
    index, cache = workspace.finder.index.path, workspace.numbers.cache.path
    kept = IN_MEMORY not in {index, cache}
    if surroundings is None or not sources or not kept or not workspace.finder.complete:
        return None
    availability = workspace.library.availability()
    if availability is None or not _is_of_one_moment(workspace, surroundings):
        return None
    # The newest, which this strategy shows as well, are for the full way.
    if retrieval.strategy is RetrievalStrategy.AGGRESSIVE:
        return None
    if retrieval.engine != DEFAULT_ENGINE or not workspace.library.lists_everything():
        return None
    markers = [os.fspath(path) for path in availability.used]
    return RecallNote(
        root=os.fspath(workspace.root),
        marker=surroundings.marker,
        surroundings=surroundings.stamp,
        markers=markers,
        present=[os.path.exists(marker) for marker in markers],  # noqa: PTH110 - never raises
        unused=[os.fspath(path) for path in availability.unused],
        unused_stamp=availability.unused_stamp,
        sources=[os.fspath(path) for path in sources],
        servers=servers_of(workspace),
        index=index,
        cache=cache,
        personal_log=os.fspath(workspace.paths.personal_events),
        engine=retrieval.engine,
        strategy=retrieval.strategy.value,
        recency_days=retrieval.recency_days_to_30_percent,
        max_chars=retrieval.max_chars,
        max_injections=retrieval.max_injections,
        on_prompt=retrieval.on_prompt,
        max_per_prompt=retrieval.max_per_prompt,
        max_per_session=retrieval.max_per_session,
    )


def _is_of_one_moment(workspace: Workspace, surroundings: Surroundings) -> bool:
    """Tell whether the configuration is still what it was read from, and what the session knows."""
    root, home, marker = (
        os.fspath(workspace.root),
        os.fspath(workspace.paths.home),
        surroundings.marker,
    )
    read = with_marker(workspace.configuration_stamp, root, marker)
    return surroundings.stamp == read == stamp(root, home, marker)
