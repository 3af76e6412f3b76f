"""Jira and Linear: where they are found, and the issue that a branch names."""

import pytest
from attrs import evolve

from grove_core import Confirmation, EnabledWhen, Ticket, TicketClose, ToolResult
from grove_tickets import jira, linear
from grove_tickets.states import DoneSettings

confirm_linear = linear.grove_close_matchers()[0].confirm
confirm_jira = jira.grove_close_matchers()[0].confirm


def test_jira_is_off_unless_enabled_and_found_by_its_configuration(project, tmp_path, make_context):
    (probe,) = jira.grove_ticket_probes()
    assert probe.enabled_when is EnabledWhen.OVERRIDDEN
    assert jira.detect(make_context()).marker == "ticketing.overrides.jira"
    file = tmp_path / "home/.config/.jira/.config.yml"
    file.parent.mkdir(parents=True)
    file.write_text("")
    assert jira.detect(make_context()).marker == str(file)
    (project / "jira.yml").write_text("")
    context = make_context(JIRA_CONFIG_FILE="jira.yml")
    assert jira.detect(context).marker == str(project / "jira.yml")


@pytest.mark.parametrize("name", ["linear.toml", ".linear.toml", ".config/linear.toml"])
def test_linear_is_found_at_the_top_of_the_work_tree(name, on_branch, project, make_context):
    (probe,) = linear.grove_ticket_probes()
    assert probe.enabled_when is EnabledWhen.DETECTED
    deep = project / "a" / "b"
    deep.mkdir(parents=True)
    on_branch("main")
    assert linear.detect(make_context(deep)) is None
    (project / name).parent.mkdir(exist_ok=True)
    (project / name).write_text("")
    assert linear.detect(make_context(deep)).marker == str(project / name)


def test_outside_a_repository_linear_is_found_only_in_the_directory_itself(project, make_context):
    (project / ".linear.toml").write_text("")
    (project / "a").mkdir()
    assert linear.detect(make_context()).marker == str(project / ".linear.toml")
    assert linear.detect(make_context(project / "a")) is None


@pytest.mark.parametrize(
    ("branch", "team", "expected"),
    [
        ("ENG-123", "", ("ENG-123", "ENG-123")),
        ("feature/ENG-123-title", "", ("ENG-123", "ENG-123")),
        ("eng-123-title", "", (None, "ENG-123")),
        ("user/eng-123-title", 'team_id = "ENG"', (None, "ENG-123")),
        ("user/fix-2-eng-123", 'team_id = "ENG"', (None, "ENG-123")),
        ("user/ops-123-title", 'team_id = "ENG"', (None, None)),
        ("AB_C-9-title", 'team_id = "ENG"', ("AB_C-9", None)),
        ("ENG2-9_title", 'team_id = "ENG"', (None, None)),
        ("main", "", (None, None)),
        ("v1-12", 'team_id = "ENG"', (None, None)),
        ("ENG-0", "", (None, None)),
    ],
)
def test_the_issue_is_named_by_the_branch(branch, team, expected, on_branch, project, make_context):
    for system in (jira, linear):
        assert system.current_ticket(make_context()) is None
    on_branch(branch)
    (project / ".linear.toml").write_text(f"project = 'x'\n{team}\n")
    for system, key in zip((jira, linear), expected, strict=True):
        ticket = key and Ticket(ticket_id=key, source=system.SYSTEM)
        assert system.current_ticket(make_context()) == ticket


def test_an_issue_that_moved_is_closed_where_the_state_counts_as_done(make_context):
    moved = ToolResult(succeeded=True, response='✓ Issue transitioned to state "Shipped"')
    close = TicketClose(system="jira", ticket_id="A-1")
    context = evolve(make_context(), settings=DoneSettings(done=("Shipped",)))
    assert confirm_jira(close, moved, context) is Confirmation.YES
    assert confirm_jira(close, moved, make_context()) is Confirmation.NO


def test_after_a_reopening_the_issue_is_not_closed(make_context):
    reopening = TicketClose(system="linear", ticket_id="ENG-1", reopens=True)
    updated = ToolResult(succeeded=True, response={"stdout": "✓ Updated issue ENG-1: Parser\n"})
    assert confirm_linear(reopening, updated, make_context()) is Confirmation.NO
