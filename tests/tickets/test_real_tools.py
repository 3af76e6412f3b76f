"""The ticket systems with their real tools: what closes a ticket, and what only looks like it.

Every command is really run, between hooks that are real processes; then the session wants to stop.
"""

import time

import pytest

DETECT = ("tickets", "--json")
# An answer that comes too late is dropped, which happens on a machine that is busy with other tests.
PATIENCE_SECONDS = 20


def wants(condition):
    """A test only for the systems that fit."""

    def mark(function):
        function.wants = condition
        return function

    return mark


def system_in(document, system):
    return next(one for one in document["systems"] if one["name"] == system.name)


def assert_works(done):
    assert done.returncode == 0, done.stdout


# --- what is found without a call -------------------------------------------------------------


def test_a_project_that_uses_the_tool_is_recognised(shop, system):
    document = shop.world.grove(*DETECT).json
    found = system_in(document, system)
    assert found["takes_part"], found
    assert found["marker"]
    active = [one["name"] for one in document["systems"] if one["active"]]
    assert active == [system.behind or system.name]


def test_it_is_recognised_from_a_folder_further_down(shop, system):
    folder = shop.project / "src" / "reports"
    folder.mkdir(parents=True)
    assert system_in(shop.world.grove(*DETECT, cwd=folder).json, system)["takes_part"]


def test_it_is_recognised_from_another_work_tree(shop, system):
    tree = shop.world.others / "tree"
    shop.says(f"git worktree add -q {tree} -b eng-2-other HEAD")
    (tree / ".grove").mkdir()
    (tree / ".grove" / "config.toml").write_text((shop.project / ".grove/config.toml").read_text())
    assert system_in(shop.world.grove(*DETECT, cwd=tree).json, system)["takes_part"]


@wants(lambda system: system.current is not None)
def test_the_ticket_in_progress_is_known(shop, system):
    ticket = shop.world.grove(*DETECT).json["ticket"]
    until = time.monotonic() + PATIENCE_SECONDS
    while ticket is None and system.is_asked and time.monotonic() < until:
        ticket = shop.world.grove(*DETECT).json["ticket"]
    if ticket is None and system.is_asked:
        pytest.skip(f"{system.label} never answers within grove's limit on this machine")
    assert ticket is not None
    assert ticket["source"] == (system.behind or system.name)
    assert ticket["ticket_id"].removeprefix("#") == shop.ids["first"]
    known = {**ticket, "labels": sorted(ticket["labels"])}
    assert {name: known[name] for name in system.current} == system.current


# --- closes ------------------------------------------------------------------------------------


def test_a_real_close_is_held(worker, shop, system):
    assert_works(worker.runs(system.close.format(shop.ids["first"])))
    assert shop.ids["first"] in worker.agent.is_blocked()


@wants(lambda system: system.several)
def test_two_closes_in_one_call_are_both_named(worker, shop, system):
    command = system.several.format(shop.ids["second"], shop.ids["third"])
    assert_works(worker.runs(command))
    reason = worker.agent.is_blocked()
    assert shop.ids["second"] in reason
    assert shop.ids["third"] in reason


@wants(lambda system: system.forms)
def test_other_forms_of_a_close_are_held(shop, system):
    (shop.project / "src").mkdir()
    let_go = []
    for number, form in enumerate(system.forms):
        worker = shop.worker(f"session-{number}")
        assert_works(worker.runs(form.format(**shop.ids)))
        if worker.agent.stops().code != 2:
            let_go.append(form)
        shop.says(system.reopen.format(shop.ids["second"]))
    assert let_go == []


def test_a_close_whose_output_is_cut_off_is_held(worker, shop, system):
    assert_works(worker.runs(f"{system.close.format(shop.ids['second'])} >/dev/null 2>&1"))
    assert shop.ids["second"] in worker.agent.is_blocked()


@wants(lambda system: system.tells_state and not system.is_slow)
def test_a_close_before_a_command_that_fails_is_held(worker, shop, system):
    assert worker.runs(f"{system.close.format(shop.ids['second'])} && false").returncode == 1
    assert shop.ids["second"] in worker.agent.is_blocked()


@wants(lambda system: system.shared_by_worktrees and not system.is_slow)
def test_a_close_in_another_work_tree_is_held(worker, shop, system):
    tree = shop.world.others / "tree"
    shop.says(f"git worktree add -q {tree} -b eng-2-other HEAD")
    assert_works(worker.runs(f"cd {tree} && {system.close.format(shop.ids['second'])}"))
    assert shop.ids["second"] in worker.agent.is_blocked()


# --- no closes ---------------------------------------------------------------------------------

DRESSINGS = ("{}", "{} | cat", "{} || true", "{}; echo done")


@pytest.mark.parametrize("dressing", DRESSINGS)
@wants(lambda system: not system.is_slow)
def test_a_ticket_that_is_not_there_is_not_closed(worker, shop, system, dressing):
    worker.runs(dressing.format(system.close.format(system.unknown)))
    worker.agent.is_let_go()


@pytest.mark.parametrize("dressing", DRESSINGS[:2])
@wants(lambda system: system.is_slow)
def test_a_ticket_that_is_not_there_is_not_closed_slowly(worker, shop, system, dressing):
    worker.runs(dressing.format(system.close.format(system.unknown)))
    worker.agent.is_let_go()


@pytest.mark.parametrize("dressing", DRESSINGS[:2])
@wants(lambda system: system.refused)
def test_a_refused_close_is_none(worker, shop, system, dressing):
    for command in system.refused:
        worker.runs(dressing.format(command.format(**shop.ids)))
        worker.agent.is_let_go()


@wants(lambda system: system.harmless)
def test_what_closes_nothing_is_let_go(worker, shop, system):
    for command in system.harmless:
        worker.runs(command.format(**shop.ids))
        worker.agent.is_let_go()


@wants(lambda system: system.reopen)
def test_a_ticket_that_is_open_again_is_not_owed(worker, shop, system):
    assert_works(worker.runs(system.close.format(shop.ids["second"])))
    assert_works(worker.runs(system.reopen.format(shop.ids["second"])))
    worker.agent.is_let_go()


@wants(lambda system: system.reopen and system.refuses_flags and not system.is_slow)
def test_a_close_that_fails_after_an_earlier_one_is_none(worker, shop, system):
    """The state of long ago must not be taken for the outcome of this call."""
    shop.says(system.close.format(shop.ids["second"]))
    shop.says(system.reopen.format(shop.ids["second"]))
    worker.runs(f"{system.close.format(shop.ids['second'])} --no-such-flag | cat")
    worker.agent.is_let_go()
