"""What a plugin's gate keeps in sessions, for the plugin's own commands."""

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from grove_core.clock import now_utc
from grove_core.model.session import Session
from grove_core.plugins.gates import GateAnswer
from grove_core.project import Project
from grove_core.services.gates import log_answers, with_answers
from grove_core.services.overview import find_session, sessions_here
from grove_core.services.recall import work_at_hand
from grove_core.services.session_mode import measure
from grove_core.services.sessions import SessionUpdate, update_session


class SessionWork(NamedTuple):
    """What a session has changed.

    Attributes:
        files: Changed files relative to the project's root, those of the branch included.
        lines: Lines added and deleted since the session's baseline; ``None`` where that is unknown.
    """

    files: Sequence[str]
    lines: int | None


class GateSessions:
    """A gate's state in the sessions of the project that a command runs in.

    Attributes:
        now: The time of the command, UTC.
    """

    def __init__(self, name: str, start: Path | None = None) -> None:
        """Look from a directory.

        Args:
            name: The gate's name.
            start: Where to look from; the current directory when it is ``None``.
        """
        self._name = name
        self._project = Project(start or Path.cwd(), os.environ, now_utc())
        self.now: datetime = self._project.now

    @cached_property
    def settings(self) -> Any:  # noqa: ANN401 - of the gate's own class
        """The gate's validated section, or ``None`` where it is not installed."""
        return self._project.gate_settings().get(self._name)

    @cached_property
    def by_agent(self) -> bool:
        """Whether a client's agent has started the process, as the environment says."""
        return self._project.is_run_by_agent

    def find(self, session_id: str | None) -> Session:
        """Find a session.

        Args:
            session_id: Its id or the beginning of it; the session that runs the command, or the
                only live one of the project, when it is ``None``.

        Returns:
            The session.

        Raises:
            GroveError: There is none, or there are several.
        """
        self._project, session = find_session(self._project, session_id)
        return session

    def all(self) -> list[Session]:
        """List the project's sessions in which the gate keeps something, the latest first."""
        return [one for one in sessions_here(self._project) if one.gates.get(self._name)]

    def state(self, session: Session) -> Mapping[str, Any]:
        """Return what the gate keeps in a session; an empty document when there is nothing."""
        return session.gates.get(self._name, {})

    def update(
        self, session: Session, change: Callable[[Mapping[str, Any]], GateAnswer]
    ) -> Mapping[str, Any]:
        """Change the gate's state in a session, under the session's lock.

        Args:
            session: The session.
            change: From the state that is stored to an answer, of which state and trace count. What
                it raises goes on to the caller, and nothing is changed.

        Returns:
            The new state.
        """
        given: dict[str, GateAnswer] = {}

        def apply(stored: Session) -> SessionUpdate:
            given[self._name] = change(stored.gates.get(self._name, {}))
            return with_answers(stored, given, self.now)

        stored, _ = update_session(self._project, session, apply)
        log_answers(self._project, session, given)
        return self.state(stored)

    def work(self, session: Session) -> SessionWork:
        """Look at what a session has changed.

        Args:
            session: The session, as ``find`` gave it.

        Returns:
            Files and number of lines.
        """
        change = measure(self._project, session) if session.baseline is not None else None
        lines = change.lines if change is not None else None
        return SessionWork([*work_at_hand(self._project)[2]], lines)
