"""Plugins with one fault each, as what an entry point names, and the test that is to find it."""

from pathlib import Path
from types import SimpleNamespace

from attrs import define

from grove_core.model.memory import Health
from grove_core.plugins.descriptors import (
    BackendSpec,
    HealthCheck,
)
from grove_core.plugins.hookspecs import GROVE_API, hookimpl
from grove_core.testing.fakes import InMemoryBackend


def plugin(api=GROVE_API, /, **hooks):
    """Make a plugin of its hooks."""
    return SimpleNamespace(grove_api=api, **{name: hookimpl(one) for name, one in hooks.items()})


def no_objection(candidate):
    return None


def spec(name, **fields):
    found = {"detect": lambda _: None, "open": lambda _: InMemoryBackend(name), **fields}
    return BackendSpec(name=name, **found)


def leave_a_mark(context):
    (Path(context.root) / "seen").touch()


@define
class NeedsAKey:
    address: str


sound = plugin(grove_check_candidate=no_objection)
from_the_future = plugin(GROVE_API + 1, grove_check_candidate=no_objection)
offers_no_list = plugin(grove_commands=lambda: None)
needs_a_key = plugin(grove_memory_backends=lambda: [spec("needy", settings=NeedsAKey)])
leaves_a_mark = plugin(grove_memory_backends=lambda: [spec("seen", detect=leave_a_mark)])
is_well = plugin(
    grove_health_checks=lambda: [HealthCheck(name="well", run=lambda _: Health(ok=True, detail=""))]
)

HERE = __name__
BROKEN_PLUGINS = [
    ("test_importing_is_cheap_and_quiet", "plugin_that_imports_much"),
    ("test_it_registers_without_a_problem", f"{HERE}:from_the_future"),
    ("test_it_registers_without_a_problem", f"{HERE}:offers_no_list"),
    ("test_looking_for_backends_touches_nothing", f"{HERE}:leaves_a_mark"),
    ("test_health_checks_tell_how_it_stands", f"{HERE}:is_well"),
    ("test_settings_have_defaults", f"{HERE}:needs_a_key"),
]
