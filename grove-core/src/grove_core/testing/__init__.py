"""Help for testing plugins: contracts to subclass, and a memory backend that keeps its own.

``InMemoryBackend`` needs nothing besides grove; the rest needs pytest and hypothesis, which
``grove-core[testing]`` brings. Each is loaded when it is first used.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from grove_core.testing.contracts import (
        BackendContract,
        GateContract,
        HostContract,
        PluginContract,
        TicketContract,
    )
    from grove_core.testing.fakes import InMemoryBackend, InMemoryStorage
    from grove_core.testing.samples import learnings

_MODULE_OF_NAME = {
    "BackendContract": "contracts",
    "GateContract": "contracts",
    "HostContract": "contracts",
    "InMemoryBackend": "fakes",
    "InMemoryStorage": "fakes",
    "PluginContract": "contracts",
    "TicketContract": "contracts",
    "learnings": "samples",
}

__all__ = [
    "BackendContract",
    "GateContract",
    "HostContract",
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

    if name.endswith("Contract"):
        import pytest

        # A rule that is broken shows what it compared.
        pytest.register_assert_rewrite(f"{__name__}.rules", f"{__name__}.watching")
    return getattr(import_module(f"{__name__}.{_MODULE_OF_NAME[name]}"), name)
