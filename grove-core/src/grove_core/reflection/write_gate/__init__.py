"""The write gate: whether a candidate says something that is worth keeping."""

from grove_core.reflection.write_gate.evaluate import Assessment, Component, evaluate
from grove_core.reflection.write_gate.instructions import find_instruction

__all__ = ["Assessment", "Component", "evaluate", "find_instruction"]
