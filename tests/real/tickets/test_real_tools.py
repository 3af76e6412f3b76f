"""The ticket systems with their real tools: what closes a ticket, and what only looks like it.

Every command is really run, between the hooks of its call; then the session wants to stop.
"""

import time

import pytest
from scale import turned_up

DETECT = ("tickets", "--json")
# An answer that comes too late is dropped, which happens on a machine that is busy with other tests.
PATIENCE_SECONDS = 10
DRESSINGS = turned_up(("{} | cat",), ("{}", "{} | cat", "{} || true", "{}; echo done"))
"""What hides an exit code, and what does not."""


def some(commands):
    """Two commands; all of them in the long run."""
    return commands[: turned_up(2, len(commands))]


def ticket_in_progress(shop, system):
    """The ticket; where the tool itself is asked, once it answers within grove's limit."""
    until = time.monotonic() + PATIENCE_SECONDS
    while True:
        ticket = shop.world.grove(*DETECT).json["ticket"]
        if ticket is not None or not system.is_asked:
            return ticket
        if time.monotonic() > until:
            pytest.skip(f"{system.label} never answers within grove's limit on this machine")


def test_a_project_that_uses_the_tool_is_recognised_with_its_ticket(shop, system):
    inner, tree = shop.project / "src" / "reports", shop.work_tree()
    inner.mkdir(parents=True)
    for folder in (shop.project, inner, tree):
        document = shop.world.grove(*DETECT, cwd=folder).json
        found = next(one for one in document["systems"] if one["name"] == system.name)
        assert found["enabled"], (folder, found)
        assert found["marker"]
    document = shop.world.grove(*DETECT).json
    assert [one["name"] for one in document["systems"] if one["active"]] == [system.name]
    if system.current is None:
        return
    ticket = ticket_in_progress(shop, system)
    assert ticket["source"] == system.name
    assert ticket["ticket_id"].removeprefix("#") == shop.ids["first"]
    known = {**ticket, "labels": sorted(ticket["labels"])}
    assert {name: known[name] for name in system.current} == system.current


def closing(system, shop):
    """Commands that close the second ticket, each with whether it works."""
    close = system.close.format(shop.ids["second"])
    yield f"{close} >/dev/null 2>&1", True
    if system.is_slow:
        return
    yield close, True
    yield f"{close} && false", False
    if system.shared_by_worktrees:
        yield f"cd {shop.work_tree()} && {close}", True
    for form in some(system.forms):
        yield form.format(**shop.ids), True


def test_closes_are_held_until_the_ticket_is_open_again(shop, system):
    (shop.project / "src").mkdir()
    let_go = []
    for number, (command, works) in enumerate(closing(system, shop)):
        worker = shop.worker(f"session-{number}")
        done = worker.runs(command)
        assert (done.returncode == 0) == works, f"{command}\n{done.stdout}"
        if worker.agent.stops().code != 2:
            let_go.append(command)
        shop.says(system.reopen.format(shop.ids["second"]))
    assert let_go == []


def test_the_tickets_of_a_call_are_named(worker, shop, system):
    ids = [shop.ids["second"], shop.ids["third"]] if system.several else [shop.ids["first"]]
    worker.runs((system.several or system.close).format(*ids))
    reason = worker.agent.is_blocked()
    assert [one for one in ids if one in reason] == ids


def no_closes(system, shop):
    """Commands after which nothing has been closed, and earlier closes have been taken back."""
    ids, second = shop.ids, shop.ids["second"]
    close, reopen = system.close.format(second), system.reopen.format(second)
    yield from (one.format(**ids) for one in some(system.harmless))
    for dressing in DRESSINGS[: 1 if system.is_slow else None]:
        yield dressing.format(system.close.format(system.unknown))
        yield from (dressing.format(one.format(**ids)) for one in some(system.refused))
    if system.is_slow:
        return
    yield f"{close}; {reopen}"
    if system.refuses_flags:
        # The state of long ago must not be taken for the outcome of this call.
        yield f"{close} --no-such-flag | cat"


def test_what_closes_nothing_is_let_go(worker, shop, system):
    for command in no_closes(system, shop):
        worker.runs(command)
        assert worker.agent.stops().code == 0, command
