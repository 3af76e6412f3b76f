"""What several tests of core need: plugins that are no installed packages."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from grove_core import hookimpl
from grove_core.plugins.descriptors import (
    BackendSpec,
    CloseMatcher,
    CommandReader,
    TicketProbe,
)
from grove_core.plugins.discovery import (
    BACKEND_GROUP,
    HOST_GROUP,
    TICKET_GROUP,
    Plugin,
    PluginSettings,
)
from grove_core.plugins.hosts import HostSpec
from grove_core.plugins.limits import TimeLimits
from grove_core.plugins.manager import Plugins

sys.path.insert(0, str(Path(__file__).parent / "broken_plugins"))


class _Tickets:
    def __init__(self, descriptors):
        self._descriptors = descriptors

    @hookimpl
    def grove_ticket_probes(self):
        return [one for one in self._descriptors if isinstance(one, TicketProbe)]

    @hookimpl
    def grove_close_matchers(self):
        return [one for one in self._descriptors if isinstance(one, CloseMatcher)]

    @hookimpl
    def grove_command_readers(self):
        return [one for one in self._descriptors if isinstance(one, CommandReader)]


class _Backends:
    def __init__(self, descriptors):
        self._descriptors = descriptors

    @hookimpl
    def grove_memory_backends(self):
        return [one for one in self._descriptors if isinstance(one, BackendSpec)]


class _Hosts:
    def __init__(self, descriptors):
        self._descriptors = descriptors

    @hookimpl
    def grove_hosts(self):
        return [one for one in self._descriptors if isinstance(one, HostSpec)]


@pytest.fixture
def plugins_of(monkeypatch):
    """Real plugins of descriptors, in their order."""

    def make(*descriptors, **settings):
        module = ModuleType(f"plugins_of_a_test_{len(sys.modules)}")
        module.tickets, module.backends = _Tickets(descriptors), _Backends(descriptors)
        module.h = _Hosts(descriptors)  # named like the host of a test's session
        monkeypatch.setitem(sys.modules, module.__name__, module)
        found = [
            Plugin(group, name, f"{module.__name__}:{name}", "acme", "1.0", False)
            for group, name in (
                (TICKET_GROUP, "tickets"),
                (BACKEND_GROUP, "backends"),
                (HOST_GROUP, "h"),
            )
        ]
        named = (TicketProbe, BackendSpec)
        names = tuple(one.name for one in descriptors if isinstance(one, named))
        return Plugins(
            found,
            PluginSettings(orders={"grove.tickets": names, "grove.backends": names}, **settings),
            lambda _: None,
            limits=TimeLimits(load=30, registration=30, life_cycle=30),
        )

    return make
