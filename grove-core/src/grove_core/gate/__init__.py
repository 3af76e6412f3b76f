"""The gate: a pure function from a state and an event to the next state and a decision.

Nothing else in grove sets a gate's status. The rows of the table in the documentation
(``docs/reference/gate.md``) are the functions of ``closing``, ``stopping`` and ``resolving``.
"""

from grove_core.gate.step import step

__all__ = ["step"]
