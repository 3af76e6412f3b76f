"""Leaving a note of what the start of a session has found, for the next start's short way."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from attrs import evolve

from grove_core import codec, start_note
from grove_core.clock import format_instant
from grove_core.flow.own_files import own_paths
from grove_core.flow.recall_notes import note_of
from grove_core.hosts.contract import HookInput
from grove_core.model.session import EventType, Session
from grove_core.start_note import StartNote
from grove_core.stats_cache.stamps import stamp_of
from grove_core.workspace import Workspace


class TicketSources(NamedTuple):
    """What the ticket systems' answers depend on, as it was before they were asked.

    Attributes:
        paths: Files and folders.
        stamp: How they looked.
        variables: Names of variables of the environment.
    """

    paths: Sequence[str]
    stamp: str
    variables: Sequence[str]


class _WatchedEnvironment(Mapping[str, str]):
    """An environment that knows what it was asked for.

    Attributes:
        asked: The names of the variables.
        whole: Whether it was looked through as a whole, so that everything in it matters.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self.asked: set[str] = set()
        self.whole = False

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return self._environment[name]

    def __iter__(self) -> Iterator[str]:
        self.whole = True
        return iter(self._environment)

    def __len__(self) -> int:
        self.whole = True
        return len(self._environment)


def ticket_sources(workspace: Workspace, call: HookInput) -> TicketSources | None:
    """Look at what the ticket systems read.

    Args:
        workspace: The project.
        call: The start, before the systems are asked.

    Returns:
        What they read; ``None`` where that is not all, or the session is no new one.
    """
    if call.source.continues or not call.cwd:
        return None
    environment = _WatchedEnvironment(workspace.environment)
    sources = workspace.tickets(Path(call.cwd), call.session_id).sources(environment)
    if sources is None or environment.whole:
        return None
    paths = [os.fspath(path) for path in sources]
    return TicketSources(paths, stamp_of(paths), sorted(environment.asked))


def leave_start_note(
    workspace: Workspace, call: HookInput, session: Session, sources: TicketSources | None
) -> None:
    """Leave a note, if the next start can do without asking anybody.

    Args:
        workspace: The project.
        call: The start.
        session: The session that begins, before anything was shown.
        sources: What the ticket systems read.
    """
    if sources is None or not _is_plain(workspace, session):
        return
    recall = note_of(workspace, session)
    words, watched = workspace.prefilter.contents(session.id)
    if recall is None or words is None or stamp_of(sources.paths) != sources.stamp:
        return
    real_cwd = os.path.realpath(call.cwd)
    note = StartNote(
        recall,
        cwd=call.cwd,
        real_cwd=real_cwd,
        project_cache=os.fspath(workspace.project_cache),
        session_id=session.id,
        session=_template(session),
        words=words,
        watched=watched,
        index_stamp=workspace.finder.index.stamp,
        own_paths=own_paths(workspace),
        outlines=start_note.outlines_of(real_cwd),
        sources=sources.paths,
        sources_stamp=sources.stamp,
        variables=sources.variables,
        variables_stamp=start_note.variables_stamp_of(sources.variables, workspace.environment),
    )
    start_note.leave(workspace.paths.home, note)


def _is_plain(workspace: Workspace, session: Session) -> bool:
    """Tell whether a start was a new session's, and neither unusual nor for plugins to hear of."""
    starts = [one for one in session.trace.events if one.event_type is EventType.SESSION_START]
    is_new = session.created_at == workspace.now and len(starts) == 1
    surroundings, plugins = session.surroundings, workspace.plugins
    # What has failed once may do better the next time.
    problems = workspace.problems or workspace.loaded_config.problems
    return (
        is_new
        and session.recovered_from is None
        and surroundings is not None
        and not (surroundings.observed or problems or plugins.add_query_terms())
    )


def _template(session: Session) -> str:
    # What work is measured from, each start finds out anew.
    state = codec.session_to_json(evolve(session, baseline=None, measurement=None))
    return start_note.template(state.decode("ascii"), format_instant(session.created_at))
