"""What a plugin offers."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import pytest
from attrs import fields, has

from grove_core.cli.groups import load_target
from grove_core.config.plugin_section import validate_plugin_section
from grove_core.plugins.descriptors import (
    CommandSpec,
)
from grove_core.plugins.facade import Plugins
from grove_core.testing.rules.plugin_loading import LoadingRules
from grove_core.testing.rules.ticket_offers import data_of
from grove_core.testing.skipping import NotDeclared
from grove_core.testing.verdict import expect, require, rule

_OFFERS: Final = (
    Plugins.ticket_probes,
    Plugins.close_matchers,
    Plugins.command_readers,
    Plugins.memory_backends,
    Plugins.commands,
    Plugins.health_checks,
    Plugins.retrieval_engines,
)


class OfferingRules(LoadingRules):
    """Descriptors, settings and commands."""

    @rule("grove_core.BackendSpec")
    def test_offers_are_sound(self) -> None:
        """Every registration hook gives a list of sound descriptors, the same twice."""
        described = []
        for _ in range(2):
            plugins, problems = self.loaded()
            described.append([_described(one) for ask in _OFFERS for one in _offered(ask, plugins)])
            expect([*map(str, problems)], [], "what grove complains about")
        expect(described[1], described[0], "what is offered a second time")

    @rule("grove_core.BackendSpec")
    def test_settings_have_defaults(self) -> None:
        """A settings class is an attrs class that can be made of an empty section."""
        plugins, _ = self.loaded()
        found: list[Any] = [*plugins.ticket_probes(), *plugins.memory_backends()]
        classes = [one.value.settings for one in found if one.value.settings is not None]
        if not classes:
            pytest.skip(NotDeclared(f"{self.plugin} has no settings"))
        for each in classes:
            require(has(each), expected="an attrs class", found=each)
            made, complaints = validate_plugin_section({}, each)
            expect(complaints, [], f"what is wrong with {each.__name__} without any key")
            require(isinstance(made, each), expected=f"an instance of {each.__name__}", found=made)
            for field in fields(each):
                _, complaints = validate_plugin_section({field.alias: object()}, each)
                require(bool(complaints), expected=f"a type for {field.alias}", found=field.type)

    @rule("grove_core.CommandSpec")
    def test_commands_have_help(self) -> None:
        """Every command can be imported, and says what it does with --help."""
        plugins, _ = self.loaded()
        specs = [one.value for one in plugins.commands()]
        specs += [one for each in plugins.memory_backends() for one in each.value.commands]
        if not specs:
            pytest.skip(NotDeclared(f"{self.plugin} has no commands"))
        for spec in specs:
            expect(_help_of(spec), 0, f"the exit code of {spec.name} --help")
            require(bool(spec.help.strip()), expected="a line of help", found=spec.help)


def _offered(ask: Callable[[Plugins], Sequence[Any]], plugins: Plugins) -> Sequence[Any]:
    return ask(plugins)


def _described(offer: Any) -> tuple[str, object]:  # noqa: ANN401 - any descriptor
    return type(offer.value).__name__, data_of(offer.value)


def _help_of(spec: CommandSpec) -> int:
    from click.testing import CliRunner

    return CliRunner().invoke(load_target(spec.target), ["--help"]).exit_code
