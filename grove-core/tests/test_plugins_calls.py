"""Loading and calling plugins that are really installed, good ones and broken ones."""

import itertools
import json
import os
import subprocess
import sys
import textwrap
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from grove_core import (
    Candidate,
    Category,
    Gate,
    GateStatus,
    Learning,
    ProjectContext,
    Receipt,
    ReceiptStatus,
    ReflectionContext,
    Rejection,
    Session,
    Ticket,
)
from grove_core.plugins.discovery import discover
from grove_core.plugins.facade import Plugins
from grove_core.plugins.hookspecs import HOOK_SPECIFICATIONS
from grove_core.plugins.limits import Deadline, TimeLimits
from grove_core.plugins.manager import GROUPS_OF_HOOK
from grove_core.plugins.report import PluginState
from grove_core.plugins.selection import PluginSettings

NOW = datetime(2026, 2, 6, 10, tzinfo=UTC)
PATIENT = TimeLimits(load=30, registration=30, life_cycle=30)
_NUMBER = itertools.count()

TICKETS, BACKENDS, GENERAL = "grove.tickets", "grove.backends", "grove.plugins"

PROBES = """
from grove_core import hookimpl, TicketProbe

@hookimpl
def grove_ticket_probes():
    return [TicketProbe(name=name, detect=lambda context: None) for name in {names!r}]
"""

MATCHERS = """
from grove_core import hookimpl, CloseMatcher

@hookimpl
def grove_close_matchers():
    return [
        CloseMatcher(system=name, literals=("close",), tools=("Bash",), match=lambda call, project: [])
        for name in {names!r}
    ]
"""

BACKEND = """
from grove_core import hookimpl, BackendSpec

@hookimpl
def grove_memory_backends():
    return [BackendSpec(name={name!r}, detect=lambda context: None, open=lambda context: None)]
"""

TERMS = """
from grove_core import hookimpl

@hookimpl
def grove_query_terms(project, ticket):
    return {expression}
"""


class World:
    """An environment with installed plugins."""

    def __init__(self, directory):
        self.site = directory / "site"
        self.home = directory / "home"
        self.site.mkdir()
        self.problems = []
        self.limits = PATIENT
        self.deadline = Deadline()

    def install(self, distribution, plugins, version="1.0", requires=()):
        """Install a distribution: group, name, and source text (and attribute) of each plugin."""
        folder = self.site / f"{distribution.replace('-', '_')}-{version}.dist-info"
        folder.mkdir()
        metadata = ["Metadata-Version: 2.4", f"Name: {distribution}", f"Version: {version}"]
        metadata += [f"Requires-Dist: {each}" for each in requires]
        (folder / "METADATA").write_text("\n".join(metadata) + "\n")
        lines, modules = [], []
        for group, name, source in plugins:
            module = f"installed_plugin_{os.getpid()}_{next(_NUMBER)}"
            text, attribute = source if isinstance(source, tuple) else (source, "")
            (self.site / f"{module}.py").write_text(textwrap.dedent(text))
            lines += [f"[{group}]", f"{name} = {module}{attribute}"]
            modules.append(module)
        (folder / "entry_points.txt").write_text("\n".join(lines) + "\n")
        return modules[0] if len(modules) == 1 else modules

    def plugins(self, **settings):
        return Plugins(
            discover(self.home),
            PluginSettings(**settings),
            self.problems.append,
            limits=self.limits,
            deadline=self.deadline,
        )

    def complaints(self):
        return [(each.source.name, each.what, each.detail) for each in self.problems]


@pytest.fixture
def world(tmp_path, monkeypatch):
    created = World(tmp_path)
    others = [entry for entry in sys.path if not any(Path(entry).glob("*.dist-info"))]
    monkeypatch.setattr(sys, "path", [str(created.site), *others])
    return created


def entry(plugins, name):
    (found,) = [each for each in plugins.report().plugins if each.found.name == name]
    return found


def names(provided):
    return [getattr(each.value, "system", None) or each.value.name for each in provided]


def imported(module):
    return module in sys.modules


# Loading.


def test_a_good_plugin_is_loaded_when_it_is_needed(world):
    module = world.install(
        "acme-tickets", [(TICKETS, "acme", PROBES.format(names=["acme"]))], "2.0"
    )
    plugins = world.plugins()
    assert entry(plugins, "acme").state is PluginState.NOT_LOADED
    assert not imported(module)
    (probe,) = plugins.ticket_probes()
    assert probe.value.name == "acme"
    assert str(probe.source) == "acme-tickets 2.0 (grove.tickets:acme)"
    loaded = entry(plugins, "acme")
    assert (loaded.state, loaded.detail) == (PluginState.ACTIVE, "")
    assert loaded.hooks == ("grove_ticket_probes",)
    assert loaded.milliseconds >= 0
    assert world.problems == []


def test_only_the_groups_that_a_hook_needs_are_imported(world):
    tickets = world.install("d-t", [(TICKETS, "t", PROBES.format(names=["t"]))])
    backends = world.install("d-b", [(BACKENDS, "b", BACKEND.format(name="b"))])
    general = world.install("d-g", [(GENERAL, "g", PROBES.format(names=["g"]))])
    plugins = world.plugins()
    assert names(plugins.ticket_probes()) == ["g", "t"]
    plugins.close_matchers()
    plugins.gate_changed(a_session(), Gate(), Gate(), "ticket_closed")
    assert (imported(tickets), imported(general), imported(backends)) == (True, True, False)
    assert entry(plugins, "b").state is PluginState.NOT_LOADED
    assert names(plugins.memory_backends()) == ["b"]
    assert imported(backends)


def test_backends_alone_do_not_import_ticket_systems(world):
    tickets = world.install("d-t", [(TICKETS, "t", PROBES.format(names=["t"]))])
    world.plugins().memory_backends()
    assert not imported(tickets)


OBJECT = """
from grove_core import hookimpl, TicketProbe

class Plugin:
    @hookimpl
    def grove_ticket_probes(self):
        return (TicketProbe(name="acme", detect=print),)

    @property
    def grove_trap(self):
        raise SystemExit("a property must not be evaluated")

class deep:
    plugin = Plugin()
"""


def test_an_entry_point_may_name_an_object(world):
    world.install("acme", [(TICKETS, "acme", (OBJECT, ":deep.plugin"))])
    assert names(world.plugins().ticket_probes()) == ["acme"]
    assert world.problems == []


BROKEN = {
    "missing dependency": (
        "import a_module_that_is_not_installed",
        PluginState.FAILED,
        "ModuleNotFoundError: No module named 'a_module_that_is_not_installed'",
    ),
    "syntax": ("def", PluginState.FAILED, "SyntaxError: "),
    "any exception": (
        "raise LookupError('first\\nsecond')",
        PluginState.FAILED,
        "LookupError: first second",
    ),
    "system exit": ("raise SystemExit(3)", PluginState.FAILED, "raised SystemExit"),
    "keyboard interrupt": (
        "raise KeyboardInterrupt",
        PluginState.FAILED,
        "raised KeyboardInterrupt",
    ),
    "missing attribute": (("x = 1", ":plugin"), PluginState.FAILED, "AttributeError: "),
    "nothing": (("plugin = None", ":plugin"), PluginState.FAILED, "is None"),
    "newer API": (
        "grove_api = 2\n" + PROBES.format(names=["bad"]),
        PluginState.REFUSED,
        "was written for plugin API 2; this grove speaks 1: upgrade grove-core",
    ),
    "wrong signature": (
        "from grove_core import hookimpl\n@hookimpl\ndef grove_ticket_probes(project): return []",
        PluginState.REFUSED,
        "Argument(s) {'project'} are declared",
    ),
    "hookwrapper": (
        """
        from grove_core import hookimpl

        @hookimpl(hookwrapper=True)
        def grove_ticket_probes():
            yield
        """,
        PluginState.REFUSED,
        "grove_ticket_probes is a wrapper",
    ),
    "wrapper": (
        """
        from grove_core import hookimpl

        @hookimpl(wrapper=True)
        def grove_ticket_probes():
            return (yield)
        """,
        PluginState.REFUSED,
        "grove_ticket_probes is a wrapper",
    ),
    "coroutine": (
        "from grove_core import hookimpl\n@hookimpl\nasync def grove_ticket_probes(): return []",
        PluginState.REFUSED,
        "grove_ticket_probes is a coroutine function",
    ),
    "unreadable message": (
        "class Bad(Exception):\n    def __str__(self): raise RuntimeError\nraise Bad",
        PluginState.FAILED,
        "Bad: (its message cannot be read)",
    ),
}


@pytest.mark.parametrize(("source", "state", "detail"), BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_is_reported_and_the_others_go_on(world, source, state, detail):
    world.install("broken-dist", [(TICKETS, "bad", source)], "0.3")
    world.install("good-dist", [(TICKETS, "good", PROBES.format(names=["good"]))])
    plugins = world.plugins(ticket_order=("bad", "good"))
    assert names(plugins.ticket_probes()) == ["good"]
    broken = entry(plugins, "bad")
    assert broken.state is state
    assert detail in broken.detail
    assert "\n" not in broken.detail
    assert broken.hooks == ()
    (problem,) = world.problems
    assert str(problem) == f"broken-dist 0.3 (grove.tickets:bad): load: {broken.detail}"
    assert plugins.report().problems == (problem,)
    assert entry(plugins, "good").state is PluginState.ACTIVE


def test_a_target_that_is_no_module_name_is_reported(world):
    world.install("broken-dist", [(TICKETS, "bad", "")])
    (file,) = world.site.glob("*/entry_points.txt")
    file.write_text("[grove.tickets]\nbad = :x\nworse = .relative\n")
    plugins = world.plugins()
    assert plugins.ticket_probes() == []
    assert {each.state for each in plugins.report().plugins} == {PluginState.FAILED}


def test_a_plugin_that_hangs_at_import_is_left_behind(world):
    world.install("slow-dist", [(TICKETS, "slow", "import time\ntime.sleep(3600)")])
    good = world.install("good-dist", [(TICKETS, "good", PROBES.format(names=["good"]))])
    __import__(good)
    world.limits = TimeLimits(load=0.5, registration=30, life_cycle=30)
    plugins = world.plugins(ticket_order=("slow",))
    assert names(plugins.ticket_probes()) == ["good"]
    slow = entry(plugins, "slow")
    assert (slow.state, slow.detail) == (PluginState.FAILED, "took longer than 0.5 seconds")


def test_a_process_with_a_hung_plugin_ends(world):
    world.install("slow-dist", [(TICKETS, "slow", "import time\ntime.sleep(3600)")])
    script = (
        "import json, pathlib, sys\n"
        "from grove_core.plugins.discovery import discover\n"
        "from grove_core.plugins.facade import Plugins\n"
        "from grove_core.plugins.limits import TimeLimits\n"
        "from grove_core.plugins.selection import PluginSettings\n"
        f"sys.path.insert(0, {str(world.site)!r})\n"
        f"found = discover(pathlib.Path({str(world.home)!r}))\n"
        "settings = PluginSettings(allowed=frozenset({'slow'}))\n"
        "plugins = Plugins(found, settings, lambda problem: None, limits=TimeLimits(load=0.1))\n"
        "plugins.ticket_probes()\n"
        "print(json.dumps([str(each) for each in plugins.report().problems]))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert json.loads(result.stdout) == [
        "slow-dist 1.0 (grove.tickets:slow): load: took longer than 0.1 seconds"
    ]
    assert result.stderr == ""


ODD = {
    "unknown hook": (
        PROBES.format(names=["odd"]) + "\n@hookimpl\ndef grove_ticket_probe(): return []",
        ("odd", "grove_ticket_probe", "is no hook of plugin API 1"),
    ),
    "no marker": (
        PROBES.format(names=["odd"]) + "\ndef grove_close_matchers(): return []",
        ("odd", "grove_close_matchers", "is not marked with @hookimpl"),
    ),
    "hook of another group": (
        PROBES.format(names=["odd"]) + BACKEND.format(name="odd"),
        (
            "odd",
            "grove_memory_backends",
            "is never called in grove.tickets; it belongs in grove.backends or grove.plugins",
        ),
    ),
    "API that is no number": (
        "grove_api = '2'" + PROBES.format(names=["odd"]),
        ("odd", "grove_api", "is no whole number such as 1"),
    ),
}


@pytest.mark.parametrize(("source", "complaint"), ODD.values(), ids=ODD)
def test_an_odd_plugin_is_used_and_reported(world, source, complaint):
    world.install("odd-dist", [(TICKETS, "odd", source)])
    plugins = world.plugins()
    assert names(plugins.ticket_probes()) == ["odd"]
    assert entry(plugins, "odd").state is PluginState.ACTIVE
    assert world.complaints() == [complaint]


def test_a_plugin_without_any_hook_is_reported(world):
    world.install("empty-dist", [(TICKETS, "empty", "")])
    plugins = world.plugins()
    assert plugins.ticket_probes() == []
    assert entry(plugins, "empty").state is PluginState.ACTIVE
    assert world.complaints() == [("empty", "load", "implements no hook of grove")]


def test_an_optional_unknown_hook_is_no_problem(world):
    source = PROBES.format(names=["x"]) + "\n@hookimpl(optionalhook=True)\ndef grove_future(): ..."
    world.install("dist", [(TICKETS, "x", "grove_api = 1" + source)])
    plugins = world.plugins()
    plugins.ticket_probes()
    assert world.problems == []
    assert entry(plugins, "x").hooks == ("grove_ticket_probes",)


@pytest.mark.parametrize(
    "settings",
    [
        {"enabled": False},
        {"allowed": frozenset()},
        {"allowed": frozenset({"other"})},
        {"ticket_overrides": {"acme": False}},
    ],
)
def test_a_blocked_plugin_is_never_imported(world, settings):
    module = world.install("acme", [(TICKETS, "acme", PROBES.format(names=["acme"]))])
    plugins = world.plugins(**settings)
    plugins.load_all()
    assert plugins.ticket_probes() == []
    assert entry(plugins, "acme").state is PluginState.BLOCKED
    assert not imported(module)
    assert world.problems == []


def test_of_two_providers_one_is_used_and_both_are_listed(world):
    first = world.install("dist-a", [(TICKETS, "acme", PROBES.format(names=["acme"]))])
    second = world.install("dist-b", [(TICKETS, "acme", PROBES.format(names=["acme"]))])
    plugins = world.plugins(ticket_order=("acme@dist-b",))
    (probe,) = plugins.ticket_probes()
    assert probe.source.distribution == "dist-b"
    assert (imported(first), imported(second)) == (False, True)
    listed = [(each.found.distribution, each.state) for each in plugins.report().plugins]
    assert listed == [("dist-b", PluginState.ACTIVE), ("dist-a", PluginState.SHADOWED)]
    assert world.problems == []


def test_one_object_under_several_entry_points_is_asked_once(world):
    both = PROBES.format(names=["acme"]) + BACKEND.format(name="acme")
    module = world.install("acme", [(TICKETS, "acme", both)])
    (file,) = world.site.glob("*/entry_points.txt")
    file.write_text(
        f"[grove.tickets]\nacme = {module}\nalias = {module}\n[grove.backends]\nacme = {module}\n"
    )
    plugins = world.plugins()
    assert names(plugins.ticket_probes()) == ["acme"]
    assert names(plugins.memory_backends()) == ["acme"]
    plugins.load_all()
    assert {each.state for each in plugins.report().plugins} == {PluginState.ACTIVE}
    assert all(detail.startswith("is never called in") for _, _, detail in world.complaints())


def test_a_hundred_plugins(world):
    for number in range(100):
        name = f"p{number:03}"
        world.install(f"dist-{name}", [(TICKETS, name, PROBES.format(names=[name]))])
    plugins = world.plugins(ticket_order=("p050",))
    expected = ["p050", *(f"p{number:03}" for number in range(100) if number != 50)]
    assert names(plugins.ticket_probes()) == expected
    assert world.problems == []


def test_every_hook_has_its_groups():
    specified = {
        name for each in HOOK_SPECIFICATIONS for name in vars(each) if name.startswith("grove_")
    }
    assert set(GROUPS_OF_HOOK) == specified


# Descriptors.


def test_descriptors_come_in_the_configured_order_whoever_offers_them(world):
    world.install("suite", [(GENERAL, "suite", PROBES.format(names=["zeta", "beta"]))])
    world.install("alpha", [(TICKETS, "alpha", PROBES.format(names=["alpha"]))])
    world.install("omega", [(TICKETS, "omega", MATCHERS.format(names=["alpha", "zeta", "beta"]))])
    plugins = world.plugins(ticket_order=("zeta", "missing", "beta"))
    assert names(plugins.ticket_probes()) == ["zeta", "beta", "alpha"]
    assert names(plugins.close_matchers()) == ["zeta", "beta", "alpha"]


READERS = """
from grove_core import hookimpl, CommandReader

@hookimpl
def grove_command_readers():
    return [CommandReader(tools=tools, read=lambda call: [[{word!r}]]) for tools in {tools!r}]
"""


def read_by(plugins):
    return [(one.value.tools, one.value.read(None)) for one in plugins.command_readers()]


def test_what_reads_commands_is_found_whoever_offers_it(world):
    world.install("a", [(TICKETS, "a", READERS.format(word="a", tools=[("Bash",)]))])
    world.install("b", [(GENERAL, "b", READERS.format(word="b", tools=[("PowerShell", "Cmd")]))])
    backend = world.install(
        "c", [(BACKENDS, "c", BACKEND.format(name="c") + READERS.format(word="c", tools=[("x",)]))]
    )
    plugins = world.plugins()
    assert read_by(plugins) == [(("Bash",), [["a"]]), (("PowerShell", "Cmd"), [["b"]])]
    assert not imported(backend)
    assert world.problems == []
    plugins.load_all()
    assert [(name, what) for name, what, _ in world.complaints()] == [
        ("c", "grove_command_readers")
    ]


def test_of_two_readers_for_the_same_tools_the_first_is_used(world):
    world.install("d-a", [(TICKETS, "a", READERS.format(word="a", tools=[("Bash",), ("Bash",)]))])
    world.install("d-b", [(TICKETS, "b", READERS.format(word="b", tools=[("Bash",)]))])
    assert read_by(world.plugins()) == [(("Bash",), [["a"]])]
    used = "Bash is provided by d-a 1.0 (grove.tickets:a) as well, which is used"
    assert world.complaints() == [
        ("a", "grove_command_readers", used),
        ("b", "grove_command_readers", used),
    ]


def test_a_ticket_system_may_have_several_matchers(world):
    matchers = MATCHERS.format(names=["acme", "zeta", "acme"]).replace('"close"', '"acme close"')
    world.install("dist-a", [(TICKETS, "acme", PROBES.format(names=["acme"]) + matchers)])
    plugins = world.plugins(ticket_order=("zeta",))
    assert names(plugins.close_matchers()) == ["zeta", "acme", "acme"]
    assert plugins.close_matchers()[1].value.literals == ("acme close",)
    assert world.problems == []


def test_matchers_of_another_distribution_are_reported(world):
    world.install("dist-a", [(TICKETS, "acme", MATCHERS.format(names=["acme", "acme"]))])
    world.install("dist-b", [(GENERAL, "other", MATCHERS.format(names=["acme", "zeta"]))])
    plugins = world.plugins()
    found = [(one.value.system, one.source.distribution) for one in plugins.close_matchers()]
    assert found == [("acme", "dist-a"), ("acme", "dist-a"), ("zeta", "dist-b")]
    detail = "acme is provided by dist-a 1.0 (grove.tickets:acme) as well, which is used"
    assert world.complaints() == [("other", "grove_close_matchers", detail)]


def test_probes_of_one_plugin_may_not_share_a_name(world):
    world.install("dist-a", [(TICKETS, "acme", PROBES.format(names=["acme", "acme"]))])
    assert names(world.plugins().ticket_probes()) == ["acme"]
    assert [name for name, _, _ in world.complaints()] == ["acme"]


def test_backends_have_an_order_of_their_own(world):
    for name in ("a", "b", "c"):
        world.install(f"dist-{name}", [(BACKENDS, name, BACKEND.format(name=name))])
    plugins = world.plugins(backend_order=("c",), backend_overrides={"a": False})
    assert names(plugins.memory_backends()) == ["c", "b"]


def test_a_blocked_name_is_dropped_whoever_offers_it(world):
    source = PROBES.format(names=["alpha", "beta"]) + MATCHERS.format(names=["alpha", "beta"])
    world.install("suite", [(GENERAL, "suite", source)])
    plugins = world.plugins(ticket_overrides={"alpha": False, "beta": True})
    assert names(plugins.ticket_probes()) == ["beta"]
    assert names(plugins.close_matchers()) == ["beta"]
    assert world.problems == []


@pytest.mark.parametrize(
    ("order", "first_party", "expected"),
    [
        ((), "", "dist-a"),
        ((), "dist-b", "dist-b"),
        (("system@dist_b",), "", "dist-b"),
        (("system@dist-a",), "dist-b", "dist-a"),
    ],
)
def test_of_two_descriptors_with_one_name_one_is_used(world, order, first_party, expected):
    world.install(
        "grove-core", [], requires=[f"{first_party}; extra == 'x'"] if first_party else []
    )
    world.install("dist-a", [(TICKETS, "one", PROBES.format(names=["system"]))])
    world.install("dist-b", [(TICKETS, "two", PROBES.format(names=["system"]))])
    (probe,) = world.plugins(ticket_order=order).ticket_probes()
    assert probe.source.distribution == expected
    (problem,) = world.problems
    assert problem.source.distribution == ({"dist-a", "dist-b"} - {expected}).pop()
    assert (problem.what, problem.detail) == (
        "grove_ticket_probes",
        f"system is provided by {probe.source} as well, which is used",
    )


def test_commands_and_health_checks_come_by_name_from_every_group(world):
    source = """
    from grove_core import hookimpl, CommandSpec, Health, HealthCheck

    @hookimpl
    def grove_commands():
        return [CommandSpec(name="{name}", target="never.imported:main", help="")]

    @hookimpl
    def grove_health_checks():
        return [HealthCheck(name="{name} store", run=lambda project: Health(ok=True, detail=""))]
    """
    for group, name in ((TICKETS, "c"), (BACKENDS, "a"), (GENERAL, "b")):
        world.install(f"dist-{name}", [(group, name, source.format(name=name))])
    plugins = world.plugins(ticket_order=("c",))
    assert names(plugins.commands()) == ["a", "b", "c"]
    assert names(plugins.health_checks()) == ["a store", "b store", "c store"]


def test_plugins_are_asked_for_their_descriptors_once(world):
    source = PROBES.format(names=["x"]).replace("    return", "    ASKED.append(1)\n    return")
    module = world.install("dist", [(TICKETS, "x", "ASKED = []" + source)])
    plugins = world.plugins()
    first = plugins.ticket_probes()
    first.clear()
    assert names(plugins.ticket_probes()) == ["x"]
    assert sys.modules[module].ASKED == [1]


REGISTERING = """
from grove_core import *
from grove_core import hookimpl, BackendSpec, CloseMatcher, CommandReader, CommandSpec, HealthCheck, TicketProbe

def probe(**changes):
    return TicketProbe(**dict(name="bad", detect=print) | changes)

def matcher(**changes):
    usual = dict(system="bad", literals=("close",), tools=("Bash",), match=print)
    return CloseMatcher(**usual | changes)

@hookimpl
def {hook}():
    return {expression}
"""
NAME_RULE = "name is not one line of text, not empty, without blanks at its ends"

WRONG_RESULTS = [
    ("grove_ticket_probes", "None", "returned NoneType instead of a list of TicketProbe"),
    ("grove_ticket_probes", "'text'", "returned str instead of a list of TicketProbe"),
    ("grove_ticket_probes", "probe()", "returned TicketProbe instead of a list of TicketProbe"),
    ("grove_ticket_probes", "{'bad': 1}", "returned dict instead of a list of TicketProbe"),
    ("grove_ticket_probes", "(x for x in ())", "returned generator instead of a list"),
    ("grove_ticket_probes", "1 / 0", "ZeroDivisionError: division by zero"),
    ("grove_ticket_probes", "exit(1)", "raised SystemExit"),
    ("grove_ticket_probes", "['bad']", "returned str instead of TicketProbe"),
    ("grove_ticket_probes", "[matcher()]", "returned CloseMatcher instead of TicketProbe"),
    ("grove_ticket_probes", "[probe(name='')]", f"returned a TicketProbe whose {NAME_RULE}"),
    ("grove_ticket_probes", "[probe(name=7)]", f"returned a TicketProbe whose {NAME_RULE}"),
    ("grove_ticket_probes", "[probe(name='a\\nb')]", f"returned a TicketProbe whose {NAME_RULE}"),
    ("grove_ticket_probes", "[probe(detect=None)]", "whose detect is not a function"),
    ("grove_ticket_probes", "[probe(current_ticket=1)]", "whose current_ticket is not a function"),
    ("grove_ticket_probes", "[probe(paths='.bad')]", "whose paths is not a tuple of strings"),
    ("grove_ticket_probes", "[probe(participation='active')]", "is not a Participation"),
    ("grove_ticket_probes", "[probe(per_session=1)]", "whose per_session is not True or False"),
    ("grove_close_matchers", "[matcher(system='')]", "whose system is not one line of text"),
    ("grove_close_matchers", "[matcher(literals='close')]", "whose literals is not a tuple"),
    ("grove_close_matchers", "[matcher(literals=())]", "whose literals is not a tuple"),
    *(
        ("grove_close_matchers", f"[matcher(literals=({literal!r},))]", "whose literals is not a")
        for literal in ("", " ", "a  b", " a", "a ", "a\\tb", "a.b", "é", "*")
    ),
    ("grove_close_matchers", "[matcher(literals=(7,))]", "whose literals is not a tuple"),
    ("grove_close_matchers", "[matcher(tools=())]", "whose tools is not a tuple"),
    ("grove_close_matchers", "[matcher(confirm='yes')]", "whose confirm is not a function or None"),
    ("grove_command_readers", "None", "returned NoneType instead of a list of CommandReader"),
    ("grove_command_readers", "[matcher()]", "returned CloseMatcher instead of CommandReader"),
    ("grove_command_readers", "[CommandReader(tools=(), read=print)]", "whose tools is not a"),
    ("grove_command_readers", "[CommandReader(tools='Bash', read=print)]", "whose tools is not a"),
    (
        "grove_command_readers",
        "[CommandReader(tools=('x',), read=1)]",
        "whose read is not a function",
    ),
    (
        "grove_memory_backends",
        "[BackendSpec(name='bad', detect=print, open=None)]",
        "whose open is not a function",
    ),
    (
        "grove_memory_backends",
        "[BackendSpec(name='bad', detect=print, open=print, settings={})]",
        "whose settings is not a class or None",
    ),
    (
        "grove_commands",
        "[CommandSpec(name='bad', target=print, help='')]",
        "whose target is not one line of text",
    ),
    ("grove_health_checks", "[HealthCheck(name='bad', run='x')]", "whose run is not a function"),
]


@pytest.mark.parametrize(("hook", "expression", "detail"), WRONG_RESULTS)
def test_a_wrong_result_is_dropped_and_reported(world, hook, expression, detail):
    world.install("bad", [(GENERAL, "bad", REGISTERING.format(hook=hook, expression=expression))])
    good = PROBES.format(names=["good"]) + MATCHERS.format(names=["good"])
    world.install("good", [(TICKETS, "good", good)])
    plugins = world.plugins()
    plugins.load_all()
    (complaint,) = world.complaints()
    assert complaint[:2] == ("bad", hook)
    assert detail in complaint[2]
    assert names(plugins.ticket_probes()) == names(plugins.close_matchers()) == ["good"]
    assert plugins.memory_backends() == plugins.commands() == plugins.health_checks() == []


def test_the_good_ones_among_wrong_results_are_kept(world):
    source = REGISTERING.format(
        hook="grove_ticket_probes", expression="[probe(name='a'), None, probe(name='b')]"
    )
    world.install("dist", [(TICKETS, "x", source)])
    assert names(world.plugins().ticket_probes()) == ["a", "b"]
    assert world.complaints() == [
        ("x", "grove_ticket_probes", "returned NoneType instead of TicketProbe")
    ]


# Life-cycle hooks.


def a_candidate():
    return Candidate(category=Category.PATTERN, summary="a summary", detail="some detail")


def a_session():
    return Session(id="s", host="h", cwd="/", project_root="/", created_at=NOW, updated_at=NOW)


def terms(plugins, ticket=None):
    return plugins.query_terms(ProjectContext(root=Path("/r"), cwd=Path("/r")), ticket)


def test_query_terms_are_united(world):
    world.install("a", [(TICKETS, "a", TERMS.format(expression="['one', ' two ', '']"))])
    world.install(
        "b", [(BACKENDS, "b", TERMS.format(expression="(x for x in {'two', ticket.title})"))]
    )
    ticket = Ticket(ticket_id="1", source="a", title="three")
    assert terms(world.plugins(), ticket) == {"one", "two", "three"}
    assert world.problems == []


def test_an_implementation_may_leave_out_arguments(world):
    source = (
        "from grove_core import hookimpl\n@hookimpl\ndef grove_query_terms(ticket): return ['x']"
    )
    world.install("a", [(GENERAL, "a", source)])
    assert terms(world.plugins()) == {"x"}


@pytest.mark.parametrize(
    ("expression", "expected", "detail"),
    [
        ("'word'", set(), "returned str instead of a list of words"),
        ("None", set(), "returned NoneType instead of a list of words"),
        ("['word', 3]", {"word"}, "returned int among its words"),
        ("(1 / zero for zero in [0])", set(), "ZeroDivisionError: division by zero"),
    ],
)
def test_wrong_query_terms_are_reported(world, expression, expected, detail):
    world.install("bad", [(GENERAL, "bad", TERMS.format(expression=expression))])
    world.install("good", [(GENERAL, "good", TERMS.format(expression="['good']"))])
    assert terms(world.plugins()) == {"good"} | expected
    assert world.complaints() == [("bad", "grove_query_terms", detail)]


def test_endless_query_terms_come_to_an_end(world):
    source = TERMS.format(expression="map(str, __import__('itertools').count())")
    world.install("endless", [(GENERAL, "endless", source)])
    assert len(terms(world.plugins())) == 1000


CHECK = """
from grove_core import hookimpl, Rejection

@hookimpl
def grove_check_candidate(candidate, context):
    return {expression}
"""


def check(plugins):
    context = ReflectionContext(root=Path("/r"), session_id="s", ticket=None, now=NOW)
    return plugins.check_candidate(a_candidate(), context)


def test_objections_are_collected_with_their_sources(world):
    world.install(
        "a", [(GENERAL, "a", CHECK.format(expression="Rejection(reason=candidate.summary)"))]
    )
    world.install("b", [(GENERAL, "b", CHECK.format(expression="None"))])
    world.install("c", [(TICKETS, "c", CHECK.format(expression="Rejection(reason='no')"))])
    found = [(each.source.name, each.value) for each in check(world.plugins())]
    assert found == [("c", Rejection(reason="no")), ("a", Rejection(reason="a summary"))]
    assert world.problems == []


@pytest.mark.parametrize(
    ("expression", "detail"),
    [
        ("True", "returned bool instead of Rejection"),
        ("[Rejection(reason='no')]", "returned list instead of Rejection"),
        (
            "Rejection(reason=' ')",
            "returned a Rejection whose reason is not a string that says something",
        ),
        ("candidate.nothing", "AttributeError: 'Candidate' object has no attribute 'nothing'"),
        ("setattr(candidate, 'tags', ())", "FrozenInstanceError: "),
    ],
)
def test_a_check_that_fails_is_no_objection(world, expression, detail):
    world.install("bad", [(GENERAL, "bad", CHECK.format(expression=expression))])
    assert check(world.plugins()) == []
    (complaint,) = world.complaints()
    assert complaint[:2] == ("bad", "grove_check_candidate")
    assert complaint[2].startswith(detail)


def test_observers_are_told_and_their_faults_stay_with_them(world):
    source = """
    from grove_core import hookimpl
    SEEN = []

    @hookimpl
    def grove_learning_written(learning, receipt):
        SEEN.append((learning.id, receipt.backend))
        {ending}

    @hookimpl
    def grove_gate_changed(session, before, after, cause):
        SEEN.append((session.id, before.status.value, after.status.value, cause))
        {ending}
    """
    modules = [
        world.install("a", [(GENERAL, "a", source.format(ending="raise SystemExit"))]),
        world.install("b", [(GENERAL, "b", source.format(ending="return 'ignored'"))]),
    ]
    plugins = world.plugins()
    learning = Learning(
        id="cl_1", category=Category.PATTERN, summary="s", detail="d", session_id="s", timestamp=NOW
    )
    receipt = Receipt(learning_id="cl_1", status=ReceiptStatus.STORED, backend="acme")
    plugins.learning_written(learning, receipt)
    plugins.gate_changed(a_session(), Gate(), Gate(status=GateStatus.PENDING), "ticket_closed")
    expected = [("cl_1", "acme"), ("s", "idle", "pending", "ticket_closed")]
    assert [sys.modules[module].SEEN for module in modules] == [expected, expected]
    assert world.complaints() == [
        ("a", "grove_learning_written", "raised SystemExit"),
        ("a", "grove_gate_changed", "raised SystemExit"),
    ]


def test_a_plugin_that_hangs_when_called_is_not_called_again(world):
    slow = "import time\nCALLS = []" + TERMS.format(
        expression="CALLS.append(1) or time.sleep(3600)"
    )
    module = world.install("slow", [(GENERAL, "a-slow", slow)])
    world.install("good", [(GENERAL, "good", TERMS.format(expression="['good']"))])
    world.limits = TimeLimits(load=30, registration=30, life_cycle=0.5)
    plugins = world.plugins()
    assert terms(plugins) == terms(plugins) == {"good"}
    assert sys.modules[module].CALLS == [1]
    assert world.complaints() == [("a-slow", "grove_query_terms", "took longer than 0.5 seconds")]


# All of them together.


def test_after_the_deadline_nothing_is_called_and_that_is_said_once(world):
    called = "CALLED = []" + TERMS.format(expression="CALLED.append(1) or ['x']")
    modules = [world.install(f"d-{name}", [(GENERAL, name, called)]) for name in "ab"]
    plugins = world.plugins()
    assert terms(plugins) == {"x"}
    world.deadline.at = time.monotonic() - 1
    assert terms(plugins) == terms(plugins) == frozenset()
    assert [sys.modules[module].CALLED for module in modules] == [[1], [1]]
    assert world.complaints() == [("a", "grove_query_terms", "was not called: no time was left")]
    world.deadline.at = time.monotonic() + 3600
    assert terms(plugins) == {"x"}
    world.deadline.at = None
    assert terms(plugins) == {"x"}


def test_after_the_deadline_nothing_is_loaded_and_that_is_said_once(world):
    modules = [
        world.install(f"d-{name}", [(TICKETS, name, PROBES.format(names=[name]))]) for name in "ab"
    ]
    late = time.monotonic() - 1
    plugins = Plugins(
        discover(world.home), PluginSettings(), world.problems.append, deadline=Deadline(late)
    )
    assert plugins.ticket_probes() == []
    assert not any(map(imported, modules))
    assert world.complaints() == [("a", "load", "was not called: no time was left")]
    assert {each.state for each in plugins.report().plugins} == {PluginState.FAILED}


def test_what_is_left_of_the_time_limits_every_call(world):
    slow = "import time\n" + TERMS.format(expression="time.sleep(3600)")
    for name in "ab":
        world.install(f"d-{name}", [(GENERAL, name, slow)])
    plugins = world.plugins()
    plugins.load_all()
    world.deadline.at = time.monotonic() + 0.1
    assert terms(plugins) == frozenset()
    first, second = world.complaints()
    assert first[2].startswith("took longer than 0.")
    assert second == ("b", "grove_query_terms", "was not called: no time was left")


def test_a_function_is_not_called_after_the_deadline(world):
    world.install("dist", [(TICKETS, "acme", PROBES.format(names=["acme"]))])
    plugins = world.plugins()
    (probe,) = plugins.ticket_probes()
    called = []
    world.deadline.at = time.monotonic() - 1
    for _ in range(2):
        assert plugins.call(probe, called.append, 1, seconds=30, default="late") == "late"
    world.deadline.at = None
    assert plugins.call(probe, called.append, 2, seconds=30, default="late") is None
    assert called == [2]
    assert len(world.problems) == 1


def test_a_problem_is_passed_on_once(world):
    world.install("bad", [(GENERAL, "bad", TERMS.format(expression="1 / 0"))])
    plugins = world.plugins()
    assert terms(plugins) == terms(plugins) == frozenset()
    assert len(world.problems) == 1
    assert plugins.report().problems == tuple(world.problems)


# What descriptors hold.

HOLDER = """
import time
from grove_core import hookimpl, Detection, TicketProbe

def find(context):
    return {expression}

@hookimpl
def grove_ticket_probes():
    return [TicketProbe(name="acme", detect=find)]
"""


def detect(world, expression, seconds=30.0):
    world.install("dist", [(TICKETS, "acme", HOLDER.format(expression=expression))])
    plugins = world.plugins()
    (probe,) = plugins.ticket_probes()
    context = ProjectContext(root=Path("/root"), cwd=Path("/root"))
    return plugins.call(probe, probe.value.detect, context, seconds=seconds, default="default")


def test_a_function_of_a_descriptor_is_called(world):
    assert detect(world, "Detection(marker=str(context.root))").marker == "/root"
    assert world.problems == []


@pytest.mark.parametrize(
    ("expression", "seconds", "detail"),
    [
        ("1 / 0", 30, "ZeroDivisionError: division by zero"),
        ("exit(2)", 30, "raised SystemExit"),
        ("time.sleep(3600)", 0.05, "took longer than 0.05 seconds"),
    ],
)
def test_a_function_of_a_descriptor_that_fails_gives_the_default(
    world, expression, seconds, detail
):
    assert detect(world, expression, seconds) == "default"
    assert world.complaints() == [("acme", "detect of acme", detail)]


def test_another_object_of_a_plugin_can_be_called_too(world):
    world.install("dist", [(TICKETS, "acme", PROBES.format(names=["acme"]))])
    plugins = world.plugins()
    (probe,) = plugins.ticket_probes()
    assert plugins.call(probe, "a,b".split, ",", seconds=30, default=[]) == ["a", "b"]
    assert plugins.call(probe, {}.pop, "missing", seconds=30, default=None) is None
    assert plugins.call(probe, lambda: 1 / 0, seconds=30, default=0, what="sum of acme") == 0
    assert [each[:2] for each in world.complaints()] == [("acme", "pop"), ("acme", "sum of acme")]
    assert world.complaints()[0][2] == "KeyError: 'missing'"


def test_a_function_that_hangs_is_not_called_again_and_the_others_are(world):
    world.install("dist", [(TICKETS, "acme", PROBES.format(names=["acme", "zeta"]))])
    plugins = world.plugins()
    acme, zeta = plugins.ticket_probes()
    calls = []

    def hang():
        calls.append(1)
        time.sleep(3600)

    for _ in range(2):
        assert plugins.call(acme, hang, seconds=0.05, default=7, what="hang of acme") == 7
    assert calls == [1]
    assert plugins.call(acme, int, seconds=30, default=7) == 0
    assert plugins.call(zeta, lambda: 1, seconds=30, default=7, what="hang of zeta") == 1
    assert world.complaints() == [("acme", "hang of acme", "took longer than 0.05 seconds")]
