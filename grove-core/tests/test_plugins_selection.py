import pytest

from grove_core.plugins.discovery import BACKEND_GROUP, GENERAL_GROUP, TICKET_GROUP, FoundPlugin
from grove_core.plugins.report import PluginState
from grove_core.plugins.selection import PluginSettings, choose, read_allow_list


def plugin(name, distribution="acme", group=TICKET_GROUP, first_party=False):
    return FoundPlugin(
        group=group,
        name=name,
        target=f"{name}_module",
        distribution=distribution,
        version="1.0",
        first_party=first_party,
    )


def used(found, settings, group=TICKET_GROUP):
    return [
        (choice.found.name, choice.found.distribution)
        for choice in choose(found, group, settings)
        if choice.state is PluginState.NOT_LOADED
    ]


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ((), ["a", "b", "c"]),
        (("c", "a"), ["c", "a", "b"]),
        (("missing", "b"), ["b", "a", "c"]),
        (("c@other",), ["a", "b", "c"]),
        (("c@ACME", "b@acme"), ["c", "b", "a"]),
    ],
)
def test_configured_names_come_first_and_the_others_by_name(order, expected):
    found = [plugin("b"), plugin("c"), plugin("a")]
    names = [name for name, _ in used(found, PluginSettings(ticket_order=order))]
    assert names == expected


def test_each_group_has_its_own_order():
    found = [plugin(name, group=group) for name in "ab" for group in (TICKET_GROUP, BACKEND_GROUP)]
    settings = PluginSettings(ticket_order=("b",))
    assert [name for name, _ in used(found, settings, TICKET_GROUP)] == ["b", "a"]
    assert [name for name, _ in used(found, settings, BACKEND_GROUP)] == ["a", "b"]


@pytest.mark.parametrize(
    ("order", "first_party", "expected"),
    [
        ((), "", "dist-a"),
        ((), "dist-b", "dist-b"),
        (("x",), "dist-b", "dist-b"),
        (("x@dist-a",), "dist-b", "dist-a"),
        (("x@dist_c",), "dist-b", "dist-c"),
        (("x@dist-gone",), "dist-b", "dist-b"),
    ],
)
def test_one_of_several_providers_is_used(order, first_party, expected):
    distributions = ["dist-c", "dist-a", "dist-b"]
    found = [plugin("x", each, first_party=each == first_party) for each in distributions]
    assert used(found, PluginSettings(ticket_order=order)) == [("x", expected)]


def test_providers_of_one_name_are_told_of_each_other():
    found = [plugin("x", "dist-b"), plugin("x", "dist-a")]
    winner, other = choose(found, TICKET_GROUP, PluginSettings())
    assert (winner.found.distribution, winner.detail) == ("dist-a", "also provided by dist-b")
    assert other.state is PluginState.SHADOWED
    assert "dist-a" in other.detail


def test_same_name_in_different_groups_is_no_conflict():
    found = [plugin("x"), plugin("x", group=BACKEND_GROUP), plugin("x", group=GENERAL_GROUP)]
    for group in (TICKET_GROUP, BACKEND_GROUP, GENERAL_GROUP):
        assert used(found, PluginSettings(), group) == [("x", "acme")]


@pytest.mark.parametrize(
    ("settings", "group", "detail"),
    [
        (PluginSettings(enabled=False), TICKET_GROUP, "plugins are switched off"),
        (PluginSettings(allowed=frozenset()), GENERAL_GROUP, "GROVE_PLUGINS does not name it"),
        (PluginSettings(allowed=frozenset({"y"})), TICKET_GROUP, "GROVE_PLUGINS does not name it"),
        (
            PluginSettings(ticket_overrides={"x": False}),
            TICKET_GROUP,
            "ticketing.overrides.x is false",
        ),
        (
            PluginSettings(backend_overrides={"x": False}),
            BACKEND_GROUP,
            "backends.overrides.x is false",
        ),
    ],
)
def test_blocked_plugin_says_what_blocks_it(settings, group, detail):
    (choice,) = choose([plugin("x", group=group)], group, settings)
    assert (choice.state, choice.detail) == (PluginState.BLOCKED, detail)


@pytest.mark.parametrize(
    ("settings", "group"),
    [
        (PluginSettings(allowed=frozenset({"x"})), TICKET_GROUP),
        (PluginSettings(ticket_overrides={"x": True}), TICKET_GROUP),
        (PluginSettings(ticket_overrides={"x": False}), BACKEND_GROUP),
        (PluginSettings(backend_overrides={"x": False}), TICKET_GROUP),
        (PluginSettings(ticket_overrides={"x": False}), GENERAL_GROUP),
    ],
)
def test_plugin_that_nothing_blocks_is_used(settings, group):
    assert used([plugin("x", group=group)], settings, group) == [("x", "acme")]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"GROVE_PLUGINS": ""}, frozenset()),
        ({"GROVE_PLUGINS": " , "}, frozenset()),
        ({"GROVE_PLUGINS": "beads"}, frozenset({"beads"})),
        ({"GROVE_PLUGINS": " beads, markdown,"}, frozenset({"beads", "markdown"})),
    ],
)
def test_allow_list_of_the_environment(environment, expected):
    assert read_allow_list(environment) == expected
