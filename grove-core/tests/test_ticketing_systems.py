"""Ticket systems as they stand to a project, and plugins that do not keep their word."""

import threading
from pathlib import Path

import pytest
from core_worlds import NOW

from grove_core import ticketing
from grove_core.config.schema import TicketingSettings
from grove_core.model.memory import Detection
from grove_core.model.ticket import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_core.plugins.descriptors import (
    CloseMatcher,
    CommandReader,
    EnabledWhen,
    ProjectContext,
    TicketProbe,
)
from grove_core.ticketing import TicketSystems

BASH = ToolCall(name="Bash", input={"command": "close x"}, use_id="u", cwd="/p")
FOUND = Detection(marker=".x")
BROKEN = Detection(marker=".x", usable=False, note="bd is not on PATH")


def probe(name, detection=FOUND, **fields):
    return TicketProbe(name=name, detect=lambda _: detection, **fields)


def close(system, name="x", **fields):
    return TicketClose(system=system, ticket_id=name, **fields)


def matcher(system, *closes, **fields):
    given = {"literals": ("close",), "tools": ("Bash",), "match": lambda *_: closes, **fields}
    return CloseMatcher(system=system, **given)


def explode(*_):
    raise RuntimeError("boom")


@pytest.fixture
def systems_of(plugins_of):
    def make(
        *descriptors,
        initialised=True,
        overrides=None,
        listed=(),
        settings=None,
        patterns=(),
        **context,
    ):
        given = {"root": Path("/p"), "cwd": Path("/p"), **context}
        systems = TicketSystems(
            plugins_of(*descriptors, overrides={"grove.tickets": overrides or {}}),
            ProjectContext(**given),
            TicketingSettings(overrides=overrides or {}, discovery=listed, patterns=patterns),
            initialised=initialised,
            settings=settings or {},
        )
        systems.problems = systems._plugins.problems
        return systems

    return make


def standing(systems):
    return {
        one.probe.name: ("active " if one.is_active else "") + ("in" if one.enabled else "out")
        for one in systems.all
    }


KINDS = {
    "absent": {"detection": None},
    "broken": {"detection": BROKEN},
    "tasks": {"enabled_when": EnabledWhen.ACTIVE},
    "forge": {"enabled_when": EnabledWhen.OVERRIDDEN},
    "session": {"per_session": True},
}
ELSEWHERE = {"initialised": False}


def switched(**overrides):
    return {"overrides": overrides}


STANDING = [
    # what is installed and found, the circumstances; what is enabled, the active system first
    ("broken beads", {}, "beads"),
    ("beads tissue absent", switched(beads=False, absent=True), "tissue"),
    # The client's own to-dos are not tickets by themselves.
    ("absent tasks", {}, "tasks"),
    ("absent tasks", ELSEWHERE, ""),
    ("beads tasks", {}, "beads"),
    ("beads tasks", ELSEWHERE | switched(tasks=True), "beads tasks"),
    # Sessions are enabled only where there are no tickets.
    ("beads session", switched(session=True), "beads"),
    ("tasks session", {}, "tasks"),
    ("tasks session", ELSEWHERE, "session"),
    # A marker of the user or of every project says nothing about this one.
    ("forge beads", {}, "beads"),
    ("forge beads", switched(forge=True), "forge beads"),
    # Sessions and to-dos come last of all, also behind what was installed later.
    ("absent session late", {"listed": ("absent", "tasks", "session")}, "late"),
    ("tasks late session", {"listed": ("tasks", "late", "session")}, "late"),
]


@pytest.mark.parametrize(("installed", "given", "taking_part"), STANDING)
def test_which_systems_take_part_and_which_is_active(systems_of, installed, given, taking_part):
    systems = systems_of(
        *(probe(name, **KINDS.get(name, {})) for name in installed.split()), **given
    )
    names = [one.probe.name for one in systems.all if one.enabled]
    active = systems.active()
    assert sorted(names) == sorted(taking_part.split())
    assert (active.probe.name if active else "") == taking_part.partition(" ")[0]
    assert [one for one in systems.all if one.is_active] == ([active] if active else [])


def test_each_system_says_why(systems_of):
    def whys(*names, **given):
        systems = systems_of(*(probe(name, **KINDS.get(name, {})) for name in names), **given)
        return {one.probe.name: one.why for one in systems.all}

    assert whys("broken", "absent", "beads", "session", "forge") == {
        "broken": "bd is not on PATH",
        "absent": "not used in this project",
        "beads": "found .x",
        "session": "not needed: another system is active",
        "forge": "off unless ticketing.overrides.forge = true",
    }
    assert whys("tasks", **ELSEWHERE) == {
        "tasks": "enabled only as the active system of an initialised project"
    }
    switched_on = whys("forge", overrides={"forge": True})
    assert switched_on == {"forge": "switched on by ticketing.overrides.forge"}


def test_a_system_that_is_off_unless_switched_on_is_not_even_looked_for(systems_of):
    systems = systems_of(
        TicketProbe(name="forge", detect=explode, enabled_when=EnabledWhen.OVERRIDDEN),
        probe("beads"),
        matcher("forge", close("forge"), literals=("gh",), once_per_prompt=True),
        matcher("beads", close("beads"), literals=("bd",)),
    )
    assert systems.literals() == {"bd"}
    assert systems.once_per_prompt() == frozenset()
    assert systems.announced(BASH) == [close("beads")]
    # `grove tickets match` asks every installed system.
    assert systems.closes_of(BASH) == [close("forge"), close("beads")]
    assert systems.problems == []


def test_a_close_in_another_directory_counts_if_the_system_is_used_there(systems_of):
    def detect(context):
        return FOUND if context.cwd == Path("/other") else None

    systems = systems_of(
        TicketProbe(name="a", detect=detect),
        matcher("a", close("a", "here"), close("a", "there", directory="/other")),
    )
    assert systems.announced(BASH) == [close("a", "there", directory="/other")]


def forever(*_):
    threading.Event().wait(20)


def limit_for(answer):
    """Patient with everything but what hangs: the machine may be busy."""
    return 0.01 if answer is forever else 30.0


@pytest.mark.parametrize(
    "answer",
    [explode, forever, lambda *_: None, lambda *_: [TicketClose(system="bad", ticket_id=123)]],
)
def test_a_broken_matcher_is_reported_and_the_others_go_on(systems_of, monkeypatch, answer):
    monkeypatch.setattr(ticketing, "MATCH_SECONDS", limit_for(answer))
    systems = systems_of(
        probe("bad"), probe("good"), matcher("bad", match=answer), matcher("good", close("good"))
    )
    assert systems.announced(BASH) == [close("good")]
    (problem,) = systems.problems
    assert problem.what == "match of bad"
    assert problem.source.distribution == "acme"


@pytest.mark.parametrize("answer", [explode, lambda _: True, forever])
def test_a_broken_probe_is_not_found_and_the_others_are(systems_of, monkeypatch, answer):
    monkeypatch.setattr(ticketing, "DETECT_SECONDS", limit_for(answer))
    systems = systems_of(TicketProbe(name="bad", detect=answer), probe("good"))
    assert standing(systems) == {"bad": "out", "good": "active in"}


@pytest.mark.parametrize("answer", list(Confirmation))
@pytest.mark.parametrize("result", [None, ToolResult(succeeded=True, response="ok")])
def test_a_close_is_confirmed_by_its_own_system(systems_of, answer, result):
    seen = []

    def confirm(one, outcome, context):
        seen.append((one, outcome, context.settings, context.cwd))
        return answer

    systems = systems_of(
        probe("a"), matcher("a", confirm=confirm), matcher("b", confirm=explode), settings={"a": 1}
    )
    elsewhere = close("a", directory="/other")
    assert systems.confirm(close("a"), result) is answer
    assert systems.confirm(elsewhere, result) is answer
    assert seen == [(close("a"), result, 1, Path("/p")), (elsewhere, result, 1, Path("/other"))]
    assert systems.problems == []


@pytest.mark.parametrize("answer", [explode, forever, lambda *_: None])
def test_a_broken_confirmation_is_unknown(systems_of, monkeypatch, answer):
    monkeypatch.setattr(ticketing, "CONFIRM_SECONDS", limit_for(answer))
    systems = systems_of(probe("a"), matcher("a", confirm=answer))
    assert systems.confirm(close("a"), None) is Confirmation.UNKNOWN
    # Neither is there an answer where nobody can confirm it.
    for nobody in (systems_of(probe("a"), matcher("a")), systems_of()):
        assert nobody.confirm(close("a"), None) is Confirmation.UNKNOWN


def in_progress(name):
    return Ticket(ticket_id=name, source="s", labels=("l",), detected_at=NOW)


def test_the_first_answer_of_a_system_that_is_enabled(systems_of, monkeypatch):
    monkeypatch.setattr(ticketing, "CURRENT_TICKET_SECONDS", 30.0)
    systems = systems_of(
        probe("a", None, current_ticket=lambda _: in_progress("not used")),
        probe("b"),
        probe("c", current_ticket=lambda _: None),
        probe("d", current_ticket=lambda _: in_progress("T-1")),
        probe("e", current_ticket=explode),
    )
    assert systems.current_ticket() == in_progress("T-1")
    assert systems.problems == []


def test_of_what_happens_to_a_ticket_again_the_last_time_counts(systems_of):
    opened, closed = close("a", "x", reopens=True), close("a", "x")
    for effects, expected in [
        ((closed, opened, closed), [opened, closed]),
        ((opened, closed, opened), [closed, opened]),
        ((closed, close("a", "y"), closed), [close("a", "y"), closed]),
    ]:
        systems = systems_of(probe("a"), matcher("a", *effects))
        assert systems.announced(BASH) == expected


ACME = {"name": "acme", "command": "acme close {id}"}


def reader(*commands, tools=("Bash",), **fields):
    given = {"read": lambda _: [one.split() for one in commands], **fields}
    return CommandReader(tools=tools, **given)


def test_a_pattern_is_a_system_of_its_own(systems_of):
    systems = systems_of(
        probe("beads", None),
        reader("ls", "acme close T-1", "acme open T-2", "acme close T-3"),
        patterns=[ACME],
    )
    assert standing(systems) == {"beads": "out", "acme": "active in"}
    acme = systems.active()
    assert acme.why == "defined by ticketing.patterns"
    assert acme.detection.marker == "ticketing.patterns"
    assert str(acme.provided.source) == "configuration (ticketing.patterns)"
    assert systems.literals() == {"acme"}
    assert systems.announced(BASH) == [close("acme", "T-1"), close("acme", "T-3")]
    assert systems.closes_of(BASH) == systems.announced(BASH)
    assert systems.announced(ToolCall(name="Read", input={})) == []
    assert systems.confirm(close("acme"), None) is Confirmation.UNKNOWN
    assert systems.current_ticket() is None
    assert systems.problems == []


def test_a_pattern_for_an_installed_system_adds_to_what_it_recognises(systems_of):
    tracked = {"name": "beads", "command": "make close TICKET={id}"}
    for detection, announced in ((FOUND, [close("beads"), close("beads", "T-1")]), (None, [])):
        systems = systems_of(
            probe("beads", detection, current_ticket=lambda _: in_progress("T")),
            matcher("beads", close("beads"), confirm=lambda *_: Confirmation.YES),
            reader("make close TICKET=T-1"),
            patterns=[tracked],
        )
        (beads,) = systems.all
        assert beads.provided.source.distribution == "acme"
        assert systems.announced(BASH) == announced
        assert systems.confirm(close("beads", "T-1"), None) is Confirmation.YES
        assert systems.literals() == {"close", "make"}


def test_patterns_count_in_initialised_projects_unless_they_are_switched_off(systems_of):
    """A user's own patterns leave projects without grove alone."""
    systems = systems_of(reader("acme close T-1"), patterns=[ACME], initialised=False)
    assert standing(systems) == {"acme": "out"}
    assert systems.announced(BASH) == []
    assert systems.closes_of(BASH) == [close("acme", "T-1")]
    systems = systems_of(reader("acme close T-1"), patterns=[ACME], overrides={"acme": False})
    assert (standing(systems), systems.literals()) == ({}, set())
