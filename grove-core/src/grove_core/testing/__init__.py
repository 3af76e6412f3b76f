"""Help for testing plugins."""

from grove_core.testing.memory_backend import InMemoryBackend

__all__ = ["InMemoryBackend"]
