"""The beginning and the end of sessions: dismissals, and the debts of those that died."""

import os
from datetime import timedelta

import pytest
from core_worlds import NOW, a_session, codes_of, events_in, fork, put

from grove_core.model.gate import Cycle, Gate, GateStatus
from grove_core.model.session import InjectedLearning, InjectionOutcome
from grove_core.model.ticket import Ticket
from grove_core.project import Project
from grove_core.services.sessions import (
    OpenSessions,
    close_dead_sessions,
    finish_ends,
)

PENDING, REFERENCED, DISMISSED = map(InjectionOutcome, ("pending", "referenced", "dismissed"))


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "project"
    (root / ".grove").mkdir(parents=True)
    return Project(root, {"GROVE_HOME": str(tmp_path / "home")}, NOW, plugins=False)


def shown(name, outcome=PENDING, *, personal=False):
    fields = {"summary": "s", "score": 0.5, "injected_at": NOW, "personal": personal}
    return InjectedLearning(learning_id=name, outcome=outcome, **fields)


def owing(*tickets):
    cycle = Cycle(tickets=tickets, opened_at=NOW, before=GateStatus.IDLE)
    return Gate(status=GateStatus.PENDING, cycle=cycle)


def begun(project, session):
    put(project.sessions, session)
    OpenSessions(project).add(session.id)
    return session


@pytest.fixture
def ends(project):
    """Write down an end as the hook does; the seconds are after ``NOW``."""

    def end(session_id, seconds=60):
        folder = project.paths.home / "ends"
        folder.mkdir(parents=True, exist_ok=True)
        note = folder / session_id
        note.write_text(f"{NOW.timestamp() + seconds:.0f} clear")
        return note

    return end


def test_an_end_of_another_project_is_finished_there(project, ends, tmp_path):
    (tmp_path / "other" / ".grove").mkdir(parents=True)
    other = Project(tmp_path / "other", project.environment, NOW, plugins=False)
    root = str(other.root)
    begun(other, a_session(injected=(shown("cl_a"),), gate=owing(), project_root=root))
    ends("s")
    finish_ends(project)
    assert [one.learning_id for one in events_in(other.files.events_file)] == ["cl_a"]
    assert OpenSessions(other).all() == ["s"]  # the next start there names what it owes


def test_a_session_that_has_gone_on_has_not_ended(project, ends):
    begun(project, a_session(injected=(shown("cl_a"),)))
    note = ends("s", seconds=-1)
    finish_ends(project)
    assert project.sessions.get("s").ended_at is None
    assert not note.exists()


def ticket(name):
    return Ticket(ticket_id=name, source="beads")


def dead_process():
    child = fork(lambda: None)
    codes_of(child)
    return child


@pytest.mark.parametrize(
    ("fields", "over"),
    [
        ({}, False),
        ({"ended_at": NOW}, True),
        ({"updated_at": NOW - timedelta(hours=25)}, True),
        ({"updated_at": NOW - timedelta(hours=23)}, False),
        ({"process_id": os.getpid()}, False),
        ({"process_id": dead_process()}, True),
    ],
)
def test_who_is_taken_for_dead(project, fields, over):
    begun(project, a_session("old", injected=(shown("cl_a"),), gate=owing(ticket("T-1")), **fields))
    notices = close_dead_sessions(project, "new")
    assert len(notices) == over
    assert close_dead_sessions(project, "new") == []
    outcome = project.sessions.get("old").injected[0].outcome
    assert outcome is (DISMISSED if over else PENDING)
    assert len(events_in(project.files.events_file)) == over
    assert OpenSessions(project).all() == ([] if over else ["old"])


def test_unreadable_state_of_a_past_session_is_named_once_and_stays(project):
    begun(project, a_session("old"))
    project.sessions.path("old").write_text("{")
    (notice,) = close_dead_sessions(project, "new")
    assert "old cannot be read" in notice
    assert close_dead_sessions(project, "newer") == []
    assert project.sessions.path("old").read_text() == "{"
