import pytest

from grove_core.plugins.discovery import (
    BACKEND_GROUP,
    TICKET_GROUP,
    Plugin,
    PluginSettings,
    PluginState,
    choose,
)


def plugin(name, distribution="acme", group=TICKET_GROUP, first_party=False):
    return Plugin(
        group=group,
        name=name,
        target=f"{name}_module",
        distribution=distribution,
        version="1.0",
        first_party=first_party,
    )


def used(found, settings, group=TICKET_GROUP):
    return [
        (choice.name, choice.distribution)
        for choice in choose(found, group, settings)
        if choice.state is PluginState.NOT_LOADED
    ]


@pytest.mark.parametrize(
    ("order", "first_party", "expected"),
    [
        ((), "", "dist-a"),
        ((), "dist-b", "dist-b"),
        (("x@dist-a",), "dist-b", "dist-a"),
        (("x@dist-gone",), "dist-b", "dist-b"),
    ],
)
def test_of_several_providers_one_is_asked_first(order, first_party, expected):
    distributions = ["dist-c", "dist-a", "dist-b"]
    found = [plugin("x", each, first_party=each == first_party) for each in distributions]
    settings = PluginSettings(ticket_order=order)
    assert used(found, settings)[0] == ("x", expected)


@pytest.mark.parametrize(
    ("settings", "group", "detail"),
    [
        (PluginSettings(enabled=False), TICKET_GROUP, "plugins are switched off"),
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
