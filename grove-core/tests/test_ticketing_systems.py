"""Ticket systems as they stand to a project, and plugins that do not keep their word."""

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grove_core.model.memory import Detection
from grove_core.model.ticket import Confirmation, Ticket, TicketClose, ToolCall, ToolResult
from grove_core.plugins.descriptors import (
    CloseMatcher,
    CommandReader,
    Participation,
    ProjectContext,
    TicketProbe,
)
from grove_core.ticketing import TicketSystems
from grove_core.ticketing import systems as ticketing
from grove_core.ticketing.participation import ParticipationRules

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
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
            plugins_of(*descriptors, ticket_overrides=overrides or {}),
            ProjectContext(**given),
            ParticipationRules(initialised=initialised, overrides=overrides or {}, listed=listed),
            settings=settings or {},
            patterns=patterns,
        )
        systems.problems = systems._plugins.problems
        return systems

    return make


def standing(systems):
    return {
        one.probe.name: ("active " if one.is_active else "") + ("in" if one.takes_part else "out")
        for one in systems.all
    }


# Participation.


def test_the_first_that_is_found_is_active_and_all_that_are_found_take_part(systems_of):
    systems = systems_of(probe("a", None), probe("b"), probe("c"), probe("d", None))
    assert standing(systems) == {"a": "out", "b": "active in", "c": "in", "d": "out"}
    assert systems.active().probe.name == "b"


def test_what_cannot_be_used_is_neither_active_nor_takes_part_and_says_why(systems_of):
    systems = systems_of(probe("a", BROKEN), probe("b"))
    assert standing(systems) == {"a": "out", "b": "active in"}
    assert systems.all[0].why == "bd is not on PATH"
    assert systems.all[0].detection is BROKEN
    assert systems.all[1].why == "found .x"


def test_nothing_installed(systems_of):
    systems = systems_of()
    assert (standing(systems), systems.active(), systems.current_ticket()) == ({}, None, None)
    assert (systems.literals(), systems.own_paths()) == (frozenset(), ())
    assert systems.announced(BASH) == []
    assert systems.confirm(close("none"), None) is Confirmation.UNKNOWN


@pytest.mark.parametrize(
    ("first", "initialised", "override", "expected"),
    [
        (None, True, None, "active in"),
        (None, False, None, "out"),
        (FOUND, True, None, "out"),
        (FOUND, False, None, "out"),
        (None, False, True, "active in"),
        (FOUND, False, True, "in"),
        (FOUND, True, True, "in"),
    ],
)
def test_a_system_that_takes_part_only_where_it_is_active(
    systems_of, first, initialised, override, expected
):
    """The client's own tasks: to-dos are not tickets by themselves."""
    systems = systems_of(
        probe("beads", first),
        probe("tasks", participation=Participation.ACTIVE),
        initialised=initialised,
        overrides={} if override is None else {"tasks": override},
    )
    assert standing(systems)["tasks"] == expected


@pytest.mark.parametrize(("first", "expected"), [(None, "active in"), (FOUND, "out")])
@pytest.mark.parametrize("override", [{}, {"session": True}])
def test_sessions_take_part_only_where_there_are_no_tickets(systems_of, first, expected, override):
    systems = systems_of(
        probe("beads", first), probe("session", per_session=True), overrides=override
    )
    assert standing(systems)["session"] == expected


@pytest.mark.parametrize(
    ("initialised", "override", "active", "other"),
    [
        (False, None, "session", "tasks"),
        (True, None, "tasks", "session"),
        (False, True, "tasks", "session"),
    ],
)
def test_to_dos_stand_in_no_sessions_way_where_they_cannot_take_part(
    systems_of, initialised, override, active, other
):
    systems = systems_of(
        probe("tasks", participation=Participation.ACTIVE),
        probe("session", per_session=True),
        initialised=initialised,
        overrides={} if override is None else {"tasks": override},
    )
    assert standing(systems) == {active: "active in", other: "out"}
    why = {one.probe.name: one.why for one in systems.all}
    if active == "session":
        assert why["tasks"] == "takes part only as the active system of an initialised project"
    else:
        assert why["session"] == "not needed: another system is active"


ON_REQUEST = Participation.ENABLED


@pytest.mark.parametrize("override", [{}, {"other": True}])
def test_a_system_that_is_off_unless_switched_on_is_not_even_looked_for(systems_of, override):
    """A marker of the user or of every project says nothing about this one."""
    systems = systems_of(
        TicketProbe(name="forge", detect=explode, participation=ON_REQUEST),
        probe("beads"),
        matcher("forge", close("forge"), literals=("gh",), once_per_prompt=True),
        matcher("beads", close("beads"), literals=("bd",)),
        overrides=override,
    )
    assert standing(systems) == {"forge": "out", "beads": "active in"}
    assert systems.all[0].why == "off unless ticketing.overrides.forge = true"
    assert systems.all[0].detection is None
    assert systems.problems == []
    assert systems.literals() == {"bd"}
    assert systems.once_per_prompt() == frozenset()
    assert systems.announced(BASH) == [close("beads")]
    # `grove tickets match` asks every installed system.
    assert systems.closes_of(BASH) == [close("forge"), close("beads")]


@pytest.mark.parametrize(
    ("detection", "expected", "why"),
    [
        (FOUND, "active in", "switched on by ticketing.overrides.forge"),
        (BROKEN, "out", "bd is not on PATH"),
        (None, "out", "not used in this project"),
    ],
)
@pytest.mark.parametrize("initialised", [True, False])
def test_a_system_that_is_switched_on(systems_of, initialised, detection, expected, why):
    systems = systems_of(
        probe("forge", detection, participation=ON_REQUEST),
        matcher("forge", close("forge"), literals=("gh",)),
        initialised=initialised,
        overrides={"forge": True},
    )
    assert standing(systems) == {"forge": expected}
    assert systems.all[0].why == why
    assert systems.literals() == {"gh"}
    assert systems.announced(BASH) == ([close("forge")] if expected == "active in" else [])


def test_a_system_that_is_off_stands_in_no_sessions_way(systems_of):
    systems = systems_of(
        probe("forge", participation=ON_REQUEST), probe("session", per_session=True)
    )
    assert standing(systems) == {"forge": "out", "session": "active in"}


@pytest.mark.parametrize(
    ("names", "listed", "active"),
    [
        # By default sessions come last of all, also behind what was installed later.
        (("beads", "session", "late"), ("beads", "tasks", "session"), "late"),
        (("session", "late"), ("session",), "late"),
        (("session", "late"), (), "late"),
        (("session", "late", "later"), ("beads", "session"), "late"),
        # Listed before another one, sessions come before that one, and what is not listed.
        (("session", "late"), ("session", "late"), "session"),
        (("session", "beads", "late"), ("session", "beads"), "session"),
        (("session", "late"), ("session", "late@acme"), "session"),
        # Nothing else is there.
        (("session",), ("beads", "session"), "session"),
    ],
)
def test_sessions_come_last_where_the_configuration_lists_none_behind_them(
    systems_of, names, listed, active
):
    descriptors = [
        probe(name, None if name == "beads" else FOUND, per_session=name == "session")
        for name in names
    ]
    systems = systems_of(*descriptors, listed=listed)
    assert systems.active().probe.name == active
    by_precedence = sorted(names, key=lambda name: name == "session" != active)
    assert [one.probe.name for one in systems.all] == by_precedence


@pytest.mark.parametrize(
    ("names", "listed", "active"),
    [
        # To-dos are no tickets beside tickets, also of a system that no configuration lists.
        (("beads", "tasks", "session", "late"), ("beads", "tasks", "session"), "late"),
        (("tasks", "session", "late"), ("tasks", "session"), "late"),
        (("tasks", "late"), (), "late"),
        (("beads", "tasks", "session"), ("beads", "tasks", "session"), "tasks"),
        (("tasks", "session"), (), "tasks"),
        (("session", "tasks"), ("session", "tasks"), "session"),
        (("tasks", "late", "session"), ("tasks", "late", "session"), "tasks"),
    ],
)
def test_to_dos_come_last_where_the_configuration_lists_no_tickets_behind_them(
    systems_of, names, listed, active
):
    kinds = {
        "beads": {"detection": None},
        "tasks": {"participation": Participation.ACTIVE},
        "session": {"per_session": True},
    }
    systems = systems_of(*(probe(name, **kinds.get(name, {})) for name in names), listed=listed)
    assert systems.active().probe.name == active
    assert (standing(systems).get("tasks") == "active in") is (active == "tasks")


def test_a_session_that_cannot_be_used_says_why(systems_of):
    (session,) = systems_of(probe("session", BROKEN, per_session=True)).all
    assert session.why == BROKEN.note


def test_an_override_turns_a_system_off_and_turns_nothing_on_that_is_not_used(systems_of):
    systems = systems_of(
        probe("a"), probe("b"), probe("c", None), overrides={"a": False, "c": True}
    )
    assert standing(systems) == {"b": "active in", "c": "out"}


def test_paths_and_words_of_all_installed_systems(systems_of):
    systems = systems_of(
        probe("a", paths=(".a",)),
        probe("b", None, paths=(".b", "b.json")),
        matcher("a", literals=("close", "done")),
        matcher("b", literals=("done", "b"), once_per_prompt=True),
    )
    assert systems.own_paths() == (".a", ".b", "b.json")
    assert systems.literals() == {"close", "done", "b"}
    assert systems.once_per_prompt() == {"b"}


def test_paths_are_told_without_looking_for_any_system(systems_of):
    systems = systems_of(TicketProbe(name="a", detect=explode, paths=(".a",)))
    assert systems.own_paths() == (".a",)
    assert systems.problems == []


def test_every_system_gets_its_own_settings(systems_of):
    seen = {}

    def detect(context):
        seen[context.settings] = context.cwd
        return FOUND

    one, other = (TicketProbe(name=name, detect=detect) for name in "ab")
    systems = systems_of(one, other, settings={"a": "A"}, cwd=Path("/p/sub"))
    assert standing(systems) == {"a": "active in", "b": "in"}
    assert seen == {"A": Path("/p/sub"), None: Path("/p/sub")}


# What a call would close.


def test_closes_of_systems_that_take_part(systems_of):
    systems = systems_of(
        probe("a"),
        probe("b", None),
        matcher("a", close("a"), close("a", "y")),
        matcher("b", close("b")),
    )
    assert systems.closes_of(BASH) == [close("a"), close("a", "y"), close("b")]
    assert systems.announced(BASH) == [close("a"), close("a", "y")]


@pytest.mark.parametrize(
    ("tools", "tool", "asked"),
    [
        (("Bash",), "Bash", True),
        (("Bash",), "Bash2", False),
        (("mcp__*",), "mcp__beads__close", True),
        (("mcp__*",), "mcp", False),
        (("TaskUpdate", "Bash"), "Bash", True),
        (("*",), "Anything", True),
    ],
)
def test_only_the_tools_that_a_matcher_names(systems_of, tools, tool, asked):
    systems = systems_of(probe("a"), matcher("a", close("a"), tools=tools))
    assert bool(systems.announced(ToolCall(name=tool, input={}))) is asked


def test_a_close_in_another_directory_counts_if_the_system_is_used_there(systems_of):
    def detect(context):
        return FOUND if context.cwd == Path("/other") else None

    systems = systems_of(
        TicketProbe(name="a", detect=detect),
        matcher("a", close("a", "here"), close("a", "there", directory="/other")),
    )
    assert systems.announced(BASH) == [close("a", "there", directory="/other")]


def test_a_matcher_sees_the_call_and_its_project(systems_of):
    seen = []

    def match(call, context):
        seen.append((call, context.root, context.settings, context.session_id))
        return ()

    systems = systems_of(probe("a"), matcher("a", match=match), settings={"a": 7}, session_id="s")
    assert systems.announced(BASH) == []
    assert seen == [(BASH, Path("/p"), 7, "s")]


def forever(*_):
    threading.Event().wait(20)


def limit_for(answer):
    """Patient with everything but what hangs: the machine may be busy."""
    return 0.4 if answer is forever else 30.0


@pytest.mark.parametrize(
    "answer",
    [
        explode,
        forever,
        lambda *_: None,
        lambda *_: 7,
        lambda *_: "close",
        lambda *_: (explode() for _ in "x"),
        lambda *_: [None, close("bad").ticket_id],
        lambda *_: [TicketClose(system="bad", ticket_id=123)],
        lambda *_: [TicketClose(system="bad", ticket_id="x", title=None)],
        lambda *_: [TicketClose(system="bad", ticket_id="x", directory=Path("/p"))],
        lambda *_: [TicketClose(system=None, ticket_id="x")],
        lambda *_: (_ for _ in ()).throw(SystemExit(2)),
    ],
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


def test_one_bad_close_spoils_no_good_one_of_its_matcher(systems_of):
    systems = systems_of(probe("a"), matcher("a", close("a"), TicketClose(system="a", ticket_id=1)))
    assert systems.announced(BASH) == [close("a")]
    assert len(systems.problems) == 1


@pytest.mark.parametrize("answer", [explode, lambda _: True, lambda _: "found", forever])
def test_a_broken_probe_is_not_found_and_the_others_are(systems_of, monkeypatch, answer):
    monkeypatch.setattr(ticketing, "DETECT_SECONDS", limit_for(answer))
    systems = systems_of(TicketProbe(name="bad", detect=answer), probe("good"))
    assert standing(systems) == {"bad": "out", "good": "active in"}


# Whether it happened.


@pytest.mark.parametrize("answer", list(Confirmation))
@pytest.mark.parametrize("result", [None, ToolResult(succeeded=True, response="ok")])
def test_a_close_is_confirmed_by_its_own_system(systems_of, answer, result):
    seen = []

    def confirm(one, outcome, context):
        seen.append((one, outcome, context.settings))
        return answer

    systems = systems_of(
        probe("a"), matcher("a", confirm=confirm), matcher("b", confirm=explode), settings={"a": 1}
    )
    assert systems.confirm(close("a"), result) is answer
    assert seen == [(close("a"), result, 1)]
    assert systems.problems == []


@pytest.mark.parametrize(("directory", "cwd"), [(None, "/p"), ("/other", "/other")])
def test_a_close_is_confirmed_in_the_directory_where_it_took_effect(systems_of, directory, cwd):
    seen = []

    def confirm(_, __, context):
        seen.append((context.root, context.cwd))
        return Confirmation.YES

    systems = systems_of(probe("a"), matcher("a", confirm=confirm))
    systems.confirm(close("a", directory=directory), None)
    assert seen == [(Path("/p"), Path(cwd))]


@pytest.mark.parametrize(
    "answer", [explode, forever, lambda *_: None, lambda *_: "yes", lambda *_: True]
)
def test_a_broken_confirmation_is_unknown(systems_of, monkeypatch, answer):
    monkeypatch.setattr(ticketing, "CONFIRM_SECONDS", limit_for(answer))
    systems = systems_of(probe("a"), matcher("a", confirm=answer))
    assert systems.confirm(close("a"), None) is Confirmation.UNKNOWN


def test_what_nobody_can_confirm_is_unknown(systems_of):
    systems = systems_of(probe("a"), matcher("a"))
    assert systems.confirm(close("a"), None) is Confirmation.UNKNOWN
    assert systems.confirm(close("gone"), None) is Confirmation.UNKNOWN


# The ticket in progress.


def in_progress(name):
    return Ticket(ticket_id=name, source="s", labels=("l",), detected_at=NOW)


def test_the_first_answer_of_a_system_that_takes_part(systems_of, monkeypatch):
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


@pytest.mark.parametrize(
    "answer",
    [
        explode,
        lambda _: "T-1",
        lambda _: Ticket(ticket_id=7, source="s"),
        lambda _: Ticket(ticket_id="T", source="s", title=None),
        lambda _: Ticket(ticket_id="T", source="s", labels=["a"]),
        lambda _: Ticket(ticket_id="T", source="s", labels=(1,)),
        lambda _: Ticket(ticket_id="T", source="s", detected_at="now"),
    ],
)
def test_a_broken_answer_is_reported_and_the_next_system_is_asked(systems_of, monkeypatch, answer):
    """What goes into a session's state must be readable again."""
    monkeypatch.setattr(ticketing, "CURRENT_TICKET_SECONDS", 30.0)
    systems = systems_of(
        probe("bad", current_ticket=answer),
        probe("good", current_ticket=lambda _: in_progress("T")),
    )
    assert systems.current_ticket() == in_progress("T")
    (problem,) = systems.problems
    assert problem.what == "current_ticket of bad"


class Clock:
    """Time that passes only where a test lets it."""

    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now

    def lasting(self, seconds, answer):
        def current_ticket(_):
            self.now += seconds
            return answer

        return current_ticket


def test_all_systems_together_have_one_time_limit(systems_of, monkeypatch):
    clock = Clock()
    monkeypatch.setattr(ticketing, "time", clock)
    limits = []
    systems = systems_of(
        probe("a", current_ticket=clock.lasting(0.125, None)),
        probe("b", current_ticket=clock.lasting(0.125, None)),
        probe("c", current_ticket=clock.lasting(0.125, None)),
        probe("d", current_ticket=explode),
        probe("e", None, current_ticket=explode),
    )
    call = systems._plugins.call

    def measured(provided, function, *arguments, seconds, default):
        if function.__name__ != "<lambda>":
            limits.append(seconds)
        return call(provided, function, *arguments, seconds=30, default=default)

    monkeypatch.setattr(systems._plugins, "call", measured)
    assert systems.current_ticket() is None
    assert limits == pytest.approx([0.3, 0.175, 0.05])
    assert systems.problems == []


def test_a_late_answer_is_dropped_and_nobody_is_asked_after_it(systems_of):
    begun, go_on, ended = (threading.Event() for _ in range(3))

    def late(_):
        begun.set()
        go_on.wait(20)
        ended.set()
        return in_progress("late")

    systems = systems_of(
        probe("slow", current_ticket=late),
        probe("next", current_ticket=lambda _: in_progress("next")),
    )
    assert len(systems.all) == 2  # detection takes time as well
    try:
        assert systems.current_ticket() is None
        assert begun.wait(20)
        assert not ended.is_set()
    finally:
        go_on.set()
    (problem,) = systems.problems
    assert problem.what == "current_ticket of slow"


# Tickets that are opened again.


def test_reopenings_are_announced_in_their_place_and_are_no_closes(systems_of):
    effects = (close("a", "x"), close("a", "x", reopens=True), close("a", "y"))
    systems = systems_of(probe("a"), probe("b", None), matcher("a", *effects), matcher("b"))
    assert systems.announced(BASH) == list(effects)
    assert systems.closes_of(BASH) == [close("a", "x"), close("a", "y")]


def test_reopenings_of_what_takes_no_part_are_not_announced(systems_of):
    systems = systems_of(probe("a", None), matcher("a", close("a", reopens=True)))
    assert systems.announced(BASH) == systems.closes_of(BASH) == []


def test_of_what_happens_to_a_ticket_again_the_last_time_counts(systems_of):
    opened, closed = close("a", "x", reopens=True), close("a", "x")
    for effects, expected in [
        ((closed, opened, closed), [opened, closed]),
        ((opened, closed, opened), [closed, opened]),
        ((closed, close("a", "y"), closed), [close("a", "y"), closed]),
    ]:
        systems = systems_of(probe("a"), matcher("a", *effects))
        assert systems.announced(BASH) == expected


def test_two_matchers_of_one_system_for_two_kinds_of_tools(systems_of):
    systems = systems_of(
        probe("a"),
        matcher("a", close("a", "by shell"), literals=("bd",), confirm=lambda *_: Confirmation.YES),
        matcher("a", close("a", "by server"), literals=("issue_id",), tools=("mcp__*",)),
    )
    assert systems.problems == []
    assert systems.literals() == {"bd", "issue_id"}
    assert systems.announced(BASH) == [close("a", "by shell")]
    call = ToolCall(name="mcp__beads__close", input={})
    assert systems.announced(call) == [close("a", "by server")]
    assert systems.confirm(close("a"), None) is Confirmation.YES


@pytest.mark.parametrize("field", ["reopens", "certain"])
def test_a_close_that_is_neither_yes_nor_no_is_broken(systems_of, field):
    systems = systems_of(probe("a"), matcher("a", close("a", **{field: None})))
    assert systems.announced(BASH) == []
    assert len(systems.problems) == 1


# Patterns of the configuration.

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


def test_ids_that_are_known_only_when_the_command_runs(systems_of):
    words = [("acme", "close", None), ("acme", None, "T-1")]
    systems = systems_of(reader(read=lambda _: words), patterns=[ACME])
    assert systems.announced(BASH) == [close("acme", None)]


def test_one_name_may_have_several_patterns(systems_of):
    drop = {"name": "acme", "command": "acm|acme.sh drop {ids}"}
    systems = systems_of(reader("acme close 1", "acm drop 2 3"), patterns=[ACME, drop])
    assert standing(systems) == {"acme": "active in"}
    assert systems.literals() == {"acme", "acm", "acme sh"}
    assert systems.announced(BASH) == [close("acme", name) for name in "123"]


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


def test_patterns_count_in_initialised_projects_only(systems_of):
    """A user's own patterns leave projects without grove alone."""
    systems = systems_of(reader("acme close T-1"), patterns=[ACME], initialised=False)
    assert standing(systems) == {"acme": "out"}
    assert systems.all[0].why == "not used in this project"
    assert systems.announced(BASH) == []
    assert systems.closes_of(BASH) == [close("acme", "T-1")]


@pytest.mark.parametrize("override", [True, False])
def test_an_override_turns_a_pattern_off(systems_of, override):
    systems = systems_of(reader("acme close T-1"), patterns=[ACME], overrides={"acme": override})
    assert standing(systems) == ({"acme": "active in"} if override else {})
    assert systems.announced(BASH) == ([close("acme", "T-1")] if override else [])
    assert systems.literals() == ({"acme"} if override else set())


def test_an_installed_system_that_is_turned_off_does_not_come_back_as_a_pattern(systems_of):
    systems = systems_of(
        probe("beads"),
        reader("acme close T-1"),
        patterns=[{**ACME, "name": "beads"}],
        overrides={"beads": False},
    )
    assert standing(systems) == {}
    assert systems.announced(BASH) == []


def test_patterns_without_anything_that_reads_commands(systems_of):
    systems = systems_of(probe("beads"), patterns=[ACME])
    assert standing(systems) == {"beads": "active in", "acme": "out"}
    assert systems.all[1].why.endswith("reads shell commands; grove doctor says how to have one")
    assert systems.literals() == set()
    assert systems.announced(BASH) == []


@pytest.mark.parametrize(
    ("names", "listed", "active"),
    [
        (("session",), ("session",), "acme"),
        (("session",), ("acme", "session"), "acme"),
        (("session",), ("session", "acme"), "session"),
        (("beads", "session"), ("beads", "session"), "beads"),
        (("beads", "session"), ("acme", "beads", "session"), "acme"),
        (("beads", "session"), ("beads", "acme", "session"), "beads"),
    ],
)
def test_patterns_have_their_place_in_the_configured_order(systems_of, names, listed, active):
    systems = systems_of(
        *(probe(name, per_session=name == "session") for name in names),
        reader(),
        patterns=[ACME],
        listed=listed,
    )
    assert systems.active().probe.name == active


def test_without_patterns_nothing_is_asked_to_read(systems_of):
    systems = systems_of(probe("a"), matcher("a", close("a")), reader(read=explode))
    assert systems.announced(BASH) == [close("a")]
    assert systems.problems == []


@pytest.mark.parametrize(
    "answer", [explode, forever, lambda _: None, lambda _: 7, lambda _: [7], lambda _: [[7]]]
)
def test_a_reader_that_is_broken_spoils_nothing_else(systems_of, monkeypatch, answer):
    monkeypatch.setattr("grove_core.ticketing.patterns.READ_SECONDS", limit_for(answer))
    monkeypatch.setattr(ticketing, "MATCH_SECONDS", 30.0)
    systems = systems_of(probe("a"), matcher("a", close("a")), reader(read=answer), patterns=[ACME])
    assert systems.announced(BASH) == [close("a")]
    assert len(systems.problems) == 1


def test_words_of_other_calls_are_not_read(systems_of):
    systems = systems_of(reader(read=explode, tools=("PowerShell",)), patterns=[ACME])
    assert systems.announced(BASH) == []
    assert systems.problems == []
    assert systems.literals() == {"acme"}
