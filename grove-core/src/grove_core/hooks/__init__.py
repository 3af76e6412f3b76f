"""The hooks: one module per event of the coding agent."""

STDIN_LIMIT = 16 * 1024 * 1024
"""The most bytes of a payload; what is longer is no payload of the client."""
