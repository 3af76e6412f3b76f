"""It keeps the rules of grove: `help(grove_core.testing.TicketContract)`."""

from typing import ClassVar

from grove_core.testing import PluginContract, TicketContract

import grove_tickets_acme
from grove_tickets_acme.tracker import TICKETS


class TestPlugin(PluginContract):
    plugin = "grove_tickets_acme"


class TestTracker(TicketContract):
    plugin: ClassVar[object] = grove_tickets_acme
    closes = (("acme done T-1 T-2", ("T-1", "T-2")),)
    leaves = ("acme list", "acme show T-1")
    files: ClassVar[dict[str, str]] = {TICKETS: '{"T-1": {"title": "Slow", "status": "started"}}'}
