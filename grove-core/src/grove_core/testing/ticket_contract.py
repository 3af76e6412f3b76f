"""The contract of ticket systems, for plugin authors to run against their own."""

from grove_core.testing.rules.ticket_confirming import ConfirmingRules
from grove_core.testing.rules.ticket_detecting import DetectingRules
from grove_core.testing.rules.ticket_matching import MatchingRules
from grove_core.testing.standard import StandardTests


class TicketContract(DetectingRules, MatchingRules, ConfirmingRules, StandardTests, standard=True):
    """What every ticket system must do; a plugin's tests subclass it and say what is theirs.

    ::

        class TestTracker(TicketContract):
            plugin = grove_tickets_tracker
            closes = [("tracker close T-1", ["T-1"]), ("tracker close $ID", [None])]
            leaves = ["tracker list", "tracker show T-1"]
            files = {".tracker/tickets.json": '{"T-1": {"title": "Slow"}}'}

    Tests may be added, but none of these can be left out. What needs something that is not given
    is skipped by name.

    Where files alone do not make a project that uses the system, such as where it needs a git
    repository, a fixture ``used_project`` takes the place of ``files`` and returns its root.

    Attributes:
        plugin: The module, or another object, that implements grove's hooks.
        system: The system's name; only needed where the plugin offers several.
        closes: Shell text, or a call of another tool, and the ids of the tickets that it would
            close, in order; ``None`` stands for one that only the running shell knows.
        leaves: Shell texts and calls that close nothing, though they look alike.
        files: What lies in a project that uses the system: texts, by paths relative to its root.
    """
