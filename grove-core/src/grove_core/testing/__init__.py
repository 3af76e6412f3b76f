"""Help for testing plugins: contracts to subclass, and a memory backend that keeps its own.

``InMemoryBackend`` needs nothing besides grove; the contracts need pytest, and ``learnings``
hypothesis. Each is loaded when it is first used. Fixtures for tests of plugins are in
``grove_core.testing.pytest_plugin``, which pytest finds by itself.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from grove_core.testing.backend_contract import BackendContract
    from grove_core.testing.memory_backend import InMemoryBackend, InMemoryStorage
    from grove_core.testing.plugin_contract import PluginContract
    from grove_core.testing.strategies import learnings
    from grove_core.testing.ticket_contract import TicketContract

_MODULE_OF_NAME = {
    "BackendContract": "backend_contract",
    "InMemoryBackend": "memory_backend",
    "InMemoryStorage": "memory_backend",
    "PluginContract": "plugin_contract",
    "TicketContract": "ticket_contract",
    "learnings": "strategies",
}

__all__ = [
    "BackendContract",
    "InMemoryBackend",
    "InMemoryStorage",
    "PluginContract",
    "TicketContract",
    "learnings",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULE_OF_NAME[name]}"), name)
