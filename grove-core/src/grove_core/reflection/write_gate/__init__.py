"""The write gate: whether a candidate says something that is worth keeping."""

from grove_core.reflection.write_gate.evaluate import Assessment, Component, evaluate

__all__ = ["Assessment", "Component", "evaluate"]
