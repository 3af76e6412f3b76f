"""The hooks: one module per event of the coding agent."""

CRASH_EXIT_CODE = 3
"""To the client neither a success nor a block: the action goes on."""

STDIN_LIMIT = 16 * 1024 * 1024
"""The most bytes of a payload; what is longer is no payload of the client."""
