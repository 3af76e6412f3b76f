"""The contracts of memory backends, ticket systems and plugins, for their authors to subclass."""

import pytest

from grove_core.testing.rules.gates import GateRules
from grove_core.testing.rules.hosts import HostRules
from grove_core.testing.rules.news import ChangesRules, FilesRules, SynchronisingRules
from grove_core.testing.rules.plugins import PluginRules
from grove_core.testing.rules.reading import Opener
from grove_core.testing.rules.searching import SearchingRules, StatusRules
from grove_core.testing.rules.sharing import ConcurrencyRules, TracesRules
from grove_core.testing.rules.storing import (
    FidelityRules,
    IdentityRules,
    ListingRules,
    WritingRules,
)
from grove_core.testing.rules.tickets import ConfirmingRules, DetectingRules, MatchingRules


class BackendContract(
    IdentityRules,
    WritingRules,
    FidelityRules,
    SearchingRules,
    ListingRules,
    StatusRules,
    ChangesRules,
    FilesRules,
    SynchronisingRules,
    ConcurrencyRules,
    TracesRules,
):
    """What every memory backend must do; a plugin's tests subclass it and give one fixture.

    The fixture ``open_backend`` returns a callable that opens the backend, on the same storage each
    time it is called; the storage is empty at the beginning of each test::

        class TestShelf(BackendContract):
            @pytest.fixture
            def open_backend(self, tmp_path):
                context = BackendContext(root=tmp_path, home=tmp_path / "home")
                return lambda: ShelfBackend(context)

    What the backend does not declare among its capabilities is skipped by name. Two things are up
    to the plugin:

    - A fixture ``broken_backend`` like the other one, for storage that cannot be written, such as a
      folder in the place of the file. Opening it works; writing has to raise ``BackendError``, and
      ``ping`` to tell. Without the fixture, this is skipped by name.
    - ``shared_between_processes = False`` in the class, for a backend whose learnings no other
      process can see. The test that writes in several forked processes is then skipped by name; a
      backend with files or a server has to pass it.
    """

    @pytest.fixture
    def open_backend(self) -> Opener:
        """Say that the fixture is missing."""
        raise NotImplementedError(
            f"{type(self).__name__} needs a fixture open_backend, which returns a callable that "
            "opens the backend: see help(grove_core.testing.BackendContract)"
        )

    @pytest.fixture
    def broken_backend(self) -> Opener:
        """Leave out by name what needs the fixture."""
        pytest.skip(f"{type(self).__name__} has no fixture broken_backend")


class TicketContract(DetectingRules, MatchingRules, ConfirmingRules):
    """What every ticket system must do; a plugin's tests subclass it and say what is theirs.

    ::

        class TestTracker(TicketContract):
            plugin = grove_tickets_tracker
            closes = [("tracker close T-1", ["T-1"]), ("tracker close $ID", [None])]
            leaves = ["tracker list", "tracker show T-1"]
            files = {".tracker/tickets.json": '{"T-1": {"title": "Slow"}}'}

    What needs something that is not given is skipped by name.

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


class GateContract(GateRules):
    """What every gate must do; a plugin's tests subclass it and name its module.

    ::

        class TestGate(GateContract):
            plugin = "grove_acme"

    Attributes:
        plugin: The module, or another object, that implements ``grove_gates``.
        gate_settings: The section that the gate is opened with; by default an empty one. It has to
            switch the gate on.
    """


class HostContract(HostRules):
    """What every client's adapter must do; a plugin's tests subclass it and give payloads.

    ::

        class TestPilot(HostContract):
            plugin = "grove_pilot"
            payloads = {HookEvent.STOP: recorded("stop"), HookEvent.PRE_TOOL_USE: recorded("pre")}
            succeeded, failed = recorded("exit-0"), recorded("exit-3")

    Attributes:
        plugin: The module, or another object, that implements ``grove_hosts``.
        payloads: A payload recorded from the client for each event that it has, a stop at least;
            the tool call is one of a shell.
        succeeded: A payload after a shell command that has succeeded.
        failed: One after a command that has failed; that of ``payloads`` where the client has an
            event of its own for failures.
    """


class PluginContract(PluginRules):
    """What grove asks of every plugin; a plugin's tests subclass it and name its module.

    ::

        class TestPlugin(PluginContract):
            plugin = "grove_tickets_tracker"

    Attributes:
        plugin: What the entry point names: ``module``, or ``module:attribute``.
        group: The entry point's group; by default the general one.
    """
