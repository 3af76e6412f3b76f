"""The write gate: whether a candidate says something that is worth keeping."""

from grove_core.reflection.write_gate.judgement import Component, Judgement, judge

__all__ = ["Component", "Judgement", "judge"]
