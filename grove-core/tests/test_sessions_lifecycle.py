"""The beginning and the end of sessions: dismissals, and the debts of those that died."""

import os
from datetime import UTC, datetime, timedelta

import pytest
from attrs import evolve

from grove_core.flow.lifecycle import (
    OpenSessions,
    debt_notice,
    dismiss,
    log_dismissals,
    settle_dead_sessions,
)
from grove_core.model.gate import Cycle, Gate, GateStatus
from grove_core.model.session import (
    EventType,
    InjectedLearning,
    InjectionOutcome,
    Session,
)
from grove_core.model.ticket import Ticket
from grove_core.workspace import Workspace

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
PENDING, REFERENCED, DISMISSED = (
    InjectionOutcome.PENDING,
    InjectionOutcome.REFERENCED,
    InjectionOutcome.DISMISSED,
)


@pytest.fixture
def workspace(tmp_path):
    root = tmp_path / "project"
    (root / ".grove").mkdir(parents=True)
    return Workspace(root, {"GROVE_HOME": str(tmp_path / "home")}, NOW, load_plugins=False)


def shown(name, outcome=PENDING, *, personal=False):
    return InjectedLearning(
        learning_id=name,
        summary="s",
        score=0.5,
        injected_at=NOW,
        personal=personal,
        outcome=outcome,
    )


def a_session(name="s", **fields):
    given = {"updated_at": NOW, **fields}
    return Session(id=name, host="h", cwd="/", project_root="/", created_at=NOW, **given)


def owing(*tickets):
    cycle = Cycle(tickets=tickets, opened_at=NOW, before=GateStatus.IDLE)
    return Gate(status=GateStatus.PENDING, cycle=cycle)


def begun(workspace, session):
    workspace.sessions.put(session)
    OpenSessions(workspace).add(session.id)
    return session


# Dismissing.


def test_what_was_shown_and_not_used_is_dismissed_once(workspace):
    session = a_session(injected=(shown("cl_a"), shown("cl_b", REFERENCED), shown("cl_c")))
    after = dismiss(workspace, session)
    assert [one.outcome for one in after.injected] == [DISMISSED, REFERENCED, DISMISSED]
    (note,) = after.trace.events
    assert (note.event_type, note.details["learnings"]) == (
        EventType.LEARNING_DISMISSED,
        "cl_a cl_c",
    )
    assert dismiss(workspace, after) is after


def test_dismissals_are_logged_where_they_belong_and_once(workspace):
    session = a_session(injected=(shown("cl_a"), shown("cl_mine", personal=True)))
    after = dismiss(workspace, session)
    log_dismissals(workspace, session, after)
    log_dismissals(workspace, after, dismiss(workspace, after))
    assert [one.learning_id for one in workspace.project_log.read().events] == ["cl_a"]
    assert [one.learning_id for one in workspace.personal_log.read().events] == ["cl_mine"]


# Debts.


def ticket(name):
    return Ticket(ticket_id=name, source="beads")


def test_a_debt_is_named_with_the_command_that_settles_it():
    notice = debt_notice(a_session(gate=owing(ticket("T-1"), ticket(None))))
    assert notice == (
        "grove: session s ended without the reflection it owed (T-1, of beads); if you know what it"
        " taught: grove reflect --session-id s"
    )
    assert "(its changes)" in debt_notice(a_session(gate=owing()))


@pytest.mark.parametrize("status", [GateStatus.IDLE, GateStatus.ACTIVE, GateStatus.REFLECTED])
def test_who_owes_nothing_is_not_named(status):
    assert debt_notice(a_session(gate=Gate(status=status))) == ""


def test_lost_state_may_hide_a_debt():
    notice = debt_notice(a_session(recovered_from="/h/s.json.corrupt-1"))
    assert "/h/s.json.corrupt-1" in notice
    assert "may still owe" in notice


# Sessions that died.


def dead_process():
    number = 4_000_000
    while True:
        try:
            os.kill(number, 0)
        except ProcessLookupError:
            return number
        except PermissionError:
            pass
        number -= 1


@pytest.mark.parametrize(
    ("fields", "over"),
    [
        ({}, False),
        ({"ended_at": NOW}, True),
        ({"updated_at": NOW - timedelta(hours=25)}, True),
        ({"updated_at": NOW - timedelta(hours=23)}, False),
        ({"process_id": os.getpid()}, False),
        ({"process_id": 1}, False),
        ({"process_id": dead_process()}, True),
    ],
)
def test_who_is_taken_for_dead(workspace, fields, over):
    begun(
        workspace, a_session("old", injected=(shown("cl_a"),), gate=owing(ticket("T-1")), **fields)
    )
    notices = settle_dead_sessions(workspace, "new")
    assert len(notices) == over
    outcome = workspace.sessions.get("old").injected[0].outcome
    assert outcome is (DISMISSED if over else PENDING)
    assert len(workspace.project_log.read().events) == over
    assert OpenSessions(workspace).all() == ([] if over else ["old"])


def test_the_dead_are_settled_once(workspace):
    begun(workspace, a_session("old", injected=(shown("cl_a"),), gate=owing(), ended_at=NOW))
    assert len(settle_dead_sessions(workspace, "new")) == 1
    assert settle_dead_sessions(workspace, "new") == []
    assert len(workspace.project_log.read().events) == 1


def test_a_session_does_not_bury_itself(workspace):
    begun(workspace, a_session("s", gate=owing(), ended_at=NOW))
    assert settle_dead_sessions(workspace, "s") == []
    assert OpenSessions(workspace).all() == ["s"]


def test_later_use_undoes_a_dismissal(workspace):
    begun(workspace, a_session("old", injected=(shown("cl_a", REFERENCED),), ended_at=NOW))
    assert settle_dead_sessions(workspace, "new") == []
    assert workspace.project_log.read().events == ()


def test_sessions_of_other_projects_are_left_alone(workspace, tmp_path):
    (tmp_path / "other" / ".grove").mkdir(parents=True)
    environment = {"GROVE_HOME": str(tmp_path / "home")}
    other = Workspace(tmp_path / "other", environment, NOW, load_plugins=False)
    begun(other, a_session("theirs", gate=owing(), ended_at=NOW))
    assert settle_dead_sessions(workspace, "new") == []


def test_marks_of_no_session_stop_nothing_and_go(workspace):
    for name in ("gone", ".nfs0001", "a b", "x" * 200):
        OpenSessions(workspace).add(name)
    begun(workspace, a_session("old", gate=owing(), ended_at=NOW))
    assert len(settle_dead_sessions(workspace, "new")) == 1
    assert OpenSessions(workspace).all() == []


def test_unreadable_state_of_a_past_session_is_named_once_and_stays(workspace):
    begun(workspace, a_session("old"))
    workspace.sessions.path("old").write_text("{")
    (notice,) = settle_dead_sessions(workspace, "new")
    assert "old cannot be read" in notice
    assert settle_dead_sessions(workspace, "newer") == []
    assert workspace.sessions.path("old").read_text() == "{"


def test_a_cache_that_cannot_be_written_stops_nothing(workspace):
    workspace.paths.cache.parent.mkdir(parents=True)
    workspace.paths.cache.write_text("a file in the way")
    open_sessions = OpenSessions(workspace)
    open_sessions.add("s")
    open_sessions.remove("s")
    assert list(open_sessions.all()) == []
    assert settle_dead_sessions(workspace, "new") == []


def test_what_is_settled_keeps_all_else(workspace):
    session = begun(
        workspace,
        a_session("old", injected=(shown("cl_a"),), gate=owing(ticket("T")), ended_at=NOW),
    )
    settle_dead_sessions(workspace, "new")
    after = workspace.sessions.get("old")
    assert evolve(after, injected=session.injected, trace=session.trace) == session
