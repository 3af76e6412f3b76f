"""Loading and calling plugins that are really installed, good ones and broken ones."""

import itertools
import os
import sys
import time
from pathlib import Path

import pytest
from core_worlds import NOW, a_learning, install, only_site

from grove_core import (
    Candidate,
    Category,
    Receipt,
    ReceiptStatus,
    ReflectionContext,
    Rejection,
)
from grove_core.plugins.discovery import PluginSettings, PluginState, discover
from grove_core.plugins.limits import Deadline, TimeLimits
from grove_core.plugins.manager import Plugins

_NUMBER = itertools.count()
TICKETS, BACKENDS, GENERAL = "grove.tickets", "grove.backends", "grove.plugins"
HEAD = """
import time
from grove_core import *
from grove_core import hookimpl, BackendSpec, CloseMatcher, CommandReader, CommandSpec, HealthCheck
from grove_core import Rejection, TicketProbe
CALLS = []

def called(answer):
    CALLS.append(answer)
    return answer

def probe(**changes):
    return TicketProbe(**dict(name="bad", detect=print) | changes)

def matcher(**changes):
    usual = dict(system="bad", literals=("close",), tools=("Bash",), match=print)
    return CloseMatcher(**usual | changes)
"""


def hook(name, expression, arguments=""):
    """The text of one hook that returns an expression."""
    return f"\n@hookimpl\ndef {name}({arguments}):\n    return {expression}\n"


def probes(*names):
    return hook("grove_ticket_probes", f"[probe(name=name) for name in {names}]")


def matchers(*names):
    return hook("grove_close_matchers", f"[matcher(system=name) for name in {names}]")


def backend(name):
    return hook("grove_memory_backends", f"[BackendSpec(name={name!r}, detect=print, open=print)]")


def checks(expression):
    return hook("grove_check_candidate", expression, "candidate")


def reasons(plugins):
    return [one.value.reason for one in plugins.check_candidate(None, None)]


class World:
    """An environment with installed plugins."""

    def __init__(self, directory):
        self.site, self.home = directory / "site", directory / "home"
        self.site.mkdir()
        self.problems = []
        self.limits = {"load": 30, "registration": 30, "life_cycle": 30}
        self.deadline = Deadline()

    def install(self, name, text, group=TICKETS, *, distribution="", requires=()):
        """Install a distribution with one plugin and return the name of its module."""
        module = f"installed_plugin_{os.getpid()}_{next(_NUMBER)}"
        (self.site / f"{module}.py").write_text(HEAD + text)
        entry_points = {group: {name: module}}
        install(self.site, distribution or f"dist-{name}", entry_points, requires=requires)
        return module

    def plugins(self, **settings):
        return Plugins(
            discover(self.home),
            PluginSettings(**settings),
            self.problems.append,
            limits=TimeLimits(**self.limits),
            deadline=self.deadline,
        )

    def complaints(self):
        return [(each.source.name, each.what, each.detail) for each in self.problems]


@pytest.fixture
def world(tmp_path, monkeypatch):
    created = World(tmp_path)
    only_site(monkeypatch, created.site)
    return created


def entry(plugins, name):
    (found,) = [each for each in plugins.found if each.name == name]
    return found


def names(provided):
    return [getattr(each.value, "system", None) or each.value.name for each in provided]


def test_a_plugin_is_loaded_when_its_group_is_needed(world):
    tickets = world.install("t", probes("t"))
    backends = world.install("b", backend("b"), BACKENDS)
    general = world.install("g", probes("g"), GENERAL)
    plugins = world.plugins()
    assert {each.state for each in plugins.found} == {PluginState.NOT_LOADED}
    assert not sys.modules.keys() & {tickets, backends, general}
    assert names(plugins.ticket_probes()) == ["g", "t"]
    plugins.close_matchers()
    assert sys.modules.keys() & {tickets, backends, general} == {tickets, general}
    assert names(plugins.memory_backends()) == ["b"]
    loaded = entry(plugins, "t")
    assert (loaded.state, loaded.detail) == (PluginState.LOADED, "")
    assert loaded.hooks == ("grove_ticket_probes",)
    assert world.problems == []


LISTING = hook("grove_ticket_probes", "[]")
WRAPPER = LISTING.replace("@hookimpl", "@hookimpl(wrapper=True)").replace("return []", "yield")
FAILED = {
    "import not_installed": "No module named 'not_installed'",
    "def": "SyntaxError: ",
    "raise SystemExit(3)": "raised SystemExit",
    "time.sleep(3600)": "took longer than 0.5 seconds",
}
REFUSED = {
    f"grove_api = 3{LISTING}": "was written for plugin API 3; this grove speaks 2: upgrade dist-bad or grove-core",
    f"grove_api = 1{LISTING}": "was written for plugin API 1; this grove speaks 2: upgrade dist-bad or grove-core",
    LISTING.replace("()", "(project)"): "Argument(s) {'project'} are declared",
    WRAPPER: "grove_ticket_probes is a wrapper",
    LISTING.replace("def", "async def"): "grove_ticket_probes is a coroutine function",
}


@pytest.mark.parametrize(("text", "detail"), [*FAILED.items(), *REFUSED.items()])
def test_a_broken_plugin_is_reported_and_the_others_go_on(world, text, detail):
    world.install("bad", text)
    __import__(world.install("good", probes("good")))
    world.limits["load"] = 0.025 if "sleep" in text else 30
    plugins = world.plugins(orders={TICKETS: ("bad", "good")})
    assert names(plugins.ticket_probes()) == ["good"]
    broken = entry(plugins, "bad")
    state = PluginState.FAILED if text in FAILED else PluginState.REFUSED
    assert (broken.state, broken.hooks) == (state, ())
    assert detail in broken.detail
    assert "\n" not in broken.detail
    (problem,) = world.problems
    assert str(problem) == f"dist-bad 1.0 (grove.tickets:bad): load: {broken.detail}"
    assert plugins.problems == [problem]


ODD = {
    hook("grove_ticket_probe", "[]"): ("grove_ticket_probe", "is no hook of plugin API 2"),
    "def grove_close_matchers(): return []": (
        "grove_close_matchers",
        "is not marked with @hookimpl",
    ),
    backend("odd"): (
        "grove_memory_backends",
        "is never called in grove.tickets; it belongs in grove.backends or grove.plugins",
    ),
}


@pytest.mark.parametrize(("text", "complaint"), ODD.items())
def test_an_odd_plugin_is_used_and_reported(world, text, complaint):
    world.install("odd", probes("odd") + text)
    assert names(world.plugins().ticket_probes()) == ["odd"]
    assert world.complaints() == [("odd", *complaint)]


@pytest.mark.parametrize(
    "settings", [{"enabled": False}, {"overrides": {TICKETS: {"acme": False}}}]
)
def test_a_blocked_plugin_is_never_imported(world, settings):
    module = world.install("acme", probes("acme"))
    plugins = world.plugins(**settings)
    plugins.load_all()
    assert plugins.ticket_probes() == []
    assert entry(plugins, "acme").state is PluginState.BLOCKED
    assert module not in sys.modules
    assert world.problems == []


def test_descriptors_come_in_the_configured_order_whoever_offers_them(world):
    world.install("suite", probes("zeta", "beta", "off"), GENERAL)
    world.install("alpha", probes("alpha"))
    world.install("omega", matchers("alpha", "zeta", "off", "beta", "beta"))
    plugins = world.plugins(
        orders={TICKETS: ("zeta", "missing", "beta")}, overrides={TICKETS: {"off": False}}
    )
    assert names(plugins.ticket_probes()) == ["zeta", "beta", "alpha"]
    assert names(plugins.close_matchers()) == ["zeta", "beta", "beta", "alpha"]
    assert world.problems == []


@pytest.mark.parametrize(
    ("order", "first_party", "expected"),
    [
        ((), "dist-b", "dist-b"),
        (("system@dist_b",), "", "dist-b"),
        (("system@dist-a",), "dist-b", "dist-a"),
    ],
)
@pytest.mark.parametrize("offered", [probes, matchers])
def test_of_two_descriptors_with_one_name_one_is_used(world, offered, order, first_party, expected):
    requires = [f"{first_party}; extra == 'x'"] if first_party else []
    world.install("core", "", BACKENDS, distribution="grove-core", requires=requires)
    world.install("one", offered("system"), distribution="dist-a")
    world.install("two", offered("system"), distribution="dist-b")
    plugins = world.plugins(orders={TICKETS: order})
    (used,) = plugins.ticket_probes() or plugins.close_matchers()
    assert used.source.distribution == expected
    (problem,) = world.problems
    assert problem.source.distribution == ({"dist-a", "dist-b"} - {expected}).pop()
    assert problem.detail == f"system is provided by {used.source} as well, which is used"


NAME_RULE = (
    "TypeError: TicketProbe.name is not one line of text, not empty, without blanks at its ends"
)
NO_WORDS = "CloseMatcher.literals is not a tuple"
NO_TOOLS = "CloseMatcher.tools is not a tuple"
WRONG_RESULTS = {
    "grove_ticket_probes": {
        "None": "returned NoneType instead of a list of TicketProbe",
        "1 / 0": "ZeroDivisionError: division by zero",
        "[matcher()]": "returned CloseMatcher instead of TicketProbe",
        "[probe(name='a\\nb')]": NAME_RULE,
        "[probe(detect=None)]": "TicketProbe.detect is not a function",
        "[probe(enabled_when='active')]": "is not a EnabledWhen",
    },
    "grove_close_matchers": {
        "[matcher(literals='close')]": NO_WORDS,
        "[matcher(tools=())]": NO_TOOLS,
        "[matcher(confirm='yes')]": "CloseMatcher.confirm is not a function or None",
    },
    "grove_command_readers": {
        "[CommandReader(tools=('x',), read=1)]": "CommandReader.read is not a function"
    },
    "grove_memory_backends": {
        "[BackendSpec(name='bad', detect=print, open=None)]": "BackendSpec.open is not a function"
    },
    "grove_commands": {
        "[CommandSpec(name='x', target=print, help='')]": "CommandSpec.target is not"
    },
    "grove_health_checks": {
        "[HealthCheck(name='x', run='x')]": "HealthCheck.run is not a function"
    },
}


@pytest.mark.parametrize(
    ("name", "expression", "detail"),
    [(name, *one) for name, wrong in WRONG_RESULTS.items() for one in wrong.items()],
)
def test_a_wrong_result_is_dropped_and_reported(world, name, expression, detail):
    world.install("bad", hook(name, expression), GENERAL)
    world.install("good", probes("good") + matchers("good"))
    plugins = world.plugins()
    plugins.load_all()
    (complaint,) = world.complaints()
    assert complaint[:2] == ("bad", name)
    assert detail in complaint[2]
    assert names(plugins.ticket_probes()) == names(plugins.close_matchers()) == ["good"]
    assert plugins.memory_backends() == plugins.commands() == plugins.health_checks() == []


def check(world, **expressions):
    for name, expression in expressions.items():
        text = hook("grove_check_candidate", expression, "candidate, context")
        world.install(name, text, GENERAL)
    context = ReflectionContext(root=Path("/r"), session_id="s", ticket=None, now=NOW)
    candidate = Candidate(category=Category.PATTERN, summary="a summary", detail="some detail")
    found = world.plugins().check_candidate(candidate, context)
    return [(each.source.name, each.value) for each in found]


def test_objections_are_collected_with_their_sources(world):
    found = check(world, a="Rejection(reason=candidate.summary)", b="None")
    assert found == [("a", Rejection(reason="a summary"))]
    assert world.problems == []


@pytest.mark.parametrize(
    ("expression", "detail"),
    [
        ("True", "returned bool instead of Rejection"),
        ("Rejection(reason=' ')", "returned a Rejection without a reason"),
        ("candidate.nothing", "AttributeError: 'Candidate' object has no attribute 'nothing'"),
    ],
)
def test_a_check_that_fails_is_no_objection(world, expression, detail):
    assert check(world, bad=expression) == []
    (complaint,) = world.complaints()
    assert complaint[:2] == ("bad", "grove_check_candidate")
    assert complaint[2].startswith(detail)


def test_observers_are_told_and_their_faults_stay_with_them(world):
    def observer(ending):
        written = f"called((learning.id, receipt.backend)) and {ending}"
        return hook("grove_learning_written", written, "learning, receipt")

    modules = [
        world.install(name, observer(ending), GENERAL)
        for name, ending in (("a", "exit()"), ("b", "'ignored'"))
    ]
    plugins = world.plugins()
    learning = a_learning()
    receipt = Receipt(learning_id="cl_1", status=ReceiptStatus.STORED, backend="acme")
    plugins.learning_written(learning, receipt)
    assert [sys.modules[module].CALLS for module in modules] == [[("cl_1", "acme")]] * 2
    assert world.complaints() == [("a", "grove_learning_written", "raised SystemExit")]


def test_a_plugin_that_hangs_when_called_is_not_called_again(world):
    module = world.install("a-slow", checks("called(1) and time.sleep(3600)"), GENERAL)
    world.install("good", checks("Rejection(reason='good')"), GENERAL)
    world.limits["life_cycle"] = 0.025
    plugins = world.plugins()
    assert reasons(plugins) == reasons(plugins) == ["good"]
    assert sys.modules[module].CALLS == [1]
    assert world.complaints() == [
        ("a-slow", "grove_check_candidate", "took longer than 0.5 seconds")
    ]


def test_after_the_deadline_nothing_is_called_or_loaded_and_that_is_said_once(world):
    modules = [
        world.install(name, checks("called(Rejection(reason='x'))"), GENERAL) for name in "ab"
    ]
    late = world.install("late", probes("late"))
    plugins = world.plugins()
    assert reasons(plugins) == ["x", "x"]
    world.deadline.at = time.monotonic() - 1
    assert reasons(plugins) == reasons(plugins) == []
    assert [len(sys.modules[module].CALLS) for module in modules] == [1, 1]
    assert world.complaints() == [
        ("a", "grove_check_candidate", "was not called: no time was left")
    ]
    sys.modules.pop(late, None)
    assert world.plugins().ticket_probes() == []
    assert late not in sys.modules


def test_what_was_loaded_too_late_for_one_hook_is_there_for_the_next(world):
    world.install("tracker", probes("tracker"))
    plugins = world.plugins()
    world.deadline.at = time.monotonic() - 1
    assert plugins.ticket_probes() == []
    plugins.serve(lambda problem: None, None, None)
    assert [one.name for one in plugins.ticket_probes()] == ["tracker"]


def test_a_function_of_a_descriptor_that_fails_gives_the_default(world):
    world.install("acme", probes("acme", "zeta"))
    plugins = world.plugins()
    acme, zeta = plugins.ticket_probes()
    calls = []

    def hang():
        calls.append(1)
        time.sleep(3600)

    assert plugins.call(acme, "answer", lambda: "answer", seconds=30, default=0) == "answer"
    assert plugins.call(acme, "sum", lambda: 1 / 0, seconds=30, default=7) == 7
    for _ in range(2):
        assert plugins.call(acme, "hang", hang, seconds=0.0025, default=7) == 7
    assert calls == [1]
    assert plugins.call(zeta, "hang", lambda: 1, seconds=30, default=7) == 1
    world.deadline.at = time.monotonic() - 1
    assert plugins.call(zeta, "append", calls.append, 2, seconds=30, default="late") == "late"
    assert calls == [1]
    assert world.complaints()[:2] == [
        ("acme", "sum of acme", "ZeroDivisionError: division by zero"),
        ("acme", "hang of acme", "took longer than 0.05 seconds"),
    ]
