"""The contract of plugins of any kind, for their authors to run."""

from grove_core.testing.rules.plugin_calls import CallingRules
from grove_core.testing.standard import StandardTests


class PluginContract(CallingRules, StandardTests, standard=True):
    """What grove asks of every plugin; a plugin's tests subclass it and name its module.

    ::

        class TestPlugin(PluginContract):
            plugin = "grove_tickets_tracker"

    Tests may be added, but none of these can be left out.

    Attributes:
        plugin: What the entry point names: ``module``, or ``module:attribute``.
        group: The entry point's group; by default the one in which all its hooks are asked.
    """
