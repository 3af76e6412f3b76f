"""Plugins that are installed: which are found, which are let in, and how long they may take."""

import json
import multiprocessing
import os
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor

import pytest
from core_worlds import install, only_site

from grove_core.errors import PluginError
from grove_core.plugins import limits
from grove_core.plugins.discovery import (
    BACKEND_GROUP,
    TICKET_GROUP,
    Plugin,
    PluginSettings,
    PluginState,
    choose,
    discover,
)
from grove_core.plugins.limits import Deadline, NoTimeLeftError, TimeLimitError, call_limited

LONG_AGO = 1_600_000_000


class Site:
    """A directory of installed distributions."""

    def __init__(self, path):
        self.path = path
        self.settle()

    def install(self, name, entry_points, **fields):
        return install(self.path, name, entry_points, **fields)

    def settle(self, when=LONG_AGO):
        """Make it look as if nothing had been installed for a while."""
        self.path.mkdir(exist_ok=True)
        os.utime(self.path, (when, when))


@pytest.fixture
def site(tmp_path, monkeypatch):
    """The only place of this process where distributions are installed."""
    installed = Site(tmp_path / "site")
    only_site(monkeypatch, installed.path)
    return installed


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def cache_file(home):
    (file,) = (home / "cache").iterdir()
    return file


def names(found):
    return [plugin.name for plugin in found]


def is_cached(home):
    """Tell whether the cache answers, by making it tell a lie."""
    file = cache_file(home)
    truth = file.read_bytes()
    document = json.loads(truth)
    document["found"] = [["grove.plugins", "lie", "lie", "lie", "1", False]]
    file.write_text(json.dumps(document))
    try:
        return names(discover(home)) == ["lie"]
    finally:
        file.write_bytes(truth)


def test_entry_points_of_the_three_groups_are_found(site, home):
    site.install(
        "Acme.Suite",
        {
            "grove.plugins": {"general": "acme.general"},
            "grove.backends": {"store": "acme.store:plugin [fast]"},
            "grove.tickets": {"b-tickets": "acme.b", "a": "acme.a:Deep.plugin"},
            "console_scripts": {"acme": "acme:main"},
        },
        version="2.1",
    )
    found = discover(home)
    assert [(one.group, one.name, one.target) for one in found] == [
        ("grove.tickets", "a", "acme.a:Deep.plugin"),
        ("grove.tickets", "b-tickets", "acme.b"),
        ("grove.backends", "store", "acme.store:plugin"),
        ("grove.plugins", "general", "acme.general"),
    ]
    assert {(one.distribution, one.version, one.first_party) for one in found} == {
        ("Acme.Suite", "2.1", False)
    }


def test_first_party_is_what_an_extra_of_core_names(site, home):
    site.install(
        "grove-core",
        {},
        requires=[
            "needed>=1",
            'conditional>=1; python_version < "4"',
            "Our.Plugin==1.0; extra == 'ours'",
            'other-plugin[x] (>=2); python_version > "3" and extra=="all"',
        ],
    )
    for name in ("needed", "conditional", "our_plugin", "other-plugin", "stranger"):
        site.install(name, {"grove.tickets": {name: "module"}})
    first_party = {one.distribution for one in discover(home) if one.first_party}
    assert first_party == {"our_plugin", "other-plugin"}


def test_an_installation_is_seen_and_cached_once_it_is_over(site, home):
    site.install("acme", {"grove.tickets": {"acme": "module"}})
    site.settle()
    assert names(discover(home)) == ["acme"]
    assert is_cached(home)
    folder = site.install("brand-new", {"grove.tickets": {"new": "module"}})
    assert names(discover(home)) == ["acme", "new"]
    assert not is_cached(home), "a directory that has just changed is not trusted yet"
    site.settle(LONG_AGO + 1)
    assert names(discover(home)) == ["acme", "new"]
    assert is_cached(home)
    folder.rename(folder.with_suffix(".removed"))
    assert names(discover(home)) == ["acme"]


VALID_ROW = ["grove.tickets", "acme", "module", "acme", "1.0", False]


@pytest.mark.parametrize(
    "spoil",
    [
        lambda document: b"\xff\x00\xfe",
        lambda document: json.dumps(document | {"state": 0}).encode(),
        lambda document: json.dumps(document | {"found": [VALID_ROW[:2]]}).encode(),
    ],
)
def test_a_spoilt_cache_is_rebuilt(site, home, spoil):
    site.install("real", {"grove.tickets": {"real": "module"}})
    site.settle()
    found = discover(home)
    file = cache_file(home)
    good = file.read_bytes()
    file.write_bytes(spoil(json.loads(good)))
    assert list(map(str, discover(home))) == list(map(str, found))
    assert file.read_bytes() == good


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
    settings = PluginSettings(orders={"grove.tickets": order})
    assert used(found, settings)[0] == ("x", expected)


@pytest.mark.parametrize(
    ("settings", "group", "detail"),
    [
        (PluginSettings(enabled=False), TICKET_GROUP, "plugins are switched off"),
        (PluginSettings(allowed=frozenset({"y"})), TICKET_GROUP, "GROVE_PLUGINS does not name it"),
        (
            PluginSettings(overrides={"grove.tickets": {"x": False}}),
            TICKET_GROUP,
            "ticketing.overrides.x is false",
        ),
        (
            PluginSettings(overrides={"grove.backends": {"x": False}}),
            BACKEND_GROUP,
            "backends.overrides.x is false",
        ),
    ],
)
def test_blocked_plugin_says_what_blocks_it(settings, group, detail):
    (choice,) = choose([plugin("x", group=group)], group, settings)
    assert (choice.state, choice.detail) == (PluginState.BLOCKED, detail)


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt])
def test_attempt_to_end_the_process_is_an_ordinary_error(kind):
    def fail():
        raise kind

    with pytest.raises(PluginError, match=f"raised {kind.__name__}"):
        call_limited(fail, 5)


def test_calls_share_a_thread_one_by_one():
    """And those within calls, at the same time and in a forked process get one of their own."""
    first, second = (call_limited(threading.get_ident, 5) for _ in range(2))
    assert first == second != threading.get_ident()
    assert call_limited(lambda: call_limited(threading.get_ident, 5), 5) != first
    together = threading.Barrier(3, timeout=60)

    def meet():
        return call_limited(lambda: (together.wait(), threading.get_ident())[1], 60)

    with ThreadPoolExecutor() as pool:
        met = [pool.submit(meet) for _ in range(3)]
        assert len({one.result() for one in met}) == 3
    child = multiprocessing.get_context("fork").Process(target=call_limited, args=(print, 60))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads
        child.start()
    child.join(60)
    assert child.exitcode == 0


def test_what_waits_is_late_by_the_clock_and_its_thread_gets_no_other_call_meanwhile(monkeypatch):
    monkeypatch.setattr(limits, "_late", [])
    release = threading.Event()
    before = call_limited(threading.current_thread, 5)
    with pytest.raises(TimeLimitError, match=r"longer than 0\.05 seconds"):
        call_limited(release.wait, 5, Deadline(time.monotonic() + 0.1))
    assert call_limited(threading.current_thread, 5) is not before
    assert limits.is_any_late()
    release.set()
    ends = time.monotonic() + 60
    while limits.is_any_late():
        assert time.monotonic() < ends
        time.sleep(0.01)
    # It takes calls again once it is through.
    assert call_limited(threading.current_thread, 5) is before


def test_what_works_is_late_by_its_processor_time():
    done = threading.Event()

    def work():
        while not done.is_set():
            pass

    try:
        with pytest.raises(TimeLimitError, match=r"more than 0\.05 seconds of processor time"):
            call_limited(work, 0.05)
        # What the thread that was left behind uses is not counted against others.
        assert call_limited(lambda: time.sleep(0.2), 0.1) is None
    finally:
        done.set()


def test_limits_of_calls_and_how_a_deadline_shortens_them():
    now, used = time.monotonic(), time.thread_time()
    assert [Deadline().limits(seconds) for seconds in (0.3, 5, 60)] == [(0.3, 6), (5, 10), (60, 60)]
    work, clock = Deadline(now + 12, used + 100).limits(5)
    assert (work, 5 < clock <= 6) == (5, True)
    work, clock = Deadline(now + 100, used + 1).limits(5)
    assert (0 < work <= 1, clock) == (True, 10)
    for passed in (Deadline(now), Deadline(now + 100, used)):
        with pytest.raises(NoTimeLeftError, match="no time was left"):
            passed.limits(5)
