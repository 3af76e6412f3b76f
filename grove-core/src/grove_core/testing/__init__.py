"""Help for testing plugins: a contract for memory backends, and a backend that keeps it.

``InMemoryBackend`` needs nothing besides grove; ``BackendContract`` needs pytest, and ``learnings``
hypothesis. Each is loaded when it is first used.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from grove_core.testing.backend_contract import BackendContract
    from grove_core.testing.memory_backend import InMemoryBackend, InMemoryStorage
    from grove_core.testing.strategies import learnings

_MODULE_OF_NAME = {
    "BackendContract": "backend_contract",
    "InMemoryBackend": "memory_backend",
    "InMemoryStorage": "memory_backend",
    "learnings": "strategies",
}

__all__ = ["BackendContract", "InMemoryBackend", "InMemoryStorage", "learnings"]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULE_OF_NAME[name]}"), name)
